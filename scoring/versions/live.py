"""Two versions in the same weeks: the difference, and how much of it is the mix of inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gnomon.model import JsonValue
from scoring.metrics.moments import Crossed, Moments, difference
from scoring.stats.clusters import wider
from scoring.stats.rates import newcombe
from scoring.stats.results import Difference, Estimate
from scoring.stats.shown import shown_difference
from scoring.stats.weeks import Week, compare_weeks
from scoring.versions.cells import Cell, bounded, common, summed, swapped
from scoring.versions.mix import Mix

SAME_TASKS = "same_tasks"
"""Flag of a difference between live runs that is not shown: it would ignore that tasks are the same."""
NO_COMMON_WEEK = (
    "the versions have no week in common: a difference between weeks is not one between versions"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """Sums over clusters of both versions, in the common weeks."""

    new: Moments
    old: Moments
    crossed: Crossed

    @property
    def repeated(self) -> bool:
        """Whether a cluster has more than one run of a version."""
        return any(side.clusters < side.runs for side in (self.new, self.old))


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFound:
    """What the live runs of two versions show."""

    difference: Difference
    weeks: int
    """Weeks both have."""
    mix: Mix | None
    shared: int = 0
    """Runs at tasks that both versions tried."""
    runs: int = 0
    """All runs of both in these weeks."""

    @property
    def paired(self) -> bool:
        """Whether most runs are at the same tasks, so that an unpaired interval would be wrong."""
        return 2 * self.shared > self.runs

    @property
    def why_nothing(self) -> str:
        """Why there are no numbers, or ''."""
        if not self.weeks:
            return NO_COMMON_WEEK
        if SAME_TASKS not in self.difference.flags:
            return ""
        return (
            f"{self.shared} of {self.runs} runs try tasks that both versions tried: they are"
            " compared by task, and an interval that takes them for independent would be wrong"
        )

    @property
    def swapped(self) -> "LiveFound":
        """The same with the sides exchanged."""
        return replace(
            self,
            difference=swapped(self.difference),
            mix=None if self.mix is None else self.mix.swapped,
        )

    def as_json(self) -> dict[str, JsonValue]:
        """Return the numbers as the API writes them."""
        return {
            "difference": self.difference.as_json(),
            "weeks": self.weeks,
            "at_shared_tasks": self.shared,
            "mix": None if self.mix is None else self.mix.as_json(),
        }


def between_weeks(
    cells: Sequence[Cell],
    *,
    base: str,
    cand: str,
    unit: str = "run",
    clusters: Mapping[int | None, Both] | None = None,
    confidence: float = 0.95,
) -> Difference:
    """Return new less old over the weeks both have.

    clusters: sums by case (None, 1 worst, -1 best) where runs come in clusters. While runs are
    undecided there is no value: the limits are those of the worst and the best case.
    """
    weeks, left = common(cells, base=base, cand=cand)
    kept = [cell for cell in cells if cell.week in weeks]
    undecided = sum(cell.undecided for cell in kept)

    def found(worst: int | None) -> Estimate | None:
        by_week = summed(kept, "week", base=base, cand=cand, worst=worst)
        if clusters is None:
            return compare_weeks(list(by_week.values()), confidence=confidence)
        return _clustered(list(by_week.values()), clusters[worst], confidence)

    plain = bounded(found, undecided)
    sides = summed(kept, "version", base=base, cand=cand)
    units = min(sides.get(cand, _NONE)[1], sides.get(base, _NONE)[3])
    if clusters is not None:
        units = min(clusters[None].new.clusters, clusters[None].old.clusters)
    pooled = plain is not None and ("pooled" in plain.flags or clusters is not None)
    method = "newcombe" if pooled else "mantel-haenszel over weeks"
    return shown_difference(
        plain,
        n=units,
        unit=unit,
        method=method if clusters is None else "wider of newcombe and clusters",
        excluded=left,
        open=undecided,
        confidence=confidence,
    )


_NONE: Week = (0, 0, 0, 0)


def _clustered(weeks: Sequence[Week], both: Both, confidence: float) -> Estimate | None:
    """Return the pooled difference with the wider limits of Newcombe and of the clusters."""
    x1, n1, x0, n0 = (sum(week[place] for week in weeks) for place in range(4))
    pooled = newcombe(x1, n1, x0, n0, confidence=confidence)
    if pooled is None:
        return None
    found = difference(both.new, both.old, both.crossed, confidence=confidence)
    if found.low is None:
        return Estimate(value=pooled.value, flags=found.flags)
    return wider(pooled, found)
