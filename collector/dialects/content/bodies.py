"""The large bodies of a step, read from its raw span when somebody asks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from collector.dialects.content import instructions, parts, sources
from collector.dialects.content.documents import documents, has_flattened
from collector.dialects.content.messages import Message, message
from collector.dialects.content.sources import Place
from collector.dialects.content.tools import tool_call
from collector.dialects.values import as_json, dumps
from collector.spans import LogRecord, Span
from gnomon.model import Bodies, Document, JsonValue, Kind

_NOTHING: Final = Bodies()


def read_bodies(
    span: Span,
    kind: Kind,
    logs: Sequence[LogRecord] = (),
    duplicates: Sequence[Span] = (),
) -> Bodies:
    """Return what a step read and wrote; `None` where the source did not capture it.

    All fields are JSON text: `input` and `output` lists of canonical messages, `system` a list of
    canonical parts, `tool_definitions` a list of definitions as they were sent.

    `logs`: records of the trace; those of other spans are ignored.
    `duplicates`: spans that report the same call; they fill what is missing and overwrite nothing.
    """
    bodies = _read(Place(span, logs), kind)
    for twin in sorted(duplicates, key=lambda twin: (twin.start, twin.span_id)):
        bodies = _filled(bodies, _read(Place(twin, logs), kind))
    return bodies


def _filled(bodies: Bodies, twin: Bodies) -> Bodies:
    return replace(
        bodies,
        input=bodies.input or twin.input,
        output=bodies.output or twin.output,
        system=bodies.system or twin.system,
        tool_definitions=bodies.tool_definitions or twin.tool_definitions,
        documents=bodies.documents or twin.documents,
    )


def _read(place: Place, kind: Kind) -> Bodies:
    if kind is Kind.TOOL:
        return _of_tool(place)
    found = _documents(place, kind)
    listed = kind is Kind.RETRIEVAL and bool(found)
    told = [] if listed else sources.first(place, sources.OUTPUT)
    return replace(
        _NOTHING,
        input=_dumped(sources.first(place, sources.INPUT)),
        output=_dumped(told),
        system=_dumped(instructions.system(place)),
        tool_definitions=_dumped(instructions.tool_definitions(place)),
        documents=found,
    )


def _documents(place: Place, kind: Kind) -> Sequence[Document]:
    if kind is Kind.RETRIEVAL or has_flattened(place.span):
        return documents(place.span, place.logs)
    return ()


def _of_tool(place: Place) -> Bodies:
    """Return a tool step as the messages around it: the call that was read, the result written."""
    made = tool_call(place.span, Kind.TOOL, place.logs)
    read: list[Message] = []
    written: list[Message] = []
    if made.arguments is not None:
        arguments = as_json(made.arguments)
        asked = parts.call({"id": made.id, "name": made.name, "arguments": arguments})
        read = [message("assistant", [asked])]
    if made.result is not None:
        written = [message("tool", [parts.tool_result(made.id, made.result)])]
    return replace(
        _NOTHING,
        input=_dumped(read or sources.first(place, sources.INPUT)),
        output=_dumped(written or sources.first(place, sources.OUTPUT)),
    )


def _dumped(value: Sequence[JsonValue]) -> str | None:
    return dumps(value) if value else None
