"""Gnomon beside a plain collector, for the same bytes, from the first request to the last row.

The collectors are those of `tests.bench.collectors`: the same table of the same embedded engine, one
process each, one after the other, round after round; merges are counted on every side. Beside
them the whole `gnomon serve`, which also reads the spans into steps and runs.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import samples
from tests.bench import ingest, watching
from tests.bench.figures import Figure, load_average, median, say
from tests.bench.load import send
from tests.serving import serving

ROOT = Path(__file__).parents[2]
SIDES = ("gnomon", "plain", "batched")
REQUESTS = 400
"""Enough that the second a queue waits for company is a small part of the wall time."""

ROUNDS = 3
AT_LEAST = 4.0
PATIENCE = 240.0
MEGABYTES = 32

Line = Mapping[str, Any]


@dataclass(slots=True)
class Collecting:
    """A collector in a process of its own."""

    process: "subprocess.Popen[str]"

    def line(self) -> Line:
        """Return the next thing it says."""
        assert self.process.stdout is not None
        text = self.process.stdout.readline()
        if not text:
            raise SystemExit("a collector ended before its time")
        found: Line = json.loads(text)
        return found

    def finish(self) -> None:
        """Ask it to store everything and end."""
        assert self.process.stdin is not None
        self.process.stdin.write("end\n")
        self.process.stdin.flush()


@contextmanager
def collecting(name: str) -> Iterator[Collecting]:
    """Start a collector and end it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.collectors", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    with process:
        try:
            yield Collecting(process)
            process.wait(60)
        finally:
            process.kill()


def one_side(name: str, requests: int) -> dict[str, float]:
    """Send to one collector and see what it takes until all is in the table."""
    with collecting(name) as side:
        address = side.line()["address"]
        sent = send(address, most=requests)
        began = time.perf_counter()
        side.finish()
        stored = side.line()
        seconds = sent["seconds"] + time.perf_counter() - began
        merged = side.line()
    if sent["refused"] or (name != "bare" and stored["spans"] != sent["spans"]):
        raise SystemExit(f"{name}: {sent['spans']} sent, {stored['spans']} stored")
    return {
        "spans": sent["spans"],
        "us": (stored["cpu"] + merged["merging"]) / sent["spans"] * 1e6,
        "wall_us": seconds / sent["spans"] * 1e6,
        "p50_ms": sent["p50_ms"],
        "peak": merged["peak"],
    }


def whole(requests: int) -> dict[str, float]:
    """Send to a `gnomon serve`: until all is stored, and until all is in runs."""
    with (
        tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder,
        serving(Path(folder) / "data", QUEUE__FLUSH_AFTER="1s") as server,
    ):
        before = watching.cpu_of(server.process.pid)
        sent = send(server.addresses["otlp_http"], most=requests)
        began = time.perf_counter()
        watching.until_folded(server, sent["traces"], PATIENCE)
        seconds = sent["seconds"] + time.perf_counter() - began
        used = watching.cpu_of(server.process.pid) - before
        peak = watching.peak_of(server.process.pid)
    return {
        "spans": sent["spans"],
        "us": used / sent["spans"] * 1e6,
        "wall_us": seconds / sent["spans"] * 1e6,
        "p50_ms": sent["p50_ms"],
        "peak": peak,
    }


def run(*, quick: bool = False) -> list[Figure]:
    """Measure all sides in turns; take the median of each figure."""
    requests = REQUESTS // 4 if quick else REQUESTS
    say(f"{requests} requests of 100 spans to each side in turn; {load_average()}")
    rounds: dict[str, list[dict[str, float]]] = {}
    for _ in range(1 if quick else ROUNDS):
        for name in SIDES:
            rounds.setdefault(name, []).append(one_side(name, requests))
        rounds.setdefault("serve", []).append(whole(requests))
    found = {
        name: {key: median([one[key] for one in some]) for key in some[0]}
        for name, some in rounds.items()
    }
    words = {
        "gnomon": "Gnomon up to stored",
        "plain": "plain, an insert a request",
        "batched": "plain, in batches, not durable",
        "serve": "gnomon serve up to runs visible",
    }
    for name, figures in found.items():
        say(
            f"  {words[name]:32} CPU {figures['us']:7.1f} us a span  wall {figures['wall_us']:7.1f}"
            f" us a span  answer p50 {figures['p50_ms']:6.1f} ms  peak {figures['peak']:.0f} MB"
        )
    say(load_average())
    return _figures(found) + _file(quick=quick)


def _figures(found: Mapping[str, Mapping[str, float]]) -> list[Figure]:
    ours = found["gnomon"]
    figures = [
        Figure(name="Gnomon up to stored, CPU a span", value=ours["us"], unit="us"),
        Figure(name="Gnomon up to stored, wall a span", value=ours["wall_us"], unit="us"),
    ]
    for name in ("plain", "batched"):
        for key, kind in (("us", "CPU"), ("wall_us", "wall")):
            ratio = found[name][key] / ours[key]
            goal = AT_LEAST if name == "plain" else None
            figures.append(
                Figure(name=f"{name} : Gnomon, {kind} up to stored", value=ratio, at_least=goal)
            )
    figures.append(
        Figure(
            name="plain up to stored : gnomon serve up to visible, CPU",
            value=found["plain"]["us"] / found["serve"]["us"],
        )
    )
    return figures


def _file(*, quick: bool) -> list[Figure]:
    """Return the ratio to ClickHouse reading the same bytes from a file."""
    if not samples.names():
        say(f"  not beside a file: {samples.WHY_SKIPPED}")
        return []
    sides = ingest.compare(MEGABYTES // 2 if quick else MEGABYTES)
    ratio = sides["gnomon"]["us_a_span"] / sides["clickhouse"]["us_a_span"]
    say(
        f"  from a file: ClickHouse {sides['clickhouse']['us_a_span']:.1f} us a span, Gnomon from"
        f" the queue on {sides['gnomon']['us_a_span']:.1f} us a span"
    )
    return [Figure(name="Gnomon : ClickHouse reading a file, CPU", value=ratio, below=ingest.LIMIT)]
