"""The receivers when the queue is full, callers hang up, and our own code fails."""

import json
import socket
import threading

import grpc
import httpx2
import pytest

from collector.receiving.intake import Intake
from collector.receiving.receivers import build_receivers
from gnomon.clock import from_nanos
from gnomon.config import Settings
from gnomon.errors import ConfigError, DiskFull, QueueFull
from tests import otlp
from tests.memory_queue import MemoryQueue
from tests.receiving import GOOD, PROTOBUF, SERVICES, Answered, House, house_of, wait_for

both = pytest.mark.parametrize("transport", ["http", "grpc"])


# When there is no room


@both
@pytest.mark.parametrize("error", [QueueFull(), DiskFull()])
def test_a_full_queue_asks_the_sender_to_come_again(
    house: House, transport: str, error: Exception
) -> None:
    house.queue.refuses = error
    assert house.send(transport, GOOD) == Answered(
        status=14, message=f"{error} Try again.", retry=5
    )
    house.queue.refuses, house.queue.fails = None, error
    assert house.send(transport, GOOD).retry == 5
    house.queue.fails = None
    assert house.send(transport, GOOD).status == 0
    assert house.queue.received == 2
    assert sum(house.refused.values()) == 2


@both
def test_a_queue_that_breaks_is_a_passing_state(house: House, transport: str) -> None:
    house.queue.fails = RuntimeError("bug")
    answer = house.send(transport, GOOD)
    assert (answer.status, answer.retry) == (14, 5)


@both
def test_a_refusal_that_can_not_be_counted_is_no_final_answer(house: House, transport: str) -> None:
    house.queue.refuses = QueueFull()
    assert house.send(transport, b"garbage").status == 14


@both
def test_too_many_bytes_in_work_are_refused_and_given_back(transport: str) -> None:
    for house in house_of(ingest={"max_inflight": len(GOOD) + 10}):
        house.queue.stalls = True
        first = threading.Thread(target=house.send, args=(transport, GOOD))
        first.start()
        wait_for(lambda house=house: house.queue.open)
        answer = house.send(transport, GOOD)
        assert (answer.status, answer.retry) == (14, 1)
        house.queue.stalls = False
        house.queue.open[0].set_result(True)
        first.join()
        assert house.send(transport, GOOD).status == 0


def test_callers_that_hang_up_break_nothing(house: House) -> None:
    house.queue.stalls = True
    with pytest.raises(httpx2.TimeoutException):
        house.http.post("/v1/traces", content=GOOD, headers={"content-type": PROTOBUF}, timeout=0.2)
    with pytest.raises(grpc.RpcError):
        house.channel.unary_unary(f"/{SERVICES['traces']}/Export")(GOOD, timeout=0.2)
    wait_for(lambda: len(house.queue.open) == 2)
    for waiting in house.queue.open:
        assert waiting.set_running_or_notify_cancel(), (
            "the receiver cancelled what the queue writes"
        )
        waiting.set_result(True)
    house.queue.stalls = False
    assert house.send("http", GOOD).status == house.send("grpc", GOOD).status == 0


# Our own faults, and the life of the parts


@both
def test_our_own_bug_is_an_internal_error_and_the_bytes_are_kept(
    house: House, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Intake, "_inspected", broken)
    answer = house.send(transport, GOOD)
    assert (answer.status, answer.retry) == (13, None)
    ((request, body, detail),) = house.queue.letters
    assert (request.payload, dict(request.rejected)) == (b"", {"internal": 1})
    assert body == GOOD
    assert "a bug" in detail


def test_parts_name_their_problem_and_refuse_a_taken_port(house: House) -> None:
    assert [part.problem() for part in house.parts] == [None, None]
    grpc_port, http_port = (part.port for part in house.parts)
    settings = Settings(otlp_grpc_port=grpc_port, otlp_http_port=http_port)
    others = build_receivers(MemoryQueue(), settings, lambda: from_nanos(otlp.NOW))
    for part, setting in zip(
        others, ("GNOMON_OTLP_GRPC_PORT", "GNOMON_OTLP_HTTP_PORT"), strict=True
    ):
        assert "nothing listens" in str(part.problem())
        with pytest.raises(ConfigError, match=setting):
            part.start()
        part.stop(1)


def test_json_and_protobuf_errors_are_never_text(house: House) -> None:
    for media, path in ((PROTOBUF, "/v1/traces"), ("application/json", "/nowhere")):
        response = house.post(b"junk", path, content_type=media)
        assert response.headers["content-type"] == media
        if media == "application/json":
            assert json.loads(response.content)["code"] == 12


def test_headers_without_an_end_close_the_connection(house: House) -> None:
    with socket.create_connection(("127.0.0.1", house.parts[1].port), timeout=10) as caller:
        caller.sendall(b"POST /v1/traces HTTP/1.1\r\nhost: x\r\nx-long: ")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            caller.sendall(b"a" * 128 * 1024**2)


def test_a_sender_of_far_too_much_reads_why(house: House) -> None:
    body = bytes(32 * 1024**2)
    assert house.post(body).status_code == 413
    assert house.post(iter([body[: 1024**2]] * 32)).status_code == 413
    assert house.post(GOOD).status_code == 200


def test_a_connection_is_kept_for_the_next_request(house: House) -> None:
    for _ in range(3):
        assert house.post(b"junk").status_code == 400
        assert house.post(GOOD).status_code == 200
    long = {"x-long": "a" * 60_000}
    assert house.http.post("/v1/traces", content=b"", headers=long).status_code == 415
