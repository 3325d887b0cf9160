"""Outcomes inside a window: what is closed, what is still open, and what can be read early."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scoring.stats.arguments import number
from scoring.stats.quantiles import quantile
from scoring.stats.rates import rate
from scoring.stats.results import Estimate, Rate
from scoring.stats.survival import survival

LATE_QUANTILE = 0.99

RunTimes = tuple[float, float | None]
"""Start of a run and time of its event, or None; one unit, one origin for all."""


def is_closed(start: float, window: float, watermark: float) -> bool:
    """Return whether the outcome of a run can no longer change.

    start: t0; window: W > 0; watermark: time to which the source was read without gaps, whatever
    the clock says (one unit, one origin). Raises ValueError if the window is not positive or a time not
    finite. Source: t0 + W <= watermark.
    """
    return _end(start, window) <= number("watermark", watermark)


def _end(start: float, window: float) -> float:
    """Return t0 + W, checked."""
    return number("start", start) + number("window", window, above=0)


def closing_time(start: float, window: float, delays: Iterable[float]) -> float | None:
    """Return when a run closes whose source has a delay but no watermark: t0 + W + L.

    start, window: as `is_closed`; delays: known delays of the source; one unit. L is their 99th
    percentile by nearest rank; no delay known gives None.
    Raises ValueError if the window is not positive or a delay not finite.
    Source: convention of the house.
    """
    late = quantile(delays, LATE_QUANTILE)
    end = _end(start, window)
    return None if late is None else end + late


def in_window(start: float, window: float, event: float) -> bool:
    """Return whether an event lies in (0, W] after the start.

    Exactly W counts, a microsecond later does not. Times in one unit.
    Raises ValueError if the window is not positive or a time not finite. Source: convention of the house.
    """
    return start < number("event", event) <= _end(start, window)


class Position(StrEnum):
    """Where an event lies that is known only up to its polling interval."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    BOUNDARY_UNKNOWN = "boundary unknown"


def position(start: float, window: float, not_before: float, not_after: float) -> Position:
    """Return where an event in (not_before, not_after] lies; count a straddling one both ways.

    Times in one unit. Raises ValueError if the interval is empty or the window not positive.
    Source: (0, W] after the start.
    """
    if number("not_after", not_after) <= number("not_before", not_before):
        raise ValueError("not_before must lie before not_after")
    end = _end(start, window)
    if not_after <= start or not_before >= end:
        return Position.OUTSIDE
    inside = start <= not_before and not_after <= end
    return Position.INSIDE if inside else Position.BOUNDARY_UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """The outcome of some runs, in the order in which it is printed."""

    closed: Rate
    """The headline: closed runs with an event in the window, of closed runs."""
    early: Estimate | None
    """1 - S(W) over all runs that were watched at all."""
    open_share: float | None
    closes_at: float | None
    """Earliest time at which the whole cohort is closed."""


def cohort(
    runs: Iterable[RunTimes],
    window: float,
    watermark: float,
    *,
    unit: str = "run",
    confidence: float = 0.95,
) -> Cohort:
    """Return closed cohort, early read, open share and closing time of some runs.

    runs: (start, event or None), in one unit and origin, grouped by start and never by arrival;
    window, watermark: as `is_closed`. Result: fractions; no closed run: value None, 0 to 1.
    Raises ValueError if the window is not positive or a time not finite. Source: closed cohort; Kaplan & Meier 1958.
    """
    all_runs = list(runs)
    return Cohort(
        closed=closed_cohort(all_runs, window, watermark, unit=unit, confidence=confidence),
        early=early_read(all_runs, window, watermark, confidence=confidence),
        open_share=open_share(all_runs, window, watermark),
        closes_at=max((start + window for start, _ in all_runs), default=None),
    )


def closed_cohort(
    runs: Sequence[RunTimes],
    window: float,
    watermark: float,
    *,
    unit: str = "run",
    confidence: float = 0.95,
) -> Rate:
    """Return the share of closed runs with an event in the window; the others are `open`.

    Arguments, edges and errors as `cohort`. Source: Wilson 1927 on closed runs.
    """
    closed = [run for run in runs if is_closed(run[0], window, watermark)]
    events = sum(event is not None and in_window(start, window, event) for start, event in closed)
    return rate(events, len(closed), unit=unit, open=len(runs) - len(closed), confidence=confidence)


def early_read(
    runs: Sequence[RunTimes], window: float, watermark: float, *, confidence: float = 0.95
) -> Estimate | None:
    """Return 1 - S(W) over all runs: unbiased while most are still open.

    time = min(event lag, W, watermark - start), censored unless the event lies inside the window
    and before the watermark. Runs that start at or after the watermark were not watched. Limits
    from the log-log interval, None where S is 0 or 1. Nobody watched to the end of the window:
    value None, flag `watched_too_short`. Nobody watched at all: None. Errors as `cohort`. Source: Kaplan & Meier 1958.
    """
    times, events = [], []
    for start, event in runs:
        watched = min(_end(start, window), number("watermark", watermark)) - start
        lag = None if event is None else number("event", event) - start
        if watched <= 0:
            continue
        happened = lag is not None and 0 < lag <= watched
        times.append(lag if happened and lag is not None else watched)
        events.append(happened)
    curve = survival(times, events, confidence=confidence)
    if curve.value is None or curve.last_time is None:
        return None
    if curve.last_time < window and curve.value > 0:
        return Estimate(value=None, flags=("watched_too_short",))
    ends = curve.rows[-1] if curve.rows else None
    if ends is None or ends.low is None or ends.high is None:
        return Estimate(value=1 - curve.value, se=None if ends is None else ends.se)
    return Estimate(value=1 - curve.value, low=1 - ends.high, high=1 - ends.low, se=ends.se)


def open_share(runs: Sequence[RunTimes], window: float, watermark: float) -> float | None:
    """Return the share of runs whose outcome can still change; no run gives None.

    Arguments and errors as `cohort`. Source: t0 + W > watermark.
    """
    if not runs:
        return None
    return sum(not is_closed(start, window, watermark) for start, _ in runs) / len(runs)
