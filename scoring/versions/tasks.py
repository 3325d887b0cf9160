"""Two versions on the same tasks: paired, with magnitudes, and the tasks to read."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.clock import Nanos
from gnomon.model import JsonValue
from scoring.stats.results import Difference, Estimate
from scoring.stats.shown import shown_difference
from scoring.stats.trials import Task
from scoring.stats.versions import any_time, compare_tasks, far_apart
from scoring.versions.cells import around

_NANO = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRuns:
    """The settled runs of one version at one task."""

    task: str
    version: str
    runs: int
    passed: int
    undecided: int
    """Neither right nor wrong: not verified, or not checked."""
    first_start: Nanos
    last_start: Nanos
    run_ids: Sequence[str]
    """At most 20, to read."""

    def as_json(self) -> JsonValue:
        """Return counts and run ids."""
        return {
            "runs": self.runs,
            "passed": self.passed,
            "undecided": self.undecided,
            "run_ids": list(self.run_ids),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTask:
    """One task on which the versions differ."""

    task: str
    size: float
    """New less old share of passes."""
    base: TaskRuns
    cand: TaskRuns

    @property
    def swapped(self) -> "ChangedTask":
        """The same with the sides exchanged."""
        return replace(self, size=-self.size, base=self.cand, cand=self.base)

    @property
    def word(self) -> str:
        """`fixed` or `broke`."""
        return "fixed" if self.size > 0 else "broke"

    @property
    def magnitude(self) -> str:
        """Its size as magnitudes name it."""
        return _size(self.size)

    def as_json(self) -> JsonValue:
        """Return the task with the runs to read."""
        sides = {"base": self.base.as_json(), "cand": self.cand.as_json()}
        return {"task": self.task, "size": self.size, "word": self.word, **sides}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskComparison:
    """What changed on the tasks both versions tried."""

    difference: Difference
    changed: Sequence[ChangedTask]
    """Largest change first."""
    magnitudes: Mapping[str, int]
    """Tasks by size of their change: part of the result, the counts alone fit many patterns."""
    apart: Sequence[str]
    """Tasks whose versions started more than an hour apart."""

    @property
    def swapped(self) -> "TaskComparison":
        """The same with the sides exchanged."""
        sizes = {_size(-float(size)): tasks for size, tasks in self.magnitudes.items()}
        return replace(
            self,
            difference=self.difference.swapped,
            changed=[task.swapped for task in self.changed],
            magnitudes=_largest_first(sizes),
        )

    def as_json(self) -> JsonValue:
        """Return the comparison; better, same and worse stand in the difference."""
        shown = self.difference.as_json()
        del shown["changed"]
        return {
            "difference": shown,
            "fixed": self.difference.better,
            "same": self.difference.same,
            "broke": self.difference.worse,
            "magnitudes": dict(self.magnitudes),
            "changed": [task.as_json() for task in self.changed],
            "started_apart": len(self.apart),
        }


def on_tasks(
    new: Mapping[str, TaskRuns], old: Mapping[str, TaskRuns], *, confidence: float = 0.95
) -> TaskComparison:
    """Return how two versions differ on their common tasks.

    While runs are undecided the difference has no value and no p value: its limits hold whether the
    undecided runs of the new side, and those of the old side, all fail or all pass. `better`, `same`
    and `worse` count the tasks that are decided on both sides.
    """
    seed = _seed(new, old)
    found = _compared(_decided(new), _decided(old), seed, confidence)
    undecided = sum(side[task].undecided for side in (new, old) for task in new.keys() & old.keys())
    if undecided:
        cases = [
            _compared(_all(new, one), _all(old, other), seed, confidence) for one, other in _CASES
        ]
        limits = around([Estimate(value=None, low=c.low, high=c.high) for c in cases], found.flags)
        found = replace(
            found,
            value=None,
            low=limits.low,
            high=limits.high,
            n=cases[0].n,
            open=undecided,
            excluded=cases[0].excluded,
            p_values={},
            flags=limits.flags,
        )
    changed = [
        ChangedTask(task=c.name, size=c.size, base=old[c.name], cand=new[c.name])
        for c in found.changed
    ]
    gaps = {
        task: (new[task].first_start - old[task].first_start) / _NANO
        for task in new.keys() & old.keys()
    }
    sizes = Counter(_size(task.size) for task in changed)
    if found.same:
        sizes[_size(0)] = found.same
    return TaskComparison(
        difference=found,
        changed=changed,
        magnitudes=_largest_first(sizes),
        apart=far_apart(gaps),
    )


_CASES = ((0, 1), (0, 0), (1, 1), (1, 0))
"""What the undecided runs of the new and of the old side come to: all fail (0) or all pass (1)."""


def _size(size: float) -> str:
    return f"{size:+.4g}" if size else "0"


def _largest_first(sizes: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(sizes.items(), key=lambda pair: -float(pair[0])))


def _compared(
    new: Mapping[str, Task], old: Mapping[str, Task], seed: int, confidence: float
) -> Difference:
    return compare_tasks(new, old, seed=seed, confidence=confidence)


def _decided(side: Mapping[str, TaskRuns]) -> dict[str, Task]:
    return {task: (runs.runs - runs.undecided, runs.passed) for task, runs in side.items()}


def _all(side: Mapping[str, TaskRuns], share: int) -> dict[str, Task]:
    return {task: (r.runs, r.passed + share * r.undecided) for task, r in side.items()}


def _seed(new: Mapping[str, TaskRuns], old: Mapping[str, TaskRuns]) -> int:
    """Derive chance from what is compared, so that a second look gives the same number."""
    told = repr(
        sorted((task, r.runs, r.passed, r.undecided) for side in (new, old) for task, r in side.items())
    )  # fmt: skip
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:4], "big")


ANY_TIME = "confidence sequence over tasks in time order, the same runs of each"


FIRST_TRIALS = "first_trials"
"""The running difference is of the first run of each task, while more of them are compared."""


def any_time_of(
    order: Sequence[str], new: Mapping[str, TaskRuns], old: Mapping[str, TaskRuns], *,
    confidence: float = 0.95,
) -> Difference:  # fmt: skip
    """Return the difference with an interval that may be looked at at any time.

    order: the common tasks in the order in which both sides had them; new, old: the same runs of
    each task at every look, so that a difference once seen stays. Undecided runs leave the limits
    of the worst and the best case.
    """

    def found(new_share: int, old_share: int) -> Estimate | None:
        gains = [
            (new[task].passed + new_share * new[task].undecided) / new[task].runs
            - (old[task].passed + old_share * old[task].undecided) / old[task].runs
            for task in order
        ]
        return any_time(gains, confidence=confidence)

    undecided = sum(side[task].undecided for side in (new, old) for task in order)
    plain = found(0, 0)
    if undecided:
        plain = around([found(one, other) for one, other in _CASES])
    return shown_difference(
        plain, n=len(order), unit="task", method=ANY_TIME, open=undecided, confidence=confidence
    )


def task_of(row: Mapping[str, Any]) -> TaskRuns:
    """Return one row of the statement `tries`."""
    numbers = ("runs", "passed", "undecided")
    return TaskRuns(
        task=row["task"],
        version=row["version"],
        first_start=Nanos(row["first_start"]),
        last_start=Nanos(row["last_start"]),
        run_ids=tuple(row["run_ids"]),
        **{name: int(row[name]) for name in numbers},
    )
