"""A comparison as pages and API get it: plan and verdict first, then numbers with their guard."""

from dataclasses import dataclass, replace

from gnomon.model import JsonValue
from scoring.metrics.figures import NOT_ENOUGH
from scoring.stats.results import Difference
from scoring.versions.guard import Guard
from scoring.versions.live import SAME_TASKS, LiveFound
from scoring.versions.mix import Mix
from scoring.versions.ruling import Ruling
from scoring.versions.setting import Setting
from scoring.versions.tasks import TaskComparison

WITHHELD = "withheld"
"""Flag of a difference whose planned look has not come: only counts may be seen."""
EXPLORATORY = "exploratory"
"""Flag of a difference that no rule was written about: a reading aid, not a test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What both kinds of comparison say."""

    setting: Setting
    ruling: Ruling
    guard: Guard
    text: str

    @property
    def warnings(self) -> list[str]:
        """What stands above the numbers as a banner."""
        return [*self.setting.warnings, *self.ruling.warnings]

    def head(self) -> dict[str, JsonValue]:
        """Return what stands before the numbers."""
        return {
            **self.setting.as_json(),
            "warnings": self.warnings,
            "ruling": self.ruling.as_json(),
            "text": self.text,
            "guard": self.guard.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Live(Answer):
    """Two versions live, in the same weeks."""

    found: LiveFound

    @property
    def difference(self) -> Difference:
        """New less old, with what the mix of inputs does to it."""
        return self.found.difference

    @property
    def deciding(self) -> Difference:
        """New less old as a rule decides on it: inside the slices, where there are some."""
        return self.found.deciding

    @property
    def weeks(self) -> int:
        """Weeks both have."""
        return self.found.weeks

    @property
    def mix(self) -> Mix | None:
        """How much of the change comes from other inputs."""
        return self.found.mix

    def as_json(self) -> JsonValue:
        """Return plan, verdict and guard, then the numbers."""
        return {**self.head(), **self.found.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTasks(Answer):
    """Two versions on the same tasks."""

    comparison: TaskComparison
    any_time: Difference
    """The difference so far, with limits that hold however often somebody looks."""
    task_key: str

    def as_json(self) -> JsonValue:
        """Return plan, verdict and guard, then the numbers."""
        return {
            **self.head(),
            "task_key": self.task_key,
            **self.comparison.as_json(),
            "any_time": self.any_time.as_json(),
        }


def bare(found: Difference, flag: str) -> Difference:
    """Return a difference without what would be a test: counts stay, numbers and p values go."""
    return replace(found, value=None, low=None, high=None, p_values={}, flags=(*found.flags, flag))


def untested(found: Difference) -> Difference:
    """Return a difference that no rule is about, without p values."""
    return replace(found, p_values={}, flags=(*found.flags, EXPLORATORY))


def for_reading(found: LiveFound, guard: Guard) -> LiveFound:
    """Return what live runs show where no rule decides it: untested, with and without the mix."""
    shown = honest(untested(found.difference), guard)
    if found.paired:
        return replace(found, difference=bare(shown, SAME_TASKS), mix=None)
    parted = found.mix and replace(found.mix, adjusted=untested(found.mix.adjusted))
    return replace(found, difference=shown, mix=parted)


def honest(found: Difference, guard: Guard) -> Difference:
    """Return a difference, or none of its numbers where too many traces are incomplete."""
    return bare(found, NOT_ENOUGH) if guard.incomplete else found
