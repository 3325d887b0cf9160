import pytest

from gnomon.clock import Nanos
from scoring.metrics.guards import COMPLETENESS
from scoring.stats.gates import Decision, Verdict
from scoring.stats.shown import shown_rate
from scoring.versions.guard import Guard, Sides
from scoring.versions.looks import Start, TakenLook, Waiting, reached, take, units_in_time
from scoring.versions.tasks import TaskRuns


def runs(task: str, number: int, first: int, last: int = 0) -> TaskRuns:
    return TaskRuns(
        task=task, version="v", runs=number, passed=0, undecided=0, first_start=Nanos(first),
        last_start=Nanos(last or first), run_ids=(),
    )  # fmt: skip


def side(*made: TaskRuns) -> dict[str, TaskRuns]:
    return {one.task: one for one in made}


def test_units_come_in_the_order_in_which_both_sides_had_run() -> None:
    new = side(runs("a", 1, 30), runs("b", 1, 5), runs("c", 1, 9), runs("only new", 1, 1))
    old = side(runs("a", 1, 1), runs("b", 1, 20), runs("c", 1, 2))
    found = units_in_time(new, old, trials=None)
    assert [(unit.task, unit.at) for unit in found] == [("c", 9), ("b", 20), ("a", 30)]


def test_with_trials_a_task_counts_once_both_sides_have_so_many() -> None:
    new = side(runs("a", 3, 1, 40), runs("b", 2, 1, 8))
    old = side(runs("a", 3, 2, 9), runs("b", 3, 2, 9))
    found = units_in_time(new, old, trials=3)
    assert [(unit.task, unit.at) for unit in found] == [("a", 40)]


def start(at: int, version: str, cluster: str, week: int = 1, slice_: str = "") -> Start:
    return Start(week=week, slice=slice_, version=version, cluster=cluster, first=Nanos(at))


def test_the_smaller_side_says_how_far_live_runs_have_come() -> None:
    starts = [
        start(1, "old", "c1"), start(2, "old", "c2"), start(3, "old", "c3"), start(4, "new", "c1"),
        start(5, "old", "c4"), start(6, "new", "c9"), start(7, "new", "c1", week=2),
    ]  # fmt: skip
    assert reached(starts, base="old", cand="new") == [(4, 1), (6, 2)]


def test_a_week_counts_from_the_moment_both_versions_have_it() -> None:
    starts = [start(at, "old", f"c{at}") for at in range(5)]
    starts += [start(9, "old", "d", week=2), start(10, "new", "e", week=2)]
    assert reached(starts, base="old", cand="new") == [(10, 1)]
    both = [start(1, "old", "a"), start(2, "old", "b"), start(3, "new", "x"), start(4, "new", "y")]
    assert reached(both, base="old", cand="new") == [(3, 1), (4, 2)]
    assert reached([], base="old", cand="new") == []


def test_a_slice_counts_from_the_moment_both_versions_have_it_in_one_week() -> None:
    starts = [
        start(1, "old", "a", slice_="late"), start(2, "new", "x", slice_="broken"),
        start(3, "new", "y", week=2, slice_="late"), start(4, "old", "b", slice_="broken"),
        start(5, "new", "z", slice_="late"),
    ]  # fmt: skip
    assert reached(starts, base="old", cand="new") == [(4, 1), (5, 2)]


def taken(number: int, n: int, verdict: Verdict) -> TakenLook:
    rate = shown_rate(None, n=0, unit="run", method="wilson")
    return TakenLook(
        look=number, n=n, seen_at=Nanos(1), until=Nanos(1),
        decision=Decision(verdict=verdict, reason="made up"),
        guard=Guard(shares={COMPLETENESS: Sides(base=rate, cand=rate)}, new=()),
    )  # fmt: skip


OPEN, PASS = Verdict.NOT_ENOUGH_DATA, Verdict.PASS


def test_a_look_is_taken_when_its_units_are_there_and_only_once() -> None:
    asked: list[tuple[int, int]] = []

    def look(number: int, n: int) -> TakenLook:
        asked.append((number, n))
        return taken(number, n, OPEN)

    assert take([50, 100], 49, [], look) == ([], None)
    done, _ = take([50, 100], 77, [], look)
    assert asked == [(1, 50)]
    again, _ = take([50, 100], 99, done, look)
    assert asked == [(1, 50)]
    assert again == done
    take([50, 100], 400, done, look)
    assert asked == [(1, 50), (2, 100)]


def test_after_a_verdict_nobody_looks_again() -> None:
    def never(number: int, n: int) -> TakenLook:
        pytest.fail(f"look {number} at {n}")

    done = [taken(1, 50, PASS)]
    assert take([50, 100], 400, done, never) == (done, None)
    final = [taken(1, 50, OPEN), taken(2, 100, OPEN)]
    assert take([50, 100], 400, final, never) == (final, None)


def test_a_look_waits_for_runs_that_can_still_change() -> None:
    waits = Waiting(text="2 runs are not judged yet")
    assert take([50], 60, [], lambda *_: waits) == ([], waits)
