"""A `gnomon serve` of its own for a test: started by the command, on free ports, ended by pid."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "gnomon")
PATIENCE = 60.0
NO_CERTIFICATES = False
"""Loopback is plain HTTP; reading the certificates of the world takes 28 ms for each request."""


@dataclass
class Serving:
    """One running process and how to speak to it."""

    process: "subprocess.Popen[str]"
    addresses: Mapping[str, str]
    log: Path

    def get(self, path: str, **params: Any) -> Any:
        address = f"{self.addresses['web']}{path}"
        answer = httpx2.get(address, params=params, timeout=30, verify=NO_CERTIFICATES)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    def all(self, path: str, **params: Any) -> list[Any]:
        items: list[Any] = []
        cursor: str | None = None
        while True:
            given = {"limit": 500, **params} | ({"cursor": cursor} if cursor else {})
            page = self.get(path, **given)
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                return items

    def post(self, path: str, body: bytes, **headers: str) -> httpx2.Response:
        named = {"content-type": "application/x-protobuf"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return httpx2.post(
            f"{self.addresses['otlp_http']}{path}",
            content=body, headers=named, timeout=30, verify=NO_CERTIFICATES,
        )  # fmt: skip

    def ledger(self) -> dict[str, int]:
        """Return received, stored, rejected and pending over all sources."""
        answer = self.get("/v1/ledger", since="30d")
        assert answer["balanced"]
        sums = {"received": 0, "stored": 0, "rejected": 0, "pending": 0}
        for row in answer["items"]:
            sums["received"] += row["received"]
            sums["stored"] += row["stored"]
            sums["rejected"] += sum(row["rejected"].values())
            sums["pending"] += row["pending"]
        return sums

    def wait_for(self, what: str, holds: Any, patience: float = PATIENCE) -> Any:
        """Ask again and again until something holds."""
        end = time.monotonic() + patience
        while (asked := time.monotonic()) < end:
            found = holds()
            if found:
                return found
            assert self.process.poll() is None, f"the process ended: {self.log.read_text()[-3000:]}"
            # Long questions are asked seldom: they keep the process from what is waited for.
            time.sleep(max(0.1, 3 * (time.monotonic() - asked)))
        raise AssertionError(f"{what} did not happen: {self.log.read_text()[-3000:]}")

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def close(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def start(data: Path, *arguments: str, command: str = "serve", **settings: str) -> Serving:
    """Start a process over a data directory; returns when it is ready."""
    data.mkdir(parents=True, exist_ok=True)
    log = data.parent / f"{data.name}.log"
    environment = {
        **os.environ,
        "GNOMON_WEB_PORT": "0",
        "GNOMON_OTLP_HTTP_PORT": "0",
        "GNOMON_OTLP_GRPC_PORT": "0",
        "GNOMON_QUEUE__FLUSH_AFTER": "100ms",
        **{f"GNOMON_{name}": value for name, value in settings.items()},
    }
    with log.open("ab") as sink:
        process = subprocess.Popen(
            [*COMMAND, command, "--data", str(data), "--json", *arguments],
            cwd=data.parent,
            env=environment | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=sink,
            text=True,
        )
    assert process.stdout is not None
    late = threading.Timer(PATIENCE, process.kill)  # then nothing is read, and the log is shown
    late.start()
    line = process.stdout.readline()
    late.cancel()
    if not line:
        process.kill()
        process.wait(30)
        process.stdout.close()
    assert line, f"it did not start: {log.read_text()[-3000:]}"
    return Serving(process=process, addresses=json.loads(line), log=log)


@contextmanager
def serving(data: Path, *arguments: str, **settings: str) -> Iterator[Serving]:
    """Start a process and end it."""
    running = start(data, *arguments, **settings)
    try:
        yield running
    finally:
        running.kill()
        running.close()
