"""The queue in one SQLite file: requests are on disk before they are acknowledged."""

from collections.abc import Sequence
from concurrent.futures import Future
from datetime import timedelta
from functools import partial
from pathlib import Path

from collector.queue import entries
from collector.queue.books import SpoolBooks
from collector.queue.committer import Committer
from collector.queue.database import FILE, ReadConnection, open_database
from collector.queue.port import Queued, Request, Signal
from collector.queue.room import Room
from collector.queue.touches import SpoolTouched
from gnomon.clock import Clock, Nanos, to_nanos
from gnomon.config import QueueSettings
from gnomon.errors import Unavailable
from gnomon.store.held import Hold

LOCK = "spool.lock"

_TIDY_EVERY = timedelta(minutes=1) // timedelta(microseconds=1) * 1000
_MOST_REMEMBERED = 2_000_000
"""Digests, whatever `remember` says: about 200 MB."""
_FORGET_AT_ONCE = 20_000
_MOST_REQUESTS = 20_000
"""Requests in one batch, however small."""


class Spool:
    """The durable queue (`Queue`), with the ledger (`books`) and the `touched` traces beside it."""

    name = "queue"

    def __init__(self, data: Path, settings: QueueSettings, *, clock: Clock) -> None:
        self._data = data
        self._path = data / FILE
        self._remember = settings.remember // timedelta(microseconds=1) * 1000
        self._clock = clock
        self._room = Room(settings.max_bytes)
        self._hold: Hold | None = None
        self._open: _Opened | None = None
        self._tidied = 0

    @property
    def books(self) -> SpoolBooks:
        """The ledger and the dead letters."""
        return self._opened().books

    @property
    def touched(self) -> SpoolTouched:
        """The traces to fold."""
        return self._opened().touched

    def start(self) -> None:
        """Open the file; raises StoreHeld when another process has it."""
        self._hold = Hold(self._data, LOCK)
        try:
            self._open = _Opened(self._path, self._room, self._clock)
        except BaseException:
            self._hold.release()
            self._hold = None
            raise

    def stop(self, timeout: float) -> None:
        """Commit what was handed in, then close the file."""
        self._room.close()
        opened, self._open = self._open, None
        if opened is not None:
            opened.close(timeout)
        if self._hold is not None:
            self._hold.release()
            self._hold = None

    def problem(self) -> str | None:
        """Return why requests are not taken, or None."""
        if self._open is None:
            return "not open"
        if (failure := self._open.committer.failure) is not None:
            return failure
        return "full: ClickHouse is behind" if self._room.full else None

    def put(self, request: Request) -> "Future[bool]":
        """Keep a request; the future is done when it is durable."""
        items = request.received - sum(request.rejected.values())
        if items < 0 or (items > 0 and not request.payload):
            raise ValueError(f"{items} items in a payload of {len(request.payload)} bytes")
        size = len(request.payload) if items else 0
        committer = self._opened().committer
        self._tidy(request.received_at)
        self._room.reserve(size)
        try:
            future = committer.submit(lambda db: entries.keep(db, request))
        except Unavailable:
            self._room.release(size)
            raise
        if size:
            future.add_done_callback(partial(self._placed, request.signal, size))
        return future

    def take(self, max_bytes: int, wait: float) -> Sequence[Queued]:
        """Return the oldest requests not yet stored, of one signal, up to `max_bytes`.

        Waits at most `wait` seconds for that many bytes; a single larger request is returned alone.
        """
        if wait > 0:
            self._room.wait(max_bytes, wait)
        reading = self._opened().reading
        oldest = reading.all("SELECT signal FROM queue ORDER BY id LIMIT 1")
        if not oldest:
            return []
        signal: Signal = oldest[0][0]
        batch: list[Queued] = []
        total = 0
        with reading.rows(
            "SELECT queue.id, source, received_at, items, size, traces, digest, body"
            " FROM queue JOIN seen ON seen.id = queue.id WHERE signal = ? ORDER BY queue.id LIMIT ?",
            (signal, _MOST_REQUESTS),
        ) as rows:
            for number, source, received_at, items, size, traces, digest, body in rows:
                total += size
                if batch and total > max_bytes:
                    break
                request = Request(
                    signal=signal,
                    source=source,
                    payload=body,
                    digest=digest,
                    received=items,
                    traces=[trace.hex() for trace in entries.split(traces)],
                    received_at=Nanos(received_at),
                )
                batch.append(Queued(id=number, request=request))
        return batch

    def stored(self, batch: Sequence[Queued]) -> None:
        """Note that ClickHouse has these requests, and which traces they touched, atomically."""
        now = to_nanos(self._clock())
        ids = [queued.id for queued in batch]

        committer = self._opened().committer
        for gone in committer.submit(lambda db: entries.settle(db, ids, now)).result():
            self._room.stored(gone.signal, gone.size)

    def bury(self, queued: Queued, *, reason: str, detail: str) -> None:
        """Move a request that can not be stored to the dead letters."""
        now = to_nanos(self._clock())
        gone = (
            self._opened()
            .committer.submit(lambda db: entries.bury(db, queued.id, reason, detail, now))
            .result()
        )
        if gone is not None:
            self._room.buried(gone.signal, gone.size)

    def bury_raw(self, request: Request, body: bytes, *, detail: str) -> "Future[bool]":
        """Keep a body the receiver failed on as a dead letter, and count it."""
        now = to_nanos(self._clock())
        committer = self._opened().committer
        self._room.reserve(len(body))
        try:
            future = committer.submit(lambda db: entries.bury_raw(db, request, body, detail, now))
        except Unavailable:
            self._room.release(len(body))
            raise
        future.add_done_callback(partial(self._kept, len(body)))
        return future

    def _kept(self, size: int, future: "Future[bool]") -> None:
        if not future.cancelled() and future.exception() is None and future.result():
            self._room.kept(size)
        else:
            self._room.release(size)

    def _placed(self, signal: Signal, size: int, future: "Future[bool]") -> None:
        if not future.cancelled() and future.exception() is None and future.result():
            self._room.arrived(signal, size)
        else:
            self._room.release(size)

    def _tidy(self, now: Nanos) -> None:
        """Forget old digests now and then; what fails here is tried again."""
        if now - self._tidied < _TIDY_EVERY:
            return
        self._tidied = now
        before = Nanos(now - self._remember)
        self._opened().committer.submit(
            lambda db: entries.forget(db, before, _MOST_REMEMBERED, _FORGET_AT_ONCE)
        )

    def _opened(self) -> "_Opened":
        if self._open is None:
            raise Unavailable("the queue is closed; this process is starting or stopping")
        return self._open


class _Opened:
    """What is there between start and stop."""

    def __init__(self, path: Path, room: Room, clock: Clock) -> None:
        self.committer = Committer(open_database(path), path)
        self.reading = ReadConnection(path)
        self._looking = ReadConnection(path)
        self.books = SpoolBooks(self.committer, self._looking, room, clock)
        self.touched = SpoolTouched(self.committer, self._looking)
        waiting: dict[Signal, int] = {"traces": 0, "logs": 0}
        waiting.update(self.reading.all("SELECT signal, sum(size) FROM queue GROUP BY signal"))
        ((dead,),) = self.reading.all("SELECT coalesce(sum(size), 0) FROM dead_letters")
        room.found(waiting, dead)

    def close(self, timeout: float) -> None:
        self.committer.close(timeout)
        self.reading.close()
        self._looking.close()
