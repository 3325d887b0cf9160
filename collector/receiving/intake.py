"""The way of one request from its bytes to the queue, whatever transport brought it."""

import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal

import structlog

from collector.queue.port import Queue, Request, Signal
from collector.receiving import answers
from collector.receiving.answers import Answer
from collector.receiving.decompress import unpack
from collector.receiving.density import Scales
from collector.receiving.inspection import Inspected, Inspector
from collector.receiving.otlp_json import JsonReader
from collector.receiving.refusals import Refused
from gnomon.clock import Clock, Nanos, to_nanos
from gnomon.config import Settings
from gnomon.errors import Unavailable

Transport = Literal["grpc", "http", "table"]

CountRefused = Callable[[str, str], None]
"""Told transport and reason of a request that was answered with an error and never counted as
received: overload, unknown paths."""

COMMIT_SECONDS = 30.0
"""How long a sender waits for the queue's commit before it is told to try again."""
_BUSY_SECONDS = 1
_ALONE = 256 * 1024
"""Bytes from which on bodies are inspected one at a time. The interpreter lock lets only one
thread work anyway; this bounds what the decoded messages of all threads take together."""

log = structlog.get_logger(__name__)


def count_nothing(_transport: str, _reason: str) -> None:
    """Count nothing; for tests and tools."""


def sender_of(_headers: Mapping[str, str]) -> str:
    """Return the name of the sender. The place of the token check, for both transports.

    There are no tokens yet, so a receiver must be bound to loopback. A check raises Refused with
    `unauthenticated` or `forbidden`, and returns the name of the token.
    """
    return "loopback"


class Budget:
    """The bytes of all requests in work, bounded."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Reserve bytes; raises Unavailable when too many are in work."""
        with self._lock:
            if self._used + size > self._limit:
                raise Unavailable(f"More than {self._limit} bytes of requests are in work.")
            self._used += size

    def give(self, size: int) -> None:
        """Return bytes that were reserved."""
        with self._lock:
            self._used -= size


class Hold:
    """What one request holds of the budget; released as a whole, once."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._size = 0

    def grow(self, size: int) -> None:
        """Reserve more; raises Unavailable when there is no room."""
        self._budget.take(size)
        self._size += size

    def __enter__(self) -> "Hold":
        return self

    def __exit__(self, *_error: object) -> None:
        self._budget.give(self._size)
        self._size = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One request as a transport hands it over."""

    signal: Signal
    transport: Transport
    sender: str
    body: bytes
    """As it came, compressed or not."""
    encoding: str
    is_json: bool

    @property
    def source(self) -> str:
        """Name the way in and the sender, as the ledger does."""
        return f"{self.signal}/{self.transport}/{self.sender}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """An answer that holds once the queue has the request."""

    answer: Answer
    done: "Future[bool] | None" = None
    """None: there is nothing to wait for."""


class Intake:
    """Opens, inspects and queues requests. Synchronous: transports call it on their threads."""

    def __init__(
        self, queue: Queue, settings: Settings, clock: Clock, count_refused: CountRefused
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._count_refused = count_refused
        self._inspector = Inspector(max_value=settings.ingest.max_value)
        self._json = JsonReader()
        self._scales = Scales()
        self._turn = threading.Lock()
        self._budget = Budget(settings.ingest.max_inflight)
        self._told: set[str] = set()
        self.max_body = int(settings.ingest.max_body)

    def hold(self) -> Hold:
        """Return an empty hold on the budget of bytes in work."""
        return Hold(self._budget)

    def take(self, parcel: Parcel, hold: Hold) -> Taken:
        """Open, inspect and queue one request."""
        body = None
        try:
            body = unpack(parcel.body, parcel.encoding, limit=self.max_body, grow=hold.grow)
            found = self._inspected(parcel, body)
        except Unavailable as error:
            return self._later(parcel.transport, error, _BUSY_SECONDS)
        except Refused as refused:
            return self.refuse(parcel, refused, body)
        except Exception as error:  # noqa: BLE001 - our own bug: said, counted, and the bytes kept
            return self._buried(parcel, parcel.body if body is None else body, error)
        answer = Answer(rejected=sum(found.rejected.values()), message=found.message)
        if not found.received:
            return Taken(answer=answer)
        request = Request(
            signal=parcel.signal,
            source=parcel.source,
            payload=found.payload,
            digest=_digest(parcel.signal, body),
            received=found.received,
            rejected=found.rejected,
            traces=found.traces,
            received_at=self._now(),
        )
        return self._queued(parcel.transport, request, answer)

    def refuse(self, parcel: Parcel, refused: Refused, body: bytes | None) -> Taken:
        """Write a refusal into the ledger; `body` is None when it was not read to its end."""
        request = self._refusal(parcel, refused, body)
        return self._queued(parcel.transport, request, answers.refusal(refused))

    def busy(self, transport: Transport, error: Unavailable) -> Answer:
        """Return the answer to a request there is no room for."""
        return self._later(transport, error, _BUSY_SECONDS).answer

    def count_refused(self, transport: Transport, reason: str) -> None:
        """Count a request that is answered with an error and stands in no ledger."""
        self._count_refused(transport, reason)

    def failed(self, transport: Transport, error: BaseException) -> Answer:
        """Return the answer when the queue's commit failed or took too long."""
        if isinstance(error, Unavailable):
            return self._later(transport, error).answer
        if isinstance(error, TimeoutError):
            slow = Unavailable(f"The queue did not commit within {COMMIT_SECONDS:.0f} s.")
            return self._later(transport, slow).answer
        self._tell("queue_failed", error)
        return self._later(transport, Unavailable("The queue failed.")).answer

    def _inspected(self, parcel: Parcel, body: bytes) -> Inspected:
        """Inspect a body; of larger ones one at a time, since they are decoded as a whole."""
        if len(body) < _ALONE:
            return self._read(parcel, body)
        self._scales.refuse_dense(parcel.signal, body, is_json=parcel.is_json)
        with self._turn:
            return self._read(parcel, body)

    def _read(self, parcel: Parcel, body: bytes) -> Inspected:
        now = self._now()
        if not parcel.is_json:
            return self._inspector.inspect(parcel.signal, body, now)
        read = self._json.read(parcel.signal, body)
        return self._inspector.inspect(parcel.signal, read.body, now, from_json=read)

    def _queued(self, transport: Transport, request: Request, answer: Answer) -> Taken:
        try:
            return Taken(answer=answer, done=self._queue.put(request))
        except Exception as error:  # noqa: BLE001 - the queue is a plug-in; the sender tries again
            return Taken(answer=self.failed(transport, error))

    def _buried(self, parcel: Parcel, body: bytes, error: Exception) -> Taken:
        self._tell("inspection_failed", error)
        refused = Refused("internal", "Gnomon failed on this request and kept it as a dead letter.")
        request = self._refusal(parcel, refused, body)
        try:
            done = self._queue.bury_raw(request, body, detail=repr(error)[:500])
        except Exception as worse:  # noqa: BLE001 - as above
            return Taken(answer=self.failed(parcel.transport, worse))
        return Taken(answer=answers.refusal(refused), done=done)

    def _refusal(self, parcel: Parcel, refused: Refused, body: bytes | None) -> Request:
        """Return the ledger entry of a refusal.

        Its digest never equals that of the same body once it is accepted (under the right
        content type, by a later version): else that would be taken for a retry and dropped. A body
        that was not read counts each time.
        """
        if body is None:
            digest = os.urandom(32)
        else:
            digest = _digest(f"{parcel.signal} {refused.reason}", body)
        return Request(
            signal=parcel.signal,
            source=parcel.source,
            payload=b"",
            digest=digest,
            received=1,
            rejected={refused.reason: 1},
            received_at=self._now(),
        )

    def _later(
        self, transport: Transport, error: Unavailable, seconds: int = answers.RETRY_SECONDS
    ) -> Taken:
        self._count_refused(transport, error.code)
        return Taken(answer=answers.later(error, seconds))

    def _now(self) -> Nanos:
        return to_nanos(self._clock())

    def _tell(self, event: str, error: BaseException) -> None:
        """Log the first failure of a kind; the ledger and the counters hold the others."""
        kind = f"{event} {type(error).__name__}"
        if kind not in self._told:
            self._told.add(kind)
            log.error(event, error=repr(error), exc_info=error)


def _digest(kind: str, body: bytes) -> bytes:
    digest = hashlib.sha256(kind.encode() + b"\0")
    digest.update(body)
    return digest.digest()
