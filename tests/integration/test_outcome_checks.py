"""The real state is asked for over real HTTP, real SQL and real programs, within their limits."""

import json
import socketserver
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gnomon.clock import Nanos
from gnomon.errors import ConfigError
from gnomon.watch import parse
from scoring.grading.limit import TookTooLong
from scoring.grading.port import (
    Abstained,
    Answer,
    CheckFailed,
    Grader,
    Label,
    NotApplicable,
    TryAgain,
)
from scoring.grading.run import judge
from scoring.grading.spec import Means
from scoring.watched import watched
from tests.judging import Seen, make_run
from tests.stores import fresh_store


class Shop(BaseHTTPRequestHandler):
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("X-Key")))
        name = self.path.rpartition("/")[2]
        answers: dict[str, tuple[int, bytes]] = {
            "right": (200, b'{"state": "refunded", "refunds": [{"amount": 40}]}'),
            "wrong": (200, b'{"state": "not_refunded", "refunds": []}'),
            "null": (200, b'{"state": null}'),
            "html": (200, b"<html>"),
            "large": (200, b'"' + b"x" * 2_000_000 + b'"'),
            "moved": (302, b""),
            "broken": (500, b"{}"),
            "busy": (503, b"{}"),
        }
        if name == "slow":
            time.sleep(3)
        code, body = answers.get(name, (404, b"{}"))
        self.send_response(code)
        if code == 302:
            self.send_header("Location", "/right")
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            return

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def grader_of(entry: dict[str, Any], means: Means | None = None) -> Grader:
    said = {"type": "outcome_check", "name": "g", **entry}
    keys = {name: {"attributes": name} for name in ("order_id", "order")}
    config = json.dumps({"graders": [said], "business_keys": keys})
    (grader,) = watched(parse(config)).built(means or Means())
    return grader


def ask(entry: dict[str, Any], *, means: Means | None = None, **run: Any) -> Answer:
    final = run.pop("final", None)
    return grader_of(entry, means).grade(Seen(run=make_run(**run), final=final))


def by_http(shop: str, order: str, **more: Any) -> dict[str, Any]:
    return {
        "http": {"url": f"{shop}/orders/{{order_id}}", **more},
        "timeout": "1s",
        "expect": {"path": "refunds.0.amount", "at_least": 40},
    }


@pytest.mark.parametrize(
    ("order", "verdict"),
    [("right", True), ("wrong", None), ("null", None), ("unheard-of", None)],
)
def test_the_system_of_record_decides_or_nobody_does(
    shop: str, order: str, verdict: bool | None
) -> None:
    answer = ask(by_http(shop, order), business_keys={"order_id": order})
    if verdict is None:
        assert isinstance(answer, Abstained)
    else:
        assert isinstance(answer, Label)
        assert answer.passed is verdict


def test_a_state_that_is_not_the_wanted_one_fails(shop: str) -> None:
    entry = {**by_http(shop, "x"), "expect": {"path": "state", "equals": "refunded"}}
    answer = ask(entry, business_keys={"order_id": "wrong"})
    assert isinstance(answer, Label)
    assert answer.passed is False


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("slow", "no answer within 1 s"),
        ("html", "the answer is no JSON"),
        ("large", "longer than"),
        ("moved", "HTTP 302"),
        ("broken", "HTTP 500"),
    ],
)
def test_a_world_that_does_not_answer_is_no_verdict_promise_7(
    shop: str, order: str, why: str
) -> None:
    with pytest.raises(CheckFailed, match=why):
        ask(by_http(shop, order), business_keys={"order_id": order})


def test_a_business_key_can_not_leave_its_place_in_the_address(shop: str) -> None:
    Shop.asked.clear()
    ask(by_http(shop, ""), business_keys={"order_id": "../admin?x=1#"})
    assert Shop.asked == [("/orders/..%2Fadmin%3Fx%3D1%23", None)]
    climbing = ask(by_http(shop, ""), business_keys={"order_id": ".."})
    assert isinstance(climbing, Abstained)
    lacking = ask(by_http(shop, ""))
    assert isinstance(lacking, Abstained)
    assert lacking.reason == "the run has no order_id"


def test_secrets_come_from_files(shop: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("s3cret\n", encoding="utf-8")
    Shop.asked.clear()
    entry = by_http(shop, "", secret_headers={"X-Key": str(key)})
    ask(entry, business_keys={"order_id": "right"})
    assert Shop.asked == [("/orders/right", "s3cret")]
    key.unlink()
    with pytest.raises(ConfigError, match=r"key: No such file or directory; write the value"):
        ask(entry, business_keys={"order_id": "right"})


SECRET = "sk-5up3r-s3cret"


def test_a_secret_that_no_header_can_carry_is_refused_by_its_file_never_its_value(
    shop: str, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    entry = by_http(shop, "", secret_headers={"X-Key": str(key)})
    for text in (f"{SECRET}\nsecond\n", f"{SECRET}\x07", f" {SECRET}", f"{SECRET}\u2028", ""):
        key.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            ask(entry, business_keys={"order_id": "right"})
        assert str(key) in caught.value.detail
        assert "one line of plain ASCII" in caught.value.detail
        assert "sk-" not in caught.value.detail


def test_a_secret_that_turns_bad_while_running_is_not_told(shop: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(SECRET, encoding="utf-8")
    entry = by_http(shop, "", secret_headers={"X-Key": str(key)})
    grader = grader_of(entry)
    key.write_text(f"{SECRET}\nsecond\n", encoding="utf-8")
    run = make_run(business_keys={"order_id": "right"})
    why = judge(grader, Seen(run=run), at=Nanos(1)).status.why
    assert str(key) in why
    assert "sk-" not in why


def test_an_address_with_a_password_is_refused_without_saying_it() -> None:
    entry = {"http": {"url": f"http://me:{SECRET}@shop/{{order_id}}"}, "expect": {"equals": 1}}
    with pytest.raises(ConfigError, match="must hold no password") as caught:
        grader_of(entry)
    assert SECRET not in caught.value.detail


class Dripping(socketserver.BaseRequestHandler):
    """Sends a line of a header, or a byte of the body, again and again and never ends."""

    def handle(self) -> None:
        part = {"head": b"HTTP/1.1 200 OK\r\n", "body": b"HTTP/1.1 200 OK\r\n\r\n[", "tls": b"\x16"}
        piece = {"head": b"X-Line: 1\r\n", "body": b" ", "tls": b"\x03"}
        drips: str = self.server.drips  # type: ignore[attr-defined]
        try:
            self.request.sendall(part[drips])
            while not self.server.over.wait(0.05):  # type: ignore[attr-defined]
                self.request.sendall(piece[drips])
        except OSError:
            self.server.cut.set()  # type: ignore[attr-defined]


@pytest.mark.parametrize("drips", ["head", "body", "tls"])
def test_the_limit_holds_over_the_whole_exchange_however_it_drips(drips: str) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Dripping) as server:
        server.drips, server.over, server.cut = drips, threading.Event(), threading.Event()  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        scheme = "https" if drips == "tls" else "http"
        url = f"{scheme}://127.0.0.1:{server.server_address[1]}/x"
        entry = {"http": {"url": url}, "timeout": "300ms", "expect": {"equals": 1}}
        with pytest.raises(TookTooLong, match=r"no answer within 0\.3 s"):
            ask(entry)
        # Nobody reads on in the background either: the connection is gone.
        assert server.cut.wait(20)
        server.over.set()
        server.shutdown()


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_json_is_no_verdict(word: str) -> None:
    with pytest.raises(CheckFailed, match="the command wrote no JSON"):
        ask(by_command(f"print('{{\"passed\": {word}}}')"))


@pytest.mark.parametrize("word", ['"yes"', '"true"', "1", "0", "[]", '{"passed": true}'])
def test_a_command_that_says_neither_true_nor_false_has_failed_itself(word: str) -> None:
    with pytest.raises(CheckFailed, match="true, false or null is expected"):
        ask(by_command(f"print('{{\"passed\": {word}}}')"))


@pytest.mark.parametrize("said", ['{"passed": null}', "{}"])
def test_a_command_that_leaves_it_open_abstains(said: str) -> None:
    assert isinstance(ask(by_command(f"print('{said}')")), Abstained)


def test_a_query_that_takes_longer_than_its_check_may_is_told_as_that(tmp_path: Path) -> None:
    with fresh_store("embedded", tmp_path) as store:
        endless = "SELECT count() AS n FROM numbers(1000000000000) WHERE toString(number) = 'x'"
        entry = {"sql": {"query": endless}, "timeout": "1s", "expect": {"path": "n", "equals": 1}}
        with pytest.raises(TookTooLong) as caught:
            ask(entry, means=Means(store=store))
        assert str(caught.value) == "the query did not end within 1 s, the time that it may take"


def test_a_parameter_that_does_not_fit_is_not_told(tmp_path: Path) -> None:
    with fresh_store("embedded", tmp_path) as store:
        entry = {
            "sql": {"query": "SELECT {order:UInt64} AS paid"},
            "expect": {"path": "paid", "equals": 1},
        }
        with pytest.raises(CheckFailed, match="the query failed") as caught:
            ask(entry, means=Means(store=store), business_keys={"order": SECRET})
        assert SECRET not in str(caught.value)


def test_what_may_pass_is_told_apart_from_what_will_not(shop: str) -> None:
    with pytest.raises(TryAgain, match="HTTP 503"):
        ask(by_http(shop, ""), business_keys={"order_id": "busy"})
    with pytest.raises(CheckFailed) as caught:
        ask(by_http(shop, ""), business_keys={"order_id": "html"})
    assert not isinstance(caught.value, TryAgain)
    refused = {"http": {"url": "http://127.0.0.1:1/x"}, "expect": {"equals": 1}}
    with pytest.raises(TryAgain, match="no answer"):
        ask(refused)


def test_a_table_is_asked_with_typed_parameters(tmp_path: Path) -> None:
    with fresh_store("embedded", tmp_path) as store:
        store.command(
            "CREATE TABLE refunds (order_id String, amount Int64) ENGINE Memory", tag="tests.create"
        )
        store.command("INSERT INTO refunds VALUES ('O-1', 40)", tag="tests.insert")
        entry = {
            "sql": {
                "query": "SELECT sum(amount) AS paid FROM refunds WHERE order_id = {order:String}"
            },
            "expect": {"path": "paid", "equals": 40},
        }
        means = Means(store=store)
        paid = ask(entry, means=means, business_keys={"order": "O-1"})
        assert isinstance(paid, Label)
        assert paid.passed is True
        quoting = ask(entry, means=means, business_keys={"order": "O-1' OR 1 = 1 --"})
        assert isinstance(quoting, Label)
        assert quoting.passed is False
        assert isinstance(ask(entry, means=means), Abstained)
        wrong = {**entry, "sql": {"query": "SELECT nothing FROM nowhere"}}
        with pytest.raises(CheckFailed, match="the query failed"):
            ask(wrong, means=means)
        none = {**entry, "sql": {"query": "SELECT amount AS paid FROM refunds WHERE amount > 99"}}
        assert isinstance(ask(none, means=means), Abstained)


def by_command(code: str, *keys: str) -> dict[str, Any]:
    command: dict[str, Any] = {"argv": [sys.executable, "-c", code]}
    if keys:
        command["keys"] = list(keys)
    return {"command": command, "timeout": "1s"}


@pytest.mark.parametrize(
    "order", ["O-1", "$(touch x); O-1", "--delete", "a\0b", "'\n\"", "ö" * 9999]
)
def test_a_program_gets_the_run_and_answers_in_json(order: str) -> None:
    code = (
        "import json, sys; run = json.load(sys.stdin);"
        f"print(json.dumps({{'passed': run['business_keys']['order'] == {order!r}}}))"
    ).replace("\0", "\\0")
    answer = ask(by_command(code, "order"), business_keys={"order": order})
    assert isinstance(answer, Label)
    assert answer.passed is True, "the key arrives as it is"


def test_a_program_is_not_started_for_a_run_without_its_keys() -> None:
    answer = ask(by_command("raise SystemExit(1)", "order"))
    assert answer == Abstained(reason="the run has no order")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit(1)", "exit code 1"),
        ("print('fine')", "no JSON"),
        ("import time; time.sleep(30)", "did not end within 1 s"),
        ("import os; os.close(1); import time; time.sleep(30)", "did not end within 1 s"),
        ("print('1' * 3_000_000)", "more than"),
        ("import os; os.kill(os.getpid(), 9)", "exit code -9"),
    ],
)
def test_a_program_that_breaks_is_no_verdict(code: str, why: str) -> None:
    with pytest.raises(CheckFailed, match=why):
        ask(by_command(code))


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    child = f"import time; time.sleep(2); open({str(mark)!r}, 'w')"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}])"
    with pytest.raises(CheckFailed):
        ask(by_command(code + "; import time; time.sleep(30)"))
    time.sleep(2)
    assert not mark.exists()


def test_a_program_that_is_not_there_is_named() -> None:
    entry = {"command": {"argv": ["/nowhere/check"]}}
    with pytest.raises(CheckFailed, match="/nowhere/check does not start"):
        ask(entry)


CLAIM = {"type": "claim", "claim": "claimed_outcome", "always_true": ["needs_review"]}


@pytest.mark.parametrize(
    ("order", "claim", "passed", "claimed"),
    [
        ("right", "refunded", True, True),
        ("wrong", "refunded", False, True),
        ("wrong", "not_refunded", True, True),
        ("wrong", "needs_review", True, False),
    ],
)
def test_a_claim_is_compared_with_the_state(
    shop: str, order: str, claim: str, passed: bool, claimed: bool
) -> None:
    entry = {**CLAIM, "http": {"url": f"{shop}/{{order_id}}"}, "truth": "state"}
    final = json.dumps({"claimed_outcome": claim})
    answer = ask(entry, final=final, business_keys={"order_id": order})
    assert isinstance(answer, Label)
    assert (answer.passed, answer.claimed) == (passed, claimed)


def test_a_claim_that_can_not_be_verified_is_still_a_claim(shop: str) -> None:
    entry = {**CLAIM, "http": {"url": f"{shop}/{{order_id}}"}, "truth": "state"}
    final = json.dumps({"claimed_outcome": "refunded"})
    answer = ask(entry, final=final, business_keys={"order_id": "unheard-of"})
    assert isinstance(answer, Abstained)
    assert answer.claimed is True
    assert isinstance(ask(entry, final="Done.", business_keys={"order_id": "x"}), NotApplicable)
