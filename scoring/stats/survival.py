"""How long until the event, when not everybody has been watched to the end."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Protocol, cast

from scoring.stats.arguments import finite, same_length, z_of
from scoring.stats.results import Curve, Estimate, SurvivalRow, Test

HALF_SLACK = 1e-9
"""S(t) = .5 exactly counts as reached, although the product may come out a bit above."""
LEAST_AT_RISK = 10
"""Charts stop where fewer are at risk."""

Observation = tuple[float, float, bool]
"""Entry, time, event."""


def survival(
    t: Iterable[float],
    event: Iterable[bool],
    entry: Iterable[float] | None = None,
    *,
    unit: str = "run",
    confidence: float = 0.95,
) -> Curve:
    """Return the share without the event over time (Kaplan-Meier) with log-log limits.

    t: time until the event or until watching ended, from 0, in one unit; event: whether it was
    the event; entry: time at which watching began (delayed entry), before t. At risk at t_i:
    entry < t_i <= t. One row per event time. Where S is 0 or 1 there are no limits (use the
    closed cohort), and where S is 0 no standard error. Nobody: no rows, value None.
    Raises ValueError on unequal length, negative times, or entry >= t.
    Source: Kaplan & Meier 1958; Greenwood 1926; scipy.stats.ecdf without `entry`, the product
    limit with it.
    """
    observed = observations(t, event, entry)
    z = z_of(confidence)
    rows = event_rows(observed, z)
    if entry is None and rows:
        rows = _as_ecdf(observed, rows, confidence)
    last = rows[-1] if rows else None
    return Curve(
        value=(last.survival if last else 1.0) if observed else None,
        low=last.low if last else None,
        high=last.high if last else None,
        n=len(observed),
        unit=unit,
        method="kaplan-meier, log-log",
        confidence=confidence,
        rows=tuple(rows),
        last_time=max((time for _, time, _ in observed), default=None),
    )


def observations(
    t: Iterable[float], event: Iterable[bool], entry: Iterable[float] | None
) -> list[Observation]:
    """Return checked (entry, time, event) triples in order of time."""
    times, happened = finite("t", t), [bool(value) for value in event]
    begun = [-1.0] * len(times) if entry is None else finite("entry", entry)
    same_length(t=times, event=happened, entry=begun)
    if any(time < 0 for time in times):
        raise ValueError("t must not hold a negative time")
    if any(start >= time for start, time in zip(begun, times, strict=True)):
        raise ValueError("entry must lie before t")
    return sorted(zip(begun, times, happened, strict=True), key=lambda seen: seen[1])


def event_rows(observed: Sequence[Observation], z: float) -> list[SurvivalRow]:
    """Return the product limit at each event time with Greenwood's error."""
    rows = []
    share, greenwood = 1.0, 0.0
    for time, at_risk, events in risk_table(observed):
        share *= 1 - events / at_risk
        greenwood += events / (at_risk * (at_risk - events)) if at_risk > events else math.inf
        se = share * math.sqrt(greenwood) if share > 0 else None
        low, high = log_log(share, se, z)
        rows.append(
            SurvivalRow(
                time=time,
                at_risk=at_risk,
                events=events,
                survival=share,
                se=se,
                low=low,
                high=high,
            )
        )
    return rows


def risk_table(observed: Sequence[Observation]) -> list[tuple[float, int, int]]:
    """Return (time, at risk, events) for each time with an event, in order."""
    entries = sorted(start for start, _, _ in observed)
    ends = [time for _, time, _ in observed]
    events: dict[float, int] = {}
    for _, time, happened in observed:
        if happened:
            events[time] = events.get(time, 0) + 1
    return [
        (time, bisect_left(entries, time) - bisect_left(ends, time), count)
        for time, count in sorted(events.items())
    ]


def log_log(share: float, se: float | None, z: float) -> tuple[float, float] | tuple[None, None]:
    """Return S^exp(+-z se / (S ln S)); without spread, or at 0 and 1, there are no limits."""
    if se is None or se == 0 or not 0 < share < 1:
        return None, None
    reach = z * se / (share * math.log(share))  # negative
    low, high = share ** math.exp(-reach), share ** math.exp(reach)
    return min(low, share), max(high, share)


class _Steps(Protocol):
    """A step function of scipy, whose stubs call it a number."""

    def evaluate(self, x: Sequence[float]) -> Iterable[float]:
        """Return its values at x."""
        ...


def _as_ecdf(
    observed: Sequence[Observation], rows: Sequence[SurvivalRow], confidence: float
) -> list[SurvivalRow]:
    """Return the rows with curve and limits from scipy, asked only where they are defined.

    Who left before the first event is in no risk set, and where S reaches 0 there is no limit;
    asking scipy there makes it warn about the whole curve.
    """
    defined = [row for row in rows if row.survival > 0]
    if not defined:
        return list(rows)
    from scipy import stats

    first, end = rows[0].time, rows[-1].time if rows[-1].survival == 0 else math.inf
    kept = [(time, happened and time < end) for _, time, happened in observed if time >= first]
    times, censored = [time for time, _ in kept], [not happened for _, happened in kept]
    curve = stats.ecdf(stats.CensoredData.right_censored(times, censored)).sf
    limits = curve.confidence_interval(confidence, method="log-log")
    low_curve, high_curve = cast("tuple[_Steps, _Steps]", (limits.low, limits.high))
    asked = [row.time for row in defined]
    found = zip(
        defined,
        curve.evaluate(asked),
        low_curve.evaluate(asked),
        high_curve.evaluate(asked),
        strict=True,
    )
    taken = [
        SurvivalRow(
            time=row.time,
            at_risk=row.at_risk,
            events=row.events,
            survival=float(share),
            se=row.se,
            low=min(float(low), float(share)),
            high=max(float(high), float(share)),
        )
        for row, share, low, high in found
    ]
    return [*taken, *rows[len(taken) :]]


def survival_at(curve: Curve, time: float) -> Estimate | None:
    """Return the share without the event at one time, with the limits of that step.

    curve: of `survival`; time: in its unit. Before the first event: 1 without limits. Nobody,
    or beyond the last time anybody was watched: None. No error. Source: Kaplan & Meier 1958.
    """
    if curve.last_time is None or time > curve.last_time:
        return None
    past = [row for row in curve.rows if row.time <= time]
    if not past:
        return Estimate(value=1.0)
    row = past[-1]
    return Estimate(value=row.survival, low=row.low, high=row.high, se=row.se)


def median_time(curve: Curve) -> float | None:
    """Return the first time at which half have had the event.

    curve: of `survival`; result in its unit. S(t) = .5 counts. Never reached: None, so print
    "> last time". No error. Source: Kaplan & Meier 1958; slack 1e-9.
    """
    reached = (row.time for row in curve.rows if row.survival <= 0.5 + HALF_SLACK)
    return next(reached, None)


def charted(curve: Curve, *, least: int = LEAST_AT_RISK) -> Sequence[SurvivalRow]:
    """Return the rows a chart may show: while `least` are at risk. No error."""
    kept = []
    for row in curve.rows:
        if row.at_risk < least:
            break
        kept.append(row)
    return kept


def logrank(
    t1: Iterable[float], event1: Iterable[bool], t2: Iterable[float], event2: Iterable[bool]
) -> Test | None:
    """Return the log-rank test of two curves. A hint on a chart, never a verdict.

    t1, event1, t2, event2: as `survival`, per group. An empty group, or no event, or nothing that
    could differ: None. Raises ValueError as `survival`.
    Source: Mantel 1966; scipy.stats.logrank.
    """
    first, second = observations(t1, event1, None), observations(t2, event2, None)
    both = sorted([*first, *second], key=lambda seen: seen[1])
    mixed = [
        row
        for row in risk_table(both)
        if row[1] > 1 and 0 < sum(time >= row[0] for _, time, _ in first) < row[1]
    ]
    if not any(at_risk > events for _, at_risk, events in mixed):
        return None
    from scipy import stats

    groups = [
        stats.CensoredData.right_censored(
            [time for _, time, _ in group], [not happened for _, _, happened in group]
        )
        for group in (first, second)
    ]
    found = stats.logrank(groups[0], groups[1])
    return Test(statistic=float(found.statistic), p=float(found.pvalue))
