"""Units drawn with unequal, known probabilities: totals, means and rates over the frame."""

import math
from collections.abc import Iterable

from scoring.stats.arguments import count, finite, inclusion, level, same_length, share
from scoring.stats.results import Estimate
from scoring.stats.weighted import kish, korn_graubard, student


def horvitz_thompson(
    y: Iterable[float], pi: Iterable[float], *, confidence: float = 0.95
) -> Estimate | None:
    """Return the total over the frame from units drawn with known probabilities.

    y: values in any unit; pi: probability with which each was drawn, in (0, 1]. Result: sum y/pi
    with se sqrt(sum (1 - pi)(y/pi)^2) and t with n - 1 degrees; all pi = 1 is a `census`.
    No unit gives None. Raises ValueError on unequal length or pi outside (0, 1].
    Source: Horvitz & Thompson 1952; variance of Poisson sampling.
    """
    values, drawn = finite("y", y), inclusion("pi", pi)
    n = same_length(y=values, pi=drawn)
    level(confidence)
    if n == 0:
        return None
    pairs = list(zip(values, drawn, strict=True))
    total = math.fsum(value / chance for value, chance in pairs)
    if min(drawn) == 1:
        return Estimate(value=total, low=total, high=total, se=0.0, flags=("census",))
    variance = math.fsum((1 - chance) * (value / chance) ** 2 for value, chance in pairs)
    return student(total, variance, n - 1, confidence)


def hajek(
    y: Iterable[float], pi: Iterable[float], *, strata: int = 1, confidence: float = 0.95
) -> Estimate | None:
    """Return the mean over the frame from units drawn with known probabilities.

    y: values in any unit; pi: probability with which each was drawn, in (0, 1]; strata: count,
    df = n - strata. Result: sum(y/pi) / sum(1/pi) with its t-interval; all pi = 1 is a `census`.
    No unit gives None. Raises ValueError on unequal length or pi outside (0, 1].
    Source: Hajek 1971; SE = sqrt(sum (1 - pi)((y - m)/pi)^2) / sum(1/pi).
    """
    value, variance, n, census = _hajek_moments(y, pi)
    level(confidence)
    if value is None:
        return None
    if census:
        return Estimate(value=value, low=value, high=value, se=0.0, flags=("census",))
    return student(value, variance, n - count("strata", strata), confidence)


def hajek_rate(
    y: Iterable[float], pi: Iterable[float], *, strata: int = 1, confidence: float = 0.95
) -> Estimate | None:
    """Return the rate over the frame from units drawn with known probabilities.

    y: 1 or 0 per unit; pi, strata as `hajek`. Result: fractions with Korn-Graubard limits; all
    pi = 1 is a `census`. No unit gives None. Raises ValueError also if a y is outside [0, 1].
    Source: Hajek 1971; Korn & Graubard 1998.
    """
    values, drawn = [share("y", value) for value in y], list(pi)
    value, variance, n, census = _hajek_moments(values, drawn)
    level(confidence)
    if value is None:
        return None
    if census:
        return Estimate(value=value, low=value, high=value, se=0.0, flags=("census",))
    worth = kish(1 / chance for chance in drawn)
    df = n - count("strata", strata)
    return korn_graubard(min(1.0, value), variance, n, df, worth=worth, confidence=confidence)


def _hajek_moments(
    y: Iterable[float], pi: Iterable[float]
) -> tuple[float | None, float, int, bool]:
    """Return mean, its variance, the number of units, and whether all of the frame is there."""
    values, drawn = finite("y", y), inclusion("pi", pi)
    n = same_length(y=values, pi=drawn)
    if n == 0:
        return None, 0.0, 0, False
    pairs = list(zip(values, drawn, strict=True))
    frame = math.fsum(1 / chance for chance in drawn)
    mean = math.fsum(value / chance for value, chance in pairs) / frame
    off = math.fsum((1 - chance) * ((value - mean) / chance) ** 2 for value, chance in pairs)
    return mean, off / frame**2, n, min(drawn) == 1
