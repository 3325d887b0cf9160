"""Memory of `gnomon serve`: idle after a minute, and while nothing can be stored.

For the second the engine is kept from writing (the folder it takes inserts from is away) and the
queue is small: senders must be answered 503 when it is full, and all that was acknowledged must be
stored once the folder is back.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench import watching
from tests.bench.figures import Figure, load_average, say
from tests.bench.load import send
from tests.serving import Serving, serving

IDLE_SECONDS = 60.0
IDLE_MB = 700.0
QUEUE_MB = 64
SECONDS = 10.0
PATIENCE = 120.0


def run(*, quick: bool = False) -> list[Figure]:
    """Measure both."""
    say(load_average())
    return [*_idle(10.0 if quick else IDLE_SECONDS), *_stopped(SECONDS / 2 if quick else SECONDS)]


def _idle(seconds: float) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder,
        serving(Path(folder) / "data", QUEUE__FLUSH_AFTER="1s") as server,
    ):
        time.sleep(seconds / 2)
        used = watching.cpu_of(server.process.pid)
        time.sleep(seconds / 2)
        used = (watching.cpu_of(server.process.pid) - used) / (seconds / 2)
        now, peak = watching.rss_of(server.process.pid), watching.peak_of(server.process.pid)
    say(f"  idle after {seconds:.0f} s: {now:.0f} MB, at most {peak:.0f} MB; {used:.1%} of a core")
    return [
        Figure(name="idle: memory", value=now, unit="MB", below=IDLE_MB),
        Figure(name="idle: peak memory", value=peak, unit="MB"),
        Figure(name="idle: CPU", value=used * 100, unit="% of a core"),
    ]


def _stopped(seconds: float) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder,
        serving(
            Path(folder) / "data", QUEUE__FLUSH_AFTER="1s", QUEUE__MAX_BYTES=f"{QUEUE_MB}MiB"
        ) as server,
    ):
        pid = server.process.pid
        before = watching.rss_of(pid)
        door = Path(folder) / "data" / "store-scratch"
        away = door.rename(door.with_name("store-scratch.away"))
        sent = send(server.addresses["otlp_http"], seconds=seconds)
        now, peak = watching.rss_of(pid), watching.peak_of(pid)
        health = watching.problems(server)
        away.rename(door)
        kept = _kept(server, sent)
    refused = sent["refused"].get("503", 0)
    say(
        f"  nothing can be stored, queue of {QUEUE_MB} MB: {sent['spans']:,} spans acknowledged,"
        f" {refused:,} of {sent['requests']:,} requests answered 503;"
        f" {before:.0f} MB before, {now:.0f} MB after {seconds:.0f} s, at most {peak:.0f} MB"
    )
    say(f"  /readyz meanwhile: {health}")
    say(f"  mended: {kept:,} spans stored, the ledger balances")
    if not refused or set(sent["refused"]) - {"503"}:
        raise SystemExit(f"a full queue must answer 503 and nothing else: {sent['refused']}")
    if sent["bytes"] > QUEUE_MB * 1024**2:
        raise SystemExit(f"{sent['bytes']} bytes were acknowledged into {QUEUE_MB} MB")
    return [
        Figure(name="nothing stored: peak memory", value=peak, unit="MB"),
        Figure(name="nothing stored: growth", value=peak - before, unit="MB"),
        Figure(name="nothing stored: answered 503", value=refused, at_least=1),
    ]


def _kept(server: Serving, sent: dict[str, Any]) -> int:
    """Wait until all that was acknowledged is stored."""
    ledger = server.wait_for(
        "all that was acknowledged stored",
        lambda: (found := server.ledger())["stored"] == sent["spans"] and found,
        patience=PATIENCE,
    )
    if ledger["received"] != sent["spans"] + ledger["rejected"] or ledger["pending"]:
        raise SystemExit(f"the ledger says {ledger}, acknowledged were {sent['spans']}")
    return int(ledger["stored"])
