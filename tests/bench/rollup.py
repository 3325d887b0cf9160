"""CPU per span up to "stored" beside the CPU per span up to "run visible", and what that is made of.

One process with the embedded engine; every thread counts. The load is the traffic of the demo or
the recorded samples under fresh ids. Run `python -m tests.bench.rollup [spans] [--profile]`.
"""

import cProfile
import datetime as dt
import json
import pstats
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.folding.lot import TraceFolding
from collector.folding.rollup import RollUp
from collector.queue.port import Request
from collector.queue.spool import Spool
from collector.store import Reader
from collector.store import Writer as Rows
from collector.watched import Watched, watched
from collector.writer import Writer
from gnomon.cli.demo import demo_config
from gnomon.cli.demo.desk import Desk
from gnomon.clock import Nanos, from_nanos, to_nanos, utc_now
from gnomon.config import QueueSettings, Settings
from gnomon.service import answer_first
from gnomon.store import Store, open_store
from gnomon.store.migrate import bring_up_to_date
from gnomon.watch import parse
from tests.bench import ingest

ROOT = Path(__file__).parents[2]
SPANS = 10_000
ROUNDS = 3
SPANS_A_REQUEST = 250
LIMIT = 2.0
"""The most CPU per span up to "run visible", as a multiple of that up to "stored"."""
LONG = 3_600 * 1_000_000_000

Wire = Iterator[ExportTraceServiceRequest]
Requests = Callable[[int], list[Request]]


def demo(spans: int) -> Wire:
    """Yield the demo's traffic, whole runs after each other."""
    desk = Desk(1)
    waiting: list[Any] = []
    at = to_nanos(dt.datetime(2026, 11, 2, tzinfo=dt.UTC))
    index = 0
    while spans > 0:
        handled = desk.handle(index, Nanos(at + index * 1_000_000_000), 1.0)
        index += 1
        waiting += handled.spans
        spans -= len(handled.spans)
        if len(waiting) >= SPANS_A_REQUEST or spans <= 0:
            yield encode_spans(waiting)
            waiting = []


def recorded(spans: int) -> Wire:
    """Yield recorded spans, every trace under fresh ids."""
    for request in ingest.corpus(1 << 40):
        yield request
        spans -= ingest.count(request)
        if spans <= 0:
            return


LOADS: Mapping[str, tuple[Callable[[int], Wire], Callable[[], Watched]]] = {
    "demo": (demo, lambda: watched(parse(demo_config()))),
    "samples": (recorded, Watched),
}


class Meters:
    """CPU microseconds by what they were spent on."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.phase = ""

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count what happens inside."""
        name = f"{self.phase}.{name}" if self.phase else name
        before = ingest.cpu()
        yield
        self.spent[name] = self.spent.get(name, 0.0) + ingest.cpu() - before


class Metered:
    """An object whose public calls are counted under one name."""

    def __init__(self, inner: Any, meters: Meters, name: str) -> None:
        self._inner = inner
        self._meters = meters
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        work = getattr(self._inner, attribute)

        def call(*given: Any, **named: Any) -> Any:
            with self._meters(self._name), self._meters(f"{self._name}.{attribute}"):
                found = work(*given, **named)
                return found if isinstance(found, Sequence | Mapping | set) else _listed(found)

        return call


def _listed(found: Any) -> Any:
    return list(found) if isinstance(found, Iterable) else found


def measure(load: str, spans: int, *, profile: bool) -> dict[str, float]:
    """Store a load and roll it up: what each costs per span, in microseconds."""
    answer_first()
    wire, watch = LOADS[load]
    made = [ingest.as_request(request) for request in wire(spans)]
    total = sum(request.received for request in made)
    meters = Meters()
    with tempfile.TemporaryDirectory() as name, opened(Path(name)) as (store, spool):
        with meters("stored"):
            put(spool, made)
            writer = Writer(spool, store, QueueSettings(), clock=utc_now)
            writer.start()
            writer.stop(600)
        roll_up(store, spool, watch(), meters, profile=profile)
        (row,) = store.read("SELECT count() AS n FROM steps FINAL", tag="bench.count")
        if row["n"] != total:
            raise SystemExit(f"{load}: {row['n']} steps of {total} spans")
    return {name: used / total * 1e6 for name, used in meters.spent.items()} | {
        "spans": total,
        "bytes": sum(len(request.payload) for request in made) / total,
        "traces": len({trace for request in made for trace in request.traces}),
    }


def roll_up(store: Store, spool: Spool, watch: Watched, meters: Meters, *, profile: bool) -> None:
    """Fold what was stored, then settle it, as the thread of the service does."""
    now = [to_nanos(utc_now())]  # stands still: nothing settles before its phase
    reader, rows = Reader(store), Rows(store)
    folding = TraceFolding(
        Metered(reader, meters, "read"),  # type: ignore[arg-type]
        Metered(rows, meters, "write"),  # type: ignore[arg-type]
        watch,
    )
    touched = Metered(spool.touched, meters, "touched")
    rollup = RollUp(folding, touched, clock=lambda: from_nanos(now[0]))
    for phase in ("visible", "settled"):
        meters.phase = phase
        watching = cProfile.Profile()
        with meters("whole"):
            if profile:
                watching.runcall(_drain, rollup)
            else:
                _drain(rollup)
        if profile:
            pstats.Stats(watching).sort_stats("tottime").print_stats(45)
        now[0] = Nanos(now[0] + LONG)


def _drain(rollup: RollUp) -> None:
    while rollup.pass_once():
        pass


def put(spool: Spool, made: Sequence[Request]) -> None:
    """Let the queue take everything, eight requests at once."""
    for at in range(0, len(made), 8):
        moment = to_nanos(utc_now())
        some = [replace(request, received_at=moment) for request in made[at : at + 8]]
        for future in [spool.put(request) for request in some]:
            future.result()


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Store, Spool]]:
    """Open an empty store and an empty queue."""
    store = open_store(Settings(data=folder))
    bring_up_to_date(store)
    spool = Spool(folder, QueueSettings(), clock=utc_now)
    spool.start()
    try:
        yield store, spool
    finally:
        spool.stop(60)
        store.close()


def best_of(load: str, spans: int) -> dict[str, float]:
    """Return the median of each figure over some rounds, each in a process of its own."""
    rounds = []
    for _ in range(ROUNDS):
        out = subprocess.run(
            [sys.executable, "-m", "tests.bench.rollup", "one", load, str(spans)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            check=True,
        )
        rounds.append(json.loads(out.stdout))
    names = dict.fromkeys(name for figures in rounds for name in figures)
    return {
        name: sorted(figures.get(name, 0.0) for figures in rounds)[ROUNDS // 2] for name in names
    }


def shown(load: str, figures: Mapping[str, float]) -> str:
    """Return the figures of a load as a small table."""
    get = figures.get
    lines = [
        f"{load}: {get('spans', 0):.0f} spans in {get('traces', 0):.0f} traces,"
        f" {get('bytes', 0):.0f} bytes a span; CPU us a span, median of {ROUNDS}",
        f"  stored       {get('stored', 0):6.1f}",
    ]
    for phase in ("visible", "settled"):
        outside = sum(get(f"{phase}.{part}", 0.0) for part in ("read", "write", "touched"))
        fold = get(f"{phase}.whole", 0.0) - outside
        parts = "  ".join(
            f"{part} {get(f'{phase}.{part}', 0.0):.1f}" for part in ("read", "write", "touched")
        )
        lines.append(f"  {phase:12} {get(f'{phase}.whole', 0.0):6.1f}  = fold {fold:.1f}  {parts}")
        lines.append(
            "               "
            + "  ".join(
                f"{name.removeprefix(phase + '.')} {value:.1f}"
                for name, value in figures.items()
                if name.startswith(f"{phase}.") and name.count(".") == 2 and value >= 0.5
            )
        )
    ratio = (figures["stored"] + figures["visible.whole"]) / figures["stored"]
    whole = ratio + figures["settled.whole"] / figures["stored"]
    lines.append(f"  run visible : stored = {ratio:.2f} (limit {LIMIT}); with settling {whole:.2f}")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Print the figures of both loads, or where the time of one goes."""
    if arguments[:1] == ["one"]:
        random.seed(1)
        figures = measure(arguments[1], int(arguments[2]), profile="--profile" in arguments)
        sys.stdout.write(json.dumps(figures))
        return
    spans = int(arguments[0]) if arguments else SPANS
    for load in LOADS:
        sys.stdout.write(shown(load, best_of(load, spans)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
