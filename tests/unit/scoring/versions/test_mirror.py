"""A look with its sides exchanged says what the same look in the other order would have said."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.clock import Nanos
from scoring.metrics.guards import COMPLETENESS
from scoring.metrics.watched import RuleSection
from scoring.stats.gates import Verdict
from scoring.stats.shown import shown_rate
from scoring.versions import rule
from scoring.versions.cells import Cell
from scoring.versions.guard import Broken, Guard, Sides
from scoring.versions.live import LiveFound, between_weeks
from scoring.versions.looks import TakenLook, until_decided
from scoring.versions.mirror import mirrored
from scoring.versions.mix import mix
from scoring.versions.rule import Plan
from scoring.versions.strata import Pair
from scoring.versions.tasks import TaskRuns, on_tasks

BROKEN = Broken(version="new", task="t0", policy="p", rule="r", runs=1, run_ids=("run",))


def plan(n: int, **more: object) -> Plan:
    section = RuleSection(**{"kind": "superiority", "n": n, **more})  # type: ignore[arg-type]
    return Plan(section=section, slices={})


def guard(*new: Broken) -> Guard:
    rates = [shown_rate(None, n=n, unit="run", method="wilson") for n in (1, 2)]
    return Guard(shares={COMPLETENESS: Sides(base=rates[0], cand=rates[1])}, new=new, ended=())


def side(version: str, passed: list[int], undecided: list[int]) -> dict[str, TaskRuns]:
    return {
        f"t{task}": TaskRuns(
            task=f"t{task}", version=version, runs=3, passed=min(good, 3 - open_), undecided=open_,
            first_start=Nanos(task), last_start=Nanos(task), run_ids=(),
        )
        for task, (good, open_) in enumerate(zip(passed, undecided, strict=True))
    }  # fmt: skip


def look(**found: object) -> TakenLook:
    n = 6
    decision = rule.undecided("made up")
    return TakenLook(
        look=1, n=n, seen_at=Nanos(1), until=Nanos(1), decision=decision, guard=guard(BROKEN), **found,  # type: ignore[arg-type]
    )  # fmt: skip


SIX = st.lists(st.integers(0, 3), min_size=6, max_size=6)
FEW = st.lists(st.sampled_from([0, 0, 0, 1]), min_size=6, max_size=6)


@settings(max_examples=40, deadline=None)
@given(SIX, SIX, FEW)
def test_tasks_swapped_are_tasks_compared_the_other_way_round(
    new: list[int], old: list[int], open_: list[int]
) -> None:
    first, second = side("new", new, open_), side("old", old, [0] * 6)
    swapped = mirrored(look(tasks=on_tasks(first, second)), plan(6)).tasks
    expected = on_tasks(second, first)
    assert swapped is not None
    a, b = swapped.difference, expected.difference
    assert (a.n, a.open, a.better, a.same, a.worse, a.flags) == (
        b.n, b.open, b.better, b.same, b.worse, b.flags,
    )  # fmt: skip
    assert swapped.magnitudes == expected.magnitudes
    assert {(c.task, c.size, c.base.version) for c in swapped.changed} == {
        (c.task, c.size, c.base.version) for c in expected.changed
    }
    for mine, theirs in ((a.value, b.value), (a.low, b.low), (a.high, b.high)):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            assert abs(mine - theirs) < 1e-9


def cells() -> list[Cell]:
    made = [("new", "late", 9, 8), ("new", "other", 4, 1), ("old", "late", 5, 4), ("old", "other", 8, 1)]  # fmt: skip
    weeks = [
        Cell(week=1, slice=slice_, version=version, runs=runs, passed=passed, undecided=0)
        for version, slice_, runs, passed in made
    ]
    return [*weeks, Cell(week=2, slice="late", version="old", runs=3, passed=1, undecided=0)]


def live(base: str, cand: str) -> LiveFound:
    pair = Pair(base=base, cand=cand)
    return LiveFound(
        difference=between_weeks(cells(), pair), weeks=1, mix=mix(cells(), "topic", pair)
    )


def test_live_runs_swapped_are_live_runs_compared_the_other_way_round() -> None:
    swapped = mirrored(look(live=live("old", "new")), plan(6, basis="live")).live
    expected = live("new", "old")
    assert swapped is not None
    assert swapped.difference.excluded == expected.difference.excluded == {"weeks_of_cand_only": 3}
    assert swapped.mix == expected.mix
    for end in ("value", "low", "high"):
        mine, theirs = getattr(swapped.difference, end), getattr(expected.difference, end)
        assert abs(mine - theirs) < 1e-9


def test_a_look_that_rests_on_the_inside_of_slices_does_so_swapped() -> None:
    """All of the gain is another mix of topics: neither order shows anything."""
    made = [("new", "easy", 40, 40), ("new", "hard", 4, 2), ("old", "easy", 4, 4), ("old", "hard", 40, 20)]  # fmt: skip
    some = [
        Cell(week=1, slice=slice_, version=version, runs=runs, passed=passed, undecided=0)
        for version, slice_, runs, passed in made
    ]
    pair = Pair(base="old", cand="new")
    found = LiveFound(difference=between_weeks(some, pair), weeks=1, mix=mix(some, "topic", pair))
    assert found.difference.low is not None
    assert found.difference.low > 0
    swapped = mirrored(look(live=found), plan(6, basis="live"))
    assert (swapped.decision.verdict, swapped.decision.reason) == (Verdict.FAIL, "not shown")


def test_a_look_swapped_is_decided_by_the_rule_and_by_what_is_new_then() -> None:
    won = look(tasks=on_tasks(side("new", [3] * 6, [0] * 6), side("old", [0] * 5 + [1], [0] * 6)))
    swapped = mirrored(won, plan(6))
    assert (swapped.decision.verdict, swapped.decision.reason) == (Verdict.FAIL, "shown worse")
    assert swapped.guard.new == ()
    assert swapped.guard.ended == (BROKEN,)
    shares = swapped.guard.shares[COMPLETENESS]
    assert (shares.base.n, shares.cand.n) == (2, 1)
    back = mirrored(swapped, plan(6))
    assert back.decision.reason == "shown, but new violations at 1 task: p/r"


def test_looks_of_a_series_end_with_the_first_that_decides() -> None:
    open_ = look()
    decided = mirrored(
        look(tasks=on_tasks(side("new", [3] * 6, [0] * 6), side("old", [0] * 5 + [1], [0] * 6))),
        plan(6),
    )
    assert until_decided([open_, decided, open_]) == [open_, decided]
    assert until_decided([open_, open_]) == [open_, open_]
