"""Judging in lots: what was written is not done again, whatever ended the window."""

import datetime as dt
from collections.abc import Mapping, Sequence

import pytest

from gnomon.clock import Nanos, Window
from gnomon.model import Bodies, Run, RunId, Step
from scoring.grading.port import Answer, Evidence, Grader, GraderKind, Label, State, Surface
from scoring.grading.run import Judged
from scoring.judge import Judging, Stopping
from scoring.store import JudgedKey, Made
from scoring.verdicts import JudgedRun
from tests.judging import START, make_run

WINDOW = Window(START, START + dt.timedelta(seconds=10))


class Desk:
    """Runs, and what was written about them, in memory."""

    def __init__(self, runs: int) -> None:
        self.all = {RunId(f"r{n:04}"): make_run(f"r{n:04}") for n in range(runs)}
        self.written: list[Judged] = []
        self.writes = 0
        self.summed: dict[RunId, JudgedRun] = {}

    def settled_between(self, start: Nanos, end: Nanos) -> list[RunId]:
        return list(self.all)

    def first_written(self, since: Nanos) -> Nanos | None:
        return None

    def many_runs(self, run_ids: Sequence[str]) -> dict[RunId, Run]:
        return {RunId(run_id): self.all[RunId(run_id)] for run_id in run_ids}

    def counted_steps(self, runs: Sequence[Run]) -> dict[RunId, list[Step]]:
        return {run.run_id: [] for run in runs}

    def many_bodies(self, *_: object) -> list[Bodies]:
        return []

    bodies = many_bodies

    def judged(self, runs: Sequence[Run]) -> dict[JudgedKey, Made]:
        rows = (one.status for one in self.written)
        return {
            JudgedKey(row.run_id, row.revision, row.grader, row.grader_version): Made(
                row.state, row.at
            )
            for row in rows
        }

    def due(self, graders: Sequence[Grader], now: Nanos) -> dict[RunId, set[str]]:
        return {}

    def lacking(self, runs: Sequence[Run], known: Mapping[JudgedKey, Made]) -> set[RunId]:
        return {run.run_id for run in runs} - self.summed.keys()

    def keep(self, judged: Sequence[JudgedRun], *, at: Nanos) -> None:
        self.summed |= {one.run.run_id: one for one in judged}

    def write(self, judged: Sequence[Judged]) -> None:
        self.writes += 1
        self.written += judged


class Meter:
    def judged(self, judged: Sequence[Judged]) -> None:
        pass


class Asked:
    """A grader that counts, and leaves the process when it is told to."""

    version = "1"
    surface = Surface.OUTCOME
    kind = GraderKind.CODE

    def __init__(self, name: str, leaves: bool = False) -> None:
        self.name, self.leaves, self.calls = name, leaves, 0

    def grade(self, evidence: Evidence) -> Answer:
        self.calls += 1
        if self.leaves:
            raise SystemExit(1)
        return Label(passed=True)


def judging(desk: Desk, *graders: Asked, lots: int = 10_000) -> Judging:
    left = iter(range(lots))
    return Judging(
        graders,
        desk,  # type: ignore[arg-type]
        desk,
        desk,
        desk,
        clock=lambda: START,
        meter=Meter(),
        stop=lambda: next(left, None) is None,
    )


def test_a_window_that_is_left_goes_on_behind_what_was_written() -> None:
    desk, grader = Desk(430), Asked("a")
    with pytest.raises(Stopping):
        judging(desk, grader, lots=2).window(WINDOW, "t")
    assert (grader.calls, len(desk.written), desk.writes) == (400, 400, 2)
    assert judging(desk, grader).window(WINDOW, "t") == 30
    assert (grader.calls, len(desk.written)) == (430, 430)


def test_a_grader_that_leaves_the_process_fails_alone() -> None:
    desk = Desk(3)
    assert judging(desk, Asked("rude", leaves=True), Asked("good")).window(WINDOW, "t") == 6
    states = {(one.status.grader, one.status.state) for one in desk.written}
    assert states == {("rude", State.FAILED), ("good", State.GRADED)}


def test_what_slow_graders_found_is_written_while_they_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scoring.judge._HELD", 0.0)
    desk, grader = Desk(100), Asked("a")
    with pytest.raises(Stopping):
        judging(desk, grader, lots=11).window(WINDOW, "t")
    assert len(desk.written) == 11, "one look at the lot's beginning, then one after each run"
    monkeypatch.undo()
    assert judging(desk, grader).window(WINDOW, "t") == 89
