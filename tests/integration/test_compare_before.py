"""The rule decides that was in force when both versions had run, and in one series of looks."""

import datetime as dt
from dataclasses import dataclass

import pytest

from gnomon.clock import Nanos, from_nanos
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import CompareSection, MetricsWatched, RuleSection
from scoring.versions.answers import Live, OnTasks
from scoring.versions.reader import CompareReader
from scoring.versions.ruling import Ruling
from tests.judged_world import BEFORE, DAY, MONDAY, World

SCOPE = Scope(agent="desk", origin=None)
LIVE = Scope(agent="desk")
BOTH = {"base": "rc3", "cand": "rc4"}
SWAPPED = {"base": "rc4", "cand": "rc3"}
EARLY, LATER = from_nanos(BEFORE), from_nanos(Nanos(MONDAY + DAY))


def started(world: World, now: dt.datetime, n: int, **more: object) -> CompareReader:
    """Return what a process has that starts now with this rule in its gnomon.yaml."""
    section = RuleSection(**{"kind": "superiority", "agent": "desk", "n": n, **more})  # type: ignore[arg-type]
    metrics = MetricReader(world.store, MetricsWatched(compare=CompareSection(rule=section)))
    reader = CompareReader(world.store, metrics, clock=lambda: now)
    reader.remember()
    return reader


def won(world: World, first: int, last: int) -> None:
    for task in range(first, last):
        keys = {"task_id": f"t{task:02}"}
        world.run(verified=False, keys=keys)
        world.run(verified=True, keys=keys, agent_version="rc4")


def undecided(ruling: Ruling) -> str:
    """Return why nothing is decided; neither direction may be."""
    assert ruling.decision.verdict == "NOT ENOUGH DATA", ruling.sentence
    assert ruling.looks == ()
    assert ruling.written_before is False
    assert ruling.governs
    return ruling.decision.reason


def read_only(found: OnTasks | Live) -> None:
    """The figures are there, and say that they are no test."""
    shown = found.comparison.difference if isinstance(found, OnTasks) else found.difference
    assert shown.value == 1.0
    assert shown.low is not None
    assert "exploratory" in shown.flags
    assert shown.p_values == {}


def test_a_rule_written_after_both_versions_ran_decides_nothing(world: World) -> None:
    won(world, 0, 6)
    tasks = started(world, LATER, 6)
    assert tasks.take_due() == 0
    found = tasks.on_tasks(SCOPE, **BOTH)
    why = undecided(found.ruling)
    assert why.startswith(
        "the rule was first seen on 2008-05-06 00:00 UTC, after runs of both versions had come in"
    )
    assert "run the candidate again under a new version" in why
    read_only(found)
    # As it says: a new version decides.
    for task in range(6):
        world.run(
            verified=True, keys={"task_id": f"t{task:02}"}, agent_version="rc5",
            last_received_at=Nanos(MONDAY + 2 * DAY),
        )  # fmt: skip
    fresh = tasks.on_tasks(SCOPE, base="rc3", cand="rc5").ruling
    assert (fresh.decision.verdict, fresh.written_before) == ("PASS", True)


def test_a_live_rule_written_after_both_versions_ran_decides_nothing(world: World) -> None:
    for _ in range(6):
        world.run(verified=False)
        world.run(verified=True, agent_version="rc4")
    reader = started(world, LATER, 6, basis="live")
    assert reader.take_due() == 0
    found = reader.live(LIVE, **BOTH)
    assert "after runs of both versions had come in" in undecided(found.ruling)
    read_only(found)


def test_a_rule_written_afterwards_fails_nothing_either_and_tells_the_breach(world: World) -> None:
    won(world, 0, 2)
    world.run(verified=False, keys={"task_id": "t2"})
    world.run(verified=True, broken="prohibited.0", keys={"task_id": "t2"}, agent_version="rc4")
    found = started(world, LATER, 3).on_tasks(SCOPE, **BOTH)
    assert undecided(found.ruling).endswith("; new violations at 1 task: refunds/prohibited.0")
    assert found.guard.text == "new violations at 1 task: refunds/prohibited.0"


def test_a_rule_seen_before_both_ran_decides_whenever_the_process_starts_again(
    world: World,
) -> None:
    world.run(keys={"task_id": "t00"}, verified=False)
    started(world, EARLY, 4)
    started(world, EARLY, 5)  # another rule for a while
    started(world, EARLY, 4)
    world.run(keys={"task_id": "t00"}, agent_version="rc4")
    won(world, 1, 4)
    found = started(world, LATER, 4).on_tasks(SCOPE, **BOTH)  # restored as it was
    assert found.ruling.written_before is True
    assert found.ruling.first_seen_at == BEFORE
    assert found.ruling.decision.verdict == "PASS"
    assert found.warnings == []


def test_a_rule_changed_after_a_look_decides_nothing_and_the_first_one_still_does(
    world: World,
) -> None:
    started(world, EARLY, 6)
    won(world, 0, 6)
    first = started(world, LATER, 6).on_tasks(SCOPE, **BOTH)
    assert first.ruling.decision.verdict == "PASS"
    won(world, 6, 8)
    changed = started(world, LATER, 8).on_tasks(SCOPE, **BOTH)
    assert "after runs of both versions had come in" in undecided(changed.ruling)
    assert any(
        f"the rule was changed after looking: on 2008-05-06 00:00 UTC rule {first.ruling.digest}"
        in text and "said PASS of rc4 against rc3 at n = 6" in text
        for text in changed.warnings
    ), changed.warnings  # fmt: skip
    said = changed.as_json()["ruling"]["earlier_rules"]  # type: ignore[index,call-overload]
    assert [one["look"]["verdict"] for one in said] == ["PASS"]  # type: ignore[union-attr,index,call-overload]
    again = started(world, LATER, 6).on_tasks(SCOPE, **BOTH).ruling
    assert (again.decision.verdict, len(again.looks)) == ("PASS", 1)


def test_the_rule_in_force_when_both_had_run_decides_whatever_was_written_before(
    world: World,
) -> None:
    started(world, EARLY, 8)  # while others ran
    strict = started(world, EARLY, 6)
    won(world, 0, 6)
    other = started(world, EARLY, 8)  # restored, the clock having been put back
    won(world, 6, 8)
    assert other.take_due() == 0
    found = other.on_tasks(SCOPE, **BOTH)
    assert strict.plan is not None
    assert undecided(found.ruling) == (
        f"when both versions had run, rule {strict.plan.digest} was in force"
        f" (since 2008-05-04 00:00 UTC): {strict.plan.text}; what this one shows is for reading, not"
        " for deciding. To decide, write that rule again as it was, or run the candidate again under"
        " a new version: this rule is there before it"
    )
    said = found.as_json()["ruling"]["in_force"]  # type: ignore[index,call-overload]
    assert said["hash"] == strict.plan.digest  # type: ignore[index,call-overload]
    assert "was in force" in undecided(other.on_tasks(SCOPE, **SWAPPED).ruling)
    again = started(world, LATER, 6)
    assert again.take_due() == 1
    ruling = again.on_tasks(SCOPE, **BOTH).ruling
    assert (ruling.decision.verdict, ruling.in_force) == ("PASS", None)


def test_a_rule_that_was_taken_out_when_both_ran_decides_nothing(world: World) -> None:
    started(world, EARLY, 4)
    metrics = MetricReader(world.store, MetricsWatched())
    CompareReader(world.store, metrics, clock=lambda: EARLY).remember()
    won(world, 0, 4)
    found = started(world, LATER, 4).on_tasks(SCOPE, **BOTH)
    assert "no rule was in force (since 2008-05-04 00:00 UTC)" in undecided(found.ruling)


def test_a_rule_about_other_runs_is_in_force_instead_and_each_decides_its_time(
    world: World,
) -> None:
    for where, cand in (("staging", "rc4"), ("prod", "rc5")):
        started(world, EARLY, 4, environment=where)
        for task in range(4):
            keys = {"task_id": f"{where}{task}"}
            world.run(verified=False, keys=keys, environment=where)
            world.run(verified=True, keys=keys, environment=where, agent_version=cand)
    for where, cand in (("staging", "rc4"), ("prod", "rc5")):
        found = started(world, LATER, 4, environment=where).on_tasks(SCOPE, base="rc3", cand=cand)
        assert found.ruling.decision.verdict == "PASS"


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """A rule as it was noted before the order of rules was."""

    digest: str
    first_seen_at: Nanos
    rule: str
    text: str
    versions: str


def test_a_store_that_knows_rules_by_their_first_sight_decides_as_before(world: World) -> None:
    old, new = (
        CompareReader(
            world.store,
            MetricReader(
                world.store,
                MetricsWatched(
                    compare=CompareSection(rule=RuleSection(kind="superiority", agent="desk", n=n))
                ),
            ),
        ).plan
        for n in (4, 5)
    )
    won(world, 0, 5)
    for plan, at, versions in (
        (old, BEFORE, "[]"),
        (new, MONDAY + DAY, '[["desk", "rc3"], ["desk", "rc4"]]'),
    ):
        assert plan is not None
        seen = Sighting(
            digest=plan.digest, first_seen_at=Nanos(at), rule=plan.rule.canonical(),
            text=plan.text, versions=versions,
        )  # fmt: skip
        world.store.insert("compare_rules", [seen])
    after = undecided(started(world, LATER, 5).on_tasks(SCOPE, **BOTH).ruling)
    assert "after runs of both versions had come in" in after
    assert world.store.read("SELECT * FROM compare_in_force", tag="test") == []
    found = started(world, LATER, 4).on_tasks(SCOPE, **BOTH)
    assert (found.ruling.decision.verdict, found.ruling.first_seen_at) == ("PASS", BEFORE)


def test_runs_elsewhere_make_no_rule_late(world: World) -> None:
    won(world, 0, 4)
    for version in ("rc3", "rc4"):  # in the scope, but at no task
        world.run(environment="staging", agent_version=version)
    reader = started(world, LATER, 4, environment="staging")
    for task in range(4):
        for version in ("rc3", "rc4"):
            world.run(
                verified=version == "rc4", keys={"task_id": f"s{task}"}, agent_version=version,
                environment="staging", last_received_at=Nanos(MONDAY + 2 * DAY),
            )  # fmt: skip
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "PASS"


def test_a_clock_that_was_put_back_makes_no_rule_older(world: World) -> None:
    won(world, 0, 4)
    undecided(started(world, EARLY, 4).on_tasks(SCOPE, **BOTH).ruling)


def test_runs_that_had_arrived_and_name_their_task_only_since_make_a_rule_late(
    world: World,
) -> None:
    old = [
        (task, version, world.run(agent_version=version))
        for task in range(3)
        for version in ("rc3", "rc4")
    ]
    reader = started(world, LATER, 3)
    for task, version, run in old:  # read again under another key of tasks
        world.run(
            run_id=run.run_id, agent_version=version, verified=version == "rc4",
            keys={"task_id": f"t{task}"}, started_at=run.started_at,
            last_received_at=run.last_received_at,
        )  # fmt: skip
    undecided(reader.on_tasks(SCOPE, **BOTH).ruling)


def test_versions_asked_the_other_way_round_have_no_looks_of_their_own(world: World) -> None:
    reader = started(world, EARLY, 6)
    won(world, 0, 6)
    found = reader.on_tasks(SCOPE, **BOTH)
    won(world, 6, 9)
    swapped = reader.on_tasks(SCOPE, **SWAPPED)
    assert found.ruling.decision.verdict == "PASS"
    assert (swapped.ruling.decision.verdict, swapped.ruling.decision.reason) == (
        "FAIL", "shown worse",
    )  # fmt: skip
    one, other = found.comparison.difference, swapped.comparison.difference
    assert (other.value, other.low, other.high) == (-1.0, -1.0, -(one.low or 0))
    assert (other.better, other.worse, other.n) == (0, 6, 6)
    (look,) = swapped.ruling.looks
    assert look.seen_at == found.ruling.looks[0].seen_at
    assert {task.word for task in swapped.comparison.changed} == {"broke"}
    assert {task.base.version for task in swapped.comparison.changed} == {"rc4"}
    rows = world.store.read("SELECT base, cand FROM compare_looks", tag="test")
    assert [(row["base"], row["cand"]) for row in rows] == [("rc3", "rc4")]
    assert reader.take_due() == 0


def test_live_versions_asked_the_other_way_round_share_the_look(world: World) -> None:
    reader = started(world, EARLY, 5, basis="live")
    for number in range(5):
        world.run(verified=number < 1)
        world.run(verified=True, agent_version="rc4", broken="prohibited.0" if number == 4 else "")
    swapped = reader.live(LIVE, **SWAPPED)  # asked first
    assert swapped.ruling.decision.verdict == "FAIL"
    assert swapped.guard.new == ()
    found = reader.live(LIVE, **BOTH)
    assert (found.ruling.decision.reason, found.difference.value) == (
        "shown, but new violations: refunds/prohibited.0", pytest.approx(0.8),
    )  # fmt: skip
    assert len(world.store.read("SELECT * FROM compare_looks", tag="test")) == 1
