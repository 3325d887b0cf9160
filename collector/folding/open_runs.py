"""Open runs as they were folded: those of which nothing more comes are settled without reading."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from collector.folding.messages import Quiet
from collector.queue.port import Touched
from gnomon.clock import Nanos

MOST = 20_000
"""Runs remembered; those above it, and those from before a restart, are folded again to settle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An open run, as it will be written when its time is up and nothing came."""

    row: bytes
    generation: int
    """Of the trace when it was read: a touch raises it, so an equal one means nothing came."""
    due: Nanos
    folded_at: int


class OpenRuns:
    """A memory that may forget anything at any time. Safe from any thread."""

    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = {}
        self._lock = threading.Lock()

    def forget(self, traces: Iterable[str]) -> None:
        """Drop what is known of these traces, for they are folded again."""
        with self._lock:
            for trace in traces:
                self._waiting.pop(trace, None)

    def remember(self, traces: Sequence[Touched], quiet: Sequence[Quiet], folded_at: int) -> None:
        """Keep these runs of some traces, once they are written."""
        generations = {trace.trace_id: trace.generation for trace in traces}
        with self._lock:
            for run in quiet:
                self._waiting[run.trace_id] = Waiting(
                    row=run.row,
                    generation=generations[run.trace_id],
                    due=run.due,
                    folded_at=folded_at,
                )
            for trace_id in list(self._waiting)[: max(0, len(self._waiting) - MOST)]:
                del self._waiting[trace_id]

    def take_quiet(self, traces: Iterable[Touched], now: Nanos) -> dict[str, Waiting]:
        """Take out, by trace, the runs whose time is up and of which nothing came."""
        quiet: dict[str, Waiting] = {}
        with self._lock:
            for trace in traces:
                known = self._waiting.get(trace.trace_id)
                if known is not None and known.generation == trace.generation and known.due <= now:
                    quiet[trace.trace_id] = self._waiting.pop(trace.trace_id)
        return quiet
