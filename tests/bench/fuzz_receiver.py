"""Send mutated requests through the HTTP application, in process, and print what it answered.

    python -m tests.bench.fuzz_receiver --requests 100000 --seed 1

Exits 1 when an answer is none of the table, when a request breaks the application, or when memory
grows beyond the bound.
"""

import argparse
import asyncio
import gzip
import random
import resource
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import orjson
import zstandard
from google.rpc.status_pb2 import Status
from starlette.types import ASGIApp

from collector.receiving.http import http_application
from collector.receiving.intake import Intake, count_nothing
from gnomon.clock import from_nanos
from gnomon.config import IngestSettings, Settings
from tests import otlp, samples
from tests.memory_queue import MemoryQueue

TABLE = {200, 400, 404, 405, 413, 415}
"""What ingest.md 4.2 answers to a request while there is room and no quota."""
MAX_BODY = 1024**2
_MEDIA = ("application/x-protobuf", "application/json")
_ODD_MEDIA = ("", "text/plain", "application/protobuf;x", "APPLICATION/JSON", "multipart/form-data")
_ENCODINGS = ("", "gzip", "deflate", "zstd", "identity", "br", "gzip, gzip", "GZIP")
_PATHS = ("/v1/traces", "/v1/logs", "/v1/metrics", "/otel/v1/traces", "/v1/trace", "/", "/healthz")
_NASTY = (
    b"\xff",
    b"\x00",
    b"\x0a",
    b"\x12",
    b"\x80" * 5,
    b"\xff" * 10,
    b"{",
    b"[",
    b'"',
    b"null",
    b"1e999",
)


@dataclass(slots=True, kw_only=True)
class Result:
    """What came of a run."""

    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0
    start_mb: float = 0.0
    peak_mb: float = 0.0


def corpus() -> list[tuple[str, str, bytes]]:
    """Return path, content type and body of good requests: recorded ones, and some made by hand."""
    deep = otlp.with_raw_value(otlp.traces(otlp.span(2)), otlp.nested_wire(60))
    odd = otlp.traces(otlp.span(1, attributes=otlp.pairs(a={"b": [b"c", 1]}, d=[1, "e"], f=0.5)))
    found = [
        ("/v1/traces", _MEDIA[0], deep),
        ("/v1/traces", _MEDIA[0], odd.SerializeToString()),
        (
            "/v1/logs",
            _MEDIA[0],
            otlp.logs(otlp.record(body=otlp.value({"a": 1}))).SerializeToString(),
        ),
    ]
    for name in samples.names()[::3]:
        for suffix, path in (("", "/v1/traces"), (".logs", "/v1/logs")):
            for ending, media in ((".binpb", _MEDIA[0]), (".json", _MEDIA[1])):
                file = samples.OTLP / f"{name}{suffix}{ending}"
                if file.exists() and file.stat().st_size < 60_000:
                    found.append((path, media, file.read_bytes()))
    return found


_Spoil = Callable[[random.Random, bytearray, int, Sequence[bytes]], None]


def _overwrite(chance: random.Random, body: bytearray, at: int, _others: Sequence[bytes]) -> None:
    if at < len(body):
        body[at] = chance.randrange(256)


def _flip(chance: random.Random, body: bytearray, at: int, _others: Sequence[bytes]) -> None:
    if at < len(body):
        body[at] ^= 1 << chance.randrange(8)


def _blank(_chance: random.Random, body: bytearray, at: int, _others: Sequence[bytes]) -> None:
    body[at : at + 8] = bytes(len(body[at : at + 8]))


def _remove(chance: random.Random, body: bytearray, at: int, _others: Sequence[bytes]) -> None:
    del body[at : at + chance.choice((1, 2, 8, 64, 4096))]


def _cut(_chance: random.Random, body: bytearray, at: int, _others: Sequence[bytes]) -> None:
    del body[at:]


def _insert(chance: random.Random, body: bytearray, at: int, _others: Sequence[bytes]) -> None:
    body[at:at] = chance.choice(_NASTY)


def _repeat(chance: random.Random, body: bytearray, at: int, _others: Sequence[bytes]) -> None:
    body[at:at] = body[at : at + chance.choice((4, 64, 512))] * chance.choice((2, 9))


def _splice(chance: random.Random, body: bytearray, at: int, others: Sequence[bytes]) -> None:
    other = chance.choice(others)
    start = chance.randrange(len(other) + 1)
    body[at:at] = other[start : start + 400]


_SPOILS: tuple[_Spoil, ...] = (
    _overwrite, _flip, _blank, _remove, _cut, _insert, _repeat, _splice
)  # fmt: skip


def mutate(chance: random.Random, body: bytes, others: Sequence[bytes]) -> bytes:
    """Spoil a body in a few places; a few become larger than the limit."""
    spoilt = bytearray(body)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 8))):
        spoil = chance.choice(_SPOILS)
        spoil(chance, spoilt, chance.randrange(len(spoilt) + 1), others)
    if chance.random() < 0.002:
        spoilt *= MAX_BODY // (len(spoilt) + 1) + 2
    return bytes(spoilt)


_PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, 1),
    "deflate": lambda body: zlib.compress(body, 1),
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
}


def request(
    chance: random.Random, good: Sequence[tuple[str, str, bytes]]
) -> tuple[str, str, dict[str, str], bytes]:
    """Return method, path, headers and body of one request."""
    path, media, body = chance.choice(good)
    body = mutate(chance, body, [other for _, _, other in good[:20]])
    if chance.random() < 0.05:
        path = chance.choice(_PATHS)
    if chance.random() < 0.05:
        media = chance.choice((*_ODD_MEDIA, *_MEDIA))
    headers = {"content-type": media} if media else {}
    if chance.random() < 0.3:
        encoding = chance.choice(_ENCODINGS)
        body = _PACK.get(encoding.lower(), bytes)(body)
        if chance.random() < 0.2:
            body = mutate(chance, body, [body])
        if encoding:
            headers["content-encoding"] = encoding
    if chance.random() < 0.7:
        headers["content-length"] = str(len(body))
    method = "POST" if chance.random() < 0.99 else chance.choice(("GET", "PUT", "OPTIONS"))
    return method, path, headers, body


async def call(
    app: ASGIApp, method: str, path: str, headers: dict[str, str], body: bytes
) -> tuple[int, str, bytes]:
    """Send one request; return status, content type and body of the answer."""
    pieces = [body[at : at + 65_536] for at in range(0, len(body), 65_536)] or [b""]
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: object) -> None:
        sent.append(message)  # type: ignore[arg-type]

    raw = [(name.encode(), text.encode()) for name, text in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": raw}
    await app(scope, receive, send)  # type: ignore[arg-type]
    start, content = sent
    answered = {name: text for name, text in start["headers"]}  # type: ignore[attr-defined]  # noqa: C416
    return (
        int(str(start["status"])),
        answered.get(b"content-type", b"").decode(),
        content["body"],  # type: ignore[return-value]
    )


def complaint(status: int, media: str, body: bytes) -> str | None:
    """Return what is wrong with an answer, or None."""
    if status not in TABLE:
        return f"{status} is no answer of the table"
    if status == 200:
        return None
    if media == "application/json":
        return None if orjson.loads(body)["code"] else "an error without a code"
    parsed = Status.FromString(body)
    return None if parsed.code and parsed.message else "an error without code or message"


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def fuzz(requests: int, seed: int) -> Result:
    """Send the requests, one after the other."""
    queue = MemoryQueue()
    settings = Settings(ingest=IngestSettings(max_body=MAX_BODY, max_inflight=8 * MAX_BODY))  # type: ignore[arg-type]
    intake = Intake(queue, settings, lambda: from_nanos(otlp.NOW), count_nothing)
    app = http_application(intake, settings)
    chance = random.Random(seed)
    good = corpus()
    result = Result(start_mb=peak_mb())
    began = time.perf_counter()
    for number in range(requests):
        method, path, headers, body = request(chance, good)
        try:
            status, media, content = await call(app, method, path, headers, body)
            wrong = complaint(status, media, content)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            status, content, wrong = 0, b"", repr(error)
        partial = " partial" if status == 200 and content not in {b"", b"{}"} else ""
        result.answers[f"{status}{partial}"] += 1
        if wrong is not None:
            result.wrong.append(f"request {number} of seed {seed}: {wrong}")
        if len(queue.requests) > 500:
            queue.requests.clear()
    if queue.letters:
        result.wrong.append(f"{len(queue.letters)} dead letters: {queue.letters[0][2]}")
    result.seconds = time.perf_counter() - began
    result.peak_mb = peak_mb()
    return result


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-mb", type=float, default=400.0, help="bound on the peak of memory")
    options = parser.parse_args()
    result = asyncio.run(fuzz(options.requests, options.seed))
    lines = [
        f"{options.requests:,} requests of seed {options.seed} in {result.seconds:.0f} s",
        *(f"  {answer:12} {count:8,}" for answer, count in sorted(result.answers.items())),
        f"memory: {result.start_mb:.0f} MB before, {result.peak_mb:.0f} MB at its peak",
        *result.wrong[:20],
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if result.wrong or result.peak_mb > options.max_mb else 0


if __name__ == "__main__":
    sys.exit(main())
