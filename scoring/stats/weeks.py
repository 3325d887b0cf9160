"""Two versions over weeks: only weeks that both have, each with the same weight on both sides."""

import math
from collections.abc import Sequence
from dataclasses import replace

from scoring.stats.arguments import level, part, z_of
from scoring.stats.rates import newcombe
from scoring.stats.results import Estimate

Week = tuple[int, int, int, int]
"""One start week: passes and runs of the first version, passes and runs of the second."""


def compare_weeks(weeks: Sequence[Week], *, confidence: float = 0.95) -> Estimate | None:
    """Return the difference of two versions over the start weeks that both have.

    weeks: (x1, n1, x2, n2) per start week (counts); weeks in which either has no run are left
    out and flagged `weeks_of_one_version`. Equal shares of runs per week: Newcombe on the pooled
    counts (flag `pooled`). Otherwise Mantel-Haenszel weights over all common weeks, as
    `mantel_haenszel` says (flag `thin_weeks`). Without spread in any week: Newcombe where
    pooling does not move the value, else no interval (`no_spread`).
    Result: fraction in [-1, 1], first minus second. No common week gives None.
    Raises ValueError unless 0 <= x <= n everywhere.
    Source: Mantel & Haenszel 1959; statistics of two weighted rates.
    """
    z_level = level(confidence)
    checked = [(*part("x1", a, "n1", b), *part("x2", c, "n2", d)) for a, b, c, d in weeks]
    common = [week for week in checked if week[1] > 0 and week[3] > 0]
    flags = () if len(common) == len(checked) else ("weeks_of_one_version",)
    if not common:
        return None
    if equal_mix(common):
        return pooled(common, flags, z_level)
    weighted = mantel_haenszel(common, confidence=z_level)
    if weighted is None:
        return None
    flags = (*flags, *weighted.flags)
    if weighted.low is not None:
        return replace(weighted, flags=flags)
    together = pooled(common, [flag for flag in flags if flag != "no_spread"], z_level)
    if together is not None and _alike(together.value, weighted.value):
        return together
    return replace(weighted, flags=flags)


def _alike(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) < SAME


SAME = 1e-12
"""Differences nearer to each other are one: what summing in floats leaves behind."""


def at_weights(weeks: Sequence[Week]) -> float:
    """Return the difference at Mantel-Haenszel weights."""
    value = math.fsum(w * (week[0] / week[1] - week[2] / week[3]) for w, week in weighed(weeks))
    return min(1.0, max(-1.0, value))


def weighed(weeks: Sequence[Week]) -> list[tuple[float, Week]]:
    """Return each week with its weight n1 n2 / (n1 + n2), as a share of all."""
    raw = [n1 * n2 / (n1 + n2) for _, n1, _, n2 in weeks]
    return [(weight / math.fsum(raw), week) for weight, week in zip(raw, weeks, strict=True)]


def equal_mix(weeks: Sequence[Week]) -> bool:
    """Return whether both versions spread their runs over the weeks in the same shares."""
    first, second = sum(week[1] for week in weeks), sum(week[3] for week in weeks)
    return all(n1 * second == n2 * first for _, n1, _, n2 in weeks)


def pooled(weeks: Sequence[Week], flags: Sequence[str], confidence: float) -> Estimate | None:
    """Return Newcombe's difference of the summed counts."""
    x1, n1, x2, n2 = (sum(week[place] for week in weeks) for place in range(4))
    found = newcombe(x1, n1, x2, n2, confidence=confidence)
    if found is None:
        return None
    return Estimate(value=found.value, low=found.low, high=found.high, flags=(*flags, "pooled"))


def mantel_haenszel(weeks: Sequence[Week], *, confidence: float = 0.95) -> Estimate | None:
    """Return the difference of two versions, each week weighted n1 n2 / (n1 + n2).

    weeks: (x1, n1, x2, n2) with n1, n2 >= 1 (counts). Result: fraction in [-1, 1] with its
    standard error. A single run of a side tells nothing of its spread (0/0): the week counts
    all the same, with the largest variance that a run can have (flag `thin_weeks`). No spread on
    any side of any week: no interval, flag `no_spread`. No week gives None.
    Raises ValueError if a week has no run of a version.
    Source: V = sum w_k^2 (p1 q1 / (n1 - 1) + p2 q2 / (n2 - 1)); at n = 1 `MOST` for p q / (n - 1)
    (Popoviciu 1935).
    """
    z = z_of(confidence)
    for x1, n1, x2, n2 in weeks:
        part("x1", x1, "n1", n1)
        part("x2", x2, "n2", n2)
        if n1 < 1 or n2 < 1:
            raise ValueError(f"a week needs a run of each version, not {n1} and {n2}")
    if not weeks:
        return None
    value = at_weights(weeks)
    sides = [(w, x, n) for w, (a, b, c, d) in weighed(weeks) for x, n in ((a, b), (c, d))]
    flags = ("thin_weeks",) if any(n == 1 for _, _, n in sides) else ()
    if not any(0 < x < n for _, x, n in sides):
        return Estimate(value=value, flags=(*flags, "no_spread"))
    se = math.sqrt(math.fsum(w**2 * _variance(x, n) for w, x, n in sides))
    low, high = max(-1.0, value - z * se), min(1.0, value + z * se)
    return Estimate(value=value, low=low, high=high, se=se, flags=flags)


MOST = 0.25
"""Variance that no share of passes exceeds, be it of one run or of one cluster: it lies in [0, 1]."""


def _variance(x: int, n: int) -> float:
    return MOST if n == 1 else x / n * (1 - x / n) / (n - 1)
