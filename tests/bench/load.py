"""Traffic of the demo's agent as bytes, and a sender of its own process with keep-alive connections.

`python -m tests.bench.load URL --rate 5000 --seconds 20` sends and prints what it measured as JSON.
Runs are repeated under fresh trace ids, so that no request is recognised as a retry.
"""

import argparse
import datetime as dt
import http.client
import itertools
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan

from gnomon.cli.demo.desk import Desk
from gnomon.clock import Nanos, to_nanos, utc_now
from tests.bench.figures import percentile

ROOT = Path(__file__).parents[2]
SPANS_A_REQUEST = 100
CONNECTIONS = 8
DIFFERENT = 60
"""Requests made from spans; more are these again under fresh trace ids."""
SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One export request, and where its trace ids lie in the bytes."""

    body: bytes
    spans: int
    traces: int
    places: Sequence[tuple[bytes, Sequence[int]]]

    def fresh(self, dice: random.Random) -> bytes:
        """Return the request under new trace ids."""
        body = bytearray(self.body)
        for _, places in self.places:
            trace_id = dice.randbytes(16)
            for place in places:
                body[place : place + 16] = trace_id
        return bytes(body)


def template(spans: Sequence[ReadableSpan]) -> Template:
    """Encode spans and find their trace ids."""
    body = encode_spans(spans).SerializeToString()
    ids = {span.context.trace_id.to_bytes(16, "big") for span in spans}
    return Template(
        body=body,
        spans=len(spans),
        traces=len(ids),
        places=[(one, list(_occurrences(body, one))) for one in sorted(ids)],
    )


def _occurrences(body: bytes, what: bytes) -> Iterator[int]:
    at = body.find(what)
    while at >= 0:
        yield at
        at = body.find(what, at + 1)


def runs(*, seed: int, since: dt.datetime, gap: float) -> Iterator[Sequence[ReadableSpan]]:
    """Yield the spans of run after run of the demo's agent, `gap` seconds apart."""
    desk = Desk(seed)
    for index in itertools.count():
        at = Nanos(to_nanos(since) + int(index * gap * SECOND))
        yield desk.handle(index, at, 1.0).spans


def templates(
    count: int, *, seed: int = 1, since: dt.datetime | None = None, gap: float = 1.0
) -> Iterator[Template]:
    """Yield requests of whole runs, about `SPANS_A_REQUEST` spans each."""
    waiting: list[ReadableSpan] = []
    began = since or utc_now() - dt.timedelta(hours=1)
    for run in runs(seed=seed, since=began, gap=gap):
        waiting += run
        if len(waiting) >= SPANS_A_REQUEST - 5:
            yield template(waiting)
            waiting = []
            count -= 1
            if count <= 0:
                return


@dataclass(slots=True)
class Sent:
    """What a sender saw."""

    requests: int = 0
    spans: int = 0
    traces: int = 0
    bytes: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    """Requests answered with something else than 200, by status."""
    waits: list[float] = field(default_factory=list)
    """Seconds from the moment a request was due to its answer."""
    seconds: float = 0.0


class Senders:
    """Connections that send at a rate, or as fast as they are answered when the rate is 0."""

    def __init__(self, url: str, made: Sequence[Template], *, rate: float, seconds: float) -> None:
        self._url = urlsplit(url)
        self._made = made
        spans = sum(one.spans for one in made) / len(made)
        self._gap = spans / rate if rate else 0.0
        self._seconds = seconds
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._sent = Sent()
        self._began = 0.0
        self._most: int | None = None

    def run(self, most: int | None = None) -> Sent:
        """Send for some seconds, or `most` requests."""
        self._most = most
        self._began = time.perf_counter()
        threads = [threading.Thread(target=self._work) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._sent.seconds = time.perf_counter() - self._began
        return self._sent

    def _work(self) -> None:
        connection = http.client.HTTPConnection(
            self._url.hostname or "", self._url.port, timeout=60
        )
        try:
            while (number := self._next()) is not None:
                self._send(connection, number)
        finally:
            connection.close()

    def _next(self) -> int | None:
        with self._lock:
            number = next(self._numbers)
        if self._most is not None:
            return number if number < self._most else None
        due = number * self._gap if self._gap else time.perf_counter() - self._began
        return number if due < self._seconds else None

    def _send(self, connection: http.client.HTTPConnection, number: int) -> None:
        one = self._made[number % len(self._made)]
        body = one.fresh(random.Random(f"{id(self)} {time.time_ns()} {number}"))
        due = time.perf_counter()
        if self._gap:
            due = self._began + number * self._gap
            time.sleep(max(0.0, due - time.perf_counter()))
        connection.request("POST", "/v1/traces", body, {"content-type": "application/x-protobuf"})
        answer = connection.getresponse()
        answer.read()
        wait = time.perf_counter() - due
        with self._lock:
            self._note(one, answer.status, wait)

    def _note(self, one: Template, status: int, wait: float) -> None:
        self._sent.requests += 1
        if status != 200:
            name = str(status)
            self._sent.refused[name] = self._sent.refused.get(name, 0) + 1
            return
        self._sent.waits.append(wait)
        self._sent.spans += one.spans
        self._sent.traces += one.traces
        self._sent.bytes += len(one.body)


def as_json(sent: Sent) -> dict[str, Any]:
    """Return what was seen, the waits in milliseconds by level."""
    return {
        "requests": sent.requests,
        "spans": sent.spans,
        "traces": sent.traces,
        "bytes": sent.bytes,
        "refused": sent.refused,
        "seconds": sent.seconds,
        "p50_ms": percentile(sent.waits, 0.5) * 1000,
        "p99_ms": percentile(sent.waits, 0.99) * 1000,
        "max_ms": max(sent.waits, default=0.0) * 1000,
    }


def send(
    url: str, *, rate: float = 0.0, seconds: float = 0.0, most: int | None = None
) -> dict[str, Any]:
    """Send from a process of its own, so that it costs the server nothing but CPU time."""
    given = [url, "--rate", str(rate), "--seconds", str(seconds)]
    if most is not None:
        given += ["--requests", str(most)]
    out = subprocess.run(
        [sys.executable, "-m", "tests.bench.load", *given],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        check=True,
    )
    found: dict[str, Any] = json.loads(out.stdout)
    return found


def main(arguments: Sequence[str]) -> None:
    """Send and print what was seen."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.load")
    parser.add_argument("url")
    parser.add_argument("--rate", type=float, default=0.0, help="spans a second; 0: no limit")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--requests", type=int, help="send so many instead")
    given = parser.parse_args(arguments)
    made = list(templates(DIFFERENT))
    senders = Senders(given.url, made, rate=given.rate, seconds=given.seconds)
    sys.stdout.write(json.dumps(as_json(senders.run(given.requests))) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
