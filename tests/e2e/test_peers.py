"""Exporters that other people wrote: each of their spans arrives once, and they understand us."""

import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.serving import Serving, serving, start

PEERS = Path(__file__).parents[1] / "peers"
SPANS = 500
TIGHT = {"QUEUE__MAX_BYTES": "60KB", "QUEUE__FLUSH_AFTER": "2s"}
"""A queue that is full after a few requests and empty again soon: 503 and RESOURCE_EXHAUSTED."""


def built(command: list[str], place: Path, seconds: int, why: str) -> None:
    """Build a peer, or skip with one line."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed: {why}")
    try:
        made = subprocess.run(
            command, cwd=place, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{command[0]} took longer than {seconds} s: {why}")
    if made.returncode:
        pytest.skip(f"{command[0]} could not get what it needs: {why}: {made.stderr[-200:]!r}")


def turned_away(house: Serving) -> int:
    """Return how many requests were answered that the queue is full."""
    text = httpx2.get(f"{house.addresses['web']}/metrics", timeout=10).text
    found = re.findall(
        r'^gnomon_ingest_refused_total{.*reason="queue_full".*} (\S+)', text, re.MULTILINE
    )
    return int(sum(map(float, found)))


def settled(house: Serving) -> dict[str, int]:
    house.wait_for("an empty queue", lambda: house.ledger()["pending"] == 0)
    return house.ledger()


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("javascript")
    shutil.copytree(PEERS / "js", place, dirs_exist_ok=True)
    built(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], place, 60, "no JS exporter")
    return place


def from_javascript(place: Path, house: Serving, kind: str) -> dict[str, Any]:
    url = f"http://{house.addresses['otlp_grpc']}"
    if kind != "grpc":
        url = f"{house.addresses['otlp_http']}/v1/traces"
    ran = subprocess.run(
        ["node", "send.mjs", kind, url, str(SPANS)],
        cwd=place, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    said: dict[str, Any] = json.loads(ran.stdout)
    return said


@pytest.mark.parametrize(
    "kind",
    ["proto", *(pytest.param(kind, marks=pytest.mark.soak) for kind in ("http", "grpc"))],
)
def test_every_span_of_a_javascript_exporter_arrives_once_and_it_reads_partial_success(
    javascript: Path, tmp_path: Path, kind: str
) -> None:
    # Over gRPC this exporter never tries again; over HTTP it waits as it is told.
    again = kind != "grpc"
    with serving(tmp_path / "data", **(TIGHT if again else {})) as house:
        said = from_javascript(javascript, house, kind)
        assert set(said["results"]) == {0}, said["said"]
        assert (turned_away(house) > 0) == again
        assert "1 of 2 spans rejected: 1 invalid_trace_id" in said["said"][-1]
        assert settled(house) == {
            "received": SPANS + 2, "stored": SPANS + 1, "rejected": 1, "pending": 0
        }  # fmt: skip
        traces = set(said["traces"])
        house.wait_for(
            "every run", lambda: {run["run_id"] for run in house.all("/v1/runs")} >= traces
        )
        spans = {run["run_id"]: run["spans"] for run in house.all("/v1/runs")}
    assert sorted(spans[trace] for trace in traces) == [1, *[5] * (SPANS // 5)]


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("otelcol")
    shutil.copytree(PEERS / "otelcol", place, dirs_exist_ok=True)
    built(["go", "build", "-o", "peer", "."], place, 1200, "no OpenTelemetry Collector")
    return place / "peer"


PIPELINES = """
receivers:
  otlp/one: {{protocols: {{http: {{endpoint: 127.0.0.1:{one}}}}}}}
  otlp/two: {{protocols: {{http: {{endpoint: 127.0.0.1:{two}}}}}}}
exporters:
  otlp:
    endpoint: {grpc}
    tls: {{insecure: true}}
    retry_on_failure: &retry {{initial_interval: 200ms, max_interval: 2s, max_elapsed_time: 300s}}
  otlphttp:
    endpoint: {http}
    retry_on_failure: *retry
service:
  telemetry: {{metrics: {{level: none}}, logs: {{level: warn, encoding: json}}}}
  pipelines:
    traces/one: {{receivers: [otlp/one], exporters: [otlp]}}
    traces/two: {{receivers: [otlp/two], exporters: [otlphttp]}}
"""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def collecting(peer: Path, house: Serving, place: Path) -> Iterator[tuple[list[int], Path]]:
    """Run a Collector in front of Gnomon; yield its two ports (gRPC behind it, HTTP) and its log."""
    ports = [free_port(), free_port()]
    config = place / "collector.yaml"
    http, grpc = house.addresses["otlp_http"], house.addresses["otlp_grpc"]
    config.write_text(PIPELINES.format(one=ports[0], two=ports[1], http=http, grpc=grpc))
    log = place / "collector.log"
    with log.open("wb") as sink:
        running = subprocess.Popen([str(peer), "--config", str(config)], stdout=sink, stderr=sink)
    try:
        for port in ports:
            await_port(port, running, log)
        yield ports, log
    finally:
        running.terminate()
        try:
            running.wait(30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait(10)


def await_port(port: int, running: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end and running.poll() is None:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"the Collector did not start: {log.read_text()[-2000:]}")


def request(numbers: range, road: int) -> bytes:
    """Return a request with one trace of five spans for each number."""
    sent = ExportTraceServiceRequest()
    spans = sent.resource_spans.add().scope_spans.add().spans
    now = time.time_ns()
    for number in numbers:
        for place in range(5):
            spans.add(
                trace_id=(road << 64 | number).to_bytes(16, "big"),
                span_id=(place + 1).to_bytes(8, "big"),
                parent_span_id=b"" if place == 0 else (1).to_bytes(8, "big"),
                name="x" * 200,
                start_time_unix_nano=now,
                end_time_unix_nano=now + 1,
            )
    return sent.SerializeToString()


def send(port: int, body: bytes) -> None:
    answer = httpx2.post(
        f"http://127.0.0.1:{port}/v1/traces",
        content=body, headers={"content-type": "application/x-protobuf"}, timeout=30,
    )  # fmt: skip
    assert answer.status_code == 200, answer.text


@pytest.mark.soak
def test_a_collector_loses_nothing_to_a_full_queue_or_a_kill_and_reads_partial_success(
    collector: Path, tmp_path: Path
) -> None:
    house = start(tmp_path / "data", **TIGHT)
    ports = {
        "OTLP_HTTP_PORT": house.addresses["otlp_http"].rpartition(":")[2],
        "OTLP_GRPC_PORT": house.addresses["otlp_grpc"].rpartition(":")[2],
    }
    try:
        with collecting(collector, house, tmp_path) as (doors, log):
            for number in range(1, 101, 5):
                for road, port in enumerate(doors, 1):
                    send(port, request(range(number, number + 5), road))
            house.wait_for("a full queue", lambda: turned_away(house) > 0)
            house.kill()
            house.close()
            for road, port in enumerate(doors, 1):
                send(port, request(range(101, 121), road))
            house = start(tmp_path / "data", **TIGHT, **ports)
            for port in doors:
                send(port, request(range(1), road=0))  # a trace id of zeros
            wanted = 2 * 120 * 5
            house.wait_for("every span", lambda: house.ledger()["stored"] >= wanted, 120)
            house.wait_for("both refusals", lambda: house.ledger()["rejected"] >= 5)
            assert settled(house)["stored"] == wanted
            told = [line for line in log.read_text().splitlines() if "artial success" in line]
            assert len(told) == 2, log.read_text()[-3000:]
            assert all("invalid_trace_id" in line for line in told)
            assert "Exporting failed. Dropping data" not in log.read_text()
            house.wait_for("every run", lambda: len(house.all("/v1/runs")) == 240)
            assert {run["spans"] for run in house.all("/v1/runs")} == {5}
    finally:
        house.kill()
        house.close()
