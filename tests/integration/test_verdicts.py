"""One verdict for each settled run: exact after every judgment, crash, late span and new grader."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.errors import StoreUnavailable
from gnomon.model import Kind, Run
from gnomon.store import Store
from gnomon.store.migrate import apply, shipped
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import MetricsWatched
from tests.judging import Court, make_run, make_step
from tests.stores import ENGINES, fresh_store

NONE = ""
POLICY = """
policies:
  - policy: refunds
    version: "3"
    required_before: {refund: [{tool: check, bind: {order: order}}]}
"""
RECOVERY = """
graders:
  - {type: recovery, name: again, version: "1", writes: [refund]}
"""
SCOPE = Scope()


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as opened:
        apply(opened, shipped())
        yield opened


def parts(store: Store) -> dict[str, int]:
    (group,) = MetricReader(store, MetricsWatched()).groups(SCOPE, "")
    return dict(group.sums.parts)


def bad(run_id: str) -> list:  # type: ignore[type-arg]
    return [make_step(1, "refund", {"order": "A"}, {"ok": True}, run_id=run_id)]


def verdicts_tick(court: Court) -> int:
    court.clock.later(2 * 3_600)
    return court.scoring.jobs.tick(court.scoring.jobs.named("verdicts"))


def test_a_run_without_any_grader_is_summed_up_all_the_same(store: Store) -> None:
    court = Court(store, NONE)
    court.put(make_run("r"), make_step(1, None, kind=Kind.HUMAN, run_id="r"))
    assert parts(store)["not_summed_up"] == 1
    court.tick()
    found = parts(store)
    assert (found["summed_up"], found["intervened"], found["unverified"]) == (1, 1, 1)


def test_a_new_grader_joins_what_was_judged_before(store: Store) -> None:
    court = Court(store, POLICY)
    court.put(make_run("r"), *bad("r"))
    court.tick()
    assert (parts(store)["checked"], parts(store)["violated"]) == (1, 1)
    court.open(POLICY.replace('"3"', '"4"').replace("refund: [", "pay: [") + RECOVERY)
    court.scoring.backfills.ask("again", since=None)
    court.scoring.backfills.work("again")
    assert parts(store)["violated"] == 1, "the old version of the policy still is the newest"
    court.scoring.backfills.ask("refunds", since=None)
    court.clock.later(1)
    court.scoring.backfills.work("refunds")
    assert parts(store)["violated"] == 0, "the new version speaks of no call of this run"


def test_a_breach_that_the_recovery_grader_found_is_a_violation(store: Store) -> None:
    court = Court(store, RECOVERY)
    twice = [make_step(n, "refund", {"order": "A"}, {"ok": True}, run_id="r") for n in (1, 2)]
    court.put(make_run("r"), *twice)
    court.put(make_run("calm"), make_step(1, "check", {}, {"ok": True}, run_id="calm"))
    court.tick()
    found = parts(store)
    assert (found["checked"], found["violated"], found["duplicated"]) == (1, 1, 1)


def test_a_crash_between_judgment_and_verdict_is_made_good(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    court = Court(store, POLICY)
    court.put(make_run("r"), *bad("r"))

    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("gone")

    monkeypatch.setattr("scoring.store.JudgmentWriter.write_verdicts", away)
    court.tick()
    assert court.states()["refunds"] == "graded"
    assert parts(store)["not_summed_up"] == 1
    monkeypatch.undo()
    court.tick()
    assert (parts(store)["not_summed_up"], parts(store)["violated"]) == (0, 1)


def test_runs_judged_before_there_were_verdicts_are_summed_up_by_a_job_once(store: Store) -> None:
    court = Court(store, POLICY)
    for name in ("a", "b", "c"):
        court.put(make_run(name), *bad(name))
    court.tick()
    before = parts(store)
    store.command("TRUNCATE TABLE verdicts", tag="tests.history")
    assert parts(store)["not_summed_up"] == 3
    assert verdicts_tick(court) == 1
    assert parts(store) == before
    assert verdicts_tick(court) == 0, "nothing was written since"


def test_promise_3_a_late_span_leaves_only_the_verdict_of_the_present_revision(
    store: Store,
) -> None:
    court = Court(store, POLICY)
    court.put(make_run("r", revision=1), *bad("r"))
    court.tick()
    assert parts(store)["violated"] == 1
    check = make_step(0, "check", {"order": "A"}, {"ok": True}, run_id="r")
    court.put(make_run("r", revision=2), *bad("r"), check)
    assert parts(store)["not_summed_up"] == 1, "not judged at this revision yet"
    court.tick()
    found = parts(store)
    assert (found["not_summed_up"], found["checked"], found["violated"]) == (0, 1, 0)


def test_promise_9_judging_everything_again_changes_no_number(store: Store) -> None:
    court = Court(store, POLICY + RECOVERY)
    runs: list[Run] = [make_run(f"r{n}") for n in range(5)]
    for run in runs:
        court.put(run, *bad(run.run_id))
    court.tick()
    before = parts(store)
    for grader in ("refunds", "again"):
        court.clock.later(5)
        court.scoring.backfills.ask(grader, since=None, which="all")
        assert court.scoring.backfills.work(grader).judged == 5
    assert parts(store) == before


@pytest.mark.parametrize("number", ["Infinity", "NaN", "1e999"])
@pytest.mark.parametrize(
    ("said", "place"),
    [
        ('"arguments": {"refund": {"properties": {"n": {"multipleOf": %s}}}}', "multipleOf"),
        ('"budgets": {"usd": %s}', "budgets.usd"),
    ],
)
def test_a_policy_with_a_number_json_does_not_have_is_refused_by_its_place(
    store: Store, said: str, place: str, number: str
) -> None:
    court = Court(store, NONE)
    court.put(make_run("r"), make_step(1, "refund", {"n": 7}, {"ok": True}, run_id="r"))
    body = '{"run": "r", "policy": {"policy": "p", %s}}' % (said % number)
    answer = court.client.post(
        "/v1/policies/check", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert place in answer.json()["detail"]
