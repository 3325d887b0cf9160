"""Judge-assisted rates at the number of plain units they are worth."""

import math

from scoring.stats.arguments import number, share
from scoring.stats.rates import MOST_UNITS, around, clopper_pearson
from scoring.stats.results import Estimate


def at_effective_size(
    value: float,
    variance: float,
    *,
    fallback: float,
    confidence: float = 0.95,
) -> Estimate:
    """Return a judge-assisted rate with Clopper-Pearson limits at its effective size.

    value: rate, clipped to [0, 1] with flag `clipped`; variance: of it; fallback: units it is
    worth where value or variance leave n_eff = p(1-p)/V undefined. Result: fractions.
    Raises ValueError if the variance is negative or the fallback not positive.
    Source: Korn & Graubard 1998 in the form of Lee et al. 2025, arXiv 2511.21140.
    """
    variance = number("variance", variance)
    if variance < 0:
        raise ValueError(f"variance must not be negative, but is {variance!r}")
    p = min(1.0, max(0.0, number("value", value)))
    flags = () if math.isclose(p, value, abs_tol=1e-12) else ("clipped",)
    size = effective_size(p, variance) or number("fallback", fallback, above=0)
    exact = clopper_pearson(p * size, size, confidence=confidence)
    if exact is None or exact.low is None or exact.high is None:
        return Estimate(value=p, se=math.sqrt(variance), flags=flags)
    inside = around(p, exact.low, exact.high)
    return Estimate(value=p, low=inside.low, high=inside.high, se=math.sqrt(variance), flags=flags)


def effective_size(p: float, variance: float) -> float | None:
    """Return how many plain units a rate with this variance is worth: p(1-p)/V.

    p: rate in [0, 1]; variance >= 0. Rate 0 or 1, or no variance: None.
    Raises ValueError if p is outside [0, 1]. Source: Korn & Graubard 1998.
    """
    p = share("p", p)
    size = min(MOST_UNITS, p * (1 - p) / variance) if variance > 0 else 0.0
    return size if size > 0 else None


def flagged(found: Estimate, flag: str) -> Estimate:
    """Return the same estimate with one more flag."""
    return Estimate(
        value=found.value,
        low=found.low,
        high=found.high,
        se=found.se,
        df=found.df,
        flags=(*found.flags, flag),
    )
