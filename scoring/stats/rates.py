"""Shares of independent units: one, two, none seen, and not all known yet."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring.stats.arguments import count, inner_share, level, number, part, z_of
from scoring.stats.results import Estimate, Rate
from scoring.stats.shown import shown_rate

LEAST_UNITS = 1e-3
"""Under so much of one success the lower limit is below 1e-600: the smallest float is larger."""
MOST_UNITS = 1e12
"""More units than this move no limit that is ever printed, and overflow the quantile."""


def wilson(x: int, n: int, *, confidence: float = 0.95) -> Estimate | None:
    """Return a share with its Wilson interval: the reading aid of the pages.

    x: successes, n: units (counts). Result: fractions; x = 0 has low exactly 0, x = n high
    exactly 1. n = 0 gives None.
    Raises ValueError unless 0 <= x <= n and 0.5 < confidence < 1.
    Source: Wilson 1927, JASA 22:209. Equals scipy.stats.binomtest, whose import would cost the
    first page a second: only the normal quantile is needed, and the standard library has it.
    """
    x, n = part("x", x, "n", n)
    z = z_of(confidence)
    if n == 0:
        return None
    whole = 2 * (n + z**2)
    middle = (2 * x + z**2) / whole
    reach = z / whole * math.sqrt(4 * x * (n - x) / n + z**2)
    low = 0.0 if x == 0 else middle - reach
    high = 1.0 if x == n else middle + reach
    return around(x / n, low, high)


def clopper_pearson(x: float, n: float, *, confidence: float = 0.95) -> Estimate | None:
    """Return a share with its exact interval: for gates and floors, at least the stated level.

    x: successes, n: units; real numbers are allowed (effective sizes). Result: fractions;
    x = 0 has low exactly 0, x = n high exactly 1. n = 0 gives None.
    Raises ValueError unless 0 <= x <= n and 0.5 < confidence < 1.
    Source: Clopper & Pearson 1934, Biometrika 26:404; limits are beta quantiles.
    """
    x, n = number("x", x), number("n", n)
    level(confidence)
    if not 0 <= x <= n:
        raise ValueError(f"x is {x:g}, but n is {n:g}")
    if n == 0:
        return None
    from scipy import special  # what scipy.stats.beta asks, at a third of its time to import

    tail = (1 - confidence) / 2
    value, size = x / n, min(n, MOST_UNITS)
    seen, missed = value * size, (1 - value) * size
    low = 0.0 if seen < LEAST_UNITS else float(special.betaincinv(seen, missed + 1, tail))
    high = 1.0 if missed < LEAST_UNITS else float(special.betainccinv(seen + 1, missed, tail))
    return around(value, low, high)


def around(value: float, low: float, high: float) -> Estimate:
    """Return an estimate whose limits hold the value to the last bit."""
    return Estimate(value=value, low=min(low, value), high=max(high, value))


def from_0(found: Estimate | None) -> Estimate | None:
    """Return an estimate of what is never negative (money, steps, time): its lower limit neither."""
    if found is None or found.low is None or found.low >= 0:
        return found
    return replace(found, low=0.0)


def zero_event_upper(n: int, *, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a rate after n units without an event.

    n: units seen (count). Result: fraction, 1 - alpha^(1/n); 0 of 300 gives 0.00994.
    n = 0 gives 1. Raises ValueError if n is negative.
    Source: Hanley & Lippman-Hand 1983, JAMA 249:1743; 3/n is only a rule of thumb.
    """
    n = count("n", n)
    alpha = 1 - level(confidence)
    return 1.0 if n == 0 else -math.expm1(math.log(alpha) / n)


def zero_exposure_upper(exposure: float, *, confidence: float = 0.95) -> float | None:
    """Return the one-sided upper bound of events per unit of exposure after none was seen.

    exposure: hours, calls, … (a positive amount; the result is per that unit). No exposure
    gives None: nothing is bounded. Raises ValueError if it is negative or not finite.
    Source: Poisson, -ln(alpha) / T.
    """
    alpha = 1 - level(confidence)
    exposure = number("exposure", exposure)
    if exposure < 0:
        raise ValueError(f"exposure must not be negative, but is {exposure!r}")
    return None if exposure == 0 else -math.log(alpha) / number("exposure", exposure, above=0)


def runs_for_zero(p: float, *, confidence: float = 0.95) -> int:
    """Return how many clean runs show that a rate is under p.

    p: fraction in (0, 1). Result: the smallest n with (1-p)^n <= alpha: 59 for 5 %, 299 for 1 %.
    Raises ValueError if p is not between 0 and 1.
    Source: closed form of `zero_event_upper`.
    """
    p = inner_share("p", p)
    wanted = math.log(1 - level(confidence)) / math.log1p(-p)
    nearest = round(wanted)
    whole = nearest if math.isclose(wanted, nearest, rel_tol=1e-12) else math.ceil(wanted)
    return max(1, whole)


def newcombe(x1: int, n1: int, x2: int, n2: int, *, confidence: float = 0.95) -> Estimate | None:
    """Return the difference of two independent rates, first minus second.

    x1 of n1, x2 of n2 (counts). Result: fraction in [-1, 1] with the hybrid score interval.
    Either n = 0 gives None.
    Raises ValueError unless 0 <= x <= n on both sides.
    Source: Newcombe 1998, Statistics in Medicine 17:873, method 10.
    """
    x1, n1 = part("x1", x1, "n1", n1)
    x2, n2 = part("x2", x2, "n2", n2)
    first, second = wilson(x1, n1, confidence=confidence), wilson(x2, n2, confidence=confidence)
    if first is None or second is None:
        return None
    p1, l1, u1 = interval(first)
    p2, l2, u2 = interval(second)
    d = p1 - p2
    low = d - math.hypot(p1 - l1, u2 - p2)
    high = d + math.hypot(u1 - p1, p2 - l2)
    return around(d, max(-1.0, low), min(1.0, high))


def interval(estimate: Estimate) -> tuple[float, float, float]:
    """Return value, low and high of an estimate that has all three."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        raise ValueError(f"no interval: {', '.join(estimate.flags) or 'undefined'}")
    return estimate.value, estimate.low, estimate.high


def open_bounds(x: int, n: int, open: int) -> Estimate | None:  # noqa: A002 - the word of the house
    """Return what a rate can still become: from x/n to (x + open)/n.

    x: already successes, n: all units, open: units not decided yet (counts). Result: fractions;
    the value is None while anything is open. n = 0 gives None.
    Raises ValueError if x + open > n or a count is negative.
    Source: worst and best case; nothing is dropped.
    """
    x, n = part("x", x, "n", n)
    undecided, _ = part("open", open, "n - x", n - x)
    if n == 0:
        return None
    value = x / n if undecided == 0 else None
    return Estimate(value=value, low=x / n, high=(x + undecided) / n)


def rate(
    x: int,
    n: int,
    *,
    unit: str,
    gate: bool = False,
    excluded: Mapping[str, int] | None = None,
    open: int = 0,  # noqa: A002 - the name of the field
    confidence: float = 0.95,
    flags: Sequence[str] = (),
) -> Rate:
    """Return x of n as it may be shown: Wilson on a page, Clopper-Pearson in a gate or floor.

    x, n: counts of independent units, `unit` what one is; excluded: count by reason. n = 0 has
    value None and limits 0 and 1. Raises ValueError unless 0 <= x <= n.
    Source: Wilson 1927; Clopper & Pearson 1934.
    """
    make = clopper_pearson if gate else wilson
    return shown_rate(
        make(x, n, confidence=confidence),
        n=n,
        unit=unit,
        method="clopper-pearson" if gate else "wilson",
        excluded=excluded,
        open=open,
        confidence=confidence,
        flags=flags,
    )
