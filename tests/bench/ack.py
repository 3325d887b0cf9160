"""How fast a real `gnomon serve` acknowledges, and what it costs, while it stores and rolls up.

The senders are another process: keep-alive connections, OTLP/HTTP protobuf, whole runs of the
demo's agent, about 100 spans a request. First at a fixed rate, then as fast as it is answered. Before
that the same load goes to a server that does nothing but keep the bytes: on a busy machine its
waits tell how much of ours is the machine's.
"""

import tempfile
from pathlib import Path
from typing import Any

from tests.bench import watching
from tests.bench.figures import Figure, load_average, say
from tests.bench.load import send
from tests.bench.naive import collecting
from tests.serving import Serving, serving

RATE = 5_000.0
PATIENCE = 240.0
P99_MS = 100.0


def run(*, quick: bool = False) -> list[Figure]:
    """Measure both loads, each on a fresh server."""
    say(f"{RATE:,.0f} spans a second, then as fast as possible; {load_average()}")
    figures = _bare(2.0 if quick else 5.0)
    figures += _phase("steady", rate=RATE, seconds=5.0 if quick else 20.0)
    figures += _phase("fastest", rate=0.0, seconds=3.0 if quick else 10.0)
    say(load_average())
    return figures


def _bare(seconds: float) -> list[Figure]:
    """Send at the same rate to a server that only keeps the bytes: what the machine allows now."""
    with collecting("bare") as side:
        sent = send(side.line()["address"], rate=RATE, seconds=seconds)
        side.finish()
    say(
        f"a server that only keeps the bytes: acknowledged after p50 {sent['p50_ms']:.1f} ms,"
        f" p99 {sent['p99_ms']:.1f} ms, max {sent['max_ms']:.1f} ms"
    )
    return [Figure(name="bare server: acknowledge p99", value=sent["p99_ms"], unit="ms")]


def _phase(name: str, *, rate: float, seconds: float) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="gnomon-bench-") as folder,
        serving(Path(folder) / "data", QUEUE__FLUSH_AFTER="1s") as server,
    ):
        before = watching.cpu_of(server.process.pid)
        sent = send(server.addresses["otlp_http"], rate=rate, seconds=seconds)
        acknowledged = watching.cpu_of(server.process.pid) - before
        watching.until_folded(server, sent["traces"], PATIENCE)
        used = watching.cpu_of(server.process.pid) - before
        peak = watching.peak_of(server.process.pid)
        mean_lag = watching.lag(server)
        _check(server, sent)
    say(
        f"{name}: {sent['spans']:,} spans of {sent['bytes'] / sent['spans']:.0f} bytes in"
        f" {sent['seconds']:.1f} s ({sent['spans'] / sent['seconds']:,.0f} a second);"
        f" acknowledged after p50 {sent['p50_ms']:.1f} ms, p99 {sent['p99_ms']:.1f} ms,"
        f" max {sent['max_ms']:.1f} ms"
    )
    say(
        f"  CPU of the whole server {used / sent['spans'] * 1e6:.1f} us a span until all is visible"
        f" ({acknowledged / sent['spans'] * 1e6:.1f} while it was sent); peak {peak:.0f} MB;"
        f" a run shows its spans after {mean_lag:.1f} s on average; the ledger balances, every"
        " span is in its run"
    )
    return [
        Figure(name=f"{name}: acknowledge p50", value=sent["p50_ms"], unit="ms"),
        Figure(
            name=f"{name}: acknowledge p99",
            value=sent["p99_ms"],
            unit="ms",
            below=P99_MS if rate else None,
        ),
        Figure(name=f"{name}: acknowledge max", value=sent["max_ms"], unit="ms"),
        Figure(name=f"{name}: spans a second", value=sent["spans"] / sent["seconds"]),
        Figure(name=f"{name}: CPU a span", value=used / sent["spans"] * 1e6, unit="us"),
        Figure(name=f"{name}: peak memory", value=peak, unit="MB"),
    ]


def _check(server: Serving, sent: dict[str, Any]) -> None:
    """Raise unless every acknowledged span is stored, in the ledger and in a run."""
    if sent["refused"]:
        raise SystemExit(f"requests were refused: {sent['refused']}")
    ledger = server.ledger()
    if ledger["received"] != sent["spans"] or ledger["stored"] != sent["spans"]:
        raise SystemExit(f"{sent['spans']} spans acknowledged, the ledger says {ledger}")
    visible = sum(one["spans"] for one in server.all("/v1/runs"))
    if visible != sent["spans"]:
        raise SystemExit(f"{sent['spans']} spans acknowledged, {visible} are in runs")
