"""Time, handed in: aware, UTC, half-open. Only this module asks the machine what time it is."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import NewType, get_args, get_type_hints

Nanos = NewType("Nanos", int)
"""A moment: nanoseconds since 1970-01-01 UTC. Span times need more digits than `datetime` has."""

LAST_MOMENT = Nanos(2**63 - 1)
"""2262-04-11: the last moment the store holds; spans that say they are later are kept as this."""

Clock = Callable[[], dt.datetime]

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


def utc_now() -> dt.datetime:
    """Return the present moment, aware and in UTC."""
    return dt.datetime.now(dt.UTC)


def to_nanos(moment: dt.datetime) -> Nanos:
    """Return an aware datetime as nanoseconds since 1970."""
    if moment.utcoffset() is None:
        raise ValueError("a moment needs an aware datetime")
    return Nanos((moment - _EPOCH) // _MICROSECOND * 1000)


def from_nanos(nanos: Nanos) -> dt.datetime:
    """Return nanoseconds since 1970 as a datetime; digits below a microsecond are cut."""
    return _EPOCH + dt.timedelta(microseconds=nanos // 1000)


def rfc3339(nanos: Nanos) -> str:
    """Return a moment as RFC 3339 text in UTC with nine digits, so that no digit is lost."""
    seconds, rest = divmod(nanos, 1_000_000_000)
    whole = _EPOCH + dt.timedelta(seconds=seconds)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A half-open span of time: `start` belongs to it, `end` does not."""

    start: dt.datetime
    end: dt.datetime

    def __post_init__(self) -> None:
        if self.start.utcoffset() is None or self.end.utcoffset() is None:
            raise ValueError("a window needs aware datetimes")
        if self.start >= self.end:
            raise ValueError(f"empty window: {self.start.isoformat()} .. {self.end.isoformat()}")

    def __str__(self) -> str:
        return f"{self.start:%Y-%m-%dT%H:%M:%SZ}/{self.end:%Y-%m-%dT%H:%M:%SZ}"


def moments(row_type: type) -> frozenset[str]:
    """Return the fields of a dataclass that hold a moment (`Nanos`, or `Nanos | None`)."""
    return frozenset(
        name
        for name, hint in get_type_hints(row_type).items()
        if hint is Nanos or Nanos in get_args(hint)
    )
