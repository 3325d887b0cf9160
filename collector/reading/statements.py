"""Where SQL varies: column lists from row types, conditions from a filter. All from closed sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import orjson

from collector.short import ID, NAME, short
from collector.spans import LogRecord, Span
from collector.views import FACETS, Among, RunFilter, RunPosition
from gnomon.model import Step
from gnomon.store.statements import NANOS, Where, columns

LARGE = ("request_params", "tool_arguments", "tool_result", "query")
"""Texts of a step that may be long; a list leaves out those above `LARGE_TEXT`."""

LARGE_TEXT = 16 * 1024


SPAN_COLUMNS = """trace_id, span_id, parent_span_id, trace_state, name, kind,
    toUnixTimestamp64Nano(start) AS start, toUnixTimestamp64Nano(end) AS end,
    status_code, status_message, resource, attributes, scope_name, scope_version,
    arrayMap(t -> toUnixTimestamp64Nano(t), `events.time`) AS event_times,
    `events.name` AS event_names, `events.attributes` AS event_attributes,
    `links.trace_id` AS link_traces, `links.span_id` AS link_spans,
    `links.attributes` AS link_attributes,
    dropped_attributes, dropped_events, dropped_links"""
"""In the order in which `collector.reading.rows.span` takes them."""


SAME_AGENT = "agent_path = {agent_path:Array(String)}"
SAME_TOOL = "tool_name = {tool_name:String} AND status = 'ok'"
"""Which earlier step one is compared with."""


def step_columns(*, whole: bool) -> str:
    """Return the select list of steps; unless `whole`, long texts are NULL and named."""
    listed = columns(Step)
    if whole:
        return listed
    for name in LARGE:
        listed = listed.replace(
            f" {name},", f" if(length({name}) > {LARGE_TEXT}, NULL, {name}) AS {name},"
        )
    left_out = ", ".join(f"if(length({name}) > {LARGE_TEXT}, '{name}', '')" for name in LARGE)
    return f"{listed}, arrayFilter(n -> n != '', [{left_out}]) AS left_out"


def log_columns() -> str:
    """Return the select list of log records."""
    return columns(LogRecord)


def span_columns() -> str:
    """Return the select list of spans."""
    assert all(f.name in SPAN_COLUMNS for f in fields(Span) if f.compare)
    return SPAN_COLUMNS


def where(filter_: RunFilter) -> Where:
    """Compile a filter."""
    found = Where()
    for name, compile_one in _CONDITIONS.items():
        value = getattr(filter_, name)
        if value is not None:
            compile_one(found, value)
    for number, (key, value) in enumerate(sorted(filter_.business_keys.items())):
        found.add(
            # The first half is what the index serves.
            f"has(mapValues(business_keys), {{value{number}:String}})"
            f" AND business_keys[{{key{number}:String}}] = {{value{number}:String}}",
            **{f"key{number}": key, f"value{number}": short(value, ID)},
        )
    return found


def faceted(filter_: RunFilter) -> tuple[Where, Mapping[str, str]]:
    """Compile a filter without its facets, and for each facet the conditions of all others.

    The parameters of all of them are with the first.
    """
    nothing: dict[str, Any] = dict.fromkeys(FACETS)
    found = where(replace(filter_, **nothing))
    own: dict[str, str] = {}
    for facet in FACETS:
        value = getattr(filter_, facet)
        if value is not None:
            asked = Where()
            _CONDITIONS[facet](asked, value)
            own[facet] = asked.text
            found.params.update(asked.params)
    others: dict[str, str] = {
        facet: " AND ".join(text for name, text in own.items() if name != facet) or "true"
        for facet in FACETS
    }
    return found, others


def behind(found: Where, position: RunPosition, *, newer: bool) -> None:
    """Add the condition that a row stands behind (or before) a position."""
    sign = ">" if newer else "<"
    at = NANOS.format(name="position")
    found.add(
        f"started_at {sign}= {at} AND (started_at, run_id) {sign} ({at}, {{position_id:String}})",
        position=position.started_at,
        position_id=position.run_id,
    )


_AT_PLACES = """(started_at, run_id) IN (
    SELECT fromUnixTimestamp64Nano(place.1, 'UTC'), place.2
    FROM (SELECT arrayJoin(JSONExtract({places:String}, 'Array(Tuple(Int64, String))')) AS place)
)"""


def _places(found: Where, value: Sequence[RunPosition]) -> None:
    text = orjson.dumps([[place.started_at, place.run_id] for place in value]).decode()
    found.add(_AT_PLACES, places=text)


def _is(column: str, most: int = NAME) -> Callable[[Where, str], None]:
    def add(found: Where, value: str) -> None:
        found.add(f"{column} = {{{column}:String}}", **{column: short(str(value), most)})

    return add


def _has(column: str) -> Callable[[Where, str], None]:
    def add(found: Where, value: str) -> None:
        found.add(f"has({column}, {{{column}:String}})", **{column: short(value, NAME)})

    return add


def _since(found: Where, value: int) -> None:
    found.add(f"started_at >= {NANOS.format(name='since')}", since=value)


def _until(found: Where, value: int) -> None:
    found.add(f"started_at < {NANOS.format(name='until')}", until=value)


def _error_type(found: Where, value: str) -> None:
    found.add(
        "(has(error_types, {error_type:String}) OR error_type = {error_type:String})",
        error_type=short(value, NAME),
    )


def _text(found: Where, value: str) -> None:
    # LIKE and not position(): it is what the index of trigrams serves.
    escaped = value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    found.add("search LIKE lowerUTF8({text:String})", text=f"%{escaped}%")


def _among(found: Where, value: Among) -> None:
    found.add(f"run_id IN {value.sql}", **value.params)


_CONDITIONS: dict[str, Callable[[Where, Any], None]] = {
    "since": _since,
    "until": _until,
    "origin": _is("origin"),
    "status": _is("status"),
    "state": _is("state"),
    "agent": _is("agent_name"),
    "version": _is("agent_version"),
    "environment": _is("environment"),
    "error_type": _error_type,
    "model": _has("models"),
    "tool": _has("tools"),
    "conversation_id": _is("conversation_id", ID),
    "text": _text,
    "among": _among,
    "places": _places,
}
"""Field of the filter to its condition; the names of facets are among them."""
