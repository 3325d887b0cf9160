"""From a fresh clone to the first run: `make demo`, installation included.

The clone holds what is committed; packages come from the registry, no cache of pip is used.
"""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.bench.figures import Figure, load_average, say

ROOT = Path(__file__).parents[2]
GOAL_SECONDS = 180.0
PATIENCE = 600.0


def run(*, quick: bool = False) -> list[Figure]:
    """Clone, make, wait for a run."""
    say(load_average())
    with tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder:
        clone = Path(folder) / "gnomon"
        began = time.monotonic()
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        with demo(clone) as process:
            address = _address(process)
            ready = time.monotonic() - began
            _wait_for_a_run(address, began + PATIENCE)
            seconds = time.monotonic() - began
    say(f"  ready after {ready:.0f} s, the first run is in the list after {seconds:.0f} s")
    return [
        Figure(name="fresh clone: ready", value=ready, unit="s"),
        Figure(name="fresh clone: first run", value=seconds, unit="s", below=GOAL_SECONDS),
    ]


@contextmanager
def demo(clone: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run `make demo` in a group of processes of its own; end that group."""
    own = {
        "GNOMON_WEB_PORT": "0",
        "GNOMON_OTLP_HTTP_PORT": "0",
        "GNOMON_OTLP_GRPC_PORT": "0",
        "PIP_NO_CACHE_DIR": "1",
    }
    process = subprocess.Popen(
        ["make", "demo", "ARGS=--json"],
        cwd=clone,
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("{"):
            address: str = json.loads(line)["web"]
            return address
        say(f"  make: {line.rstrip()}")
    raise SystemExit(f"make demo ended with {process.wait()}")


def _wait_for_a_run(address: str, end: float) -> None:
    while time.monotonic() < end:
        if httpx2.get(f"{address}/v1/runs", timeout=30).json()["items"]:
            return
        time.sleep(0.1)
    raise SystemExit("no run is visible")
