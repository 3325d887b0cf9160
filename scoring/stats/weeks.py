"""Two versions over weeks: only weeks that both have, each with the same weight on both sides."""

import math
from collections.abc import Sequence

from scoring.stats.arguments import level, part, z_of
from scoring.stats.rates import newcombe
from scoring.stats.results import Estimate

Week = tuple[int, int, int, int]
"""One start week: passes and runs of the first version, passes and runs of the second."""


def compare_weeks(weeks: Sequence[Week], *, confidence: float = 0.95) -> Estimate | None:
    """Return the difference of two versions over the start weeks that both have.

    weeks: (x1, n1, x2, n2) per start week (counts); weeks in which either has no run are left
    out and flagged `weeks_of_one_version`. Equal shares of runs per week: Newcombe on the pooled
    counts (flag `pooled`). Otherwise Mantel-Haenszel weights; a week with a single run on one
    side has no variance of its own and is left out then (flag `thin_weeks`).
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
    full = [week for week in common if week[1] > 1 and week[3] > 1]
    if len(full) < len(common):
        flags = (*flags, "thin_weeks")
    weighted = mantel_haenszel(full, confidence=z_level) if full else None
    if weighted is None or weighted.low is None:
        return pooled(common, flags, z_level)
    return Estimate(
        value=weighted.value,
        low=weighted.low,
        high=weighted.high,
        se=weighted.se,
        flags=(*flags, *weighted.flags),
    )


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

    weeks: (x1, n1, x2, n2) with n1, n2 >= 2 (counts). Result: fraction in [-1, 1] with its
    standard error; no spread in any week: no interval, flag `no_spread`. No week gives None.
    Raises ValueError if a week has fewer than two runs of a version.
    Source: V = sum w_k^2 (p1 q1 / (n1 - 1) + p2 q2 / (n2 - 1)).
    """
    z = z_of(confidence)
    if not weeks:
        return None
    value = variance = 0.0
    total = sum(n1 * n2 / (n1 + n2) for _, n1, _, n2 in weeks if n1 + n2 > 0)
    for x1, n1, x2, n2 in weeks:
        part("x1", x1, "n1", n1)
        part("x2", x2, "n2", n2)
        if n1 < 2 or n2 < 2:
            raise ValueError(f"a week needs two runs of each version, not {n1} and {n2}")
        weight = n1 * n2 / (n1 + n2) / total
        p1, p2 = x1 / n1, x2 / n2
        value += weight * (p1 - p2)
        variance += weight**2 * (p1 * (1 - p1) / (n1 - 1) + p2 * (1 - p2) / (n2 - 1))
    value = min(1.0, max(-1.0, value))
    if variance == 0:
        return Estimate(value=value, flags=("no_spread",))
    se = math.sqrt(variance)
    return Estimate(
        value=value, low=max(-1.0, value - z * se), high=min(1.0, value + z * se), se=se
    )
