"""Detectors for live numbers: they page rarely by promise, and quickly when it matters."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scoring.stats.arguments import count, evidence, finite, inner_share, number
from scoring.stats.rates import interval, wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 1e300
"""Evidence beyond it is no more evidence."""
POINTS = 3_000
"""Grid points of ln M."""
MOST_POINTS = 1_000_000
MOST_STATES = 5_000
"""So many states make a matrix of 200 MB."""


def reference_rate(x: int, n: int) -> float | None:
    """Return p0: the upper end of the 80 % Wilson interval of the reference period.

    x failures of n units (counts), same weekday and hour. Result: fraction; n = 0 gives None.
    Raises ValueError unless 0 <= x <= n. Source: Wilson 1927.
    """
    found = wilson(x, n, confidence=0.8)
    return None if found is None else interval(found)[2]


def alternative_rate(p0: float) -> float:
    """Return the default q to be detected: p0 + min(2 p0, .10), a fraction under 1.

    p0: in (0, 1). Raises ValueError if p0 is outside, or leaves no room above it.
    Source: the house's default.
    """
    p0 = inner_share("p0", p0)
    return inner_share("q", p0 + min(2 * p0, 0.10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """What a detector showed after each observation; places count from 0."""

    values: Sequence[float]
    alarm: int | None
    """First observation at which it alarmed."""
    since: int
    """First observation of the evidence behind the alarm, or behind the present value."""


def _rates(p0: float, q: float) -> tuple[float, float]:
    """Return the rate in control and the higher one to be detected."""
    p0, q = inner_share("p0", p0), inner_share("q", q)
    if q <= p0:
        raise ValueError(f"q must lie above p0 = {p0:g}, not {q:g}")
    return p0, q


def bernoulli_cusum(
    x: Iterable[bool], p0: float, q: float, threshold: float, *, start: float = 1.0
) -> Path:
    """Return the likelihood-ratio CUSUM of failures: M = max(M, 1) LR.

    x: failure (1) or not, in order of arrival; p0, q: rate in control and to be detected;
    threshold: alarm at M >= A > 1 (of `calibrated_threshold`); start: M so far. Result: M after
    each unit, without restart, at most 1e300, the first alarm, and where its evidence began.
    Raises ValueError unless 0 < p0 < q < 1 and A > 1.
    Source: Page 1954; Shin, Ramdas & Rinaldo 2022 (e-detectors).
    """
    p0, q = _rates(p0, q)
    limit = number("threshold", threshold, above=1)
    failure, success = q / p0, (1 - q) / (1 - p0)
    (m,), since = evidence("start", [start]), 0
    values: list[float] = []
    alarm = None
    for place, failed in enumerate(x):
        if m <= 1 and alarm is None:
            since = place
        m = min(LARGEST, max(m, 1.0) * (failure if failed else success))
        values.append(m)
        if m >= limit and alarm is None:
            alarm = place
    return Path(values=tuple(values), alarm=alarm, since=since)


def wanted_run_length(weeks: float, units_per_week: float, slices: int = 1) -> float:
    """Return the in-control run length that keeps "at most one false alarm per X weeks".

    weeks: X > 0; units_per_week: > 0; slices: that share the promise. Result: units,
    X units slices. Raises ValueError if an argument is not positive. Source: a product.
    """
    product = number("weeks", weeks, above=0) * number("units_per_week", units_per_week, above=0)
    return product * number("slices", slices, above=0)


def run_length(
    threshold: float, p: float, p0: float, q: float, *, points: int = POINTS
) -> float | None:
    """Return the mean number of units until `bernoulli_cusum` alarms, when the rate is p.

    threshold: A > 1; p: true rate in [0, 1]; p0, q: as there; points: states of ln M, >= 2.
    Result: units. A rate at which it cannot alarm gives None.
    Raises ValueError unless 0 < p0 < q < 1 and A > 1.
    Source: Brook & Evans 1972, Markov chain on a grid, nearest point, L = (I - Q)^-1 1.
    """
    p0, q = _rates(p0, q)
    p = number("p", p)
    if not 0 <= p <= 1:
        raise ValueError(f"p must lie in [0, 1], not {p!r}")
    top = math.log(number("threshold", threshold, above=1))
    size = count("points", points)
    if not 2 <= size <= MOST_POINTS:
        raise ValueError(f"points must lie between 2 and {MOST_POINTS}, not {points!r}")
    if p == 0:
        return None
    import numpy as np
    from scipy import sparse
    from scipy.sparse import linalg

    step = top / (size - 1)
    states = np.arange(size)
    up = states * step + math.log(q / p0)
    down = np.maximum(states * step + math.log((1 - q) / (1 - p0)), 0.0)
    rows, columns, chances = [states], [np.rint(down / step).astype(int)], [np.full(size, 1 - p)]
    kept = up < top
    rows.append(states[kept])
    columns.append(np.minimum(np.rint(up[kept] / step).astype(int), size - 1))
    chances.append(np.full(int(kept.sum()), p))
    inside = sparse.coo_matrix(
        (np.concatenate(chances), (np.concatenate(rows), np.concatenate(columns))),
        shape=(size, size),
    )
    matrix = (sparse.identity(size) - inside).tocsc()
    lengths = linalg.spsolve(matrix, np.ones(size))
    found = float(lengths[0])
    return found if math.isfinite(found) and found > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """When a detector alarms, and what it costs; both thresholds are stored and shown."""

    guaranteed: float
    """A = ARL0 keeps the promise without any computation."""
    calibrated: float
    """The smallest A that keeps it by the Markov chain."""
    in_control: float | None
    """Units until a false alarm at the calibrated A."""
    delay: float | None
    """Units until the alarm at the calibrated A, when the rate is q."""


def calibrated_threshold(p0: float, q: float, arl0: float) -> Threshold:
    """Return the smallest threshold that keeps a promised in-control run length.

    p0, q: as `bernoulli_cusum`; arl0: wanted mean units until a false alarm, > 1. Result: A, to
    a relative 1e-3. Raises ValueError unless 0 < p0 < q < 1 and arl0 > 1.
    Source: Brook & Evans 1972; geometric bisection of A in (1, ARL0].
    """
    p0, q = _rates(p0, q)
    wanted = number("arl0", arl0, above=1)
    low, high = 0.0, math.log(wanted)
    while high - low > 1e-3:
        middle = (low + high) / 2
        reached = run_length(math.exp(middle), p0, p0, q)
        if reached is None or reached >= wanted:
            high = middle
        else:
            low = middle
    best = math.exp(high)
    return Threshold(
        guaranteed=wanted,
        calibrated=best,
        in_control=run_length(best, p0, p0, q),
        delay=run_length(best, q, p0, q),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSided:
    """The upper and lower sums after each value, and the first alarm (place from 0)."""

    high: Sequence[float]
    low: Sequence[float]
    alarm: int | None


def tabular_cusum(x: Iterable[float], target: float, k: float, h: float) -> TwoSided:
    """Return the two-sided tabular CUSUM of a score, a log latency or a log cost.

    x: values in order of arrival; target: mean in control; k: allowance, half the shift to be
    seen; h: alarm at S > h; all in the unit of x, k >= 0, h > 0. No value: no alarm.
    Raises ValueError if a number is not finite, k is negative or h not positive.
    Source: Page 1954; NIST/SEMATECH e-Handbook 6.3.2.3.
    """
    values, middle = finite("x", x), number("target", target)
    allowance, limit = number("k", k), number("h", h, above=0)
    if allowance < 0:
        raise ValueError(f"k must not be negative, but is {k!r}")
    highs: list[float] = []
    lows: list[float] = []
    up = down = 0.0
    for value in values:
        up = max(0.0, up + value - middle - allowance)
        down = max(0.0, down + middle - value - allowance)
        highs.append(up)
        lows.append(down)
    over = (place for place, pair in enumerate(zip(highs, lows, strict=True)) if max(pair) > limit)
    return TwoSided(high=tuple(highs), low=tuple(lows), alarm=next(over, None))


def cusum_arl_normal(k: float, h: float, delta: float = 0.0, m: int = 400) -> float:
    """Return the mean number of values until a one-sided CUSUM of a normal score alarms.

    k, h: allowance and limit, delta: shift, all in standard deviations, h > 0; m: states.
    Result: values; two-sided in control is half. Raises ValueError if h or m is not positive.
    Source: Brook & Evans 1972; L = (I - P)^-1 1, L_0.
    """
    k, h, delta = number("k", k), number("h", h, above=0), number("delta", delta)
    states = count("m", m)
    if not 1 <= states <= MOST_STATES:
        raise ValueError(f"m must lie between 1 and {MOST_STATES}, not {m!r}")
    import numpy as np
    from scipy import special

    width = 2 * h / (2 * states + 1)
    place = np.arange(states + 1)
    apart = (place[None, :] - place[:, None]) * width + k - delta
    matrix = _between(special.ndtr(apart + width / 2), special.ndtr(apart - width / 2))
    lengths = np.linalg.solve(np.eye(states + 1) - matrix, np.ones(states + 1))
    return float(lengths[0])


def _between(upper: "NDArray[np.float64]", lower: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return the chance of each state; state 0 takes everything below."""
    lower[:, 0] = 0.0
    return upper - lower
