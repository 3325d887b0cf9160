"""How long lists and pages take over a million spans, and what a run of 50,000 spans answers first.

The data are those of `tests.bench.million`; requests come one after the other over one connection.
Beside the wall time stands the CPU of the server for each request: it says what the request costs
when other work keeps the machine busy.
"""

import gzip
import http.client
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tests.bench import watching
from tests.bench.figures import Figure, load_average, median, percentile, say
from tests.bench.load import templates
from tests.bench.million import AGENTS, CONFIG
from tests.serving import Serving, serving

ROOT = Path(__file__).parents[2]
SPANS, LARGE = 1_000_000, 50_000
TIMES = 50
COLD_TIMES = 8
STARTS = 3
LIST_MS, CHARTS_MS, FIRST_MS = 150.0, 500.0, 1_000.0
FIRST_BYTES = 1024 * 1024
PATIENCE = 120.0
KEPT_SECONDS = 3.0
"""The server closes connections that are idle for longer."""


@dataclass(slots=True)
class Taken:
    """What some requests of one kind took."""

    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0
    size: int = 0
    """Bytes of the largest answer, unpacked."""
    sent: int = 0
    """Bytes of the largest answer on the wire."""

    @property
    def p95_ms(self) -> float:
        """The nearest rank."""
        return percentile(self.seconds, 0.95) * 1000


class Asking:
    """One connection to one server."""

    def __init__(self, server: Serving) -> None:
        self._pid = server.process.pid
        address = urlsplit(server.addresses["web"])
        self._connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=120
        )
        self._used = time.monotonic()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def get(self, path: str) -> tuple[float, bytes, int]:
        """Return the seconds, the body, and its bytes on the wire."""
        if time.monotonic() - self._used > KEPT_SECONDS:
            self._connection.close()
        began = time.perf_counter()
        self._connection.request("GET", path, headers={"accept-encoding": "gzip"})
        answer = self._connection.getresponse()
        body = answer.read()
        seconds = time.perf_counter() - began
        self._used = time.monotonic()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
        unpacked = gzip.decompress(body) if answer.headers["content-encoding"] == "gzip" else body
        return seconds, unpacked, len(body)

    def json(self, path: str, **params: Any) -> Any:
        """Return an answer of the API."""
        return json.loads(self.get(f"{path}?{urlencode(params, doseq=True)}")[1])

    def take(self, paths: Sequence[str]) -> Taken:
        """Ask for some paths one after the other."""
        taken = Taken()
        before = watching.cpu_of(self._pid)
        for path in paths:
            seconds, body, sent = self.get(path)
            taken.seconds.append(seconds)
            taken.size, taken.sent = max(taken.size, len(body)), max(taken.sent, sent)
        taken.cpu = (watching.cpu_of(self._pid) - before) / max(1, len(paths))
        return taken


def run(*, quick: bool = False) -> list[Figure]:
    """Make the data, ask for everything, and again after restarts."""
    spans, large = (SPANS // 10, LARGE // 10) if quick else (SPANS, LARGE)
    say(load_average())
    with tempfile.TemporaryDirectory(prefix="gnomon-bench-") as name:
        folder = Path(name) / "data"
        folder.mkdir()
        return measured(folder, filled(folder, spans, large), quick=quick)


def filled(folder: Path, spans: int, large: int) -> str:
    """Make the data in another process; return the id of the large run."""
    began = time.perf_counter()
    out = subprocess.run(
        [sys.executable, "-m", "tests.bench.million", str(folder), str(spans), str(large)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        check=True,
    )
    say(
        f"{spans:,} spans in the real tables after {time.perf_counter() - began:.0f} s: a twentieth"
        " by queue, writer and roll-up, the rest copied by ClickHouse under other ids, times,"
        f" agents, versions and keys; and one run of {large:,} spans"
    )
    run_id: str = json.loads(out.stdout)["large"]
    return run_id


def measured(folder: Path, large: str, *, quick: bool = False) -> list[Figure]:
    """Ask a server over some data for everything."""
    figures = []
    with served(folder) as (server, ask):
        figures += _lists(ask, TIMES // 5 if quick else TIMES)
        figures += _large(ask, large)
        figures += _overview(server, ask, COLD_TIMES // 4 if quick else COLD_TIMES)
    figures += _restarted(folder, 1 if quick else STARTS)
    say(load_average())
    return figures


@contextmanager
def served(folder: Path) -> Iterator[tuple[Serving, Asking]]:
    """Start a server over the data, with one connection to it."""
    with serving(folder, "--config", str(folder / CONFIG)) as server:
        ask = Asking(server)
        try:
            yield server, ask
        finally:
            ask.close()


def _lists(ask: Asking, times: int) -> list[Figure]:
    some = _sample(ask, times)
    ids = [run["run_id"] for run in some]
    orders = [run["business_keys"]["order_id"] for run in some if run["business_keys"]]
    after = ask.json("/v1/runs")["next"]
    agents = list(itertools.islice(itertools.cycle(AGENTS), times))
    kinds: Mapping[str, Sequence[str]] = {
        "GET /v1/runs": ["/v1/runs"] * times,
        "GET /v1/runs, second page": [f"/v1/runs?cursor={quote(after)}"] * times,
        "GET /v1/runs by agent, status": [f"/v1/runs?agent={a}&status=error" for a in agents],
        "GET /v1/runs by key": [f"/v1/runs?key=order_id:{one}" for one in orders],
        "GET /v1/runs by text, rare": [f"/v1/runs?q={one}" for one in orders],
        "GET /v1/runs by text, frequent": ["/v1/runs?q=refund"] * times,
        "GET /v1/runs by text, absent": [f"/v1/runs?q=zebra%20{n}" for n in range(times)],
        "GET /v1/runs/{id}": [f"/v1/runs/{one}" for one in ids],
        "GET /v1/runs/{id}/steps": [f"/v1/runs/{one}/steps" for one in ids],
        "page /runs": ["/runs"] * times,
        "page /runs by agent, status": [f"/runs?agent={a}&status=error" for a in agents],
        "page /runs by text, all time": [f"/runs?period=all&q={one}" for one in orders],
        "page /runs/{id}": [f"/runs/{one}" for one in ids],
        "page /, warm": ["/"] * times,
    }
    return [_figure(name, ask.take(paths), LIST_MS) for name, paths in kinds.items()]


def _sample(ask: Asking, times: int) -> Sequence[Any]:
    """Return runs from all over the time."""
    found: list[Any] = []
    for day in range(0, 30, 3):
        found += ask.json("/v1/runs", until=f"{day}d", limit=max(1, times // 10))["items"]
    return found[:times]


def _figure(name: str, taken: Taken, goal: float) -> Figure:
    say(
        f"  {name:32} p50 {median(taken.seconds) * 1000:7.1f} ms  p95 {taken.p95_ms:7.1f} ms"
        f"  max {max(taken.seconds) * 1000:7.1f} ms  CPU {taken.cpu * 1000:6.1f} ms"
        f"  {taken.size:9,} bytes ({taken.sent:,} sent)  n = {len(taken.seconds)}"
    )
    return Figure(name=f"{name}: p95", value=taken.p95_ms, unit="ms", below=goal)


def _large(ask: Asking, run_id: str) -> list[Figure]:
    figures = []
    for name, path in (
        ("large run, steps", f"/v1/runs/{run_id}/steps"),
        ("large run, steps of a full page", f"/v1/runs/{run_id}/steps?limit=500"),
        ("large run, page", f"/runs/{run_id}"),
    ):
        first, again = ask.take([path]), ask.take([path] * 5)
        figures.append(_figure(f"{name}, first", first, FIRST_MS))
        figures.append(_figure(f"{name}, again", again, FIRST_MS))
        figures.append(
            Figure(name=f"{name}: size", value=first.size, unit="bytes", below=FIRST_BYTES)
        )
    return figures


def _overview(server: Serving, ask: Asking, times: int) -> list[Figure]:
    """Ask for the overview after new data, so that nothing of it is kept; pages beside it."""
    kinds: Mapping[str, Callable[[], str]] = {
        "page /, new data": lambda: "/",
        "page /, new data, 30 days": lambda: "/?period=30d",
        "page /, new data, one agent": lambda: f"/?agent={AGENTS[0]}",
    }
    taken = {name: Taken() for name in kinds}
    for number in range(times):
        _one_more_run(server, ask, number)
        for name, path in kinds.items():
            one = ask.take([path()])
            taken[name].seconds += one.seconds
            taken[name].cpu += one.cpu / times
            taken[name].size, taken[name].sent = one.size, one.sent
    return [_figure(name, one, CHARTS_MS) for name, one in taken.items()]


def _one_more_run(server: Serving, ask: Asking, number: int) -> None:
    """Send a run and wait until it is in the lists."""
    before = watching.folded(server)
    (one,) = templates(1, seed=1000 + number)
    server.post("/v1/traces", one.body)
    watching.until_folded(server, int(before) + one.traces, PATIENCE)


def _restarted(folder: Path, times: int) -> list[Figure]:
    """Ask each page first after a start."""
    kinds: Mapping[str, float] = {"/": CHARTS_MS, "/runs": LIST_MS, "/v1/runs": LIST_MS}
    taken = {path: Taken() for path in kinds}
    for _ in range(times):
        for path in kinds:
            with served(folder) as (_, ask):
                one = ask.take([path])
                taken[path].seconds += one.seconds
                taken[path].cpu += one.cpu / times
                taken[path].size, taken[path].sent = one.size, one.sent
    for path, one in taken.items():
        _figure(f"{path}, first after a start", one, kinds[path])
    return [
        Figure(
            name=f"{path}, first after a start: median",
            value=median(one.seconds) * 1000,
            unit="ms",
        )
        for path, one in taken.items()
    ]


if __name__ == "__main__":
    measured(Path(sys.argv[1]), sys.argv[2])
