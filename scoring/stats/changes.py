"""What changed: when, in which slice, and whether it was the mix or the rate."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.stats.arguments import (
    count,
    evidence,
    finite,
    inner_share,
    number,
    part,
    same_length,
    share,
    shares,
)
from scoring.stats.results import Test

SHUFFLES = 9_999
LEAST_FOR_PSI = 200


def bocpd(x: Iterable[bool], hazard: float, a: float = 1.0, b: float = 1.0) -> list[float]:
    """Return how likely each run length is after a series of 0 and 1. For reading, never paging.

    x: observations in order; hazard: chance of a change at each, in (0, 1); a, b: beta prior of
    the rate, > 0. Result: probabilities of 0, 1, … n observations since the last change; they
    add to 1. No observation: [1]. Raises ValueError if an argument is outside its range.
    Source: Adams & MacKay 2007, arXiv 0710.3742, with beta-Bernoulli predictions.
    """
    h = inner_share("hazard", hazard)
    a, b = number("a", a, above=0), number("b", b, above=0)
    import numpy as np

    lengths, ones, zeros = np.array([1.0]), np.array([a]), np.array([b])
    for seen in x:
        chance = (ones if seen else zeros) / (ones + zeros)
        joint = lengths * chance
        lengths = np.concatenate(([joint.sum() * h], joint * (1 - h)))
        lengths /= lengths.sum()
        ones = np.concatenate(([a], ones + bool(seen)))
        zeros = np.concatenate(([b], zeros + (not seen)))
    return [float(value) for value in lengths]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHinkley:
    """The statistic after each value, and the first place (from 0) at which it passed."""

    values: Sequence[float]
    alarm: int | None


def page_hinkley(x: Iterable[float], delta: float, threshold: float) -> PageHinkley:
    """Return the Page-Hinkley statistic. It has no calibrated threshold: charts only.

    x: values in order; delta: tolerated drift; threshold: lambda > 0; all in the unit of x.
    Result: m_t - min(m, 0) with m_t = sum(x_i - running mean including x_i - delta).
    Raises ValueError if a number is not finite or the threshold not positive.
    Source: Page 1954; Hinkley 1971.
    """
    values, slack = finite("x", x), number("delta", delta)
    limit = number("threshold", threshold, above=0)
    total = m = lowest = 0.0
    path: list[float] = []
    for place, value in enumerate(values, start=1):
        total += value
        m += value - total / place - slack
        lowest = min(lowest, m)
        path.append(m - lowest)
    over = (place for place, value in enumerate(path) if value > limit)
    return PageHinkley(values=tuple(path), alarm=next(over, None))


def mix_drift(
    reference: Sequence[int], current: Sequence[int], *, seed: int, shuffles: int = SHUFFLES
) -> Test | None:
    """Return the permutation chi-squared test of "the mix of inputs is the same".

    reference, current: counts per category, same order. Result: statistic and p. A side without
    units, or only one category: None. Raises ValueError on unequal length or negative counts.
    Source: Pearson 1900; scipy.stats.chi2_contingency with PermutationMethod.
    """
    same_length(reference=reference, current=current)
    pairs = [
        (count("reference", old), count("current", new))
        for old, new in zip(reference, current, strict=True)
    ]
    kept = [pair for pair in pairs if sum(pair) > 0]
    if len(kept) < 2 or not all(map(sum, zip(*kept, strict=True))):
        return None
    import numpy as np
    from scipy import stats

    method = stats.PermutationMethod(n_resamples=shuffles, rng=np.random.default_rng(seed))
    found = stats.chi2_contingency(np.array(kept).T, correction=False, method=method)
    return Test(statistic=float(found.statistic), p=float(found.pvalue))


def psi(reference: Sequence[int], current: Sequence[int]) -> float | None:
    """Return the population stability index. Never an alarm; show `psi_null_mean` beside it.

    reference, current: counts per bin, same order. Under 200 units on a side, or an empty bin,
    give None. Raises ValueError on unequal length or negative counts.
    Source: sum (q - p) ln(q/p).
    """
    same_length(reference=reference, current=current)
    old = [count("reference", value) for value in reference]
    new = [count("current", value) for value in current]
    if min(sum(old), sum(new)) < LEAST_FOR_PSI or 0 in {*old, *new}:
        return None
    pairs = [(p / sum(old), q / sum(new)) for p, q in zip(old, new, strict=True)]
    return math.fsum((q - p) * math.log(q / p) for p, q in pairs)


def psi_null_mean(bins: int, n: int, m: int) -> float | None:
    """Return the mean of the stability index when nothing changed.

    bins: B >= 1; n, m: units on both sides (counts). Result: (B - 1)(1/n + 1/m). No unit on a
    side gives None. Raises ValueError if a count is negative or bins is 0.
    Source: Yurdakul 2018.
    """
    b, n, m = count("bins", bins), count("n", n), count("m", m)
    if b < 1:
        raise ValueError("bins must be at least 1")
    return None if 0 in {n, m} else (b - 1) * (1 / n + 1 / m)


def e_bh(e_values: Sequence[float], alpha: float = 0.1) -> list[int]:
    """Return the slices whose evidence stands when all are looked at together.

    e_values: one per slice, >= 0 (infinity counts as the largest float); alpha: share of false
    ones among those returned, in (0, 1). Result: places from 0, ascending: the k largest for the
    largest k with e_(k) >= M/(k alpha). Any dependence is allowed.
    Raises ValueError if an e-value is negative or NaN. Source: Wang & Ramdas 2022, JRSS B 84:822.
    """
    alpha = inner_share("alpha", alpha)
    checked = evidence("e_values", e_values)
    if any(e < 0 for e in checked):
        raise ValueError("e_values must not hold a negative value")
    m = len(checked)
    order = sorted(range(m), key=lambda place: -checked[place])
    fits = [k for k in range(1, m + 1) if checked[order[k - 1]] * k * alpha >= m]
    return sorted(order[: fits[-1]]) if fits else []


@dataclass(frozen=True, slots=True, kw_only=True)
class MixAndRate:
    """A change of an overall rate in two parts that add to it (fractions)."""

    mix: float
    """From other shares of the slices."""
    rate: float
    """From other rates inside the slices."""
    total: float


def mix_and_rate(
    w0: Sequence[float], p0: Sequence[float], w1: Sequence[float], p1: Sequence[float]
) -> MixAndRate:
    """Return how much of a change is the mix of inputs and how much the rate inside slices.

    w0, w1: shares of the slices before and after, each adding to 1; p0, p1: their rates; all
    fractions, same order. Look at the mix before calling a drop drift.
    Raises ValueError on unequal length, shares that do not add to 1, or a rate outside [0, 1].
    Source: Kitagawa 1955, JASA 50:1168.
    """
    same_length(w0=w0, p0=p0, w1=w1, p1=p1)
    before, after = weights("w0", w0), weights("w1", w1)
    old, new = shares("p0", p0), shares("p1", p1)
    slices = list(zip(before, after, old, new, strict=True))
    mix = math.fsum((b - a) * (p + q) / 2 for a, b, p, q in slices)
    moved = math.fsum((a + b) / 2 * (q - p) for a, b, p, q in slices)
    return MixAndRate(mix=mix, rate=moved, total=mix + moved)


def weights(name: str, values: Sequence[float]) -> list[float]:
    """Return shares that add to 1, or raise a ValueError that names them."""
    checked = shares(name, values)
    if not math.isclose(math.fsum(checked), 1.0, abs_tol=1e-6):
        raise ValueError(f"{name} must add to 1, but adds to {math.fsum(checked):g}")
    return checked


def standardised(w_ref: Sequence[float], p: Sequence[float]) -> float:
    """Return the rate that the slices would give at the reference mix: sum w_ref p.

    w_ref: shares adding to 1, p: rates; fractions, same order.
    Raises ValueError on unequal length, shares that do not add to 1, or a rate outside [0, 1].
    Source: direct standardisation.
    """
    same_length(w_ref=w_ref, p=p)
    pairs = zip(weights("w_ref", w_ref), shares("p", p), strict=True)
    return math.fsum(weight * rate for weight, rate in pairs)


def shrunk(x: int, n: int, overall: float, strength: float) -> float | None:
    """Return a slice's rate pulled towards the overall rate, for display; say so beside it.

    x of n (counts); overall: rate in [0, 1]; strength: m >= 0, units the overall rate is worth.
    Result: (x + m p)/(n + m), a fraction; nothing on either side gives None. Never for alarms.
    Raises ValueError unless x <= n and m >= 0. Source: beta-binomial mean.
    """
    x, n = part("x", x, "n", n)
    m, p = number("strength", strength), share("overall", overall)
    if m < 0:
        raise ValueError(f"strength must not be negative, but is {strength!r}")
    return (x + m * p) / (n + m) if n + m > 0 else None
