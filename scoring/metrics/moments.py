"""Sums over clusters as ClickHouse adds them up, and the estimates they are enough for."""

import math
from dataclasses import dataclass

from scoring.stats.rates import wilson
from scoring.stats.results import Estimate
from scoring.stats.weighted import korn_graubard, student

SPREAD_SLACK = 1e-12
"""Relative spread below which clusters are equal: what sums of squares in floats leave behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Of each cluster a total y over m runs: how many clusters, and their sums and products."""

    clusters: int
    """Clusters with m > 0."""
    m: float
    y: float
    mm: float
    my: float
    yy: float

    @property
    def runs(self) -> int:
        """Runs in all clusters."""
        return round(self.m)

    @property
    def hits(self) -> int:
        """The total, where it is a count."""
        return round(self.y)

    @property
    def mean(self) -> float | None:
        """Total per run."""
        return self.y / self.m if self.m else None

    def variance(self) -> float:
        """Return the variance of the mean per run between clusters; 0 under two clusters."""
        mean = self.mean
        if mean is None or self.clusters < 2:
            return 0.0
        off = self.yy - 2 * mean * self.my + mean**2 * self.mm
        if off <= SPREAD_SLACK * self.yy:
            return 0.0
        return self.clusters / (self.clusters - 1) * off / self.m**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The own shares y/m of units that count alike however many runs they have, such as tasks."""

    units: int
    """Units with m > 0."""
    shares: float
    """Their shares, added up."""
    squares: float
    """The squares of their shares, added up."""
    inverse: float
    """1/m, added up."""

    @property
    def mean(self) -> float | None:
        """Mean of the shares."""
        return min(1.0, self.shares / self.units) if self.units else None

    def variance(self) -> float:
        """Return the variance of the mean; 0 under two units."""
        if self.units < 2:
            return 0.0
        off = self.squares - self.shares**2 / self.units
        return 0.0 if off <= SPREAD_SLACK * self.squares else off / (self.units - 1) / self.units

    @property
    def worth(self) -> int:
        """Runs that count alike and tell as much (Kish): all of them, where units have equally many."""
        return math.floor(self.units**2 / self.inverse * (1 + SPREAD_SLACK)) if self.units else 0


NO_UNIT = Own(units=0, shares=0, squares=0, inverse=0)


NOTHING = Moments(clusters=0, m=0, y=0, mm=0, my=0, yy=0)
"""No run at all."""


def share(moments: Moments, *, clustered: bool, confidence: float = 0.95) -> Estimate | None:
    """Return y of m: Wilson over runs, or Korn-Graubard where runs come in clusters.

    Equals `wilson` and `cluster_rate` on the lists themselves. No run gives None.
    """
    mean = moments.mean
    if mean is None:
        return None
    if not clustered:
        return wilson(moments.hits, moments.runs, confidence=confidence)
    return korn_graubard(
        min(1.0, mean),
        moments.variance(),
        moments.runs,
        moments.clusters - 1,
        worth=moments.clusters,
        clustered=True,
        confidence=confidence,
    )


def mean_share(own: Own, *, confidence: float = 0.95) -> Estimate | None:
    """Return the mean of the units' own shares, with Korn-Graubard limits over the units.

    Where units have equally many runs it equals `share` of them. No unit gives None.
    """
    if own.mean is None:
        return None
    return korn_graubard(
        own.mean,
        own.variance(),
        own.worth,
        own.units - 1,
        worth=own.units,
        clustered=True,
        confidence=confidence,
    )


def mean(moments: Moments, *, confidence: float = 0.95) -> Estimate | None:
    """Return y per m with Student's interval over clusters; equals `cluster_mean` on the lists."""
    value = moments.mean
    if value is None:
        return None
    if moments.clusters < 2:
        return Estimate(value=value, flags=("one_unit",))
    return student(value, moments.variance(), moments.clusters - 1, confidence)
