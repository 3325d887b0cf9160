"""How many bytes the queue holds, and who waits for them."""

import threading

from collector.queue.port import Signal
from gnomon.errors import QueueFull

_MB = 1024**2


class Room:
    """The bound of the queue. In memory: counted from the file at start, kept up after each commit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._dead = 0
        self._waiting: dict[Signal, int] = {"traces": 0, "logs": 0}
        self._changed = threading.Condition()
        self._closed = False

    @property
    def full(self) -> bool:
        """Whether nothing more fits."""
        return self._held >= self._limit

    def reserve(self, size: int) -> None:
        """Make room for a request that is about to be written; raises QueueFull."""
        with self._changed:
            if size and self._held + size > self._limit:
                raise QueueFull(self._told())
            self._held += size

    def release(self, size: int) -> None:
        """Give back what was reserved and not needed, or what is no longer held."""
        with self._changed:
            self._held -= size

    def arrived(self, signal: Signal, size: int) -> None:
        """Note that a reserved request is on disk and waits for the writer."""
        with self._changed:
            self._waiting[signal] += size
            self._changed.notify_all()

    def stored(self, signal: Signal, size: int) -> None:
        """Note that a request left the queue for good."""
        with self._changed:
            self._waiting[signal] -= size
            self._held -= size

    def buried(self, signal: Signal, size: int) -> None:
        """Note that a request waits no longer but is still held."""
        with self._changed:
            self._waiting[signal] -= size
            self._dead += size

    def kept(self, size: int) -> None:
        """Note that a reserved body became a dead letter at once."""
        with self._changed:
            self._dead += size

    def raised(self, signal: Signal, size: int) -> None:
        """Note that a dead letter waits again."""
        with self._changed:
            self._dead -= size
            self._waiting[signal] += size
            self._changed.notify_all()

    def dropped(self, size: int) -> None:
        """Note that a dead letter is gone."""
        with self._changed:
            self._dead -= size
            self._held -= size

    def found(self, waiting: dict[Signal, int], dead: int) -> None:
        """Start from what the file holds."""
        with self._changed:
            self._waiting.update(waiting)
            self._dead = dead
            self._held = sum(waiting.values()) + dead
            self._closed = False

    def wait(self, size: int, timeout: float) -> None:
        """Return when one signal has `size` bytes waiting, at the latest after `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or any(held >= size for held in self._waiting.values()),
                timeout,
            )

    def close(self) -> None:
        """Let everybody who waits go."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _told(self) -> str:
        waiting = _megabytes(sum(self._waiting.values()))
        text = (
            f"the queue is full ({_megabytes(self._held)} of {_megabytes(self._limit)} MB,"
            f" {waiting} MB wait for ClickHouse); see /readyz for why it is behind, or raise GNOMON_QUEUE__MAX_BYTES"
        )
        if self._dead:
            text += f"; dead letters hold {_megabytes(self._dead)} MB: re-send or drop them"
        return text


def _megabytes(size: int) -> str:
    """Return bytes as megabytes, with a digit where there are few.

    >>> _megabytes(300_000), _megabytes(4_000_000_000)
    ('0.3', '3814')
    """
    return f"{size / _MB:.1f}" if size < 10 * _MB else f"{size // _MB}"
