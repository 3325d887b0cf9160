"""What comparisons ask of the store: rows of `queries.sql` as the nouns of this package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from collector.reading import relations
from gnomon.clock import Nanos
from gnomon.store import Store
from gnomon.store.sql import load
from gnomon.store.statements import filled
from scoring.grading.port import Grader
from scoring.metrics.guards import COMPLETENESS
from scoring.metrics.parts import condition
from scoring.metrics.scope import Scope
from scoring.metrics.statements import Units, compiled
from scoring.metrics.watched import Measured
from scoring.retries import LEFT, MADE_UP_FOR
from scoring.versions import guard
from scoring.versions.cells import Alike, Cell
from scoring.versions.force import Ran
from scoring.versions.guard import Broken, Guard
from scoring.versions.looks import Start, TakenLook, Undecided
from scoring.versions.manifests import Manifests, PinRow, manifests
from scoring.versions.setting import SURFACE
from scoring.versions.tasks import TaskRuns, task_of

_ARRIVAL = ("agent_version", "business_keys", "last_received_at")
_PLACES = ("agent_name", "agent_version", "environment", "origin", "business_keys")
ALL_TRIALS = 2**32 - 1
_NOBODY = "false"

_LATELY = 3_600_000_000_000
"""How long a verdict that lags behind its judgments is waited for: a crash may have left it."""

PASSED: Mapping[Measured, tuple[str, str]] = {
    "completion": (condition("verified"), condition("unverified")),
    "clean": (condition("clean"), condition("unchecked")),
    "finished": (condition("finished"), _NOBODY),
}
"""Metric: the conditions of a pass and of an undecided run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Two versions and the metric they are compared by, in a scope."""

    scope: Scope
    base: str
    cand: str
    metric: Measured

    @property
    def versions(self) -> list[str]:
        """Both, the baseline first."""
        return [self.base, self.cand]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Runs whose verdict can still come, or change by itself."""

    open: int
    settled: int
    unjudged: int
    again: int
    """Runs with a grader that got no answer and is asked again."""
    behind: int
    """Runs with a judgment that their verdict does not hold yet."""
    graders: Sequence[str]
    """Who is asked again."""
    next_at: Nanos
    until: Nanos
    """From when on, and when for the last time; 0 where nobody is."""


class Asking:
    """Reads what two versions did."""

    def __init__(self, store: Store, units: Units) -> None:
        self._store = store
        self._units = units
        self._sql = load("scoring.versions")

    def runs(self, asked: Sides) -> dict[str, int]:
        """Return the settled runs of each version."""
        rows = self._read("scoped_runs", asked.scope, versions=asked.versions)
        return {row["version"]: int(row["runs"]) for row in rows}

    def manifests(self, asked: Sides, runs: Mapping[str, int]) -> Manifests:
        """Return what the versions were made with."""
        rows = self._read("pins", asked.scope, versions=asked.versions)
        return manifests([PinRow(**row) for row in rows], runs, base=asked.base, cand=asked.cand)

    def judges(self, asked: Sides) -> dict[str, Sequence[str]]:
        """Return the graders behind each version's labels."""
        found: dict[str, list[str]] = {version: [] for version in asked.versions}
        rows = self._read(
            "judges", asked.scope, versions=asked.versions, surface=SURFACE[asked.metric]
        )
        for row in rows:
            found[row["version"]].append(f"{row['grader']} {row['grader_version']}")
        return {version: tuple(names) for version, names in found.items()}

    def cells(self, asked: Sides, by_slice: str | None) -> list[Cell]:
        """Return runs and passes by week, slice and version."""
        passed, undecided = PASSED[asked.metric]
        rows = self._read(
            "cells", asked.scope, by="" if by_slice is None else f"slice:{by_slice}",
            words={"passed": passed, "undecided": undecided}, versions=asked.versions,
        )  # fmt: skip
        return [Cell(**row) for row in rows]

    def alike(
        self, asked: Sides, weeks: Sequence[int], by_slice: str | None
    ) -> Sequence[Alike] | None:
        """Return the clusters of the weeks, equal ones together; None where runs are the units."""
        if not self._units.clustered or not weeks:
            return None
        passed, undecided = PASSED[asked.metric]
        rows = self._read(
            "alike", asked.scope, by="" if by_slice is None else f"slice:{by_slice}",
            words={"passed": passed, "undecided": undecided},
            versions=asked.versions, weeks=list(weeks),
        )  # fmt: skip
        names = ("weeks", "slices", "versions", "runs", "passed", "undecided")
        found = [
            Alike(
                cells=[
                    Cell(week=week, slice=slice_, version=version, runs=runs, passed=good, undecided=open_)
                    for week, slice_, version, runs, good, open_ in zip(*(row[n] for n in names), strict=True)
                ],
                clusters=int(row["clusters"]),
            )
            for row in rows
        ]  # fmt: skip
        return found if self._units.cluster_by or any(one.repeated for one in found) else None

    def unit(self, *, repeated: bool) -> str:
        """Return what one unit of live runs is."""
        return self._units.unit(repeated=repeated)

    def at_shared_tasks(self, asked: Sides, weeks: Sequence[int]) -> tuple[int, int]:
        """Return the runs of the weeks at tasks that both versions tried, and all runs."""
        (row,) = self._read(
            "at_shared_tasks", asked.scope, compared="same_weeks", versions=asked.versions,
            weeks=list(weeks),
        )  # fmt: skip
        return int(row["shared"]), int(row["runs"])

    def starts(self, asked: Sides, by_slice: str) -> list[Start]:
        """Return the first run of each version, week, slice and cluster, in time order."""
        by = f"slice:{by_slice}" if by_slice else ""
        rows = self._read("starts", asked.scope, by=by, versions=asked.versions)
        return [Start(**row) for row in rows]

    def tries(
        self, asked: Sides, *, trials: int | None, tasks: Sequence[str] = ()
    ) -> tuple[dict[str, TaskRuns], dict[str, TaskRuns]]:
        """Return runs and passes by task, of the new and of the old side.

        trials: only the first so many runs of each side; tasks: only these, unless there is none.
        """
        passed, undecided = PASSED[asked.metric]
        rows = self._read(
            "tries", asked.scope, compared="tried",
            words={"passed": passed, "undecided": undecided},
            versions=asked.versions, trials=trials or ALL_TRIALS, tasks=list(tasks),
        )  # fmt: skip
        found = [task_of(row) for row in rows]
        new, old = (
            {one.task: one for one in found if one.version == version}
            for version in (asked.cand, asked.base)
        )
        return new, old

    def guard_of_tasks(
        self, asked: Sides, tasks: Sequence[str], *, trials: int | None, confidence: float
    ) -> Guard:
        """Return what stands beside the difference, over the same runs of the same tasks."""
        # Without a common task nothing is compared: a task of no name has no run.
        more = {"trials": trials or ALL_TRIALS, "tasks": list(tasks) or [""]}
        return self._guard(asked, "tried", confidence, by_task=True, **more)

    def guard_of_weeks(self, asked: Sides, weeks: Sequence[int], *, confidence: float) -> Guard:
        """Return what stands beside the difference, over the weeks of both."""
        return self._guard(asked, "same_weeks", confidence, by_task=False, weeks=list(weeks))

    def _guard(
        self, asked: Sides, compared: str, confidence: float, *, by_task: bool, **more: Any
    ) -> Guard:
        words = {
            "counted": guard.counted(asked.metric),
            "added": guard.added(asked.metric),
            "parted": guard.parted(asked.metric, self._sql[compared]),
        }
        rows = self._read("guard", asked.scope, words=words, versions=asked.versions, **more)
        broken = self._read(
            "broken", asked.scope, compared=compared, versions=asked.versions, by_task=by_task,
            **more,
        )  # fmt: skip
        whole = [(row[f"clusters_{COMPLETENESS}"], row[f"sum_m_{COMPLETENESS}"]) for row in rows]
        repeated = any(clusters < runs for clusters, runs in whole)
        return guard.guard_of(
            rows, [Broken.of(row) for row in broken], metric=asked.metric, base=asked.base,
            cand=asked.cand, unit=self.unit(repeated=repeated), confidence=confidence,
        )  # fmt: skip

    def pending(
        self, asked: Sides, tasks: Sequence[str] = (), *, trials: int | None = None,
        graders: Sequence[Grader] = (), now: Nanos,
    ) -> Pending:  # fmt: skip
        """Return the runs whose verdict can still come: of each task and side the first so many.

        graders: who may still judge; one that is not among them is not waited for.
        """
        (row,) = self._read(
            "pending", asked.scope, versions=asked.versions, tasks=list(tasks),
            trials=trials or ALL_TRIALS,
            graders=[f"{grader.name}\n{grader.version}" for grader in graders],
            since_try=now - MADE_UP_FOR, lately=now - _LATELY, left=list(LEFT),
        )  # fmt: skip
        row["graders"] = tuple(row.pop("again_graders"))
        return Pending(**row)

    def undecided(
        self, asked: Sides, compared: str, *, trials: int | None = None,
        tasks: Sequence[str] = (), weeks: Sequence[int] = (),
    ) -> Undecided | None:  # fmt: skip
        """Return the compared runs of which nobody can tell, and what became of their graders."""
        more: dict[str, Any] = {"weeks": list(weeks)}
        if compared == "tried":
            more = {"trials": trials or ALL_TRIALS, "tasks": list(tasks) or [""]}
        (row,) = self._read(
            "undecided", asked.scope, compared=compared,
            words={"undecided": PASSED[asked.metric][1]},
            versions=asked.versions, surface=SURFACE[asked.metric], **more,
        )  # fmt: skip
        if not row["runs"]:
            return None
        return Undecided(
            runs=int(row["runs"]),
            run_ids=tuple(row["run_ids"]),
            first=Nanos(row["first"]),
            why={words: int(n) for words, n in zip(*row["why"], strict=True)},
        )

    def decided_since(self, asked: Sides, look: TakenLook) -> int:
        """Return of how many runs that a look could not tell of it can be told now."""
        if look.undecided is None:
            return 0
        window = replace(asked.scope, since=look.undecided.first, until=Nanos(look.until + 1))
        (row,) = self._read(
            "decided_since", window, words={"undecided": PASSED[asked.metric][1]},
            run_ids=list(look.undecided.run_ids),
        )  # fmt: skip
        return int(row["runs"])

    def units_by_age(self, scope: Scope) -> dict[str, int]:
        """Return the units of every version, the version that ran first first."""
        return {row["version"]: int(row["units"]) for row in self._read("first_runs", scope)}

    def common_tasks(self, scope: Scope, *, trials: int) -> dict[tuple[str, str], int]:
        """Return how many tasks two versions both tried so often, by baseline and candidate."""
        rows = self._read("common_tasks", scope, trials=trials)
        return {(row["base"], row["cand"]): int(row["units"]) for row in rows}

    def judged_since(self, moment: Nanos) -> Nanos | None:
        """Return when the first verdict from a moment on was made."""
        rows = self._store.read(
            self._sql["judged_since"], tag="scoring.compare_judged_since", moment=int(moment)
        )
        return next((Nanos(row["first"]) for row in rows), None)

    def ran(self) -> Sequence[Ran]:
        """Return every version of which there are runs, settled or not, and where they ran."""
        rows = self._arrivals("ran", Scope(origin=None), _PLACES)
        return [Ran(**{**row, "tasked": bool(row["tasked"])}) for row in rows]

    def arrived(self, scope: Scope, *, with_task: bool) -> Mapping[str, Nanos]:
        """Return when the first whole run of each version had arrived, as runs are read now."""
        rows = self._arrivals("arrived", scope, _ARRIVAL, with_task=with_task)
        return {row["version"]: Nanos(row["at"]) for row in rows}

    def _arrivals(
        self, name: str, scope: Scope, columns: Sequence[str], **more: Any
    ) -> list[dict[str, Any]]:
        runs = relations.runs(scope.where(self._units.slices), columns)
        return self._store.read(
            filled(self._sql[name], arrivals=runs.sql),
            tag=f"scoring.compare_{name}",
            bind={**runs.params, "task": self._units.task, **more},
        )

    def _read(
        self, name: str, scope: Scope, *, by: str = "", compared: str = "",
        words: Mapping[str, str] | None = None, **more: Any,
    ) -> list[dict[str, Any]]:  # fmt: skip
        sql = filled(self._sql[name], **(words or {}))
        if compared:
            sql = filled(sql, compared=self._sql[compared])
        made = compiled(sql, scope, self._units, by=by)
        return self._store.read(
            made.sql, tag=f"scoring.compare_{name}", bind={**made.params, **more}
        )
