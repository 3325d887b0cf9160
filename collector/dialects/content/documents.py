"""The documents a retrieval returned."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from collector.dialects.content.parts import first
from collector.dialects.content.records import own
from collector.dialects.values import as_float, as_json, as_text, dumps, found, indexed
from collector.spans import LogRecord, Span
from gnomon.model import Document, JsonValue

_FLAT: Final = ("retrieval.documents", "reranker.output_documents")
_BODIES: Final = (
    "gen_ai.retrieval.documents",
    "traceloop.entity.output",
    "gen_ai.task.output",
    "output.value",
    "gen_ai.completion",
    "haystack.component.output",
    "mlflow.spanOutputs",
    "langfuse.observation.output",
)
_LISTS: Final = ("documents", "output", "outputs", "result", "results", "nodes", "source_nodes")
_CONTENTS: Final = ("page_content", "content", "text", "document")
_NESTED: Final = ("node", "text_resource")
_IDS: Final = ("id", "id_", "node_id", "_id")
_METADATA: Final = ("metadata", "meta")
_EVENT: Final = "db.query.result"
_MAX_NESTING: Final = 6


def documents(span: Span, logs: Sequence[LogRecord] = ()) -> list[Document]:
    """Return the documents of a retrieval, best first as the source listed them."""
    for read in (_flattened, _in_bodies, _in_events):
        if listed := read(span):
            return listed
    return [_of_flat(log.attributes, "") for log in own(span, logs, _EVENT)]


def has_flattened(span: Span) -> bool:
    """Return whether a span of any kind names documents one by one."""
    return any(key.startswith(_STARTS) for key in span.attributes)


_STARTS: Final = tuple(f"{prefix}." for prefix in _FLAT)


def _flattened(span: Span) -> list[Document]:
    for prefix in _FLAT:
        entries = indexed(span.attributes, prefix).values()
        if listed := [_of_flat(entry, "document.") for entry in entries]:
            return listed
    return []


def _of_flat(entry: Mapping[str, str], prefix: str) -> Document:
    """Read `{id, score, content, metadata}`; vector stores say `document` and `distance`."""
    content = entry.get(f"{prefix}content", entry.get(f"{prefix}document"))
    return Document(
        id=entry.get(f"{prefix}id", ""),
        score=as_float(entry.get(f"{prefix}score", entry.get(f"{prefix}distance"))),
        content=content,
        metadata=found(entry.get(f"{prefix}metadata")) or "{}",
    )


def _in_events(span: Span) -> list[Document]:
    events = sorted(span.events, key=lambda event: event.time)
    return [_of_flat(event.attributes, "") for event in events if event.name == _EVENT]


def _in_bodies(span: Span) -> list[Document]:
    for key in _BODIES:
        words = found(span.attributes.get(key))
        structured = words is not None and words.lstrip()[:1] in ("{", "[")
        if structured and (listed := list(_of_value(as_json(words), 0))):
            return listed
    return []


def _of_value(value: JsonValue, nesting: int) -> Iterator[Document]:
    if nesting > _MAX_NESTING:
        return
    if isinstance(value, list):
        for item in value:
            yield from _of_item(item, nesting + 1)
    elif isinstance(value, Mapping):
        for key in _LISTS:
            if isinstance(inner := value.get(key), list | Mapping):
                yield from _of_value(inner, nesting + 1)
                return


def _of_item(item: JsonValue, nesting: int) -> Iterator[Document]:
    """Read one item; JSON text is opened, reprs (`<NodeWithScore…>`) are ignored."""
    if isinstance(item, str):
        item = as_json(item) if item[:1] == "{" else None
    if isinstance(item, list):
        yield from _of_value(item, nesting)
    if isinstance(item, Mapping):
        document = _of_object(item)
        if document is not None:
            yield document


def _of_object(item: Mapping[str, JsonValue]) -> Document | None:
    """Read an object of LangChain, Haystack, LlamaIndex, or a plain `{id, score}`."""
    levels = [item]
    kwargs = item.get("kwargs")
    if "lc" in item and isinstance(kwargs, Mapping):
        levels = [kwargs]
    for key in _NESTED:
        inner = levels[-1].get(key)
        if isinstance(inner, Mapping):
            levels.append(inner)
    content = _first(levels, _CONTENTS)
    identifier = _first(levels, _IDS)
    if content is None and identifier is None:
        return None
    metadata = _first(levels, _METADATA)
    return Document(
        id=as_text(identifier) or "",
        score=as_float(_first(levels, ("score", "relevance_score", "distance"))),
        content=content if isinstance(content, str | None) else dumps(content),
        metadata=dumps(metadata) if isinstance(metadata, Mapping) else "{}",
    )


def _first(levels: Sequence[Mapping[str, JsonValue]], keys: Sequence[str]) -> JsonValue:
    for level in levels:
        value = first(level, keys)
        if value is not None and value != "":
            return value
    return None
