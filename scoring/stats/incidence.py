"""Several ways to end: each with its own share, together with the survivors they make 1."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scoring.stats.arguments import count, finite, same_length, z_of
from scoring.stats.results import Estimate, Incidence, IncidenceRow
from scoring.stats.survival import log_log

CENSORED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What happened at one event time."""

    time: float
    at_risk: int
    events: Mapping[int, int]
    before: float
    """Share without any event just before."""

    @property
    def ended(self) -> int:
        return sum(self.events.values())


def incidence(
    t: Iterable[float], cause: Iterable[int], *, unit: str = "run", confidence: float = 0.95
) -> Incidence:
    """Return the share that ended by each cause over time (Aalen-Johansen).

    t: time until the end or until watching stopped, from 0, in one unit; cause: 0 still without
    an end (censored), 1, 2, … what ended it; competing ends are causes, never censoring. One row
    per time with an end of any cause, ties handled together; incidences and survivors add to 1.
    Limits by log-log of 1 - F, None where F is 0 or 1. Nobody: no rows, value None.
    Raises ValueError on unequal length, negative times, or a negative cause.
    Source: Aalen & Johansen 1978; variance as R survival::survfit(Surv(t, factor)).
    """
    times, causes = finite("t", t), [count("cause", kind) for kind in cause]
    same_length(t=times, cause=causes)
    if any(time < 0 for time in times):
        raise ValueError("t must not hold a negative time")
    z = z_of(confidence)
    steps = _steps(times, causes)
    kinds = sorted(set(causes) - {CENSORED})
    parts = {kind: _estimates(steps, kind, z) for kind in kinds}
    rows = [
        IncidenceRow(
            time=step.time,
            at_risk=step.at_risk,
            events=dict(step.events),
            survived=step.before * (1 - step.ended / step.at_risk),
            incidence={kind: parts[kind][place] for kind in kinds},
        )
        for place, step in enumerate(steps)
    ]
    survived = rows[-1].survived if rows else 1.0
    return Incidence(
        value=survived if times else None,
        low=None,
        high=None,
        n=len(times),
        unit=unit,
        method="aalen-johansen, log-log",
        confidence=confidence,
        rows=tuple(rows),
    )


def _steps(times: Sequence[float], causes: Sequence[int]) -> list[_Step]:
    """Return the event times in order with everybody at risk."""
    ordered = sorted(zip(times, causes, strict=True))
    steps = []
    share, place, n = 1.0, 0, len(ordered)
    while place < n:
        end = place
        events: dict[int, int] = {}
        while end < n and ordered[end][0] == ordered[place][0]:
            kind = ordered[end][1]
            if kind != CENSORED:
                events[kind] = events.get(kind, 0) + 1
            end += 1
        if events:
            at_risk = n - place
            step = _Step(time=ordered[place][0], at_risk=at_risk, events=events, before=share)
            steps.append(step)
            share *= 1 - step.ended / at_risk
        place = end
    return steps


def _estimates(steps: Sequence[_Step], kind: int, z: float) -> list[Estimate]:
    """Return the incidence of one cause at each step with its standard error and limits."""
    import numpy as np

    at_risk = np.array([float(step.at_risk) for step in steps])
    ended = np.array([float(step.ended) for step in steps])
    own = np.array([float(step.events.get(kind, 0)) for step in steps])
    before = np.array([step.before for step in steps])
    curve = np.cumsum(before * own / at_risk)
    p_own, p_other = own / at_risk, (ended - own) / at_risk
    left = at_risk - ended
    spread = np.divide(at_risk, left, out=np.zeros_like(left), where=left > 0)
    found = []
    for place, value in enumerate(curve):
        past = slice(place + 1)
        later = (value - curve[past]) * spread[past]
        a, b = before[past] - later, -later
        mean = a * p_own[past] + b * p_other[past]
        terms = (a**2 * p_own[past] + b**2 * p_other[past] - mean**2) / at_risk[past]
        found.append(_limited(min(1.0, float(value)), math.sqrt(max(0.0, float(terms.sum()))), z))
    return found


def _limited(value: float, se: float, z: float) -> Estimate:
    """Return an incidence with log-log limits of its complement."""
    low, high = log_log(1 - value, se, z)
    if low is None or high is None:
        return Estimate(value=value, se=se)
    return Estimate(value=value, low=min(1 - high, value), high=max(1 - low, value), se=se)


def incidence_at(found: Incidence, time: float, kind: int) -> Estimate:
    """Return the share that ended by one cause until a time; 0 without limits before any end.

    found: of `incidence`; time: in its unit; kind: the cause. No error.
    Source: Aalen & Johansen 1978.
    """
    past = [row for row in found.rows if row.time <= time]
    return past[-1].incidence.get(kind, Estimate(value=0.0)) if past else Estimate(value=0.0)
