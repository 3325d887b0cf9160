"""Promise 1: a success answer means that a crash of any process loses nothing."""

import random
import threading
import time
from pathlib import Path

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from gnomon.config import Settings
from gnomon.store import open_store
from tests.serving import Serving, start

CONFIG = "runs: {quiet_period: 300ms}\n"
SPANS_A_TRACE = 5


class Exporter(threading.Thread):
    """Sends numbered traces one after the other, each until it is acknowledged."""

    def __init__(self, number: int) -> None:
        super().__init__(daemon=True)
        self.number = number
        self.address: str | None = None
        self.acknowledged: list[str] = []
        self.repeats = 0
        self._ended = threading.Event()

    def run(self) -> None:
        sequence = 0
        while not self._ended.is_set():
            sequence += 1
            trace_id = (self.number << 64 | sequence).to_bytes(16, "big")
            body = request(trace_id)
            while not self._ended.is_set() and not self._sent(body):
                self.repeats += 1
                time.sleep(0.05)
            if not self._ended.is_set():
                self.acknowledged.append(trace_id.hex())

    def _sent(self, body: bytes) -> bool:
        if self.address is None:
            return False
        headers = {"content-type": "application/x-protobuf"}
        try:
            answer = httpx2.post(
                f"{self.address}/v1/traces", content=body, headers=headers, timeout=5
            )
        except httpx2.TransportError:
            return False
        return answer.status_code == 200

    def end(self) -> None:
        self._ended.set()
        self.join(30)


def request(trace_id: bytes) -> bytes:
    sent = ExportTraceServiceRequest()
    spans = sent.resource_spans.add().scope_spans.add().spans
    now = time.time_ns()
    for number in range(SPANS_A_TRACE):
        spans.add(
            trace_id=trace_id,
            span_id=(number + 1).to_bytes(8, "big"),
            parent_span_id=b"" if number == 0 else (1).to_bytes(8, "big"),
            name=f"step {number}",
            start_time_unix_nano=now + number,
            end_time_unix_nano=now + 1_000_000,
        )
    return sent.SerializeToString()


def killed_again_and_again(place: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    config = place / "gnomon.yaml"
    config.write_text(CONFIG)
    exporters = [Exporter(number + 1) for number in range(3)]
    house: Serving | None = None
    try:
        for exporter in exporters:
            exporter.start()
        for _ in range(kills):
            house = start(place / "data", "--config", str(config))
            for exporter in exporters:
                exporter.address = house.addresses["otlp_http"]
            time.sleep(chance.uniform(0.2, 2.5))
            house.kill()
            house.close()
        house = start(place / "data", "--config", str(config))
        for exporter in exporters:
            exporter.address = house.addresses["otlp_http"]
        time.sleep(0.5)
        for exporter in exporters:
            exporter.end()
        house.wait_for("an empty queue", lambda: house.ledger()["pending"] == 0)
        traces = {trace for exporter in exporters for trace in exporter.acknowledged}
        house.wait_for(
            "every run",
            lambda: {run["run_id"] for run in house.all("/v1/runs")} >= traces,
        )
        ledger = house.ledger()
        assert house.stop() == 0
    finally:
        for exporter in exporters:
            exporter.end()
        if house is not None:
            house.kill()
            house.close()
    assert len(traces) > kills, "nothing was under way when the process was killed"
    assert_each_once(place / "data", traces, ledger)


def assert_each_once(data: Path, traces: set[str], ledger: dict[str, int]) -> None:
    store = open_store(Settings(data=data))
    try:
        for table in ("spans", "steps"):
            rows = store.read(
                f"SELECT trace_id, count() AS n, uniqExact(span_id) AS ids FROM {table} FINAL"
                " GROUP BY trace_id",
                tag="tests.once",
            )
            found = {str(row["trace_id"]): (int(row["n"]), int(row["ids"])) for row in rows}
            assert traces <= found.keys(), f"acknowledged and not in {table}"
            assert set(found.values()) == {(SPANS_A_TRACE, SPANS_A_TRACE)}, table
            # A request may be durable although its answer was lost; it counts once as well.
            assert ledger["stored"] == SPANS_A_TRACE * len(found)
    finally:
        store.close()
    assert ledger["received"] == ledger["stored"]
    assert (ledger["rejected"], ledger["pending"]) == (0, 0)


def test_promise_1_three_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    killed_again_and_again(tmp_path, kills=3, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_promise_1_twenty_kills_lose_and_double_nothing(tmp_path: Path, seed: int) -> None:
    killed_again_and_again(tmp_path, kills=20, seed=seed)
