"""Open runs as they were folded: those of which nothing more comes are settled without reading."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from collector.folding.fold import Folded
from collector.queue.port import Touched
from gnomon.clock import Nanos
from gnomon.model import Run, RunState

MOST = 20_000
"""Runs remembered; those above it, and those from before a restart, are folded again to settle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An open run that is all its trace holds, and when it settles if nothing comes."""

    run: Run
    generation: int
    """Of the trace when it was read: a touch raises it, so an equal one means nothing came."""
    due: Nanos
    folded_at: int


class OpenRuns:
    """A memory that may forget anything at any time."""

    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = {}

    def forget(self, traces: Iterable[str]) -> None:
        """Drop what is known of these traces, for they are folded again."""
        for trace in traces:
            self._waiting.pop(trace, None)

    def remember(self, traces: Sequence[Touched], folded: Folded, folded_at: int) -> None:
        """Keep the runs that share no trace and lie in one trace, once they are written."""
        runs: dict[str, list[Run]] = {}
        for run in folded.runs:
            for trace_id in run.trace_ids:
                runs.setdefault(trace_id, []).append(run)
        for trace in traces:
            due, own = folded.again.get(trace.trace_id), runs.get(trace.trace_id, ())
            if due is not None and len(own) == 1 and len(own[0].trace_ids) == 1:
                self._waiting[trace.trace_id] = Waiting(
                    run=own[0], generation=trace.generation, due=due, folded_at=folded_at
                )
        for trace_id in list(self._waiting)[: max(0, len(self._waiting) - MOST)]:
            del self._waiting[trace_id]

    def take_quiet(self, traces: Iterable[Touched], now: Nanos) -> dict[str, Waiting]:
        """Take out, by trace, the runs whose time is up and of which nothing came; settled."""
        quiet: dict[str, Waiting] = {}
        for trace in traces:
            known = self._waiting.get(trace.trace_id)
            if known is not None and known.generation == trace.generation and known.due <= now:
                del self._waiting[trace.trace_id]
                run = replace(known.run, state=RunState.SETTLED, settled_at=known.due)
                quiet[trace.trace_id] = replace(known, run=run)
        return quiet
