"""Settled runs are judged once for each revision, whatever happens to the ticks."""

import datetime as dt
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import EntryPoint, EntryPoints
from itertools import pairwise
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.folding.lot import TraceFolding
from collector.folding.rollup import RollUp
from collector.short import ID, short
from collector.watched import Watched
from gnomon.clock import Nanos, from_nanos, to_nanos
from gnomon.errors import Conflict, StoreUnavailable
from gnomon.model import RunState
from gnomon.store import Store
from tests import otlp
from tests.judging import SECOND, START, Court, FakeClock, make_run, make_step
from tests.stores import put
from tests.touched import MemoryTouched

CONFIG = """
policies:
  - policy: refunds
    version: "3"
    required_before: {refund: [{tool: check, bind: {order: order}}]}
    prohibited: [{tool: refund, max_committed: 1, per: order}]
graders:
  - {type: budget, name: small, version: "1", limits: {steps: 5}}
  - {type: convergence, name: circles, version: "1"}
"""


@pytest.fixture
def court(store: Store) -> Court:
    return Court(store, CONFIG)


def bad(run_id: str = "bad") -> list:  # type: ignore[type-arg]
    return [make_step(1, "refund", {"order": "A"}, {"ok": True}, run_id=run_id)]


def good(run_id: str = "good") -> list:  # type: ignore[type-arg]
    return [
        make_step(1, "check", {"order": "A"}, {"ok": True}, run_id=run_id),
        make_step(2, "refund", {"order": "A"}, {"ok": True}, run_id=run_id),
    ]


def rows(store: Store, table: str) -> list[tuple[object, ...]]:
    found = store.rows(f"SELECT * EXCEPT at FROM {table} FINAL ORDER BY ALL", tag="tests.rows")
    return [tuple(map(str, row)) for row in found]


def tables(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {name: rows(store, name) for name in ("grader_status", "labels", "violations")}


def test_every_run_and_grader_has_a_status_and_breaches_carry_their_steps(court: Court) -> None:
    court.put(make_run("bad", steps=1), *bad())
    court.put(make_run("good", steps=2), *good())
    court.put(make_run("idle", steps=9))
    assert court.tick() == 1
    assert court.states("bad") == {"refunds": "graded", "small": "graded", "circles": "graded"}
    assert court.states("idle") == {
        "refunds": "graded",
        "small": "graded",
        "circles": "not_applicable",
    }
    found = court.get("/v1/runs/bad/judgments")
    (breach,) = found["violations"]
    assert (breach["rule"], breach["steps"]) == ("required_before.refund.0", ["s1"])
    assert breach["message"] == "refund without check before it"
    labels = {row["grader"]: row["passed"] for row in found["labels"]}
    assert labels == {"refunds": False, "small": True, "circles": True}
    kept = court.get("/v1/runs/good/judgments")
    assert not kept["violations"]
    idle = {row["grader"]: row for row in court.get("/v1/runs/idle/judgments")["labels"]}
    assert idle["small"]["passed"] is False
    said = (idle["refunds"]["passed"], idle["refunds"]["explanation"])
    assert said == (True, "no call that a rule is about")


def test_an_open_run_waits_and_says_why(court: Court) -> None:
    court.put(make_run("r", state=RunState.OPEN, settled_at=None), *good("r"))
    court.tick()
    found = court.get("/v1/runs/r/judgments")
    assert {row["state"] for row in found["statuses"]} == {"waiting"}
    assert "not settled" in found["statuses"][0]["why"]
    assert rows(court.store, "grader_status") == []


def test_a_settled_run_waits_until_its_window_is_closed(court: Court) -> None:
    court.put(make_run(), *good("r"))
    court.complete = court.clock.now
    assert court.tick() == 0
    assert set(court.states().values()) == {"waiting"}
    court.complete = None
    assert court.tick() == 1
    assert set(court.states().values()) == {"graded"}


def test_missed_doubled_and_late_ticks_end_in_the_same_tables_promise_9(
    court: Court, tmp_path: Path
) -> None:
    for number in range(6):
        run_id = f"run-{number}"
        court.put(make_run(run_id), *(bad(run_id) if number % 2 else good(run_id)))
        court.clock.later(7)
    court.tick(3600)
    assert court.tick(0) == 0
    once = tables(court.store)
    assert len(once["grader_status"]) == 18
    # The ledger is lost: every window is run again, and nothing changes.
    court.store.command("TRUNCATE TABLE job_ledger", tag="tests.truncate")
    court.tick(5)
    court.tick(5)
    assert tables(court.store) == once
    assert raw_count(court.store) == 18, "what was judged was judged again"


def raw_count(store: Store) -> int:
    ((count,),) = store.rows("SELECT count() FROM grader_status", tag="tests.count")
    return int(count)


def test_concurrent_ticks_and_a_backfill_judge_a_run_once(court: Court) -> None:
    for number in range(20):
        court.put(make_run(f"run-{number}"), *good(f"run-{number}"))
    court.clock.later(60)
    job = court.scoring.jobs.named("judge")
    for grader in ("refunds", "small", "circles"):
        court.scoring.backfills.ask(grader, since=None)
    work = [
        *(threading.Thread(target=court.scoring.jobs.tick, args=(job,)) for _ in range(3)),
        *(
            threading.Thread(target=court.scoring.backfills.work, args=(grader,))
            for grader in ("refunds", "small", "circles")
        ),
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(60)
    court.tick()
    assert raw_count(court.store) == 60


def test_a_job_killed_between_labels_and_statuses_is_done_again_without_a_trace(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    court.put(make_run("bad"), *bad())
    real = court.store.insert

    def dies(table: str, *args: object, **kwargs: object) -> None:
        if table == "grader_status":
            raise StoreUnavailable("the test pulled the plug")
        real(table, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(court.store, "insert", dies)
    assert court.tick() == 0
    state = court.scoring.jobs.state(court.scoring.jobs.named("judge"))
    assert state.failing is not None
    assert "pulled the plug" in state.failing
    assert len(rows(court.store, "labels")) == 3
    assert court.get("/v1/runs/bad/judgments")["violations"] == [], "not said to be there yet"
    monkeypatch.undo()
    assert court.tick() >= 1
    assert len(rows(court.store, "labels")) == 3
    assert len(court.get("/v1/runs/bad/judgments")["violations"]) == 1


def test_a_raised_revision_is_judged_once_more_and_readers_see_the_present_one(
    court: Court,
) -> None:
    court.put(make_run("r"), *bad("r"))
    court.tick()
    assert len(court.get("/v1/violations")["items"]) == 1
    # A late span shows the check that came first.
    late = make_step(0, "check", {"order": "A"}, {"ok": True}, run_id="r", span_id="s0")
    court.put(make_run("r", state=RunState.OPEN, settled_at=None, revision=1), late, *bad("r"))
    court.tick()
    assert set(court.states().values()) == {"waiting"}
    assert court.get("/v1/violations")["items"] == []
    court.put(make_run("r", revision=1), late, *bad("r"))
    court.tick()
    assert set(court.states().values()) == {"graded"}
    found = court.get("/v1/runs/r/judgments")
    assert found["revision"] == 1
    assert found["violations"] == []
    assert court.get("/v1/violations")["items"] == []
    assert court.get("/v1/violations/counts")["items"] == []
    assert raw_count(court.store) == 6


def test_a_run_written_long_after_its_spans_came_is_judged(court: Court) -> None:
    court.put(make_run("first"), *good("first"))
    court.tick()
    # Its spans waited in the queue while the store was away: settled_at lies hours back.
    old = make_run("old", settled_at=Nanos(0 + 1_000 * SECOND))
    court.put(old, *bad("old"))
    court.tick()
    assert set(court.states("old").values()) == {"graded"}


def test_a_new_version_judges_history_on_demand_and_goes_on_where_it_ended(court: Court) -> None:
    for number in range(4):
        court.put(make_run(f"run-{number}"), *bad(f"run-{number}"))
    court.tick()
    court.open(CONFIG.replace('version: "3"', 'version: "4"'))
    (waiting,) = [
        row
        for row in court.get("/v1/runs/run-0/judgments")["statuses"]
        if row["state"] == "waiting"
    ]
    assert (waiting["grader"], waiting["grader_version"]) == ("refunds", "4")
    assert "backfill" in waiting["why"]
    answer = court.post("/v1/graders/refunds/backfill")
    assert answer.status_code == 202, answer.text
    joined = court.post("/v1/graders/refunds/backfill")
    assert (joined.status_code, joined.json()) == (202, answer.json()), "the same one is in work"
    other = court.post("/v1/graders/refunds/backfill", which="all")
    assert other.status_code == 409, other.text
    assert other.json()["type"].endswith("conflict")
    done = court.scoring.backfills.work("refunds")
    assert (done.runs, done.total, done.judged, done.failing) == (4, 4, 4, None)
    assert raw_count(court.store) == 16
    assert court.post("/v1/graders/refunds/backfill").status_code == 202
    assert court.scoring.backfills.work("refunds").judged == 0
    versions = {row["grader_version"] for row in court.get("/v1/runs/run-0/judgments")["labels"]}
    assert versions == {"1", "3", "4"}, "the old judgment is still there"
    present = court.get("/v1/violations")["items"]
    assert {row["policy_version"] for row in present} == {"4"}
    every = court.get("/v1/violations", versions="all")["items"]
    assert len(every) == 8
    graders = {(g["name"], g["version"]): g for g in court.get("/v1/graders", since="90d")["items"]}
    assert graders["refunds", "4"]["counts"] == {"graded": 4}
    assert graders["refunds", "4"]["backfill"]["judged"] == 0
    assert graders["refunds", "3"]["configured"] is False


def test_a_grader_that_breaks_is_failed_and_can_be_asked_again(store: Store) -> None:
    gone = "http://127.0.0.1:9/{order_id}"
    config = (
        "business_keys: {order_id: {attributes: order.id}}\n"
        f'graders: [{{type: outcome_check, name: real, version: "1", http: {{url: "{gone}"}},'
        " timeout: 1s, expect: {path: right, equals: true}}]"
    )
    court = Court(store, config)
    court.put(make_run(business_keys={"order_id": "O-1"}))
    court.tick()
    found = court.get("/v1/runs/r/judgments")
    (status,) = found["statuses"]
    assert status["state"] == "failed"
    assert "no answer" in status["why"]
    assert found["labels"] == []
    court.scoring.backfills.ask("real", since=None, which="failed")
    assert court.scoring.backfills.work("real").judged == 1


def test_violations_turn_pages_without_losing_or_doubling_any(court: Court) -> None:
    for number in range(7):
        started = Nanos(make_run().started_at + (number // 2) * SECOND)
        court.put(make_run(f"run-{number}", started_at=started), *bad(f"run-{number}"))
    court.tick()
    seen: list[str] = []
    cursor = None
    while True:
        page = court.get("/v1/violations", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [row["run_id"] for row in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == ["run-6", "run-5", "run-4", "run-3", "run-2", "run-1", "run-0"]
    (counted,) = court.get("/v1/violations/counts")["items"]
    assert (counted["violations"], counted["runs"]) == (7, 7)
    assert court.get("/v1/violations", rule="prohibited.0")["items"] == []
    assert court.get("/v1/violations", agent="other")["items"] == []


def test_jobs_tell_what_they_did_last_and_what_is_due(court: Court) -> None:
    job, retries, verdicts, rollbacks = court.get("/v1/jobs")["items"]
    assert (job["name"], job["last"], job["due"]) == ("judge", None, 0)
    assert (retries["name"], verdicts["name"]) == ("retries", "verdicts")
    assert (rollbacks["name"], rollbacks["due"]) == ("rollbacks", 0)
    court.put(make_run(), *good("r"))
    court.clock.later(60)
    assert court.get("/v1/jobs")["items"][0]["due"] >= 5
    answer = court.post("/v1/jobs/judge/run").json()
    assert answer["windows"] == 1
    assert answer["job"]["due"] == 0
    missing = court.post("/v1/jobs/nothing/run")
    assert missing.status_code == 404
    assert "there are judge" in missing.json()["detail"]


def test_a_quiet_month_is_finished_in_one_row(court: Court) -> None:
    court.put(make_run("a"), *good("a"))
    court.tick()
    court.clock.later(30 * 86_400)
    court.put(make_run("b"), *good("b"))
    assert court.tick() == 1
    history = court.scoring.jobs.ledger.history("judge", limit=10)  # type: ignore[attr-defined]
    assert len(history) <= 5
    ends = [done.window for done in reversed(history)]
    assert all(one.end == other.start for one, other in pairwise(ends))
    assert ends[-1].end - START > dt.timedelta(days=30)


def test_a_policy_is_tried_on_stored_runs_and_nothing_is_kept(court: Court) -> None:
    court.put(make_run("bad"), *bad())
    court.put(make_run("good"), *good())
    court.put(make_run("open", state=RunState.OPEN, settled_at=None))
    policy = {"prohibited": [{"tool": "check"}]}
    answer = court.post("/v1/policies/check", {"policy": policy, "since": "90d"}).json()
    assert answer["counts"] == {"broken": 1, "kept": 1, "open": 1}
    assert answer["items"][0]["violations"][0]["steps"] == ["s1"]
    one = court.post("/v1/policies/check", {"policy": policy, "run": "bad"}).json()
    assert one["counts"] == {"kept": 1}
    assert rows(court.store, "grader_status") == []
    wrong = court.post("/v1/policies/check", {"policy": {"version": "2"}, "run": "bad"})
    assert wrong.status_code == 400
    assert "a policy without a rule" in wrong.json()["detail"]
    nothing = court.post("/v1/policies/check", {"policy": policy})
    assert "run or since" in nothing.json()["detail"]


def test_no_run_keeps_a_policy_from_being_tried_on_the_others(court: Court) -> None:
    nested: dict[str, object] = {}
    for _ in range(400):
        nested = {"part": nested}
    for place, arguments in enumerate(({"order": "1e9999999"}, nested, {"order": "A"})):
        run_id = f"run-{place}"
        court.put(
            make_run(run_id),
            *(make_step(n, "refund", arguments, {"ok": True}, run_id=run_id) for n in (1, 2)),
        )
    part = {"properties": {"part": {"$ref": "#/$defs/part"}}}
    policy = {
        "prohibited": [{"tool": "refund", "max_committed": 1, "per": "order"}],
        "arguments": {"refund": {"$ref": "#/$defs/part", "$defs": {"part": part}}},
    }
    answer = court.post("/v1/policies/check", {"policy": policy, "since": "90d"}).json()
    assert answer["counts"] == {"broken": 2, "not_evaluable": 1}
    for run_id, outcome in (("run-0", "broken"), ("run-1", "not_evaluable")):
        one = court.post("/v1/policies/check", {"policy": policy, "run": run_id}).json()
        assert one["counts"] == {outcome: 1}


def test_a_policy_is_tried_on_a_run_that_is_named_by_more_than_is_stored_of_its_id(
    court: Court,
) -> None:
    whole = "order/" * 200
    stored = short(whole, ID)
    court.put(
        make_run(stored),
        *(make_step(n, "refund", {"order": "A"}, {"ok": True}, run_id=stored) for n in (1, 2)),
    )
    policy = {"prohibited": [{"tool": "refund", "max_committed": 1, "per": "order"}]}
    one = court.post("/v1/policies/check", {"policy": policy, "run": whole}).json()
    assert one["counts"] == {"broken": 1}


def test_policies_are_listed_with_what_they_found(court: Court) -> None:
    court.put(make_run("bad"), *bad())
    court.put(make_run("good"), *good())
    court.tick()
    (policy,) = court.get("/v1/policies", since="90d")["items"]
    assert (policy["name"], policy["version"], policy["broken"]) == ("refunds", "3", 1)
    assert policy["counts"] == {"graded": 2}
    assert "required_before" in policy["policy"]


TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": '{"ok": true}'}


def sent(number: int, tool: str | None, at: int, parent: int = 1) -> Span:
    """Return a span of the desk: a tool call, or the root."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    if tool is not None:
        attributes = {**TOOL, "gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": ORDER}
    return otlp.span(
        number,
        parent_span_id=parent.to_bytes(8, "big") if tool else b"",
        start_time_unix_nano=otlp.START + at * SECOND,
        end_time_unix_nano=otlp.START + (at + (1 if tool else 9)) * SECOND,
        attributes=[otlp.KeyValue(key=k, value=otlp.value(v)) for k, v in attributes.items()],
    )


ORDER = '{"order": "A"}'


def test_a_late_span_reopens_its_run_and_every_grader_looks_once_more(store: Store) -> None:
    clock = FakeClock(from_nanos(Nanos(otlp.NOW)))
    court = Court(store, CONFIG, clock)
    touched = MemoryTouched()
    folding = TraceFolding(court.reader, court.writer, Watched())
    rollup = RollUp(folding, touched, clock=clock)
    trace = otlp.TRACE_ID.hex()

    def arrive(*spans: Span) -> None:
        put(store, "traces", otlp.traces(*spans).SerializeToString())
        touched.touch({trace: to_nanos(clock.now)}, to_nanos(clock.now))

    def passes(seconds: float) -> None:
        clock.later(seconds)
        while rollup.pass_once():
            pass
        court.complete = rollup.watermark()
        court.scoring.jobs.tick(court.scoring.jobs.named("judge"))

    assert rollup.watermark() is None
    arrive(sent(1, None, 0), sent(3, "refund", 4))
    passes(1)
    assert set(court.states(trace).values()) == {"waiting"}
    passes(31)
    passes(31)
    first = court.get(f"/v1/runs/{trace}/judgments")
    assert (first["revision"], len(first["violations"])) == (0, 1)
    # The span of the check was held up on its way; it had come first.
    arrive(sent(2, "check", 2))
    passes(1)
    assert set(court.states(trace).values()) == {"waiting"}
    passes(31)
    passes(31)
    second = court.get(f"/v1/runs/{trace}/judgments")
    assert second["revision"] == 1
    assert {row["state"] for row in second["statuses"]} == {"graded"}
    assert second["violations"] == []
    assert raw_count(store) == 6
    # The exporter repeats itself: nothing new, nothing judged.
    arrive(sent(2, "check", 2))
    passes(31)
    passes(31)
    assert court.get(f"/v1/runs/{trace}/judgments") == second
    assert raw_count(store) == 6


def test_runs_of_a_time_that_a_wrong_clock_had_closed_are_judged(court: Court) -> None:
    court.put(make_run("early"), *good("early"))
    assert court.tick() == 1
    court.clock.later(3600)
    court.put(make_run("ahead"), *good("ahead"))
    assert court.tick() == 1
    court.clock.later(-3600)
    court.put(make_run("late"), *good("late"))
    for _ in range(3):
        court.tick()
    assert set(court.states("late").values()) == {"graded"}
    assert raw_count(court.store) == 9, "opening windows again judges nothing twice"
    # Time reaches the end that the wrong clock had written.
    for _ in range(19):
        court.tick(190)
    court.put(make_run("then"), *good("then"))
    court.tick()
    assert set(court.states("then").values()) == {"graded"}


def test_a_run_written_into_a_closed_window_is_found_by_the_second_look(court: Court) -> None:
    court.put(make_run("early"), *good("early"))
    court.tick(60)
    court.clock.later(-30)
    court.put(make_run("between"), *good("between"))
    court.clock.later(31)
    court.tick()
    assert set(court.states("between").values()) == {"waiting"}
    court.clock.later(2 * 3600)
    court.scoring.jobs.tick(court.scoring.jobs.named("verdicts"))
    assert set(court.states("between").values()) == {"graded"}
    assert raw_count(court.store) == 6


def flaky(port: int) -> str:
    return (
        "business_keys: {order_id: {attributes: order.id}}\n"
        'graders: [{type: outcome_check, name: real, version: "1", timeout: 5s,'
        f' http: {{url: "http://127.0.0.1:{port}/{{order_id}}"}}, expect: {{path: right, equals: true}}}}]'
    )


class Books(BaseHTTPRequestHandler):
    """A system of record that is away the first times it is asked."""

    def do_GET(self) -> None:
        self.server.asked += 1  # type: ignore[attr-defined]
        away = self.server.asked <= self.server.away  # type: ignore[attr-defined]
        self.send_response(503 if away else 200)
        self.end_headers()
        self.wfile.write(b'{"right": true}')

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def books() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Books) as server:
        server.asked, server.away = 0, 0  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def retry(court: Court, minutes: float) -> int:
    """Let time go by; return the judgments the job makes, ticked twice as a busy clock does."""
    court.clock.later(minutes * 60)
    job = court.scoring.jobs.named("retries")
    court.scoring.jobs.tick(job)
    before = raw_count(court.store)
    court.scoring.jobs.tick(job)
    assert raw_count(court.store) == before
    return before


def test_a_world_that_was_away_once_is_asked_again(
    store: Store, books: ThreadingHTTPServer
) -> None:
    books.away = 2  # type: ignore[attr-defined]
    court = Court(store, flaky(books.server_port))
    court.put(make_run(business_keys={"order_id": "O-1"}))
    court.tick()
    (status,) = court.get("/v1/runs/r/judgments")["statuses"]
    assert (status["state"], status["why"]) == ("failed", "HTTP 503 from 127.0.0.1 (try 1 of 5)")
    assert status["tries"] == 1
    assert status["again_at"] is not None
    assert retry(court, 0.3) == 1, "its time has not come"
    assert retry(court, 1) == 2
    (status,) = court.get("/v1/runs/r/judgments")["statuses"]
    assert status["why"] == "HTTP 503 from 127.0.0.1 (try 2 of 5)"
    assert retry(court, 5.5) == 3
    (status,) = court.get("/v1/runs/r/judgments")["statuses"]
    assert (status["state"], status["again_at"], status["why"]) == ("graded", None, "")
    retry(court, 3000)
    assert books.asked == 3  # type: ignore[attr-defined]


def test_a_world_that_stays_away_is_asked_five_times_and_again_by_a_person(
    store: Store, books: ThreadingHTTPServer
) -> None:
    books.away = 6  # type: ignore[attr-defined]
    court = Court(store, flaky(books.server_port))
    court.put(make_run(business_keys={"order_id": "O-1"}))
    court.tick()
    for _ in range(8):
        retry(court, 41)
    (status,) = court.get("/v1/runs/r/judgments")["statuses"]
    assert (status["state"], status["tries"], status["again_at"]) == ("failed", 5, None)
    assert status["why"] == "HTTP 503 from 127.0.0.1 (5 tries, none follows)"
    assert books.asked == 5  # type: ignore[attr-defined]
    court.scoring.backfills.ask("real", since=None, which="failed")
    assert court.scoring.backfills.work("real").judged == 1
    (status,) = court.get("/v1/runs/r/judgments")["statuses"]
    assert status["why"] == "HTTP 503 from 127.0.0.1 (try 1 of 5)"
    retry(court, 2)
    assert court.states() == {"real": "graded"}


def test_a_plug_in_that_hangs_holds_no_other_grader_and_is_told_everywhere(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()

    class Hanging:
        name, version, surface, kind = "hangs", "1", "outcome", "code"

        def grade(self, evidence: object) -> None:
            never.wait(60)

    here = EntryPoint(name="hangs", value="x:Hanging", group="gnomon.graders")
    monkeypatch.setattr(EntryPoint, "load", lambda _self: Hanging)
    monkeypatch.setattr("scoring.grading.plugins.entry_points", lambda **_: EntryPoints([here]))
    court = Court(
        store,
        "graders: [{type: plugin, entry: hangs, timeout: 50ms},"
        ' {type: budget, name: small, version: "1", limits: {steps: 5}}]',
    )
    monkeypatch.undo()
    for number in range(30):
        court.put(make_run(f"r{number}"))
    assert court.tick() == 1
    states = court.states("r0")
    assert states == {"hangs": "failed", "small": "graded"}
    told = {
        row["why"]
        for number in range(30)
        for row in court.get(f"/v1/runs/r{number}/judgments")["statuses"]
        if row["grader"] == "hangs"
    }
    assert "took longer than 0.05 s (try 1 of 5)" in told
    assert any(why.startswith("not asked: set aside") for why in told)
    (scheduler,) = (part for part in court.scoring.parts if part.name == "jobs")
    scheduler.start()
    try:
        assert str(scheduler.problem()).startswith("hangs: set aside")
    finally:
        scheduler.stop(10)
        never.set()


def test_judging_all_of_history_goes_on_where_a_killed_process_was(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.backfill._PAGE", 2)
    for number in range(6):
        court.put(make_run(f"r{number}"))
    court.tick()
    court.clock.later(60)
    asked = court.scoring.backfills.ask("small", since=None, which="all")
    own = court.scoring.judging.runs
    pages = iter(range(2))

    def dies(*given: object, **more: object) -> int:
        if next(pages, None) is None:
            raise KeyboardInterrupt
        return own(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(court.scoring.judging, "runs", dies)
    with pytest.raises(KeyboardInterrupt):
        court.scoring.backfills.work("small")
    # A new process takes it up by itself, and judges the two runs that are left.
    court.clock.later(60)
    court.open(CONFIG)
    assert court.scoring.backfills.take_up() == ["small"]
    # Who asks for the same joins it, so that `--wait` waits; another one has to wait itself.
    joined = court.scoring.backfills.ask("small", since=None, which="all")
    assert joined.asked_at == asked.asked_at
    with pytest.raises(Conflict, match="--which all"):
        court.scoring.backfills.ask("small", since=None, which="missing")
    done = court.scoring.backfills.work("small")
    assert (done.runs, done.judged, done.failing) == (6, 2, None)
    assert done.asked_at == asked.asked_at
    # It has come to its end: asked for again it is another one, and nothing is left to take up.
    court.open(CONFIG)
    assert court.scoring.backfills.take_up() == []
    court.clock.later(60)
    again = court.scoring.backfills.ask("small", since=None, which="all")
    assert again.asked_at > asked.asked_at
    assert court.scoring.backfills.work("small").judged == 6
