"""Spans, logs and folds that are valid by default, for tests that state one truth."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from collector.folding.fold import Folded, fold_traces
from collector.folding.settling import Previous
from collector.spans import Event, LogRecord, Span
from collector.watched import Watched
from gnomon.clock import Nanos
from gnomon.model import Run, RunId, Step

TRACE = "a" * 32
SECOND = 1_000_000_000
START = Nanos(1_750_000_000 * SECOND)


def span_id(number: int) -> str:
    return f"{number:016x}"


def make_span(
    number: int = 1, parent: int | str = "", *, start: float = 0, seconds: float = 1, **changes: Any
) -> Span:
    """Return a span; attributes may be numbers and truth values."""
    begin = Nanos(START + round(start * SECOND))
    attributes = changes.pop("attributes", {})
    values: dict[str, Any] = {
        "trace_id": TRACE,
        "span_id": span_id(number),
        "parent_span_id": parent if isinstance(parent, str) else span_id(parent),
        "name": "work",
        "start": begin,
        "end": Nanos(begin + round(seconds * SECOND)),
        "attributes": {key: as_stored(value) for key, value in attributes.items()},
    }
    return Span(**(values | changes))


def make_event(name: str, at: float = 0, **attributes: str) -> Event:
    return Event(
        time=Nanos(START + round(at * SECOND)),
        name=name,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
    )


def make_log(name: str, span: Span, at: float = 0, **changes: Any) -> LogRecord:
    moment = Nanos(START + round(at * SECOND))
    values: dict[str, Any] = {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "time": moment,
        "observed": moment,
        "event_name": name,
        "attributes": {k: as_stored(v) for k, v in changes.pop("attributes", {}).items()},
    }
    return LogRecord(**(values | changes))


def as_stored(value: object) -> str:
    """Return a value as the text a map of the store holds."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def fold(
    spans: Iterable[Span],
    logs: Iterable[LogRecord] = (),
    *,
    watched: Mapping[str, Any] | None = None,
    previous: Sequence[Previous] = (),
    received: Mapping[str, int] | None = None,
    now: int = 0,
) -> Folded:
    return fold_traces(
        spans,
        logs,
        watched=Watched.model_validate(watched or {}),
        previous={RunId(before.run_id): before for before in previous},
        received={trace: Nanos(at) for trace, at in (received or {}).items()},
        now=Nanos(now),
    )


def step_of(span: Span, *logs: LogRecord, watched: Mapping[str, Any] | None = None) -> Step:
    """Return the step of a span that is alone in its trace."""
    return fold([span], logs, watched=watched).steps[0]


def read(attributes: Mapping[str, object], **changes: Any) -> Step:
    """Return the step of a span with these attributes."""
    return step_of(make_span(attributes=attributes, **changes))


def steps_of(*spans: Span, logs: Iterable[LogRecord] = ()) -> dict[int, Step]:
    """Return the steps of one trace by the number of their span."""
    return {int(step.span_id, 16): step for step in fold(spans, logs).steps}


def run_of(*spans: Span, logs: Iterable[LogRecord] = (), **how: Any) -> Run:
    """Return the one run of some spans."""
    (run,) = fold(spans, logs, **how).runs
    return run
