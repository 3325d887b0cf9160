"""From the queue to ClickHouse: few large inserts of wire bytes; what cannot be stored is set aside."""

import hashlib
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

import structlog

from collector import wire
from collector.queue.port import Queue, Queued, Signal
from gnomon.clock import Clock
from gnomon.config import QueueSettings
from gnomon.errors import GnomonError, StoreRefused, Unavailable
from gnomon.service import Background
from gnomon.tracing import span

log = structlog.get_logger(__name__)

_MEMORY_LIMIT = 241
"""ClickHouse: the INSERT needed more memory than one query may use."""

_SMALLEST_BATCH = 256 * 1024
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_STUCK_SECONDS = 120.0
_DETAIL = 1000

_EMPTY_BLOCK = b"\x00"
"""A ResourceSpans or ResourceLogs without content: an INSERT that stores nothing."""


class Inserting(Protocol):
    """What the writer needs of the store."""

    def insert_raw(
        self, sql: str, body: bytes, *, tag: str, settings: Mapping[str, str | int] | None = None
    ) -> None:
        """Insert bytes as they are."""


class Meter(Protocol):
    """What the writer tells about itself."""

    def batch_stored(self, signal: Signal, items: int, size: int, seconds: float) -> None:
        """A batch is in ClickHouse and noted as stored."""

    def batch_failed(self, code: str) -> None:
        """A batch was not stored and will be tried again."""

    def buried(self, items: int) -> None:
        """A request went to the dead letters."""


class Silent:
    """A meter that tells nobody."""

    def batch_stored(self, signal: Signal, items: int, size: int, seconds: float) -> None:
        """Say nothing."""

    def batch_failed(self, code: str) -> None:
        """Say nothing."""

    def buried(self, items: int) -> None:
        """Say nothing."""


class Writer:
    """One thread that stores what the queue holds, again and again until ClickHouse has it."""

    name = "writer"

    def __init__(
        self,
        queue: Queue,
        store: Inserting,
        settings: QueueSettings,
        *,
        clock: Clock,
        meter: Meter | None = None,
    ) -> None:
        self._queue = queue
        self._store = store
        self._largest = int(settings.batch_bytes)
        self._limit = self._largest
        self._flush_after = settings.flush_after.total_seconds()
        self._meter: Meter = meter or Silent()
        self._state = _State(clock)
        self._thread = Background(self.name, self._run)

    def start(self) -> None:
        """Begin with what an earlier process left."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Store what waits, as far as `timeout` seconds allow; the rest stays in the queue."""
        self._thread.stop(timeout)

    def problem(self) -> str | None:
        """Return why nothing is stored, and for how long, or None."""
        return self._thread.problem() or self._state.problem()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            stopping = self._thread.stopping.is_set()
            try:
                busy = self._pass(0.0 if stopping else self._flush_after)
            except Exception as error:  # noqa: BLE001 - shown by /readyz, and tried again
                self._failed(error)
                if self._thread.stopping.wait(pause):
                    return
                pause = min(pause * 2, _LONGEST_PAUSE)
                continue
            pause = _FIRST_PAUSE
            if stopping and not busy:
                return

    def _pass(self, wait: float) -> bool:
        """Store one batch; tell whether there was one."""
        batch = self._queue.take(self._limit, wait)
        if batch:
            self._state.begin()
            carries = (trace for queued in batch for trace in queued.request.traces)
            with span("writer.batch", carries=carries, requests=len(batch)):
                self._store_batch(batch)
            self._limit = min(self._limit * 2, self._largest)
        if self._state.succeed():
            log.info("writer_resumed")
        return bool(batch)

    def _store_batch(self, batch: Sequence[Queued]) -> None:
        started = time.monotonic()
        signal = batch[0].request.signal
        payloads = [queued.request.payload for queued in batch]
        try:
            self._insert(signal, payloads, token=_token(batch))
        except (StoreRefused, wire.Malformed) as refusal:
            self._require_working(signal)
            self._find_the_bad_one(batch, refusal)
            return
        self._queue.stored(batch)
        self._meter.batch_stored(
            signal,
            sum(queued.request.received for queued in batch),
            sum(map(len, payloads)),
            time.monotonic() - started,
        )

    def _require_working(self, signal: Signal) -> None:
        """Raise when ClickHouse refuses an empty INSERT too: then no request is to blame."""
        self._send(signal, _EMPTY_BLOCK, {})

    def _find_the_bad_one(self, batch: Sequence[Queued], refusal: Exception) -> None:
        if len(batch) == 1:
            self._store_mended(batch[0], refusal)
            return
        middle = len(batch) // 2
        self._store_batch(batch[:middle])
        self._store_batch(batch[middle:])

    def _store_mended(self, queued: Queued, refusal: Exception) -> None:
        """Try a refused request once more without what OTLP does not know; else bury it."""
        request = queued.request
        try:
            payload = wire.sanitised(request.signal, request.payload)
            self._insert(request.signal, [payload], token=f"{_token([queued])}:sanitised")
        except (StoreRefused, wire.Malformed):
            reason = "malformed" if isinstance(refusal, wire.Malformed) else "refused_by_store"
            self._queue.bury(queued, reason=reason, detail=str(refusal)[:_DETAIL])
            self._meter.buried(request.received)
            log.error(
                "request_buried", letter=queued.id, source=request.source, items=request.received
            )
            return
        self._queue.stored([queued])

    def _insert(self, signal: Signal, payloads: Sequence[bytes], *, token: str) -> None:
        for number, body in enumerate(wire.bodies(signal, payloads, self._limit)):
            self._send(signal, body, {"insert_deduplication_token": f"{token}:{number}"})

    def _send(self, signal: Signal, body: bytes, extra: Mapping[str, str]) -> None:
        self._store.insert_raw(
            wire.statement(signal),
            body,
            tag=f"collector.write.{signal}",
            settings={**wire.settings(signal), **extra},
        )

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Unavailable) and error.context.get("code") == _MEMORY_LIMIT:
            self._limit = max(self._limit // 2, _SMALLEST_BATCH)
        code = error.code if isinstance(error, GnomonError) else type(error).__name__
        self._meter.batch_failed(code)
        if self._state.fail(str(error)):
            log.warning("writer_waits", code=code)


class _State:
    """What `/readyz` is told, from memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failing_since: float | None = None
        self._failure = ""
        self._busy_since: float | None = None

    def begin(self) -> None:
        with self._lock:
            self._busy_since = self._now()

    def fail(self, text: str) -> bool:
        """Note a failure; tell whether it is the first of a row."""
        with self._lock:
            first = self._failing_since is None
            self._failing_since = self._now() if first else self._failing_since
            self._failure = text
            self._busy_since = None
            return first

    def succeed(self) -> bool:
        """Note that all is well; tell whether it was not."""
        with self._lock:
            was_failing = self._failing_since is not None
            self._failing_since = self._busy_since = None
            return was_failing

    def problem(self) -> str | None:
        with self._lock:
            now = self._now()
            if self._failing_since is not None:
                return f"nothing stored for {now - self._failing_since:.0f} s: {self._failure}"
            if self._busy_since is not None and now - self._busy_since > _STUCK_SECONDS:
                return f"one batch has been in work for {now - self._busy_since:.0f} s"
            return None

    def _now(self) -> float:
        return self._clock().timestamp()


def _token(batch: Sequence[Queued]) -> str:
    """Name a batch by what it holds, so that ClickHouse recognises the same one."""
    digests = b"".join(queued.request.digest for queued in batch)
    return hashlib.sha256(digests).hexdigest()
