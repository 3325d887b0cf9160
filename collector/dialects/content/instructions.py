"""What a model call was told beside its messages: system instructions and tool definitions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from collector.dialects.content import events
from collector.dialects.content.frameworks import value_of
from collector.dialects.content.messages import is_message
from collector.dialects.content.parts import Part, parts_of
from collector.dialects.content.shapes import messages_of
from collector.dialects.content.sources import Place
from collector.dialects.values import as_data, as_json, as_object, indexed
from gnomon.model import JsonValue

_SYSTEM: Final = "gen_ai.system_instructions"
_TOOLS: Final = "gen_ai.tool.definitions"
_LISTS: Final = ("ai.prompt.tools", "mlflow.chat.tools", "tools", "llm.openai.tools")
ONLY_IN_BODIES: Final = (_SYSTEM, _TOOLS, "ai.prompt.tools", "mlflow.chat.tools")
"""Attributes of which steps and runs need to know only that they say something."""

_REQUESTS: Final = (
    "input.value",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "gcp.vertex.agent.llm_request",
    "request_data",
    "haystack.component.input",
    "haystack.agent.step.llm.input",
)
"""Attributes that may hold a whole request with a list of tools."""


def system(place: Place) -> list[Part]:
    """Return the system instructions as canonical parts."""
    for words in _values(place, _SYSTEM):
        value = value_of(words)
        if isinstance(value, list) and any(is_message(item) for item in value):
            return [part for turn in messages_of(value, "system") for part in turn["parts"]]
        if content := parts_of(value):
            return content
    return []


def _values(place: Place, key: str) -> Iterator[str]:
    if own := place.get(key):
        yield own
    yield from events.details(place.span, place.logs, key)


def tool_definitions(place: Place) -> list[JsonValue]:
    """Return the definitions of the tools a model call could use, as they were sent."""
    for read in _SOURCES:
        if tools := read(place):
            return tools
    return []


def _named(place: Place) -> list[JsonValue]:
    for words in _values(place, _TOOLS):
        if tools := _listed(value_of(words)):
            return tools
    return []


def _openinference(place: Place) -> list[JsonValue]:
    entries = indexed(place.span.attributes, "llm.tools").values()
    found = (entry.get("tool.json_schema") for entry in entries)
    return [_parsed(words) for words in found if words]


def _openllmetry(place: Place) -> list[JsonValue]:
    entries = indexed(place.span.attributes, "llm.request.functions").values()
    return [{key: _schema(key, words) for key, words in entry.items()} for entry in entries]


def _schema(key: str, words: str) -> JsonValue:
    return words if key in ("name", "description") else _parsed(words)


def _lists(place: Place) -> list[JsonValue]:
    for key in _LISTS:
        if tools := _listed(as_data(place.get(key))):
            return tools
    return []


def _requested(place: Place) -> list[JsonValue]:
    """Return the tools of a whole request."""
    for key in _REQUESTS:
        if '"tools"' in (words := place.span.attributes.get(key, "")):
            request = as_object(words)
            config = request.get("config")
            for holder in (request, config if isinstance(config, Mapping) else {}):
                if tools := _listed(holder.get("tools")):
                    return tools
    return []


def _pydantic_ai(place: Place) -> list[JsonValue]:
    request = as_object(place.get("model_request_parameters"))
    return [
        tool
        for key in ("function_tools", "output_tools")
        if isinstance(tools := request.get(key), list)
        for tool in tools
    ]


_SOURCES: Final[Sequence[Callable[[Place], list[JsonValue]]]] = (
    _named,
    _openinference,
    _openllmetry,
    _lists,
    _requested,
    _pydantic_ai,
)


def _listed(value: JsonValue) -> list[JsonValue]:
    """Return the definitions in a list; a list of JSON texts is read (Vercel)."""
    if not isinstance(value, list):
        return []
    tools = [_parsed(item) if isinstance(item, str) else item for item in value]
    return tools if any(isinstance(tool, Mapping) for tool in tools) else []


def _parsed(words: str) -> JsonValue:
    value = as_json(words)
    return words if value is None else value
