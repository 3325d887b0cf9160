"""Every recorded request, sent by every road into the real process, gives its known answers."""

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import cycle
from pathlib import Path
from typing import Any, get_type_hints

import grpc
import pytest

from gnomon.clock import Nanos
from gnomon.model import Evaluation, Run, RunStatus, Step
from tests import recorded, samples
from tests.serving import Serving, serving

NAMES = samples.names()

pytestmark = pytest.mark.skipif(not NAMES, reason=samples.WHY_SKIPPED)

SERVICE = "opentelemetry.proto.collector.{0}.v1.{1}Service/Export"


def by_protobuf(house: Serving, name: str, path: str, suffix: str) -> None:
    body = (samples.OTLP / f"{name}{suffix}.binpb").read_bytes()
    answer = house.post(path, body)
    assert (answer.status_code, answer.content) == (200, b"")


def by_json(house: Serving, name: str, path: str, suffix: str) -> None:
    body = gzip.compress((samples.OTLP / f"{name}{suffix}.json").read_bytes())
    answer = house.post(path, body, content_type="application/json", content_encoding="gzip")
    assert (answer.status_code, answer.json()) == (200, {})


def by_grpc(house: Serving, name: str, path: str, suffix: str) -> None:
    body = (samples.OTLP / f"{name}{suffix}.binpb").read_bytes()
    service = (
        SERVICE.format("trace", "Trace") if "traces" in path else SERVICE.format("logs", "Logs")
    )
    with grpc.insecure_channel(house.addresses["otlp_grpc"]) as channel:
        call = channel.unary_unary(f"/{service}", lambda sent: sent, lambda got: got)
        assert call(body, timeout=30) == b""


ROADS: Mapping[str, Sequence[Callable[..., None]]] = {
    "in turn": (by_protobuf, by_json, by_grpc),
    "protobuf": (by_protobuf,),
    "json": (by_json,),
    "grpc": (by_grpc,),
}
"""Each run of the tests sends every request by one road, the next by the next; the long one by all."""


@pytest.fixture(
    scope="module",
    params=[
        "in turn",
        *(pytest.param(road, marks=pytest.mark.soak) for road in ROADS if road != "in turn"),
    ],
)
def house(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Serving]:
    roads = cycle(ROADS[request.param])
    data: Path = tmp_path_factory.mktemp("road") / "data"
    sent = 0
    with serving(data) as house:
        for name in NAMES:
            send = next(roads)
            send(house, name, "/v1/traces", "")
            sent += samples.expected(name)["spans_total"]
            if (records := samples.logs_request(name)) is not None:
                send(house, name, "/v1/logs", ".logs")
                sent += sum(
                    len(scope.log_records)
                    for block in records.resource_logs
                    for scope in block.scope_logs
                )
        house.wait_for("all stored", lambda: house.ledger()["pending"] == 0)
        assert house.ledger() == {"received": sent, "stored": sent, "rejected": 0, "pending": 0}
        spans = sum(samples.expected(name)["spans_total"] for name in NAMES)
        house.wait_for(
            "all runs read",
            lambda: sum(run["spans"] for run in house.all("/v1/runs")) == spans,
        )
        yield house


def noun(row_type: Any, found: dict[str, Any]) -> Any:
    """Return an API object as the noun it shows; times are not compared here."""
    hints = get_type_hints(row_type)
    given: dict[str, Any] = {}
    for field in fields(row_type):
        value = found.get(field.name)
        if hints[field.name] is Nanos:
            value = Nanos(0)
        given[field.name] = value
    return row_type(**given)


def test_the_known_answers_come_out(house: Serving) -> None:
    runs: dict[str, dict[str, Any]] = {}
    for run in house.all("/v1/runs"):
        for trace_id in run["trace_ids"]:
            runs[trace_id] = run
    wrong: list[str] = []
    for name in NAMES:
        expected = samples.expected(name)
        found = [runs[trace["trace_id"]] for trace in expected["traces"]]
        steps: list[Step] = []
        for run in found:
            for step in house.all(f"/v1/runs/{run['run_id']}/steps"):
                step["evaluations"] = [Evaluation(**one) for one in step["evaluations"]]
                steps.append(noun(Step, step))
        nouns = [noun(Run, {**run, "status": RunStatus(run["status"])}) for run in found]
        verdict = recorded.compare(expected, steps, nouns)
        wrong += [f"{name}: {text}" for text in verdict.failures]
    assert not wrong, "\n".join(wrong)
