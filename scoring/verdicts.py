"""Keeps one verdict for each run: made of its judgments, made anew whenever one is added."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, TypeVar

from gnomon.clock import Nanos
from gnomon.model import Run, RunId, Step
from scoring.acts import acts_of
from scoring.grading.port import State
from scoring.grading.run import Judged
from scoring.reading import RunJudgments
from scoring.rows import LabelRow, StatusRow, VerdictRow, ViolationRow
from scoring.store import JudgedKey, Made, MadeVerdict
from scoring.verdict import Place, place, verdict_row

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

    def verdicts_made(self, runs: Sequence[Run]) -> Mapping[tuple[str, int], MadeVerdict]:
        """Return of which judgments the verdicts of runs and revisions are made."""

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
    """The verdicts of runs, as the judge keeps them.

    versions: the version of each grader that is set up, by name.
    """

    def __init__(
        self, stored: Stored, writer: Writer, versions: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._stored = stored
        self._writer = writer
        self._versions = versions

    def lacking(self, runs: Sequence[Run], known: Mapping[JudgedKey, Made]) -> set[RunId]:
        """Return the runs whose verdict is missing, older than a judgment of theirs, or of others.

        Of others: another version of a grader speaks now, since gnomon.yaml went back to it.
        """
        last: dict[tuple[str, int], Nanos] = {}
        speak: dict[tuple[str, int], dict[str, Place]] = {}
        for key, made in known.items():
            of = (key.run_id, key.revision)
            last[of] = max(last.get(of, Nanos(0)), made.at)
            if made.state is State.WAITING:
                continue
            own = place(key.grader, key.grader_version, made.at, self._versions)
            graders = speak.setdefault(of, {})
            graders[key.grader] = max(graders.get(key.grader, own), own)
        there = self._stored.verdicts_made(runs)

        def stands(of: tuple[str, int]) -> bool:
            made, graders = there.get(of), speak.get(of, {})
            return (
                made is not None
                and made.judged_at >= last.get(of, Nanos(0))
                and made.versions == {name: version for name, (_, _, version) in graders.items()}
            )

        return {run.run_id for run in runs if not stands((run.run_id, run.revision))}

    def keep(self, judged: Sequence[JudgedRun], *, at: Nanos) -> None:
        """Write the verdicts of runs whose judgments are stored."""
        again = [one.run for one in judged if not one.first]
        before = self._before(again) if again else {}
        rows = [
            verdict_row(
                one.run,
                self._together(before.get(one.run.run_id, RunJudgments()), one.judged),
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

    def _together(self, before: RunJudgments, judged: Sequence[Judged]) -> RunJudgments:
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
            versions=self._versions,
        )
