"""Two versions in the same weeks: the difference, and how much of it is the mix of inputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnomon.model import JsonValue
from scoring.stats.results import Difference
from scoring.versions.cells import Alike, Cell, common, swapped
from scoring.versions.mix import Mix
from scoring.versions.strata import Pair, inside

SAME_TASKS = "same_tasks"
"""Flag of a difference between live runs that is not shown: it would ignore that tasks are the same."""
NO_COMMON_WEEK = (
    "the versions have no week in common: a difference between weeks is not one between versions"
)


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
    def deciding(self) -> Difference:
        """The difference that a rule decides on: another mix of inputs is no better version."""
        return self.difference if self.mix is None else self.mix.adjusted

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
            "decides": "difference" if self.mix is None else "mix.adjusted",
            "weeks": self.weeks,
            "at_shared_tasks": self.shared,
            "mix": None if self.mix is None else self.mix.as_json(),
        }


def between_weeks(
    cells: Sequence[Cell], pair: Pair, *, clusters: Sequence[Alike] | None = None
) -> Difference:
    """Return new less old over the weeks both have.

    clusters: where runs come in them, those of the common weeks. While runs are undecided there
    is no value: the limits are those of the worst and the best case.
    """
    weeks, left = common(cells, base=pair.base, cand=pair.cand)
    kept = [cell for cell in cells if cell.week in weeks]
    return inside(kept, "week", "weeks", pair, clusters=clusters, excluded=left)
