"""What pages and API ask about judgments: statuses with the reason why, violations, graders."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gnomon.clock import Clock, to_nanos
from gnomon.model import Run, RunId, RunState
from scoring.grading.port import Grader, GraderKind, State, Surface
from scoring.grading.run import waiting
from scoring.rows import LabelRow, StatusRow, ViolationRow
from scoring.statements import ViolationFilter, ViolationPosition
from scoring.store import JudgmentReader, StatusCount, ViolationBucket

_LOOKS = 20
"""Pages of violations read at most to fill one: the others belong to revisions that are gone."""


class RunsFound(Protocol):
    """What finds runs by id."""

    def many_runs(self, run_ids: Iterable[str]) -> dict[RunId, Run]:
        """Return many runs by id; those that do not exist are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunJudgments:
    """Everything that was judged of one run at its present revision."""

    statuses: Sequence[StatusRow] = ()
    """One for each grader that is set up, and for those that judged and are set up no more."""
    labels: Sequence[LabelRow] = ()
    violations: Sequence[ViolationRow] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    """The version of each grader that is set up: where it has looked, no other one speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderOverview:
    """A grader and what it made of the runs."""

    name: str
    version: str
    surface: Surface | None
    """None: it is set up no more."""
    kind: GraderKind | None
    configured: bool
    counts: Mapping[State, int] = field(default_factory=dict)
    broken: int = 0
    """Runs with a violation."""
    last_at: int | None = None


@dataclass(frozen=True, slots=True)
class Judgments:
    """Judgments as they stand now, with the runs they are about."""

    stored: JudgmentReader
    runs: RunsFound
    graders: Sequence[Grader]
    clock: Clock
    judged_until: Callable[[], dt.datetime | None]
    """Up to when the job has judged what was written."""

    def of(self, run: Run) -> RunJudgments:
        """Return what was judged of a run, and why what was not."""
        return self.of_runs([run])[run.run_id]

    def of_runs(self, runs: Sequence[Run]) -> dict[RunId, RunJudgments]:
        """Return what was judged of some runs."""
        statuses = self.stored.statuses(runs)
        labels = self.stored.labels(runs)
        violations = self.stored.violations_of(runs)
        until, versions = self.judged_until(), dict(self.present_versions())
        return {
            run.run_id: RunJudgments(
                statuses=self._whole(run, statuses.get(run.run_id, []), until),
                labels=labels.get(run.run_id, []),
                violations=violations.get(run.run_id, []),
                versions=versions,
            )
            for run in runs
        }

    def statuses(self, runs: Sequence[Run]) -> dict[RunId, Sequence[StatusRow]]:
        """Return only the statuses of some runs, waiting ones included."""
        stored = self.stored.statuses(runs)
        until = self.judged_until()
        return {run.run_id: self._whole(run, stored.get(run.run_id, []), until) for run in runs}

    def violations(
        self, where: ViolationFilter, *, limit: int, after: ViolationPosition | None = None
    ) -> list[ViolationRow]:
        """List violations of runs as they are now, newest run first, behind `after`."""
        found: list[ViolationRow] = []
        for _ in range(_LOOKS):
            page = self.stored.violations(where, limit=limit, after=after)
            runs = self.runs.many_runs({row.run_id for row in page})
            found += self.stored.present(page, runs)
            if len(page) < limit or len(found) >= limit:
                break
            after = position(page[-1])
        return found[:limit]

    def violation_buckets(self, where: ViolationFilter, *, width_ns: int) -> list[ViolationBucket]:
        """Return breaches per rule and width of time."""
        return self.stored.violation_buckets(where, width_ns=width_ns)

    def overview(self, where: ViolationFilter) -> list[GraderOverview]:
        """Return every grader that is set up, then those that are no more, with their counts."""
        counts: dict[tuple[str, str], list[StatusCount]] = {}
        for row in self.stored.status_counts(where):
            counts.setdefault((row.grader, row.grader_version), []).append(row)
        shown = [
            _overview(g.name, g.version, counts.pop((g.name, g.version), []), g)
            for g in self.graders
        ]
        return shown + [
            _overview(name, version, rows, None) for (name, version), rows in counts.items()
        ]

    def present_versions(self) -> tuple[tuple[str, str], ...]:
        """Return name and version of every grader that is set up."""
        return tuple((grader.name, grader.version) for grader in self.graders)

    def _whole(
        self, run: Run, stored: Sequence[StatusRow], until: dt.datetime | None
    ) -> list[StatusRow]:
        """Add the graders that have not looked yet, and why."""
        known = {(row.grader, row.grader_version): row for row in stored}
        at = to_nanos(self.clock())
        whole = [
            known.pop((g.name, g.version))
            if (g.name, g.version) in known
            else waiting(g, run, self._why(run, until), at=at)
            for g in self.graders
        ]
        return whole + list(known.values())

    def _why(self, run: Run, until: dt.datetime | None) -> str:
        if run.state is not RunState.SETTLED:
            return "the run is not settled: more of it may come"
        if until is None or (run.settled_at or 0) >= to_nanos(until):
            return "judged at the next ticks of the job `judge`"
        return (
            "this grader is newer than the run, or its run was written a moment ago;"
            " `gnomon graders backfill` judges history"
        )


def position(row: ViolationRow) -> ViolationPosition:
    """Return where a violation stands in the list."""
    return ViolationPosition(
        row.started_at, row.run_id, row.policy, row.policy_version, row.revision, row.place
    )


def _overview(
    name: str, version: str, rows: Sequence[StatusCount], grader: Grader | None
) -> GraderOverview:
    return GraderOverview(
        name=name,
        version=version,
        surface=None if grader is None else grader.surface,
        kind=None if grader is None else grader.kind,
        configured=grader is not None,
        counts={row.state: row.runs for row in rows},
        broken=sum(row.broken for row in rows),
        last_at=max((row.last_at for row in rows), default=None),
    )
