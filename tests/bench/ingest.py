"""CPU per span from the acknowledgement to the table, beside ClickHouse reading the same bytes.

Both sides run in a process of their own, into the same table, and both pay for their merges
(`OPTIMIZE … FINAL` at the end). Run `python -m tests.bench.ingest [megabytes]`.
"""

import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector import wire
from collector.queue.port import Request
from collector.queue.spool import Spool
from collector.writer import Writer
from gnomon.clock import to_nanos, utc_now
from gnomon.config import QueueSettings, Settings
from gnomon.store import Store, open_store
from gnomon.store.migrate import bring_up_to_date
from tests import samples
from tests.traffic import count, received

ROOT = Path(__file__).parents[2]
SPANS_A_REQUEST = 100
LIMIT = 3.0
"""The most CPU per span, as a multiple of ClickHouse's own."""

Sides = dict[str, dict[str, float]]


def corpus(size: int, seed: int = 1) -> Iterator[ExportTraceServiceRequest]:
    """Yield requests of recorded spans under fresh ids, about `size` bytes together."""
    dice = random.Random(seed)
    recorded = [received(samples.trace_request(name)) for name in samples.names()]
    if not recorded:
        raise SystemExit(samples.WHY_SKIPPED)
    while size > 0:
        request = ExportTraceServiceRequest()
        while count(request) < SPANS_A_REQUEST:
            part = ExportTraceServiceRequest()
            part.CopyFrom(dice.choice(recorded))
            fresh_ids(part, dice)
            request.MergeFrom(part)
        size -= request.ByteSize()
        yield request


def fresh_ids(request: ExportTraceServiceRequest, dice: random.Random) -> None:
    """Rename every trace and span, the same one always to the same."""
    names: dict[bytes, bytes] = {}
    for block in request.resource_spans:
        for scoped in block.scope_spans:
            for span in scoped.spans:
                for field in ("trace_id", "span_id", "parent_span_id"):
                    if old := getattr(span, field):
                        setattr(span, field, names.setdefault(old, dice.randbytes(len(old))))


def requests(size: int) -> list[Request]:
    return [as_request(request) for request in corpus(size)]


def as_request(request: ExportTraceServiceRequest) -> Request:
    """Return what the receiver would hand to the queue."""
    payload = request.SerializeToString()
    traces = {
        span.trace_id.hex()
        for block in request.resource_spans
        for scoped in block.scope_spans
        for span in scoped.spans
    }
    return Request(
        signal="traces",
        source="traces/http/bench",
        payload=payload,
        digest=hashlib.sha256(payload).digest(),
        received=count(request),
        traces=sorted(traces),
        received_at=to_nanos(utc_now()),
    )


def by_gnomon(store: Store, folder: Path, made: list[Request]) -> dict[str, float]:
    """Put every request, durably, and store them as the service does."""
    settings = QueueSettings()
    spool = Spool(folder, settings, clock=utc_now)
    spool.start()
    writer = Writer(spool, store, settings, clock=utc_now)
    writer.start()
    waits: list[float] = []
    for at in range(0, len(made), 8):
        began = time.perf_counter()
        for future in [spool.put(request) for request in made[at : at + 8]]:
            future.result()
        waits.append(time.perf_counter() - began)
    acknowledged = cpu()
    writer.stop(600)
    spool.stop(60)
    waits.sort()
    return {"acknowledged_cpu": acknowledged, "put_p99_ms": waits[int(len(waits) * 0.99)] * 1000}


def by_clickhouse(store: Store, folder: Path, made: list[Request]) -> dict[str, float]:
    """Let ClickHouse read the same bytes from one file."""
    file = folder / "everything.protobuf"
    with file.open("wb") as out:
        for body in wire.bodies("traces", (request.payload for request in made), 1 << 40):
            out.write(body)
    options = {**wire.settings("traces"), "max_execution_time": 600}
    clause = ", ".join(f"{k} = {_literal(v)}" for k, v in options.items())
    store.command(
        f"INSERT INTO spans_wire FROM INFILE '{file}' SETTINGS {clause} FORMAT Protobuf",
        tag="bench.infile",
    )
    return {}


def _literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "\\'") + "'"


SIDES: dict[str, Callable[[Store, Path, list[Request]], dict[str, float]]] = {
    "gnomon": by_gnomon,
    "clickhouse": by_clickhouse,
}


def cpu() -> float:
    """Return the CPU seconds of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def one_side(side: str, size: int) -> dict[str, Any]:
    """Measure one side in this process."""
    made = requests(size)
    spans = sum(request.received for request in made)
    with tempfile.TemporaryDirectory() as name:
        store = open_store(Settings(data=Path(name)))
        bring_up_to_date(store)
        before, began = cpu(), time.perf_counter()
        extra = SIDES[side](store, Path(name), made)
        loaded, seconds = cpu() - before, time.perf_counter() - began
        if "acknowledged_cpu" in extra:
            extra["acknowledged_cpu"] -= before
        store.command("OPTIMIZE TABLE spans FINAL", tag="bench.optimize")
        merged = cpu() - before
        (row,) = store.read("SELECT count() AS n FROM spans FINAL", tag="bench.count")
        store.close()
    if row["n"] != spans:
        raise SystemExit(f"{side}: {row['n']} spans of {spans} stored")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "spans": spans,
        "bytes_a_span": sum(len(request.payload) for request in made) / spans,
        "us_a_span": merged / spans * 1e6,
        "us_a_span_without_merge": loaded / spans * 1e6,
        "seconds": seconds,
        "peak_mb": peak,
        **extra,
    }


def compare(megabytes: int) -> Sides:
    """Measure both sides, one after the other."""
    found = {}
    for side in SIDES:
        out = subprocess.run(
            [sys.executable, "-m", "tests.bench.ingest", "side", side, str(megabytes << 20)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            check=True,
        )
        found[side] = json.loads(out.stdout)
    return found


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["side"]:
        sys.stdout.write(json.dumps(one_side(arguments[1], int(arguments[2]))))
        return 0
    found = compare(int(arguments[0]) if arguments else 64)
    for side, figures in found.items():
        shown = "  ".join(f"{name} {value:.1f}" for name, value in figures.items())
        sys.stdout.write(f"{side:12}{shown}\n")
    ratio = found["gnomon"]["us_a_span"] / found["clickhouse"]["us_a_span"]
    sys.stdout.write(f"CPU per span, Gnomon : ClickHouse alone = {ratio:.2f} (limit {LIMIT})\n")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
