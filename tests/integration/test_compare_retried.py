"""Judge, retries and looks together: a system of record that is away for one run decides nothing."""

import datetime as dt
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from gnomon.clock import Nanos, to_nanos
from gnomon.store import Store
from tests.judging import SECOND, START, Court, FakeClock, make_run

TASKS = 12


class Books(BaseHTTPRequestHandler):
    """Says of each order whether it is right; away for the first one of the candidate a while."""

    def do_GET(self) -> None:
        version, _, task = self.path.rpartition("/")[2].partition("-")
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        away = (version, task) == ("b2", "0") and self.server.away  # type: ignore[attr-defined]
        self.send_response(503 if away else 200)
        self.end_headers()
        right = version == "b2" or int(task) >= 4
        self.wfile.write(b'{"right": true}' if right else b'{"right": false}')

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def books() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Books) as server:
        server.asked, server.away = [], True  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def court_of(store: Store, port: int) -> Court:
    """Return a court whose rule was there before twelve tasks were tried by both versions."""
    court = Court(
        store,
        "business_keys: {order: {attributes: order}, task_id: {attributes: task}}\n"
        "compare: {rule: {agent: desk, kind: superiority, n: 12, violations: not_judged}}\n"
        'graders: [{type: outcome_check, name: right, version: "1",'
        f' http: {{url: "http://127.0.0.1:{port}/{{order}}"}}, expect: {{path: right, equals: true}}}}]',
        FakeClock(START - dt.timedelta(hours=1)),
    )
    court.scoring.compare.remember()
    court.clock.later(3 * 3600)
    for task in range(TASKS):
        for place, version in enumerate(("b1", "b2")):
            start = Nanos(to_nanos(START) + (2 * task + place) * SECOND)
            court.put(
                make_run(
                    f"{version}-{task}", agent_version=version, started_at=start, revision=1, complete=True,
                    business_keys={"order": f"{version}-{task}", "task_id": f"t{task:02}"},
                )
            )  # fmt: skip
    return court


def told(court: Court, minutes: float) -> Any:
    """Let time go by and every job work; return what the rule says, by then."""
    court.clock.later(minutes * 60)
    for job in court.scoring.jobs.jobs:
        court.scoring.jobs.tick(job)
    # What a question would see is no matter here: the job alone looks.
    return court.store.read(
        "SELECT JSONExtractString(result, 'decision', 'verdict') AS verdict,"
        " JSONExtractString(result, 'by') AS by,"
        " JSONExtractInt(result, 'tasks', 'difference', 'open') AS open,"
        " JSONExtractFloat(result, 'tasks', 'difference', 'value') AS value,"
        " JSONExtractFloat(result, 'tasks', 'difference', 'low') AS low,"
        " JSONLength(result, 'tasks', 'difference', 'p_values') AS p_values FROM compare_looks",
        tag="test",
    )


def test_a_look_is_taken_by_the_job_once_the_system_of_record_has_answered(
    store: Store, books: ThreadingHTTPServer
) -> None:
    court = court_of(store, books.server_port)
    assert told(court, 3) == []
    assert told(court, 3) == []
    assert len(books.asked) == 2 * TASKS + 1, "it was asked again after a minute"  # type: ignore[attr-defined]
    books.away = False  # type: ignore[attr-defined]
    assert told(court, 4) == []
    (look,) = told(court, 2)
    assert (look["verdict"], look["by"], look["open"]) == ("PASS", "job", 0)
    # Four of twelve better, none worse: statistics.md 2, Tango.
    assert look["value"] == pytest.approx(1 / 3)
    assert look["low"] == pytest.approx(0.0100, abs=5e-5)
    assert look["p_values"] > 0


def test_a_system_of_record_that_stays_away_holds_the_look_for_its_five_tries(
    store: Store, books: ThreadingHTTPServer
) -> None:
    court = court_of(store, books.server_port)
    looks = [told(court, minutes) for minutes in (2, 2, 6, 16)]
    assert looks == [[], [], [], []]
    (look,) = told(court, 41) or told(court, 2)
    assert (look["verdict"], look["open"], look["p_values"]) == ("FAIL", 1, 0)
    assert len(books.asked) == 2 * TASKS + 4  # type: ignore[attr-defined]
    ruling = court.scoring.compare.on_tasks(
        court.scoring.compare.plan.scope, base="b1", cand="b2"  # type: ignore[union-attr]
    ).ruling  # fmt: skip
    assert "1 run could not be told (right failed in 1)" in ruling.sentence
