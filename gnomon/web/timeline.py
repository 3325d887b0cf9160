"""Time cut into widths: what a chart or a strip covers, and where its points stand."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from collector.views import Deploy, RunBucket
from gnomon.clock import Nanos, from_nanos
from gnomon.web.svg import Mark

SECOND = 1_000_000_000
_WIDTHS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800, 2_592_000)
_MOST = 61
_LEAST = 8
"""So many points are always drawn."""
_HOURS = (1, 2, 3, 4, 6, 12, 24, 48, 72, 120, 168, 360, 720, 1440, 2160, 4320, 8760)
_STEPS = (60, 300, 600, 900, 1800, *(hours * 3600 for hours in _HOURS))
"""Seconds between labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A length of time to look back, and the width of its points."""

    name: str
    words: str
    seconds: int
    width: int
    """Seconds."""


PERIODS: dict[str, Period] = {
    "1h": Period(name="1h", words="hour", seconds=3600, width=60),
    "24h": Period(name="24h", words="24 hours", seconds=86_400, width=1800),
    "3d": Period(name="3d", words="3 days", seconds=3 * 86_400, width=2 * 3600),
    "7d": Period(name="7d", words="7 days", seconds=7 * 86_400, width=6 * 3600),
    "30d": Period(name="30d", words="30 days", seconds=30 * 86_400, width=86_400),
    "90d": Period(name="90d", words="90 days", seconds=90 * 86_400, width=3 * 86_400),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Half-open [since, until), both multiples of the width since 1970."""

    since: Nanos
    until: Nanos
    width: int
    """Nanoseconds."""
    year: int
    """The present one: days of another are written with theirs."""

    @property
    def starts(self) -> Sequence[int]:
        """Where each point's time begins."""
        return range(self.since, self.until, self.width)

    def beginning(self, points: Sequence[object | None]) -> "Timeline":
        """Return the part from just before the first point that has something."""
        first = next((place for place, point in enumerate(points) if point is not None), 0)
        kept = max(0, min(first - 1, len(self.starts) - _LEAST))
        return replace(self, since=Nanos(self.since + kept * self.width))

    def ticks(self) -> Sequence[tuple[int, str]]:
        """Return which points are labelled, and how: even times, and always the last point."""
        starts = self.starts
        span = self.until - self.since
        step = next(
            (s * SECOND for s in _STEPS if span <= 7 * s * SECOND and not s * SECOND % self.width),
            self.width * -(-len(starts) // 6),
        )
        day = min(step, 86_400 * SECOND)
        base = next((start for start in starts if start % day == 0), starts[0])
        even = [index for index, start in enumerate(starts) if (start - base) % step == 0]
        last, room = len(starts) - 1, max(1, len(starts) // 9)
        kept = [index for index in even if last - index > room]
        if not kept or kept[0] > room:
            kept = [0, *kept] if last else kept
        return [(index, self._label(starts[index])) for index in [*kept, last]]

    def _label(self, start: int) -> str:
        when = from_nanos(Nanos(start))
        day = self._day(when)
        if self.width >= 86_400 * SECOND or (when.hour, when.minute) == (0, 0):
            return day
        return (
            f"{day} {when:%H:%M}" if self.until - self.since > 86_400 * SECOND else f"{when:%H:%M}"
        )

    def _day(self, when: dt.datetime) -> str:
        year = "" if when.year == self.year else f" {when.year}"
        return f"{when.day} {when:%b}{year}"

    @property
    def each(self) -> str:
        """The width of a point in words, to stand behind `per`."""
        seconds = self.width // SECOND
        for size, noun in ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
            if seconds >= size and seconds % size == 0:
                return noun if seconds == size else f"{seconds // size} {noun}s"
        return f"{seconds} seconds"

    def name(self, start: int) -> str:
        """Return the words for a point's time, as in `9 Oct 14:00–14:30`."""
        begin = from_nanos(Nanos(start))
        end = from_nanos(Nanos(start + self.width))
        day = self._day(begin)
        if self.width >= 86_400 * SECOND:
            last = from_nanos(Nanos(start + self.width - SECOND))
            return day if last.date() == begin.date() else f"{day} – {self._day(last)}"
        shape = "%H:%M:%S" if self.width < 60 * SECOND else "%H:%M"
        return f"{day} {begin:{shape}}–{end:{shape}}"

    def fill(self, buckets: Iterable[RunBucket]) -> Sequence[RunBucket | None]:
        """Return one entry a point; None where no run started."""
        known = {bucket.start: bucket for bucket in buckets}
        return [known.get(Nanos(start)) for start in self.starts]

    def marks(self, deploys: Sequence[Deploy], *, slots: bool) -> Sequence[Mark]:
        """Return deploy marks at their place among the points; the agent where there are several."""
        several = len({one.agent for one in deploys}) > 1
        shift = 0.5 if slots else 0.0
        last = len(self.starts) - (0.5 if slots else 1)
        return [
            Mark(
                max(-0.5 if slots else 0.0, min(last, (one.at - self.since) / self.width - shift)),
                f"{one.agent} {one.version}" if several else f"{one.version} starts",
            )
            for one in deploys
            if self.since <= one.at < self.until
        ]

    def partial(self, now: Nanos) -> bool:
        """Whether the last point's time is not over."""
        return now < self.until


def timeline(since: Nanos, until: Nanos, *, now: Nanos) -> Timeline:
    """Return the timeline that covers [since, until) with at most 61 points."""
    span = max(1, until - since)
    seconds = next((w for w in _WIDTHS if span / (w * SECOND) <= _MOST - 1), _WIDTHS[-1])
    while span / (seconds * SECOND) > _MOST - 1:
        seconds *= 2
    width = seconds * SECOND
    first = since // width * width
    last = -(-until // width) * width
    return Timeline(
        since=Nanos(first),
        until=Nanos(max(last, first + width)),
        width=width,
        year=from_nanos(now).year,
    )


def back_from(now: Nanos, period: Period) -> Timeline:
    """Return the timeline of a period that ends with the point `now` lies in."""
    width = period.width * SECOND
    until = now // width * width + width
    return Timeline(
        since=Nanos(until - period.seconds * SECOND // width * width),
        until=Nanos(until),
        width=width,
        year=from_nanos(now).year,
    )
