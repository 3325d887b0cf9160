"""Kill -9 the process that queues and writes, at random moments; count what is left afterwards.

Run `python -m tests.bench.soak_kills 20`. A child puts requests into the spool and stores them with
the real writer and the embedded engine; it prints a request's name once the spool acknowledged it.
"""

import os
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.queue.spool import Spool
from collector.writer import Writer
from gnomon.clock import Nanos, utc_now
from gnomon.config import QueueSettings, Settings
from gnomon.store import open_store
from gnomon.store.migrate import bring_up_to_date
from tests.traffic import put

ROOT = Path(__file__).parents[2]
WORKERS = 3
SPANS = 20
QUEUE = QueueSettings(flush_after=0.05, batch_bytes=256 * 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was found after the last kill."""

    kills: int
    acknowledged: int
    """Spans of requests that were acknowledged."""
    missing: int
    """Of those, how many are not stored."""
    stored: int
    """Spans by the table, one for each id."""
    ledger_stored: int
    ledger_pending: int
    ledger_received: int

    @property
    def right(self) -> bool:
        return (
            self.missing == 0
            and self.stored == self.ledger_stored == self.ledger_received
            and self.ledger_pending == 0
            and self.stored >= self.acknowledged > 0
        )


def payload(worker: int, number: int) -> bytes:
    """Return a request whose spans carry the worker and the number in their ids."""
    made = ExportTraceServiceRequest()
    scoped = made.resource_spans.add().scope_spans.add()
    for place in range(SPANS):
        span = scoped.spans.add(name="work", start_time_unix_nano=1, end_time_unix_nano=2)
        span.trace_id = worker.to_bytes(8, "big") + number.to_bytes(8, "big")
        span.span_id = (place + 1).to_bytes(8, "big")
        span.attributes.add(key="text").value.string_value = "x" * 200
    return made.SerializeToString()


def child(folder: Path, starts: list[int]) -> None:
    """Queue and store for ever."""
    store = open_store(Settings(data=folder))
    bring_up_to_date(store)
    spool = Spool(folder, QUEUE, clock=utc_now)
    spool.start()
    writer = Writer(spool, store, QUEUE, clock=utc_now)
    writer.start()

    def produce(worker: int) -> None:
        for number in range(starts[worker], 10**9):
            put(spool, payload(worker, number), SPANS)
            os.write(1, f"{worker} {number}\n".encode())

    threads = [threading.Thread(target=produce, args=(w,), daemon=True) for w in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def one_life(folder: Path, starts: list[int], seconds: float) -> list[int]:
    """Let a child work, kill it after `seconds` of acknowledging; return where it came to."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.soak_kills", "child", str(folder), *map(str, starts)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    reached = list(starts)
    with process.stdout as out, selectors.DefaultSelector() as selector:
        selector.register(out, selectors.EVENT_READ)
        if not selector.select(60):
            raise RuntimeError("the child acknowledged nothing within a minute")
        # Nothing is read meanwhile: the pipe holds some 10,000 lines, which is enough.
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        for line in out.read().splitlines(keepends=True):
            if line.endswith(b"\n"):
                worker, number = map(int, line.split())
                reached[worker] = number + 1
    process.wait()
    return reached


def soak(folder: Path, kills: int, seed: int = 1) -> Outcome:
    """Kill a number of times, then store the rest and count."""
    dice = random.Random(seed)
    reached = [0] * WORKERS
    for turn in range(kills):
        reached = one_life(folder, reached, dice.uniform(0.1, 1.5))
        say(f"kill {turn + 1}: {sum(reached)} requests acknowledged")
    return counted(folder, kills, reached)


def counted(folder: Path, kills: int, reached: list[int]) -> Outcome:
    """Store what the queue still holds and compare table, ledger and acknowledgements."""
    store = open_store(Settings(data=folder))
    spool = Spool(folder, QUEUE, clock=utc_now)
    spool.start()
    writer = Writer(spool, store, QUEUE, clock=utc_now)
    writer.start()
    writer.stop(120)
    rows = store.rows(
        "SELECT trace_id, count(), uniqExact(span_id) FROM spans FINAL GROUP BY trace_id",
        tag="tests.count",
    )
    found: Counter[str] = Counter()
    for trace, count, distinct in rows:
        found[trace] = count if count == distinct else -(10**9)
    missing = sum(
        SPANS - found[f"{worker:016x}{number:016x}"]
        for worker, end in enumerate(reached)
        for number in range(end)
    )
    ledger = spool.books.ledger(Nanos(0), Nanos(2**62))
    spool.stop(10)
    store.close()
    return Outcome(
        kills=kills,
        acknowledged=sum(reached) * SPANS,
        missing=missing,
        stored=found.total(),
        ledger_stored=sum(row.stored for row in ledger),
        ledger_pending=sum(row.pending for row in ledger),
        ledger_received=sum(row.received for row in ledger),
    )


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["child"]:
        child(Path(arguments[1]), [int(number) for number in arguments[2:]])
        return 0
    kills = int(arguments[0]) if arguments else 20
    with tempfile.TemporaryDirectory() as folder:
        outcome = soak(Path(folder), kills)
    say(str(outcome))
    say("every acknowledged span is stored once" if outcome.right else "WRONG")
    return 0 if outcome.right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
