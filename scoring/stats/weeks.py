"""Two versions over weeks: only weeks that both have, each with the same weight on both sides."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring.stats.arguments import count, level, part, z_of
from scoring.stats.clusters import wider
from scoring.stats.rates import newcombe
from scoring.stats.results import Estimate
from scoring.stats.versions import within_one
from scoring.stats.weighted import student

Week = tuple[int, int, int, int]
"""One start week: passes and runs of the first version, passes and runs of the second."""
Alike = tuple[Mapping[str, Week], int]
"""Counts of a cluster by stratum (a week, a slice), and how many clusters have the very same."""


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


def _inside(weeks: Sequence[Week]) -> float:
    """Return the difference at Mantel-Haenszel weights."""
    value = math.fsum(w * (week[0] / week[1] - week[2] / week[3]) for w, week in _weighed(weeks))
    return min(1.0, max(-1.0, value))


def _weighed(weeks: Sequence[Week]) -> list[tuple[float, Week]]:
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
    value = _inside(weeks)
    sides = [(w, x, n) for w, (a, b, c, d) in _weighed(weeks) for x, n in ((a, b), (c, d))]
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


def compare_clustered(clusters: Sequence[Alike], *, confidence: float = 0.95) -> Estimate | None:
    """Return the difference of two versions inside strata where runs come in clusters.

    clusters: (x1, n1, x2, n2) by stratum (counts) of clusters, and how many are alike; a cluster
    may lie in several strata and have runs of both versions. Strata of one version are left out
    (flag `weeks_of_one_version`). A single cluster of a side tells nothing of its spread: it
    counts with the largest variance that it can have (`thin_weeks`). Result: fraction in
    [-1, 1], first minus second at Mantel-Haenszel weights, with the wider limits of the clusters
    and of the runs. Never two clusters on both sides of a stratum: no interval, flag
    `few_clusters`; equal ones: `no_spread`. No common stratum gives None.
    Raises ValueError unless 0 <= x <= n everywhere, or if a number of clusters is negative.
    Source: linearised at given weights W (Cochran 6.5; Binder 1983): z = sum_h W_h (c1 (x1 - p1
    n1)/N1 - c2 (x2 - p2 n2)/N2) per cluster, c^2 = G/(G-1) of the stratum's side, V = sum z^2.
    Clusters of one run give sum W^2 (p1 q1/(N1 - 1) + p2 q2/(N2 - 1)), that of `mantel_haenszel`;
    a cluster that is alone on sides of weights W adds sum W sqrt(`MOST`) to its |z|.
    Student's t by Satterthwaite 1946 over sides and strata, with at most the clusters less 1.
    """
    level(confidence)
    known = [(_checked(weeks), count("clusters", alike)) for weeks, alike in clusters]
    strata = sorted({name for weeks, _ in known for name in weeks})
    totals = {name: _total(known, name) for name in strata}
    common = [name for name in strata if totals[name][1] > 0 and totals[name][3] > 0]
    flags: tuple[str, ...] = ()
    if any(sum(totals[name]) > 0 for name in strata if name not in common):
        flags = ("weeks_of_one_version",)
    if not common:
        return None
    groups = {
        name: [sum(k for weeks, k in known if weeks.get(name, NO_RUNS)[side]) for side in (1, 3)]
        for name in common
    }
    whole = [totals[name] for name in common]
    full = [name for name in common if min(groups[name]) > 1]
    if not full:
        return Estimate(value=_inside(whole), flags=(*flags, "few_clusters"))
    if len(full) < len(common):
        flags = (*flags, "thin_weeks")
    weighed = dict(zip(common, _weighed(whole), strict=True))
    variance, df = _between(known, weighed, groups)
    found = within_one(student(_inside(whole), variance, df, confidence))
    if found is None or found.low is None:
        return found and replace(found, flags=(*flags, *found.flags))
    runs = mantel_haenszel(whole, confidence=confidence)
    return replace(found if runs is None else wider(runs, found), flags=flags)


NO_RUNS: Week = (0, 0, 0, 0)


def _checked(weeks: Mapping[str, Week]) -> Mapping[str, Week]:
    return {
        name: (*part("x1", a, "n1", b), *part("x2", c, "n2", d))
        for name, (a, b, c, d) in weeks.items()
    }


def _total(known: Sequence[Alike], name: str) -> Week:
    x1, n1, x2, n2 = (
        sum(alike * weeks.get(name, NO_RUNS)[place] for weeks, alike in known) for place in range(4)
    )
    return x1, n1, x2, n2


def _between(
    known: Sequence[Alike],
    weighed: Mapping[str, tuple[float, Week]],
    groups: Mapping[str, Sequence[int]],
) -> tuple[float, float]:
    """Return the variance between clusters of the weighted difference, and its degrees."""
    own, sides = [0.0, 0.0], [0, 0]
    cells = {name: [0.0, 0.0] for name in weighed}
    variance = scale = more = 0.0
    everywhere = 0
    for weeks, alike in known:
        z, alone = [0.0, 0.0], 0.0
        here = [name for name in weighed if sum(weeks.get(name, NO_RUNS))]
        for name in here:
            weight, total = weighed[name]
            for side, place in ((0, 0), (1, 2)):
                (x, n), (all_x, all_n) = weeks[name][place : place + 2], total[place : place + 2]
                g = groups[name][side]
                if g == 1:
                    alone += weight * math.sqrt(MOST) if n else 0.0
                    continue
                part_of_z = math.sqrt(g / (g - 1)) * weight * (x - all_x / all_n * n) / all_n
                z[side] += part_of_z
                cells[name][side] += alike * part_of_z**2
                scale += alike * (weight * x / all_n) ** 2
        for side, place in ((0, 1), (1, 3)):
            own[side] += alike * z[side] ** 2
            sides[side] += alike if any(weeks[name][place] for name in here) else 0
        variance += alike * (z[0] - z[1]) ** 2
        more += alike * alone * (2 * abs(z[0] - z[1]) + alone)
        everywhere += alike if here else 0
    if variance <= NO_SPREAD * scale:
        return 0.0, everywhere - 1
    by_side = [
        min(
            sides[side] - 1.0,
            _satterthwaite([(cells[name][side], groups[name][side] - 1) for name in weighed]),
        )
        for side in (0, 1)
    ]
    df = min(everywhere - 1.0, _satterthwaite(list(zip(own, by_side, strict=True))))
    return variance + more, df


NO_SPREAD = 1e-24
"""Share of the squares below which clusters are equal: what summing in floats leaves behind."""


def _satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Return the degrees of a sum of variances, each with its own; without spread those of all."""
    known = [(v, df) for v, df in parts if df > 0]
    below = math.fsum(v**2 / df for v, df in known)
    return (
        math.fsum(v for v, _ in known) ** 2 / below if below else math.fsum(df for _, df in known)
    )
