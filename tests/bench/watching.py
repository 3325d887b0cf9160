"""What a server under load uses and has got done, seen from outside."""

import re
import time
from pathlib import Path

import httpx2
import psutil

from tests.serving import Serving

_LAG = "gnomon_ingest_lag_seconds"


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a server: all threads, and the processes that fold for it."""
    return sum(float(sum(one.cpu_times()[:2])) for one in _family(pid))


def rss_of(pid: int) -> float:
    """Return the resident memory of a server and its processes now, in MB."""
    return sum(float(one.memory_info().rss) for one in _family(pid)) / 1024**2


def peak_of(pid: int) -> float:
    """Return the most resident memory a server has had, in MB; of each process its own peak."""
    return sum(_peak(one.pid) for one in _family(pid))


def _family(pid: int) -> list[psutil.Process]:
    server = psutil.Process(pid)
    return [server, *server.children()]


def _peak(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def metric(serving: Serving, name: str) -> float:
    """Return the sum of a Prometheus figure over its labels."""
    text = httpx2.get(f"{serving.addresses['web']}/metrics", timeout=30).text
    found = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
    return sum(map(float, found))


def folded(serving: Serving) -> float:
    """Return how many traces became visible as runs."""
    return metric(serving, f"{_LAG}_count")


def lag(serving: Serving) -> float:
    """Return the mean seconds from the arrival of a trace to its run, since the start."""
    return metric(serving, f"{_LAG}_sum") / max(1.0, folded(serving))


def until_folded(serving: Serving, traces: int, patience: float) -> None:
    """Wait until so many traces are visible as runs; asked seldom, since asking costs CPU too."""
    end = time.monotonic() + patience
    while folded(serving) < traces:
        if time.monotonic() > end or serving.process.poll() is not None:
            raise SystemExit(f"not all traces are visible: {serving.log.read_text()[-3000:]}")
        time.sleep(0.5)


def problems(serving: Serving) -> str:
    """Return what `/readyz` says."""
    return httpx2.get(f"{serving.addresses['web']}/readyz", timeout=30).text
