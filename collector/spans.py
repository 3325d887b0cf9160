"""Spans and log records as they are read back from the store: text values, nothing interpreted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gnomon.clock import Nanos

FLAGS_ATTRIBUTE = "gnomon.ingest.flags"
"""Attribute in which the receiver notes what it had to mend: comma text of step flags."""

SENT_FLAGS_ATTRIBUTE = "gnomon.ingest.flags.sent"
"""Where that attribute is kept when a sender sets it: it is not believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One span event."""

    time: Nanos
    name: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One span link; ids in lower-case hex."""

    trace_id: str
    span_id: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One de-duplicated span. Ids are lower-case hex (32, 16, 16 characters; parent '' at a root).

    Attribute values are text as ClickHouse maps hold them: numbers in decimal, booleans `true` and
    `false`, arrays and maps as JSON text, bytes as base64.
    """

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    trace_state: str = ""
    name: str = ""
    kind: str = "Unspecified"
    start: Nanos
    end: Nanos
    status_code: str = "Unset"
    """`Unset`, `Ok` or `Error`."""
    status_message: str = ""
    resource: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    scope_name: str = ""
    scope_version: str = ""
    events: Sequence[Event] = ()
    links: Sequence[Link] = ()
    dropped_attributes: int = 0
    dropped_events: int = 0
    dropped_links: int = 0
    version: str = field(default="", compare=False)
    """The store's own name for this content of the span; '' for a span that no store gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One log record that belongs to a trace. `body` is text (maps as JSON text)."""

    trace_id: str
    span_id: str
    time: Nanos
    observed: Nanos
    event_name: str = ""
    """`LogRecord.event_name`, else the attribute `event.name`, else ''."""
    severity: int = 0
    body: str = ""
    resource: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    scope_name: str = ""
