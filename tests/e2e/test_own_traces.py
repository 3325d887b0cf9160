"""Gnomon's own traces: off unless asked for; sent to itself they come to rest."""

import os
import socket
import time
from pathlib import Path

import pytest

from tests import otlp
from tests.serving import Serving, serving

QUICK = {"OTEL_BSP_SCHEDULE_DELAY": "200"}
"""Own spans are sent five times a second instead of once in five seconds."""


def free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def received(house: Serving) -> int:
    return house.ledger()["received"]


def names_of_own_steps(house: Serving) -> set[str]:
    return {
        step["span_name"]
        for run in house.all("/v1/runs")
        if run["run_id"].startswith(b"gnomon".hex())
        for step in house.all(f"/v1/runs/{run['run_id']}/steps")
    }


def come_to_rest(house: Serving) -> bool:
    """Ask until nothing arrives but the one span that asking makes."""
    before = received(house)
    for _ in range(15):
        time.sleep(2)
        now = received(house)
        if now - before == 1:
            return True
        before = now
    return False


def test_own_traces_show_the_work_and_never_make_more_of_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    port = free_port()
    settings = {"OTLP_HTTP_PORT": port, "TRACE_SELF": f"http://127.0.0.1:{port}"}
    with serving(tmp_path / "data", **settings) as house:
        assert (
            house.post("/v1/traces", otlp.traces(otlp.span()).SerializeToString()).status_code
            == 200
        )
        wanted = {"GET /v1/runs", "store.read", "writer.batch"}
        house.wait_for("its own spans", lambda: wanted <= names_of_own_steps(house))
        assert come_to_rest(house), "own spans make more of themselves"
        assert house.stop() == 0


def test_without_being_asked_nothing_is_traced(tmp_path: Path) -> None:
    assert not any(name.startswith("OTEL_") for name in os.environ)
    with serving(tmp_path / "data") as house:
        house.get("/v1/runs")
        assert received(house) == 0
