"""A look waits while a grader of its runs is asked again, and no longer; then it says what is missing."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from collector.store import Reader
from gnomon.clock import Clock, Nanos, from_nanos
from gnomon.model import Run, RunState
from scoring.grading.port import Abstained, Answer, Evidence, GraderKind, State, Surface
from scoring.jobs import Jobs
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import CompareSection, MetricsWatched, RuleSection
from scoring.stats.paired import tango
from scoring.store import StoredLedger
from scoring.versions.answers import OnTasks
from scoring.versions.reader import CompareReader
from scoring.versions.schedule import WIDTH, looks_job
from tests import desk, judged_desk
from tests.judged_world import DAY, MONDAY, World, seen_first
from tests.site import Page, site

SCOPE = Scope(agent="desk", origin=None)
LIVE = Scope(agent="desk")
BOTH = {"base": "rc3", "cand": "rc4"}
NOW = Nanos(MONDAY + DAY)
MINUTE = 60_000_000_000


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A grader of gnomon.yaml; nobody asks it here."""

    name: str
    surface: Surface
    version: str = "1"
    kind: GraderKind = GraderKind.CODE

    def grade(self, evidence: Evidence) -> Answer:
        return Abstained(reason="nobody asks")


STATE = Judge(name="state", surface=Surface.OUTCOME)
REFUNDS = Judge(name="refunds", surface=Surface.POLICY)
CLAIM = Judge(name="claim", surface=Surface.FACTUALITY)


def compare(
    world: World, n: int, *, now: int = NOW, judges: tuple[Judge, ...] = (STATE, REFUNDS, CLAIM),
    clock: Clock | None = None, **more: Any,
) -> CompareReader:  # fmt: skip
    section = RuleSection(**{"kind": "superiority", "agent": "desk", "n": n, **more})
    metrics = MetricReader(world.store, MetricsWatched(compare=CompareSection(rule=section)))
    reader = CompareReader(
        world.store, metrics, graders=judges, clock=clock or (lambda: from_nanos(Nanos(now)))
    )
    seen_first(world.store, reader.plan)
    return reader


def twelve(world: World) -> Run:
    """Twelve tasks: the candidate solves four more and none less, one of them once it is asked again.

    The system of record was away for the first run of the candidate.
    """
    away = None
    for task in range(12):
        keys = {"task_id": f"t{task:02}"}
        world.run(verified=task >= 4, keys=keys)
        run = world.run(verified=True if task else None, keys=keys, agent_version="rc4")
        away = away or run
    assert away is not None
    return away


def failed(world: World, run: Run, *, tries: int, again_at: int | None, at: int = 0) -> None:
    world.label(
        run, "state", Surface.OUTCOME, state=State.FAILED, tries=tries, at=at,
        again_at=None if again_at is None else Nanos(again_at),
    )  # fmt: skip


def answered(world: World, run: Run, at: int, **more: Any) -> None:
    world.label(run, "state", Surface.OUTCOME, at=at, passed=True, **more)


def reason(found: OnTasks) -> str:
    assert found.ruling.decision.verdict == "NOT ENOUGH DATA", found.ruling.sentence
    assert found.ruling.looks == []
    shown = found.comparison.difference
    assert (shown.value, shown.low, shown.high, shown.p_values) == (None, None, None, {})
    return found.ruling.decision.reason


def test_a_look_waits_for_a_grader_that_is_asked_again_and_then_sees_the_truth(
    world: World,
) -> None:
    away = twelve(world)
    failed(world, away, tries=1, again_at=NOW + MINUTE)
    reader = compare(world, 12)
    assert reader.take_due() == 0
    found = reader.on_tasks(SCOPE, **BOTH)
    assert reason(found) == (
        "1 of the runs to be looked at can still be judged: state got no answer and asks again,"
        " next at 2008-05-06 00:01 UTC, for the last time about 2008-05-06 01:01 UTC"
    )
    said = found.as_json()["ruling"]["waits"]  # type: ignore[index,call-overload]
    assert (said["next_at"][:16], said["until"][:16]) == ("2008-05-06T00:01", "2008-05-06T01:01")  # type: ignore[index,call-overload]
    answered(world, away, 2 * MINUTE)
    assert reader.take_due() == 1
    found = reader.on_tasks(SCOPE, **BOTH)
    shown, expected = found.comparison.difference, tango(4, 0, 12)
    assert expected is not None
    assert expected.low == pytest.approx(0.0100, abs=5e-5)
    assert (shown.value, shown.low, shown.high) == (expected.value, expected.low, expected.high)
    assert (shown.open, bool(shown.p_values)) == (0, True)
    assert found.ruling.decision.verdict == "PASS"
    (look,) = found.ruling.looks
    assert look.as_json()["undecided"] is None  # type: ignore[index,call-overload]
    assert found.warnings == []


@pytest.mark.parametrize("basis", ["tasks", "live"])
def test_tries_that_are_used_up_hold_no_look_and_it_says_what_is_missing(
    world: World, basis: str
) -> None:
    away = twelve(world)
    failed(world, away, tries=4, again_at=NOW - MINUTE)
    reader = compare(world, 12, basis=basis)
    assert reader.take_due() == 0, "its last try is due, and not made yet"
    failed(world, away, tries=5, again_at=None, at=MINUTE)
    assert reader.take_due() == 1
    on_tasks, live = reader.on_tasks(SCOPE, **BOTH), reader.live(LIVE, **BOTH)
    ruling, shown = (
        (on_tasks.ruling, on_tasks.comparison.difference)
        if basis == "tasks"
        else (live.ruling, live.difference)
    )
    assert (shown.value, shown.open) == (None, 1)
    (look,) = ruling.looks
    said = look.as_json()["undecided"]  # type: ignore[index,call-overload]
    assert (said["runs"], said["run_ids"]) == (1, [away.run_id])  # type: ignore[index,call-overload]
    assert ruling.sentence.endswith(
        "1 run could not be told (state failed in 1), so the limits are of the worst and the best case"
    )
    # A person has it asked again: the look is taken once, and whoever reads it is told.
    answered(world, away, 2 * MINUTE)
    later = reader.on_tasks(SCOPE, **BOTH) if basis == "tasks" else reader.live(LIVE, **BOTH)
    assert [one.as_json() for one in later.ruling.looks] == [look.as_json()]
    assert later.ruling.decided_since == 1
    assert later.warnings == [
        "look 1 was taken once and stands: of its 1 undecided run, 1 was decided since"
    ]


@pytest.mark.parametrize(
    ("judges", "again_at", "why"),
    [
        ((REFUNDS, CLAIM), NOW + MINUTE, "it was taken out of gnomon.yaml"),
        (
            (Judge(name="state", surface=Surface.OUTCOME, version="2"), REFUNDS),
            NOW + MINUTE,
            "that version is gone",
        ),
        ((STATE, REFUNDS), NOW - DAY - MINUTE, "a try a day late is not made up for"),
    ],
)
def test_a_grader_that_nobody_asks_any_more_holds_no_look(
    world: World, judges: tuple[Judge, ...], again_at: int, why: str
) -> None:
    away = twelve(world)
    failed(world, away, tries=1, again_at=again_at)
    assert compare(world, 12, judges=judges).take_due() == 1, why


@pytest.mark.parametrize("state", [State.ABSTAINED, State.NOT_APPLICABLE, State.FAILED])
def test_an_answer_for_good_holds_no_look(world: World, state: State) -> None:
    away = twelve(world)
    world.label(away, "state", Surface.OUTCOME, state=state)
    reader = compare(world, 12)
    assert reader.take_due() == 1
    assert f"(state {state} in 1)" in reader.on_tasks(SCOPE, **BOTH).ruling.sentence


def test_a_look_waits_for_whoever_says_what_stands_beside_it(world: World) -> None:
    away = twelve(world)
    answered(world, away, 0)
    world.label(
        away, "claim", Surface.FACTUALITY, state=State.FAILED, tries=1,
        again_at=Nanos(NOW + MINUTE),
    )  # fmt: skip
    assert "claim got no answer" in reason(compare(world, 12).on_tasks(SCOPE, **BOTH))
    assert compare(world, 12, judges=(STATE, REFUNDS)).take_due() == 1


def test_runs_behind_the_plan_hold_no_look(world: World) -> None:
    away = twelve(world)
    answered(world, away, 0)
    keys = {"task_id": "t00"}
    again = world.run(verified=None, keys=keys, agent_version="rc4")
    failed(world, again, tries=1, again_at=NOW + MINUTE)
    reader = compare(world, 12)
    assert reader.take_due() == 1
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "PASS"


def test_a_run_judged_anew_holds_the_look_by_its_present_revision_alone(world: World) -> None:
    away = twelve(world)
    failed(world, away, tries=1, again_at=NOW + MINUTE)
    late: dict[str, Any] = {
        "run_id": away.run_id, "started_at": away.started_at, "revision": 2,
        "keys": {"task_id": "t00"}, "agent_version": "rc4",
    }  # fmt: skip
    world.run(judged=False, **late)
    reader = compare(world, 12)
    assert (
        reason(reader.on_tasks(SCOPE, **BOTH)) == "1 of the runs to be looked at are not judged yet"
    )
    world.run(verified=True, **late)
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "PASS"


def test_a_judgment_that_its_verdict_does_not_hold_yet_is_waited_for_an_hour(
    world: World,
) -> None:
    away = twelve(world)
    failed(world, away, tries=1, again_at=away.started_at + MINUTE)
    answered(world, away, MINUTE, summed=False)
    soon = away.started_at + 2 * MINUTE
    found = compare(world, 12, now=soon).on_tasks(SCOPE, **BOTH)
    assert reason(found) == "1 of the runs to be looked at are being summed up"
    world.sum_up(away)
    found = compare(world, 12, now=soon).on_tasks(SCOPE, **BOTH)
    assert (found.ruling.decision.verdict, found.comparison.difference.open) == ("PASS", 0)


def test_a_verdict_that_a_crash_left_behind_holds_no_look_for_ever(world: World) -> None:
    away = twelve(world)
    failed(world, away, tries=1, again_at=away.started_at + MINUTE)
    answered(world, away, MINUTE, summed=False)
    assert compare(world, 12, now=away.started_at + 62 * MINUTE).take_due() == 1


def test_the_page_says_what_a_look_waits_for_and_until_when(world: World) -> None:
    away = twelve(world)
    failed(world, away, tries=2, again_at=NOW + 5 * MINUTE)
    compared = compare(world, 12)
    stored = Reader(world.store)
    judging = judged_desk.judging_of(world.store, stored, graders=[])
    made = site(stored, desk.books(), replace(judging, compare=compared))  # type: ignore[arg-type]
    answer = made.client.get("/compare?agent=desk&base=rc3&cand=rc4&period=90d")
    assert answer.status_code == 200, answer.text[:400]
    words = " ".join(Page(answer.text).words.split())
    assert "look 1 of 1 waits, with its n = 12" in words
    assert (
        "state got no answer and asks again, next at 2008-05-06 00:05 UTC, for the last time about"
        " 2008-05-06 01:00 UTC, n = 12"
    ) in words
    assert "the planned look has its units, and waits" in words


def test_a_new_violation_waits_for_the_policies_of_both_sides_alone(world: World) -> None:
    keys = {"task_id": "t0"}
    old = world.run(verified=True, keys=keys)
    new = world.run(verified=True, broken="prohibited.0", keys=keys, agent_version="rc4")
    failed(world, new, tries=1, again_at=NOW + MINUTE, at=1)
    reader = compare(world, 12)
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "FAIL"
    world.label(
        old, "refunds", Surface.POLICY, state=State.FAILED, tries=1, at=1,
        again_at=Nanos(NOW + MINUTE),
    )  # fmt: skip
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "NOT ENOUGH DATA"


def test_the_job_looks_again_until_nobody_is_asked_any_more(world: World) -> None:
    away = twelve(world)
    failed(world, away, tries=1, again_at=NOW + MINUTE)
    clock = [from_nanos(NOW) + WIDTH / 3]
    reader = compare(world, 12)
    job = looks_job(reader, lambda: clock[0])
    jobs = Jobs(jobs=[job], ledger=StoredLedger(world.store), clock=lambda: clock[0])

    def tick(minutes: int) -> int:
        clock[0] += dt.timedelta(minutes=minutes)
        jobs.tick(job)
        return len(world.store.read("SELECT * FROM compare_looks", tag="test"))

    assert tick(1) == 0
    # The verdict bears the time at which the grader was asked, long before it was written.
    answered(world, away, 2 * MINUTE)
    assert tick(1) == 1


class Meanwhile:
    """A clock during whose n-th reading, from now on, something happens."""

    def __init__(self) -> None:
        self._left = 0
        self._happens: Callable[[], object] = lambda: None

    def at(self, reading: int, happens: Callable[[], object]) -> None:
        self._left, self._happens = reading, happens

    def __call__(self) -> dt.datetime:
        self._left -= 1
        if self._left == 0:
            self._happens()
        return from_nanos(NOW)


def test_an_answer_that_comes_while_a_look_is_taken_is_part_of_it(world: World) -> None:
    away = twelve(world)
    failed(world, away, tries=1, again_at=NOW + MINUTE)
    clock = Meanwhile()
    reader = compare(world, 12, clock=clock)
    reason(reader.on_tasks(SCOPE, **BOTH))
    # Runs are read by now, and are asked next whether they wait.
    clock.at(1, lambda: answered(world, away, MINUTE))
    found = reader.on_tasks(SCOPE, **BOTH)
    assert (found.ruling.decision.verdict, found.comparison.difference.open) == ("PASS", 0)


def test_a_run_that_is_opened_again_while_a_look_is_taken_holds_it(world: World) -> None:
    away = twelve(world)
    answered(world, away, 0)
    clock = Meanwhile()
    reader = compare(world, 12, clock=clock)
    # Once they were judged and once it was written down when that was seen.
    clock.at(
        2,
        lambda: world.run(
            run_id=away.run_id, started_at=away.started_at, keys={"task_id": "t00"},
            agent_version="rc4", state=RunState.OPEN,
        ),
    )  # fmt: skip
    found = reader.on_tasks(SCOPE, **BOTH)
    assert reason(found) == "1 of the runs to be looked at are not settled yet"
