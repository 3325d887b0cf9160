"""Rates measured with a judge: corrected by what people said about a part of the runs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.stats.arguments import count, level, part, same_length, share, shares
from scoring.stats.calibration import Confusion, confusion, phi_squared, trusted
from scoring.stats.effective import at_effective_size, flagged
from scoring.stats.results import Estimate

LEAST_YOUDEN = 0.2
"""Under this se + sp - 1 a judge says too little to be corrected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assisted:
    """A rate from people and a judge together."""

    estimate: Estimate
    weight: float
    """Lambda: how much the judge counts; 0 is people only."""
    n: int
    """Runs people graded."""
    judged: int
    """Other runs, which only the judge saw."""


def ppi(
    y: Iterable[float],
    f: Iterable[float],
    F: Iterable[float],  # noqa: N803 - the letter of the literature
    *,
    weight: float | None = None,
    confidence: float = 0.95,
) -> Assisted | None:
    """Return a rate from people's grades, sharpened by a judge (PPI++).

    y: people's grades, f: the judge's on the same runs, F: the judge's on the N other runs, all
    in [0, 1]; weight: lambda, chosen for the least variance unless given (0 is people only, and
    so is N = 0). Result: fraction with Clopper-Pearson limits at n_eff; the estimator only, see
    `judged_rate` for the guard. No grade gives None.
    Raises ValueError on unequal length of y and f, or a value outside [0, 1].
    Source: Angelopoulos et al. 2023, arXiv 2311.01453 (PPI++), one mean.
    """
    human, judged, others = shares("y", y), shares("f", f), shares("F", F)
    n = same_length(y=human, f=judged)
    level(confidence)
    if n == 0:
        return None
    if not others:
        lam = 0.0
    elif weight is None:
        lam = _best_weight(human, judged, others)
    else:
        lam = share("weight", weight)
    rest = [a - lam * b for a, b in zip(human, judged, strict=True)]
    value, variance = _mean(rest), _variance(rest) / n
    if others:
        value += lam * _mean(others)
        variance += lam**2 * _variance(others) / len(others)
    estimate = at_effective_size(value, variance, fallback=n, confidence=confidence)
    return Assisted(estimate=estimate, weight=lam, n=n, judged=len(others))


def _mean(values: Sequence[float]) -> float:
    """Return the mean of one or more values."""
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    """Return the variance with divisor n; the last bits of equal values are 0."""
    if max(values) - min(values) <= 1e-15:
        return 0.0
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / len(values)


def _best_weight(y: Sequence[float], f: Sequence[float], others: Sequence[float]) -> float:
    """Return lambda = cov(y, f) / ((1 + n/N) s^2), within [0, 1]; a constant judge weighs 0."""
    n, pooled = len(y), [*f, *others]
    my, mf = _mean(y), _mean(f)
    covariance = math.fsum((a - my) * (b - mf) for a, b in zip(y, f, strict=True)) / n
    spread = _variance(pooled) * len(pooled) / (len(pooled) - 1)
    if spread == 0:
        return 0.0
    return min(1.0, max(0.0, covariance / ((1 + n / len(others)) * spread)))


def judged_rate(
    y: Sequence[float],
    f: Sequence[float],
    F: Sequence[float],  # noqa: N803 - the letter of the literature
    *,
    confidence: float = 0.95,
) -> Assisted | None:
    """Return the judge-assisted rate a report may print, or people only where the judge is unproven.

    Arguments and errors as `ppi`, grades 0 or 1. Fewer than 5 graded failures, or fewer than 5
    disagreements with n < 100: people only, Clopper-Pearson, flag `human_only`. No grade: None.
    Source: Angelopoulos et al. 2023; guard of Lee et al. 2025, arXiv 2511.21140.
    """
    if not trusted(y, f):
        alone = ppi(y, f, (), confidence=confidence)
        if alone is None:
            return None
        estimate = flagged(alone.estimate, "human_only")
        return Assisted(estimate=estimate, weight=0.0, n=alone.n, judged=0)
    return ppi(y, f, F, confidence=confidence)


def tenenbein(
    table: Confusion,
    X: int,  # noqa: N803 - the letter of the literature
    N_other: int,  # noqa: N803
    *,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return a rate from a judge on all runs and people on some (double sampling).

    table: rows the judge (0, 1), columns the person (0, 1), counts; X: runs the judge calls 1
    among N_other runs that no person graded. Result: J PPV + (1 - J)(1 - NPV), J over all runs,
    Clopper-Pearson at n_eff. A judge that never, or always, said 1 to a graded run: people only,
    flag `human_only`. No graded run gives None.
    Raises ValueError if X > N_other or the table is not 2 x 2 counts.
    Source: Tenenbein 1970, JASA 65:1350; V = pq/n (1 - phi^2) + pq/N_all phi^2.
    """
    (n00, n01), (n10, n11) = confusion(table)
    x, others = part("X", X, "N_other", N_other)
    level(confidence)
    n = n00 + n01 + n10 + n11
    if n == 0:
        return None
    if n00 + n01 == 0 or n10 + n11 == 0:
        p = (n01 + n11) / n
        alone = at_effective_size(p, p * (1 - p) / n, fallback=n, confidence=confidence)
        return flagged(alone, "human_only")
    squared = phi_squared(table) or 0.0  # one-sided people: nothing varies with the judge
    everything = n + others
    positive = (n10 + n11 + x) / everything
    p = positive * n11 / (n10 + n11) + (1 - positive) * n01 / (n00 + n01)
    pq = p * (1 - p)
    variance = pq / n * (1 - squared) + pq / everything * squared
    return at_effective_size(p, variance, fallback=n, confidence=confidence)


def rogan_gladen(
    ap: float,
    se: float,
    sp: float,
    *,
    n: int | None = None,
    n_pos: int | None = None,
    n_neg: int | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return the true rate behind a judge's rate, from its sensitivity and specificity.

    ap: rate the judge gives, se, sp: fractions; n: runs it judged, n_pos, n_neg: true positives
    and negatives of the calibration (counts; without all three there are no limits). Result:
    (ap + sp - 1)/(se + sp - 1) clipped to [0, 1] (flag `clipped`), Clopper-Pearson at n_eff.
    se + sp - 1 < .2 gives None: the judge says too little.
    Raises ValueError if a fraction is outside [0, 1] or a count is not positive.
    Source: Rogan & Gladen 1978, American Journal of Epidemiology 107:71.
    """
    ap, se, sp = share("ap", ap), share("se", se), share("sp", sp)
    level(confidence)
    youden = se + sp - 1
    if youden < LEAST_YOUDEN - 1e-12:
        return None
    p = (ap + sp - 1) / youden
    p = 0.0 if abs(p) < 1e-15 else p
    if n is None or n_pos is None or n_neg is None:
        inside = min(1.0, max(0.0, p))
        return Estimate(value=inside, flags=() if inside == p else ("clipped",))
    sizes = [count(name, size) for name, size in (("n", n), ("n_pos", n_pos), ("n_neg", n_neg))]
    if min(sizes) == 0:
        raise ValueError("n, n_pos and n_neg must be positive")
    variance = (
        ap * (1 - ap) / sizes[0]
        + p**2 * se * (1 - se) / sizes[1]
        + (1 - p) ** 2 * sp * (1 - sp) / sizes[2]
    ) / youden**2
    return at_effective_size(p, variance, fallback=min(sizes), confidence=confidence)


def combine_strata(
    parts: Sequence[tuple[int, Estimate, int]], *, confidence: float = 0.95
) -> Estimate | None:
    """Return one judge-assisted rate over strata: sum w p, V = sum w^2 V.

    parts: (runs of the stratum in the frame, its estimate with value and se, runs graded in it).
    Result: fractions, Clopper-Pearson at n_eff. No run in the frame gives None.
    Raises ValueError if a stratum with runs has no value or no standard error.
    Source: Cochran, Sampling Techniques, 5.2.
    """
    total = sum(count("size", size) for size, _, _ in parts)
    if total == 0:
        return None
    value = variance = 0.0
    for size, estimate, _ in parts:
        if size == 0:
            continue
        if estimate.value is None or estimate.se is None:
            raise ValueError("every stratum needs a value and a standard error")
        value += size / total * estimate.value
        variance += (size / total * estimate.se) ** 2
    graded = sum(count("graded", n) for _, _, n in parts)
    return at_effective_size(value, variance, fallback=max(1, graded), confidence=confidence)
