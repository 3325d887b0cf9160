"""Estimates from samples whose units do not count alike: strata, inclusion probabilities."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.stats.arguments import (
    count,
    finite,
    level,
    number,
    part,
    share,
    t_of,
)
from scoring.stats.rates import MOST_UNITS, around, clopper_pearson
from scoring.stats.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """A part of the frame: how many units it has, how many were graded, and what they gave."""

    size: int
    """N_h, units in the frame."""
    n: int
    """n_h, units graded."""
    mean: float
    variance: float
    """s_h^2, divisor n_h - 1."""

    def __post_init__(self) -> None:
        part("n", self.n, "size", self.size)
        number("mean", self.mean)
        number("variance", self.variance)
        if self.n < min(2, self.size):
            raise ValueError(
                f"a stratum of {self.size} has {self.n} graded: grade two, or merge strata"
            )
        if self.variance < 0:
            raise ValueError(f"variance must not be negative, but is {self.variance!r}")

    @property
    def census(self) -> bool:
        """Whether every unit was graded."""
        return self.n == self.size


def rate_stratum(size: int, n: int, x: int) -> Stratum:
    """Return the stratum of x successes among n graded of `size` units.

    Counts; s^2 = n/(n-1) p (1-p). Raises ValueError unless x <= n <= size, and n >= 2 wherever
    n < size (merge strata then). Source: Cochran, Sampling Techniques, section 3.2.
    """
    x, n = part("x", x, "n", n)
    p = x / n if n else 0.0
    return Stratum(size=size, n=n, mean=p, variance=n / (n - 1) * p * (1 - p) if n > 1 else 0.0)


def value_stratum(size: int, y: Iterable[float]) -> Stratum:
    """Return the stratum of the graded values y among `size` units.

    y: values in any unit. Raises ValueError as `rate_stratum`. Source: Cochran, section 2.3.
    """
    values = finite("y", y)
    n = len(values)
    mean = math.fsum(values) / n if n else 0.0
    spread = math.fsum((value - mean) ** 2 for value in values)
    return Stratum(size=size, n=n, mean=mean, variance=spread / (n - 1) if n > 1 else 0.0)


def kish(w: Iterable[float]) -> float | None:
    """Return how many equally weighted units the weighted ones are worth.

    w: weights, none negative. Result: units, (sum w)^2 / sum w^2. No weight above 0 gives None.
    Raises ValueError if a weight is negative or not finite.
    Source: Kish 1965, Survey Sampling, section 11.7.
    """
    weights = finite("w", w)
    if any(weight < 0 for weight in weights):
        raise ValueError("w must not hold a negative weight")
    largest = max(weights, default=0.0)
    if largest == 0:
        return None
    scaled = [weight / largest for weight in weights]  # so that nothing over- or underflows
    return math.fsum(scaled) ** 2 / math.fsum(weight**2 for weight in scaled)


def korn_graubard(
    p: float,
    variance: float,
    n: int,
    df: float,
    *,
    worth: float | None = None,
    clustered: bool = False,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return a survey rate with Clopper-Pearson limits at its effective sample size.

    p: rate in [0, 1]; variance: of p; n: graded units (count); df: n - strata, or clusters - 1;
    worth: units the sample is worth when the variance is 0 (Kish of the weights, or the number
    of clusters; n unless told); clustered: the effective size is capped at n.
    Result: fractions with se and df. n = 0 gives None. With spread but df or n - 1 under 1 there
    is no interval (flag `few_units`).
    Raises ValueError if p is outside [0, 1] or a size is negative.
    Source: Korn & Graubard 1998, Survey Methodology 24:193; R survey svyciprop(method="beta").
    """
    p, n = share("p", p), count("n", n)
    variance = number("variance", variance)
    if variance < 0:
        raise ValueError(f"variance must not be negative, but is {variance!r}")
    level(confidence)
    if n == 0:
        return None
    se = math.sqrt(variance)
    if variance == 0 or p in {0.0, 1.0}:
        effective = float(n) if worth is None else number("worth", worth, above=0)
    elif n < 2 or df < 1:
        return Estimate(value=p, se=se, df=df, flags=("few_units",))
    else:
        ratio = t_of(confidence, n - 1) / t_of(confidence, df)
        effective = min(MOST_UNITS, p * (1 - p) / variance * ratio**2)
    if clustered:
        effective = min(effective, float(n))
    return _at_size(p, effective, se, df, confidence)


def _at_size(p: float, effective: float, se: float, df: float, confidence: float) -> Estimate:
    """Return p with Clopper-Pearson limits at a real-valued sample size."""
    exact = clopper_pearson(p * effective, effective, confidence=confidence)
    if exact is None or exact.low is None or exact.high is None:
        return Estimate(value=p, se=se, df=df, flags=("few_units",))
    inside = around(p, exact.low, exact.high)
    return Estimate(value=p, low=inside.low, high=inside.high, se=se, df=df)


def stratified(strata: Sequence[Stratum], *, confidence: float = 0.95) -> Estimate | None:
    """Return the mean of a stratified sample with Student's interval.

    strata: mean and variance in any unit (the result has the same). df = graded units - strata.
    Everything graded: the value is exact, low = high, flag `census`. A sampled stratum but no
    spread: no interval, flag `no_spread`. No unit in the frame gives None.
    Raises ValueError if the confidence is outside (0.5, 1).
    Source: Cochran, Sampling Techniques, 5.2: V = sum w^2 (1 - n/N) s^2 / n.
    """
    level(confidence)
    value, variance = stratified_moments(strata)
    if value is None:
        return None
    if all(stratum.census for stratum in strata):
        return Estimate(value=value, low=value, high=value, se=0.0, flags=("census",))
    return student(value, variance, degrees(strata), confidence)


def degrees(strata: Sequence[Stratum]) -> int:
    """Return graded units less strata that have any."""
    return sum(stratum.n - 1 for stratum in strata if stratum.n > 0)


def stratified_moments(strata: Sequence[Stratum]) -> tuple[float | None, float]:
    """Return the stratified mean and its variance; None without a unit."""
    total = sum(stratum.size for stratum in strata)
    if total == 0:
        return None, 0.0
    filled = [stratum for stratum in strata if stratum.n > 0]
    value = math.fsum(stratum.size / total * stratum.mean for stratum in filled)
    variance = math.fsum(
        (stratum.size / total) ** 2 * (1 - stratum.n / stratum.size) * stratum.variance / stratum.n
        for stratum in filled
    )
    return value, variance


def student(value: float, variance: float, df: float, confidence: float) -> Estimate:
    """Return a value with its t-interval; without spread or degrees it has none."""
    se = math.sqrt(variance)
    if variance == 0:
        return Estimate(value=value, se=se, df=df, flags=("no_spread",))
    if df < 1:
        return Estimate(value=value, se=se, df=df, flags=("few_units",))
    reach = t_of(confidence, df) * se
    return Estimate(value=value, low=value - reach, high=value + reach, se=se, df=df)


def stratified_rate(strata: Sequence[Stratum], *, confidence: float = 0.95) -> Estimate | None:
    """Return the rate of a stratified sample with Korn-Graubard limits.

    strata: from `rate_stratum`. Result: fractions. Everything graded: low = high, flag `census`.
    No unit in the frame gives None. Raises ValueError if a mean is no rate.
    Source: Cochran 5.2 for the variance; Korn & Graubard 1998 for the limits.
    """
    level(confidence)
    value, variance = stratified_moments(strata)
    if value is None:
        return None
    value = min(1.0, value)
    if all(stratum.census for stratum in strata):
        return Estimate(value=value, low=value, high=value, se=0.0, flags=("census",))
    return korn_graubard(
        value,
        variance,
        sum(stratum.n for stratum in strata),
        degrees(strata),
        worth=worth_of(strata),
        confidence=confidence,
    )


def worth_of(strata: Sequence[Stratum]) -> float | None:
    """Return `kish` of graded units that stand for N_h/n_h units each; None where none is graded."""
    filled = [stratum for stratum in strata if stratum.n > 0]
    squares = math.fsum(stratum.size**2 / stratum.n for stratum in filled)
    return sum(stratum.size for stratum in filled) ** 2 / squares if squares else None


def ungraded_bounds(
    strata: Sequence[tuple[int, int, int, int]], *, confidence: float = 0.95
) -> tuple[Estimate | None, Estimate | None]:
    """Return a stratified rate with everything selected but ungraded failed, then passed.

    strata: (units in the frame, graded, successes, selected but ungraded) each (counts). Nobody
    who was selected is dropped. Edges and errors as `rate_stratum` and `stratified_rate`.
    Source: worst and best case.
    """
    worst = [rate_stratum(size, n + left, x) for size, n, x, left in strata]
    best = [rate_stratum(size, n + left, x + left) for size, n, x, left in strata]
    return (
        stratified_rate(worst, confidence=confidence),
        stratified_rate(best, confidence=confidence),
    )
