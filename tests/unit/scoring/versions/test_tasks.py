from collections.abc import Sequence

import pytest

from gnomon.clock import Nanos
from scoring.stats.sequential import bernstein_sequence
from scoring.versions.tasks import TaskRuns, any_time_of, on_tasks

HOUR = 3_600_000_000_000


def side(passed: Sequence[int], runs: int = 3, *, version: str = "v", undecided: Sequence[int] = (), start: int = 0) -> dict[str, TaskRuns]:  # fmt: skip
    return {
        f"bug-{place:02}": TaskRuns(
            task=f"bug-{place:02}", version=version, runs=runs, passed=count,
            undecided=undecided[place] if undecided else 0, first_start=Nanos(start), last_start=Nanos(start),
            run_ids=(f"{version}-{place}",),
        )
        for place, count in enumerate(passed)
    }  # fmt: skip


OLD = [0] * 3 + [0] * 6 + [1] * 3 + [2] * 38
NEW = [1] * 3 + [2] * 6 + [0] * 3 + [2] * 38
"""50 bugs, 3 runs each: 3 up by a third, 6 by two thirds, 3 down by a third, 38 the same."""


def test_fifty_bugs_are_compared_with_magnitudes_and_the_twelve_tasks_to_read() -> None:
    found = on_tasks(side(NEW, version="new"), side(OLD, version="old"))
    shown = found.difference
    assert (shown.value, shown.low, shown.high) == pytest.approx((0.08, 0.009522, 0.150478), abs=2e-6)  # fmt: skip
    assert shown.p_values["t"] == pytest.approx(0.026925, abs=1e-6)
    assert shown.p_values["sign_flip"] == pytest.approx(0.041015625)
    assert shown.p_values["sign_test"] == pytest.approx(0.14599609375)
    assert (shown.better, shown.same, shown.worse) == (9, 38, 3)
    assert found.magnitudes == {"+0.6667": 6, "+0.3333": 3, "0": 38, "-0.3333": 3}
    assert len(found.changed) == 12
    first = found.changed[0]
    assert (first.word, first.size) == ("fixed", pytest.approx(2 / 3))
    assert (first.base.run_ids, first.cand.run_ids) == (("old-3",), ("new-3",))
    assert [task.word for task in found.changed].count("broke") == 3


def test_one_run_a_task_gives_tango_and_the_exact_mcnemar_test() -> None:
    found = on_tasks(side([1, 1, 1, 0, 1], 1), side([0, 0, 1, 0, 1], 1)).difference
    assert found.method == "tango"
    assert found.value == pytest.approx(0.4)
    assert found.p_values["mcnemar"] == pytest.approx(0.5)  # 2 better, none worse


def test_tasks_of_one_side_are_left_out_and_counted() -> None:
    old = side([1, 1, 0])
    new = {task: runs for task, runs in side([1, 1, 1, 1]).items() if task != "bug-00"}
    found = on_tasks(new, old).difference
    assert found.n == 2
    assert found.excluded == {"only_new": 1, "only_old": 1}


def test_undecided_runs_leave_the_limits_of_the_worst_and_the_best_case() -> None:
    new, old = side(NEW, undecided=[1] + [0] * 49), side(OLD)
    found = on_tasks(new, old).difference
    worst, best = on_tasks(side(NEW), old).difference, on_tasks(side([2, *NEW[1:]]), old).difference
    assert found.value is None
    assert (found.low, found.high) == (worst.low, best.high)
    assert found.open == 1
    assert "undecided" in found.flags
    assert found.p_values == {}, "of what is decided alone they would leave the others out"


def test_no_end_of_what_is_undecided_has_a_limit_outside_of_those_shown() -> None:
    # One task up by 1 has more spread than one that stays: its lower limit is the lower one.
    old, new = [3, 0] + [3] * 38, [2, 0] + [3] * 38
    open_ = on_tasks(side(new, undecided=[0, 3] + [0] * 38), side(old)).difference
    ends = [on_tasks(side([2, end] + [3] * 38), side(old)).difference for end in (0, 3)]
    assert ends[1].low is not None
    assert ends[1].low == pytest.approx(-0.0370, abs=1e-4)
    for end in ends:
        assert open_.low <= end.low  # type: ignore[operator]
        assert open_.high >= end.high  # type: ignore[operator]


def test_undecided_tasks_are_open_and_not_left_out() -> None:
    """60 tasks: the old side passes 48, the new side 35 of those that are decided, 25 are not."""
    old = side([0] * 12 + [1] * 48, 1)
    new = side([1] * 35 + [0] * 25, 1, undecided=[0] * 35 + [1] * 25)
    found = on_tasks(new, old).difference
    assert (found.n, found.open, found.excluded) == (60, 25, {})
    assert (found.better, found.same, found.worse) == (12, 23, 0), "of those decided"
    assert (found.value, found.p_values) == (None, {})
    assert found.low is not None
    assert found.low < 0


def test_the_same_runs_give_the_same_number_again_whatever_their_order() -> None:
    new, old = side(NEW), side(OLD)
    again = on_tasks(dict(reversed(new.items())), dict(reversed(old.items())))
    assert again == on_tasks(new, old)


def test_tasks_that_ran_more_than_an_hour_apart_are_told() -> None:
    assert on_tasks(side([1], start=2 * HOUR), side([1])).apart == ["bug-00"]
    assert on_tasks(side([1], start=HOUR), side([1])).apart == []


def test_no_common_task_is_no_number() -> None:
    found = on_tasks({}, side([1]))
    assert found.difference.value is None
    assert found.difference.n == 0
    assert found.as_json()["difference"]["p_values"] == {}


def test_the_running_interval_is_the_confidence_sequence_of_the_differences_in_order() -> None:
    new, old = side(NEW), side(OLD)
    order = [f"bug-{place:02}" for place in range(50)]
    found = any_time_of(order, new, old)
    gains = [(n - o) / 3 for n, o in zip(NEW, OLD, strict=True)]
    expected = bernstein_sequence([(gain + 1) / 2 for gain in gains])
    assert expected is not None
    assert expected.low is not None
    assert found.low == pytest.approx(2 * expected.low - 1)
    fixed = on_tasks(new, old).difference
    width, narrow = ((one.high or 0) - (one.low or 0) for one in (found, fixed))
    assert width > narrow > 0
    assert not found.p_values


def test_undecided_runs_widen_the_running_interval_to_worst_and_best() -> None:
    new, old = side(NEW, undecided=[1] + [0] * 49), side(OLD)
    found = any_time_of([f"bug-{place:02}" for place in range(50)], new, old)
    assert (found.value, found.open) == (None, 1)
    assert any_time_of([], {}, {}).n == 0
