"""One verdict for each settled run: exact after every judgment, crash, late span and new grader."""

import pytest

from gnomon.errors import StoreUnavailable
from gnomon.model import Kind, Run
from gnomon.store import Store
from scoring.metrics.figures import Figure
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import MetricsWatched
from tests.judging import Court, make_run, make_step

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


ORDERED = """
policies:
  - policy: order
    prohibited: [{tool: close, before: refund}]
  - policy: elsewhere
    scope: {agents: [another]}
    budgets: {steps: 1}
    prohibited: [{tool: refund, max_committed: 1}]
    conditionally_required_before: {refund: [{tool: approve, when: {arg: amount, above: 100}}]}
graders:
  - {type: convergence, name: circles, version: "1"}
"""


def guards(store: Store) -> dict[str, Figure]:
    (report,) = MetricReader(store, MetricsWatched()).metrics(SCOPE)
    return {
        "over_budget": report.metric("completion").guard["over_budget"],
        "unapproved": report.metric("human_intervention").guard["unapproved"],
        "required_checks": report.metric("tool_use").guard["required_checks"],
        "duplicates": report.metric("recovery").guard["duplicates"],
    }


def test_promise_5_a_guard_that_nothing_was_held_against_is_none_and_an_order_is_no_repeat(
    store: Store,
) -> None:
    court = Court(store, ORDERED)
    close = make_step(1, "close", {}, {"ok": True}, run_id="r")
    refund = make_step(2, "refund", {"amount": 500}, {"ok": True}, run_id="r")
    court.put(make_run("r", complete=True), close, refund)
    court.tick()
    assert parts(store)["violated"] == 1
    for name, figure in guards(store).items():
        assert (figure.shown.value, figure.shown.n) == (None, 0), name
        assert figure.text, name
        assert figure.missing, name
    said = court.get("/v1/runs/r/judgments")["statuses"]
    held = {row["grader"]: dict(zip(row["held_kinds"], row["held_broken"], strict=True)) for row in said}  # fmt: skip
    assert held == {"order": {"order": 1}, "elsewhere": {}, "circles": {"circles": 0}}


GATED = """
policies:
  - policy: gates
    budgets: {steps: 5, usd: 1.0}
    prohibited: [{tool: refund, max_committed: 1, per: order}]
    conditionally_required_before:
      refund: [{tool: approve, when: {arg: amount, above: 100}, bind: {order: order}}]
"""


def test_gated_actions_and_budgets_are_read_against_what_was_held_against_them(
    store: Store,
) -> None:
    court = Court(store, GATED)

    def put(run_id: str, *amounts: int | None, steps: int = 5, approved: int = 0, usd: float | None = 0.5) -> None:  # fmt: skip
        calls = [make_step(n, "approve", {"order": n}, {"approved": True}, run_id=run_id) for n in range(approved)]  # fmt: skip
        for number, amount in enumerate(amounts):
            given = {"order": number} if amount is None else {"order": number, "amount": amount}
            calls.append(make_step(50 + number, "refund", given, {"ok": True}, run_id=run_id))
        run = make_run(run_id, steps=steps, cost_usd=usd, complete=True)
        court.put(run, *calls)

    put("small", 20, 30)
    put("three", 200, 300, 400, approved=2)
    put("one", 500, approved=1, steps=6)
    put("dim", None)
    put("unpriced", usd=None)
    court.tick()
    found = guards(store)
    gates, budget = found["unapproved"], found["over_budget"]
    assert (gates.shown.value, gates.shown.n) == (0.25, 2), "one of four actions, in two runs"
    assert gates.shown.excluded == {"no_gated_action": 2, "perhaps_gated": 1}
    assert gates.link is not None
    assert gates.hits is not None
    assert (gates.link.runs, gates.hits.runs) == (2, 1)
    assert gates.text.startswith("1 of 4 actions that needed an approval; of 1 more")
    assert (budget.shown.value, budget.shown.n) == (0.25, 4)
    assert budget.shown.excluded == {"budget_unclear": 1}
    assert (found["duplicates"].shown.value, found["duplicates"].shown.n) == (0.0, 4)


HELD = {"budget", "checks", "effects", "gated_actions", "unapproved_actions", "unclear_actions"}
"""Columns that a writer of before does not know."""


def test_a_verdict_of_before_is_in_no_share_until_its_run_is_judged_again(store: Store) -> None:
    court = Court(store, GATED)
    refund = make_step(1, "refund", {"order": 1, "amount": 200}, {"ok": True}, run_id="r")
    court.put(make_run("r", steps=9, complete=True), refund)
    court.tick()
    before = {name: figure.shown.value for name, figure in guards(store).items()}
    assert (before["over_budget"], before["unapproved"]) == (1.0, 1.0)
    listed = store.read(
        "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'verdicts'",
        tag="tests.columns",
    )
    names = ", ".join(row["name"] for row in listed if row["name"] not in HELD)
    said = "true AS budget_hit, true AS gates_broken, true AS checks_missed, true AS doubled"
    store.command("RENAME TABLE verdicts TO spare", tag="tests.old")
    store.command("CREATE TABLE verdicts AS spare", tag="tests.old")
    store.command(
        f"INSERT INTO verdicts ({names}) SELECT {names} FROM (SELECT * REPLACE ({said}) FROM spare)",
        tag="tests.old",
    )
    assert {figure.shown.value for figure in guards(store).values()} == {None}
    court.clock.later(5)
    court.scoring.backfills.ask("gates", since=None, which="all")
    assert court.scoring.backfills.work("gates").judged == 1
    assert {name: figure.shown.value for name, figure in guards(store).items()} == before


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
