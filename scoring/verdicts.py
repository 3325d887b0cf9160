"""Keeps one verdict for each run: made of its judgments, made anew whenever one is added."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gnomon.clock import Nanos
from gnomon.model import Run, RunId, Step
from scoring.acts import acts_of
from scoring.grading.run import Judged
from scoring.reading import RunJudgments
from scoring.rows import LabelRow, StatusRow, VerdictRow, ViolationRow
from scoring.store import JudgedKey, Made
from scoring.verdict import verdict_row

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run with the judgments that were just made of it."""

    run: Run
    steps: Sequence[Step]
    judged: Sequence[Judged]
    first: bool
    """Nothing was judged of this revision before."""


class Stored(Protocol):
    """What was judged, read back."""

    def verdicts_made(self, runs: Sequence[Run]) -> Mapping[tuple[str, int], Nanos]:
        """Return up to which judgment the verdicts of runs and revisions speak."""

    def statuses(self, runs: Sequence[Run]) -> dict[RunId, list[StatusRow]]:
        """Return the statuses of some runs at their present revision."""

    def labels(self, runs: Sequence[Run]) -> dict[RunId, list[LabelRow]]:
        """Return the labels of some runs at their present revision."""

    def violations_of(self, runs: Sequence[Run]) -> dict[RunId, list[ViolationRow]]:
        """Return the violations of some runs at their present revision."""


class Writer(Protocol):
    """Where verdicts go."""

    def write_verdicts(self, verdicts: Sequence[VerdictRow]) -> None:
        """Write verdicts; a later one of the same run and revision replaces the earlier."""


class Verdicts:
    """The verdicts of runs, as the judge keeps them."""

    def __init__(self, stored: Stored, writer: Writer) -> None:
        self._stored = stored
        self._writer = writer

    def lacking(self, runs: Sequence[Run], known: Mapping[JudgedKey, Made]) -> set[RunId]:
        """Return the runs whose verdict is missing, or older than a judgment of theirs."""
        newest: dict[tuple[str, int], Nanos] = {}
        for key, made in known.items():
            place = (key.run_id, key.revision)
            newest[place] = max(newest.get(place, Nanos(0)), made.at)
        there = self._stored.verdicts_made(runs)
        return {
            run.run_id
            for run in runs
            if there.get((run.run_id, run.revision), Nanos(-1))
            < newest.get((run.run_id, run.revision), Nanos(0))
        }

    def keep(self, judged: Sequence[JudgedRun], *, at: Nanos) -> None:
        """Write the verdicts of runs whose judgments are stored."""
        again = [one.run for one in judged if not one.first]
        before = self._before(again) if again else {}
        rows = [
            verdict_row(
                one.run,
                _together(before.get(one.run.run_id, RunJudgments()), one.judged),
                acts_of(one.steps),
                at=at,
            )
            for one in judged
        ]
        self._writer.write_verdicts(rows)

    def _before(self, runs: Sequence[Run]) -> dict[RunId, RunJudgments]:
        statuses, labels = self._stored.statuses(runs), self._stored.labels(runs)
        violations = self._stored.violations_of(runs)
        return {
            run.run_id: RunJudgments(
                statuses=statuses.get(run.run_id, ()),
                labels=labels.get(run.run_id, ()),
                violations=violations.get(run.run_id, ()),
            )
            for run in runs
        }


def _together(before: RunJudgments, judged: Sequence[Judged]) -> RunJudgments:
    """Return what stands of a run: the new judgments, and the old ones they do not replace."""
    new = {(one.status.grader, one.status.grader_version) for one in judged}
    return RunJudgments(
        statuses=[
            *(row for row in before.statuses if (row.grader, row.grader_version) not in new),
            *(one.status for one in judged),
        ],
        labels=[
            *(row for row in before.labels if (row.grader, row.grader_version) not in new),
            *(one.label for one in judged if one.label is not None),
        ],
        violations=[
            *(row for row in before.violations if (row.policy, row.policy_version) not in new),
            *(row for one in judged for row in one.violations),
        ],
    )
