"""Runs and steps as scoring reads them, and a house in which they are judged."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
from fastapi import FastAPI
from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry

from collector.store import Reader
from gnomon.clock import Nanos, to_nanos
from gnomon.config import Settings
from gnomon.http import install_problems
from gnomon.model import Bodies, Kind, Run, RunId, RunState, SpanId, Step, TraceId
from gnomon.store import Store
from gnomon.telemetry import Metrics
from gnomon.watch import parse
from scoring.grading.evidence import json_in
from scoring.service import Scoring, build
from tests.row_writer import RowWriter

SECOND = 1_000_000_000
START = dt.datetime(2026, 11, 2, 9, tzinfo=dt.UTC)


def make_step(
    number: int,
    tool: str | None = None,
    arguments: object = None,
    result: object = None,
    *,
    run_id: str = "r",
    **changes: Any,
) -> Step:
    """Return a counted step; a tool call when a tool is named."""
    values: dict[str, Any] = {
        "run_id": RunId(run_id),
        "trace_id": TraceId(f"t-{run_id}"),
        "span_id": SpanId(f"s{number}"),
        "started_at": Nanos(to_nanos(START) + number * SECOND),
        "ended_at": Nanos(to_nanos(START) + number * SECOND + SECOND // 2),
        "duration_ns": SECOND // 2,
        "kind": Kind.TOOL if tool else Kind.LLM,
        "counted": True,
        "tool_name": tool,
        "tool_arguments": None if arguments is None else json.dumps(arguments),
        "tool_result": None if result is None else json.dumps(result),
    }
    return Step(**(values | changes))


def make_run(run_id: str = "r", **changes: Any) -> Run:
    """Return a settled run of the desk."""
    start = to_nanos(START)
    values: dict[str, Any] = {
        "run_id": RunId(run_id),
        "trace_ids": [f"t-{run_id}"],
        "root_span_id": "root",
        "agent_name": "desk",
        "agent_version": "1",
        "started_at": start,
        "ended_at": Nanos(start + 90 * SECOND),
        "duration_ns": 90 * SECOND,
        "active_ns": 90 * SECOND,
        "state": RunState.SETTLED,
        "settled_at": Nanos(start + 100 * SECOND),
        "last_received_at": Nanos(start + 90 * SECOND),
    }
    return Run(**(values | changes))


class Seen:
    """Evidence from memory."""

    def __init__(
        self,
        *steps: Step,
        run: Run | None = None,
        final: str | None = None,
        bodies: Mapping[str, Bodies] | None = None,
    ) -> None:
        self.run = run or make_run()
        self.steps: Sequence[Step] = steps
        self.final_message = final
        self.final_json = None if final is None else json_in(final)
        self._bodies = bodies or {}

    def bodies(self, steps: Sequence[Step]) -> Sequence[Bodies]:
        return [self._bodies.get(step.span_id, Bodies()) for step in steps]


class FakeClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: dt.datetime = START + dt.timedelta(minutes=10)) -> None:
        self.now = now

    def __call__(self) -> dt.datetime:
        return self.now

    def later(self, seconds: float) -> None:
        self.now += dt.timedelta(seconds=seconds)


class Court:
    """A store, runs written into it, and scoring over it, on a clock that is moved by hand."""

    def __init__(self, store: Store, config: str, clock: FakeClock | None = None) -> None:
        self.store = store
        self.clock = clock or FakeClock()
        self.reader = Reader(store)
        self.writer = RowWriter(store)
        self.complete: dt.datetime | None = None
        self.open(config)

    def open(self, config: str) -> None:
        """Start again with another configuration, as a new process does."""
        self.scoring: Scoring = build(
            Settings(),
            parse(config),
            store=self.store,
            reader=self.reader,
            watermark=lambda: self.complete or self.clock.now,
            clock=self.clock,
            metrics=Metrics(CollectorRegistry()),
        )
        app = FastAPI()
        install_problems(app)
        app.include_router(self.scoring.router)
        self.client = TestClient(app, raise_server_exceptions=False)

    def put(self, run: Run, *steps: Step) -> None:
        """Write a run as the roll-up does."""
        now = to_nanos(self.clock.now)
        self.writer.steps(steps, folded_at=now)
        self.writer.runs([run], reading="test", folded_at=now)

    def tick(self, seconds: float = 20) -> int:
        """Let time go by, then tick the job."""
        self.clock.later(seconds)
        return self.scoring.jobs.tick(self.scoring.jobs.named("judge"))

    def get(self, path: str, **params: Any) -> Any:
        answer = self.client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: object = None, **params: Any) -> httpx2.Response:
        return self.client.post(path, json=body, params=params)

    def states(self, run_id: str = "r") -> dict[str, str]:
        """Return the state of each grader on a run."""
        found = self.get(f"/v1/runs/{run_id}/judgments")
        return {row["grader"]: row["state"] for row in found["statuses"]}
