"""A start that fails, and one that does not, as the command line tells them."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import COMMAND, ROOT, serving

PORTS = ["GNOMON_OTLP_HTTP_PORT", "GNOMON_OTLP_GRPC_PORT", "GNOMON_WEB_PORT"]


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


@pytest.mark.parametrize("setting", PORTS)
def test_a_taken_port_is_named_with_its_setting_and_the_start_refused(
    setting: str, taken: int, tmp_path: Path
) -> None:
    ports = dict.fromkeys(PORTS, "0") | {setting: str(taken)}
    ended = subprocess.run(
        [*COMMAND, "serve", "--data", str(tmp_path / "data")],
        env=os.environ | ports, cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 2, ended.stderr
    (told,) = [line for line in ended.stderr.splitlines() if line.startswith("gnomon: ")]
    assert str(taken) in told
    assert setting in told
    assert "Traceback" not in ended.stderr


def test_the_doctor_looks_at_the_process_that_runs_whatever_this_shell_would_use(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "data") as running:
        ended = subprocess.run(
            [*COMMAND, "doctor", "--json", "--url", running.addresses["web"]],
            env=os.environ | {"GNOMON_DATA": "/nowhere/of/this/shell", "PYTHONPATH": str(ROOT)},
            cwd=tmp_path, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    findings = {one["subject"]: one for one in json.loads(ended.stdout)}
    assert findings["data"]["found"].startswith(f"{tmp_path / 'data'}, ")
    assert findings["a span, there and back"]["verdict"] == "ok"
    assert "bad" not in {one["verdict"] for one in findings.values()}
