"""Two versions inside strata where runs come in clusters: what varies is the cluster."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scoring.stats.arguments import count, level, part
from scoring.stats.clusters import wider
from scoring.stats.results import Estimate
from scoring.stats.versions import within_one
from scoring.stats.weeks import MOST, Week, at_weights, mantel_haenszel, weighed
from scoring.stats.weighted import student

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Real = NDArray[np.float64]

Alike = tuple[Mapping[Hashable, Week], int]
"""Counts of a cluster by stratum (a week, a slice), and how many clusters have the very same."""


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
    import numpy as np

    level(confidence)
    rows = _rows(clusters)
    if rows is None:
        return None
    (x1, x2), (n1, n2) = rows.totals()
    common = (n1 > 0) & (n2 > 0)
    flags = ("weeks_of_one_version",) if bool(np.any((n1 + n2 > 0) & ~common)) else ()
    if not common.any():
        return None
    whole = [
        (round(a), round(b), round(c), round(d))
        for a, b, c, d in np.column_stack([x1, n1, x2, n2])[common].tolist()
    ]
    full = common & np.all(rows.groups() > 1, axis=0)
    if not full.any():
        return Estimate(value=at_weights(whole), flags=(*flags, "few_clusters"))
    if full.sum() < common.sum():
        flags = (*flags, "thin_weeks")
    weights = np.zeros(len(common))
    weights[common] = [weight for weight, _ in weighed(whole)]
    variance, df = _between(rows, weights)
    found = within_one(student(at_weights(whole), variance, df, confidence))
    if found is None or found.low is None:
        return found and replace(found, flags=(*flags, *found.flags))
    runs = mantel_haenszel(whole, confidence=confidence)
    return replace(found if runs is None else wider(runs, found), flags=flags)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """What clusters have in strata, a row for each: passes x and runs n of both sides."""

    cluster: "Whole"
    stratum: "Whole"
    x: "Real"
    n: "Real"
    alike: "Real"
    """Of each cluster, how many there are."""

    @property
    def times(self) -> "Real":
        """Of each row, how many there are."""
        return self.alike[self.cluster]

    def by(self, place: "Whole", values: "Real") -> "Real":
        """Return values of both sides added up by cluster or by stratum."""
        import numpy as np

        return np.stack([np.bincount(place, weights=side) for side in values])

    def totals(self) -> "tuple[Real, Real]":
        """Return passes and runs of both sides by stratum."""
        return self.by(self.stratum, self.x * self.times), self.by(self.stratum, self.n * self.times)  # fmt: skip

    def groups(self) -> "Real":
        """Return the clusters of both sides by stratum."""
        return self.by(self.stratum, (self.n > 0) * self.times)


def _rows(clusters: Sequence[Alike]) -> _Rows | None:
    import numpy as np

    places: dict[Hashable, int] = {}
    filled = [(weeks, count("clusters", alike)) for weeks, alike in clusters if weeks]
    found = [
        (place, places.setdefault(name, len(places)), *week)
        for place, (weeks, _) in enumerate(filled)
        for name, week in weeks.items()
    ]
    if not found:
        return None
    for _, _, a, b, c, d in found:
        if not (0 <= a <= b and 0 <= c <= d):
            part("x1", a, "n1", b), part("x2", c, "n2", d)
    cluster, stratum, *counts = np.array(found).T
    x1, n1, x2, n2 = (row.astype(float) for row in counts)
    alike = np.array([number for _, number in filled], dtype=float)
    return _Rows(cluster=cluster, stratum=stratum, x=np.stack([x1, x2]), n=np.stack([n1, n2]), alike=alike)  # fmt: skip


def _between(rows: _Rows, weights: "Real") -> tuple[float, float]:
    """Return the variance between clusters of the difference at given weights, and its degrees."""
    import numpy as np

    x, n = rows.totals()
    groups, here = rows.groups(), rows.stratum
    runs = np.maximum(n, 1)
    several = (groups > 1)[:, here]
    scale = np.sqrt(groups / np.maximum(groups - 1, 1))
    z = several * scale[:, here] * weights[here] * (rows.x - (x / runs)[:, here] * rows.n) / runs[:, here]  # fmt: skip
    squares = rows.by(here, z**2 * rows.times)
    none = NO_SPREAD * float(np.sum(rows.times * several * (weights[here] * rows.x / runs[:, here]) ** 2))  # fmt: skip
    of_cluster = rows.by(rows.cluster, z)
    off = of_cluster[0] - of_cluster[1]
    seen = rows.by(rows.cluster, (weights[here] > 0) * rows.n) > 0
    everywhere = float(np.sum(rows.alike * seen.any(axis=0))) - 1
    variance = float(np.sum(rows.alike * off**2))
    if variance <= none:
        return 0.0, everywhere
    alone = rows.by(rows.cluster, weights[here] * ~several * (rows.n > 0) * math.sqrt(MOST)).sum(axis=0)  # fmt: skip
    own = np.sum(rows.alike * of_cluster**2, axis=1).tolist()
    sides = np.sum(rows.alike * seen, axis=1).tolist()
    used = weights > 0
    parts = [list(zip(squares[side][used].tolist(), (groups[side][used] - 1).tolist(), strict=True)) for side in (0, 1)]  # fmt: skip
    by_side = [min(sides[side] - 1, _satterthwaite(parts[side])) for side in (0, 1)]
    df = min(everywhere, _satterthwaite(list(zip(own, by_side, strict=True))))
    return variance + float(np.sum(rows.alike * alone * (2 * np.abs(off) + alone))), df


NO_SPREAD = 1e-24
"""Share of the squares below which clusters are equal: what summing in floats leaves behind."""


def _satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Return the degrees of a sum of variances, each with its own; without spread those of all."""
    known = [(v, df) for v, df in parts if df > 0]
    below = math.fsum(v**2 / df for v, df in known)
    return (
        math.fsum(v for v, _ in known) ** 2 / below if below else math.fsum(df for _, df in known)
    )
