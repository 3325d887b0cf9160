"""What a table of the Collector's ClickHouse exporter looks like: `DESC TABLE` decides (5.1, 5.2).

Three generations are about. They differ in keys and indexes, which do not matter to a reader, and in
whether attributes are a `Map` or a `JSON`; logs also in the columns they have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collector.queue.port import Signal
from gnomon.errors import ConfigError

_TRACES = (
    "TraceId",
    "SpanId",
    "ParentSpanId",
    "TraceState",
    "SpanName",
    "SpanKind",
    "toUnixTimestamp64Nano(Timestamp)",
    "Duration",
    "StatusCode",
    "StatusMessage",
    "ServiceName",
    "{ResourceAttributes}",
    "ScopeName",
    "ScopeVersion",
    "{SpanAttributes}",
    "arrayMap(t -> toUnixTimestamp64Nano(t), `Events.Timestamp`)",
    "`Events.Name`",
    "{Events.Attributes}",
    "`Links.TraceId`",
    "`Links.SpanId`",
    "`Links.TraceState`",
    "{Links.Attributes}",
)
"""In the order of `collector.tables.otlp.SpanRow`; what stands in braces is a Map or a JSON."""

_LOGS = (
    "TraceId",
    "SpanId",
    "toUnixTimestamp64Nano(Timestamp)",
    "TraceFlags",
    "SeverityText",
    "SeverityNumber",
    "ServiceName",
    "Body",
    "{ResourceAttributes}",
    "ScopeName",
    "ScopeVersion",
    "{LogAttributes}",
    "<EventName>",
)
"""In the order of `collector.tables.otlp.LogRow`; `EventName` came late and may be missing."""

_NEEDED: Mapping[Signal, tuple[str, ...]] = {
    "traces": (
        *("Timestamp", "TraceId", "SpanId", "ParentSpanId", "TraceState", "SpanName", "SpanKind"),
        *("ServiceName", "ResourceAttributes", "ScopeName", "ScopeVersion", "SpanAttributes"),
        *("Duration", "StatusCode", "StatusMessage", "Events", "Links"),
    ),
    "logs": (
        *("Timestamp", "TraceId", "SpanId", "TraceFlags", "SeverityText", "SeverityNumber"),
        *("ServiceName", "Body", "ResourceAttributes", "ScopeName", "ScopeVersion"),
        "LogAttributes",
    ),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of the statements that a table's columns decide."""

    columns: str
    """The select list."""
    named: str
    """The condition that a row carries the name of an event; always so for spans."""


def shape_of(signal: Signal, types: Mapping[str, str], *, setting: str) -> Shape:
    """Return how a table is read, from its columns and their types.

    Raises ConfigError that names the setting and what the table lacks.
    """
    if not types:
        raise ConfigError(f"{setting}: there is no such table; name it as database.table")
    known = {name.partition(".")[0] for name in types}
    lacking = [name for name in _NEEDED[signal] if name not in known]
    if lacking:
        raise ConfigError(
            f"{setting}: the table lacks {', '.join(lacking)}; expected is what the ClickHouse"
            " exporter of the OpenTelemetry Collector writes"
        )
    if signal == "traces":
        return Shape(_columns(_TRACES, types), named="true")
    return Shape(_columns(_LOGS, types), named=_named(types))


def _columns(texts: Sequence[str], types: Mapping[str, str]) -> str:
    return ", ".join(_column(text, types) for text in texts)


def _column(text: str, types: Mapping[str, str]) -> str:
    if text == "<EventName>":
        return "EventName" if "EventName" in types else "''"
    if not text.startswith("{"):
        return text
    name = text.strip("{}")
    if "JSON" not in types.get(name, types.get(name.partition(".")[0], "")):
        return f"`{name}`"
    if types.get(name, "JSON").startswith("JSON") and "." not in name:
        return f"toJSONString(`{name}`)"
    return f"arrayMap(a -> toJSONString(a), `{name}`)"


def _named(types: Mapping[str, str]) -> str:
    """`event.name` is where libraries of the time before the column put it."""
    held = (
        "mapContains(LogAttributes, 'event.name')"
        if types["LogAttributes"].startswith("Map")
        else "hasAny(JSONAllPaths(LogAttributes), ['event.name', 'event%2Ename'])"
    )
    return f"(EventName != '' OR {held})" if "EventName" in types else held
