"""Units that come in groups, and ratios of two sums: what varies is the group."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from scoring.stats.arguments import count, finite, level, same_length, t_of
from scoring.stats.paired import tango, tango_at
from scoring.stats.results import Estimate
from scoring.stats.weighted import korn_graubard, student


def cluster_mean(
    sums: Iterable[float],
    sizes: Iterable[int],
    *,
    clusters: int | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return the mean per unit where units come in clusters, with Student's interval.

    sums: total of each cluster in any unit; sizes: units of each cluster (counts); clusters: how
    many the frame has, if known (finite population correction). df = clusters seen - 1. Fewer
    than two clusters have no interval (flag `few_clusters`), equal ones neither (`no_spread`);
    all clusters of the frame seen: low = high, flag `census`. No unit gives None.
    Raises ValueError on unequal length, or more clusters seen than there are.
    Source: Cochran, Sampling Techniques, 9A; R survey svymean.
    """
    value, variance, seen = _cluster_moments(sums, sizes, clusters)
    level(confidence)
    if value is None:
        return None
    if seen == clusters:
        return Estimate(value=value, low=value, high=value, se=0.0, flags=("census",))
    if seen < 2:
        return Estimate(value=value, flags=("few_clusters",))
    return student(value, variance, seen - 1, confidence)


def cluster_rate(
    sums: Iterable[int],
    sizes: Iterable[int],
    *,
    clusters: int | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return the share of units with a property where units come in clusters.

    sums: units with it per cluster, sizes: units per cluster (counts); clusters as
    `cluster_mean`. Result: fractions with Korn-Graubard limits, effective size at most the
    number of units, and the number of clusters when there is no spread. No unit gives None;
    one cluster has only the width of one observation.
    Raises ValueError if a sum exceeds its size.
    Source: Korn & Graubard 1998, Survey Methodology 24:193.
    """
    passed = [count("sums", value) for value in sums]
    units = [count("sizes", value) for value in sizes]
    same_length(sums=passed, sizes=units)
    if any(x > m for x, m in zip(passed, units, strict=True)):
        raise ValueError("sums must not exceed sizes")
    value, variance, seen = _cluster_moments(passed, units, clusters)
    level(confidence)
    if value is None:
        return None
    if seen == clusters:
        return Estimate(value=value, low=value, high=value, se=0.0, flags=("census",))
    return korn_graubard(
        value,
        variance,
        sum(units),
        seen - 1,
        worth=seen,
        clustered=True,
        confidence=confidence,
    )


def _cluster_moments(
    sums: Iterable[float], sizes: Iterable[int], clusters: int | None
) -> tuple[float | None, float, int]:
    """Return mean per unit, its variance, and how many clusters were seen."""
    totals, units = finite("sums", sums), [count("sizes", size) for size in sizes]
    same_length(sums=totals, sizes=units)
    filled = [(y, m) for y, m in zip(totals, units, strict=True) if m > 0]
    seen, all_units = len(filled), sum(units)
    if clusters is not None and seen > count("clusters", clusters):
        raise ValueError(f"{seen} clusters were seen, but clusters is {clusters}")
    if not filled:
        return None, 0.0, 0
    mean = math.fsum(y for y, _ in filled) / all_units
    if seen < 2:
        return mean, 0.0, seen
    off = math.fsum((y - mean * m) ** 2 for y, m in filled)
    if off <= 1e-24 * math.fsum(y**2 for y, _ in filled):
        off = 0.0  # what summing equal clusters in floats leaves behind
    left = 1.0 if clusters is None else 1 - seen / clusters
    return mean, seen / (seen - 1) * off / all_units**2 * left, seen


def paired_clusters(
    clusters: Sequence[Sequence[int]], *, confidence: float = 0.95
) -> Estimate | None:
    """Return the paired difference of two pass rates where pairs come in clusters.

    clusters: per cluster its pairs, 1 only the new, -1 only the old passed, 0 the same.
    Result: fraction in [-1, 1]; the wider of Tango over pairs and the cluster mean, end by end,
    if any cluster has more than one pair. Clusters without spread: Tango at the number of
    clusters; one cluster with several pairs: no interval, flag `few_clusters`. No pair: None.
    Raises ValueError if a difference is not -1, 0 or 1.
    Source: Tango 1998; cluster mean with t, G - 1 degrees.
    """
    filled = [pairs for pairs in clusters if pairs]
    d = list(chain.from_iterable(filled))
    if any(value not in {-1, 0, 1} for value in d):
        raise ValueError("clusters must hold -1, 0 and 1 only")
    n, groups = len(d), len(filled)
    b, c = d.count(1), d.count(-1)
    pairs = tango(b, c, n, confidence=confidence)
    if pairs is None or n == groups:
        return pairs
    by_cluster = cluster_mean(
        [sum(pairs) for pairs in filled], [len(pairs) for pairs in filled], confidence=confidence
    )
    if by_cluster is None or groups < 2:
        return Estimate(value=pairs.value, flags=("few_clusters",))
    if by_cluster.low is None:
        by_cluster = tango_at(b * groups / n, c * groups / n, groups, confidence=confidence)
    return wider(pairs, by_cluster)


def wider(first: Estimate, second: Estimate | None) -> Estimate:
    """Return the first value with the lower low and the higher high, within -1 and 1."""
    lows = [known.low for known in (first, second) if known and known.low is not None]
    highs = [known.high for known in (first, second) if known and known.high is not None]
    return Estimate(
        value=first.value,
        low=max(-1.0, min(lows)) if lows else None,
        high=min(1.0, max(highs)) if highs else None,
        se=None if second is None else second.se,
        df=None if second is None else second.df,
    )


def ratio(c: Iterable[float], s: Iterable[float], *, confidence: float = 0.95) -> Estimate | None:
    """Return a sum per sum, such as money per success, with Fieller's interval.

    c, s: numerator and denominator per unit, in their units (the result is one per the other);
    s not negative. sum s = 0 gives None: "spent $X, solved none". One unit has no interval
    (flag `one_unit`), no spread neither (`no_spread`); Fieller's g >= 1: flag
    `denominator_weak`, no interval.
    Raises ValueError on unequal length, or if a value is not finite or an s is negative.
    Source: Fieller 1954, JRSS B 16:175; SE by Taylor linearisation (Cochran 2.11).
    """
    above, below = finite("c", c), finite("s", s)
    n = same_length(c=above, s=below)
    if any(value < 0 for value in below):
        raise ValueError("s must not hold a negative value")
    pairs = pairs_of(above, below) if n else NO_PAIRS
    value = pairs.c / pairs.s if pairs.s else 0.0
    off = math.fsum((ci - value * si) ** 2 for ci, si in zip(above, below, strict=True))
    none = 1e-24 * math.fsum(ci**2 for ci in above)
    return _ratio(pairs, off, none, confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Numerator c and denominator s of n units: their sums, variances and covariance (over n)."""

    n: int
    c: float
    s: float
    cc: float
    cs: float
    ss: float


NO_PAIRS = Pairs(n=0, c=0, s=0, cc=0, cs=0, ss=0)


def pairs_of(above: Sequence[float], below: Sequence[float]) -> Pairs:
    """Return what `ratio_of` needs of numerators and denominators, one of each per unit."""
    n, c, s = len(above), math.fsum(above), math.fsum(below)
    off = [(one - c / n, other - s / n) for one, other in zip(above, below, strict=True)]
    return Pairs(
        n=n, c=c, s=s, cc=math.fsum(a * a for a, _ in off) / n,
        cs=math.fsum(a * b for a, b in off) / n, ss=math.fsum(b * b for _, b in off) / n,
    )  # fmt: skip


def ratio_of(pairs: Pairs, *, confidence: float = 0.95) -> Estimate | None:
    """Return `ratio` of units that are added up already: money by the million rows stays in the store.

    Same answers, flags and source as `ratio`; s not negative. The spread about the ratio R is
    n (V_cc - 2 R V_cs + R^2 V_ss), since c - R s has the mean 0.
    """
    n = pairs.n
    value = pairs.c / pairs.s if pairs.s else 0.0
    off = n * math.fsum((pairs.cc, -2 * value * pairs.cs, value**2 * pairs.ss))
    none = _ROUNDING * n * (pairs.cc + (pairs.c / n) ** 2) if n else 0.0
    return _ratio(pairs, off, none, confidence)


def _ratio(pairs: Pairs, off: float, none: float, confidence: float) -> Estimate | None:
    """Return the ratio; off: its spread; none: up to which spread that is rounding alone."""
    level(confidence)
    if pairs.n == 0 or pairs.s == 0:
        return None
    n, value = pairs.n, pairs.c / pairs.s
    if n == 1:
        return Estimate(value=value, flags=("one_unit",))
    if off <= none:
        return Estimate(value=value, se=0.0, df=n - 1, flags=("no_spread",))
    se = math.sqrt(n / (n - 1) * off) / pairs.s
    return _fieller(pairs, value, se, t_of(confidence, n - 1))


_ROUNDING = 1e-14
"""Spread, as a share of the sum of squares, that is left of none by rounding of variances."""


def _fieller(pairs: Pairs, value: float, se: float, t: float) -> Estimate:
    """Return the ratio with the limits at which numerator - R denominator stops differing from 0."""
    n = pairs.n
    vcc, vcs, vss = (one / (n - 1) for one in (pairs.cc, pairs.cs, pairs.ss))
    mean = pairs.s / n
    per_variance = (t / mean) ** 2  # g / V_ss, defined also where the denominator does not vary
    g = per_variance * vss
    if g >= 1:
        return Estimate(value=value, se=se, df=n - 1, flags=("denominator_weak",))
    inside = vcc - 2 * value * vcs + value**2 * vss - (g * vcc - per_variance * vcs**2)
    middle = value - per_variance * vcs
    reach = t / mean * math.sqrt(max(0.0, inside))
    low, high = (middle - reach) / (1 - g), (middle + reach) / (1 - g)
    return Estimate(value=value, low=min(low, value), high=max(high, value), se=se, df=n - 1)
