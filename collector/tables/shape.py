"""What a table of the Collector's ClickHouse exporter looks like: `DESC TABLE` decides (5.1, 5.2).

Three generations are about. They differ in keys and indexes, which do not matter to a reader, and in
whether attributes are a `Map` or a `JSON`; logs also in the columns they have.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collector.queue.port import Signal
from collector.receiving.mend import MAX_ATTRIBUTES
from gnomon.errors import ConfigError

_EXPECTED = (
    "expected is what the ClickHouse exporter of the OpenTelemetry Collector writes"
    " (a view may give other tables that form)"
)

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

_TEXT = r"(LowCardinality\()?(String|FixedString\(\d+\)|Enum(8|16)\(.*\))\)?"
_WHOLE = r"U?Int(8|16|32|64)"
_TIME = r"DateTime64\(9\b.*\)"
_PAIRS = r"Map\((LowCardinality\()?String\)?, (LowCardinality\()?String\)?\)|JSON(\(.*\))?"

_NEEDED: Mapping[Signal, Mapping[str, str]] = {
    "traces": {
        **dict.fromkeys(("TraceId", "SpanId", "ParentSpanId", "TraceState"), _TEXT),
        **dict.fromkeys(("SpanName", "SpanKind", "StatusCode", "StatusMessage"), _TEXT),
        **dict.fromkeys(("ServiceName", "ScopeName", "ScopeVersion"), _TEXT),
        **dict.fromkeys(("ResourceAttributes", "SpanAttributes"), _PAIRS),
        "Timestamp": _TIME,
        "Duration": _WHOLE,
        "Events.Timestamp": rf"Array\({_TIME}\)",
        **dict.fromkeys(("Events.Name", "Links.TraceId"), rf"Array\({_TEXT}\)"),
        **dict.fromkeys(("Links.SpanId", "Links.TraceState"), rf"Array\({_TEXT}\)"),
        **dict.fromkeys(("Events.Attributes", "Links.Attributes"), rf"Array\(({_PAIRS})\)"),
    },
    "logs": {
        **dict.fromkeys(("TraceId", "SpanId", "SeverityText", "Body"), _TEXT),
        **dict.fromkeys(("ServiceName", "ScopeName", "ScopeVersion"), _TEXT),
        **dict.fromkeys(("ResourceAttributes", "LogAttributes"), _PAIRS),
        **dict.fromkeys(("TraceFlags", "SeverityNumber"), _WHOLE),
        "Timestamp": _TIME,
    },
}
"""The columns that are read, each with the types it may have."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of the statements that a table's columns decide."""

    columns: str
    """The select list."""
    named: str
    """The condition that a row carries the name of an event; always so for spans."""
    weight: str
    """How many attributes a span will have in Gnomon's own table; of log records nobody asks."""


def shape_of(signal: Signal, types: Mapping[str, str], *, setting: str) -> Shape:
    """Return how a table is read, from its columns and their types.

    Raises ConfigError that names the setting and what the table lacks.
    """
    if not types:
        raise ConfigError(f"{setting}: there is no such table; name it as database.table")
    needed = _NEEDED[signal]
    lacking = [name for name in needed if not _type(name, types)]
    if lacking:
        raise ConfigError(f"{setting}: the table lacks {', '.join(lacking)}; {_EXPECTED}")
    odd = [
        f"{name} ({types[name]})"
        for name in needed
        if name in types and not re.fullmatch(needed[name], types[name])
    ]
    if odd:
        raise ConfigError(f"{setting}: columns of other types: {', '.join(odd)}; {_EXPECTED}")
    if signal == "traces":
        return Shape(_columns(_TRACES, types), named="true", weight=_weight(types))
    return Shape(_columns(_LOGS, types), named=_named(types), weight="0")


def _weight(types: Mapping[str, str]) -> str:
    held = (
        "arrayUniq(mapKeys(SpanAttributes))"
        if types["SpanAttributes"].startswith("Map")
        else "length(JSONAllPaths(SpanAttributes))"
    )
    return f"least({held}, {MAX_ATTRIBUTES})"


def _columns(texts: Sequence[str], types: Mapping[str, str]) -> str:
    return ", ".join(_column(text, types) for text in texts)


def _column(text: str, types: Mapping[str, str]) -> str:
    if text == "<EventName>":
        return "EventName" if "EventName" in types else "''"
    if not text.startswith("{"):
        return text
    name = text.strip("{}")
    if "JSON" not in _type(name, types):
        return f"`{name}`"
    if "." not in name:
        return f"toJSONString(`{name}`)"
    return f"arrayMap(a -> toJSONString(a), `{name}`)"


def _type(name: str, types: Mapping[str, str]) -> str:
    """Return the type of a column; of `Events.Name` that of `Events`, where a table keeps it whole."""
    return types.get(name) or types.get(name.partition(".")[0], "")


def _named(types: Mapping[str, str]) -> str:
    """`event.name` is where libraries of the time before the column put it."""
    held = (
        "mapContains(LogAttributes, 'event.name')"
        if types["LogAttributes"].startswith("Map")
        else "hasAny(JSONAllPaths(LogAttributes), ['event.name', 'event%2Ename'])"
    )
    return f"(EventName != '' OR {held})" if "EventName" in types else held
