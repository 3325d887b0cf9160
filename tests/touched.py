"""Touched traces in memory, as the spool keeps them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from collector.queue.port import Rereading, Touched
from gnomon.clock import Nanos


class MemoryTouched:
    def __init__(self) -> None:
        self.waiting: dict[str, tuple[Nanos, Touched]] = {}
        self._generation = 0
        self.history = Rereading(traces=0)

    def due(self, now: Nanos, limit: int) -> Sequence[Touched]:
        ready = sorted((at, trace.trace_id) for at, trace in self.waiting.values() if at <= now)
        return [self.waiting[trace_id][1] for _, trace_id in ready[:limit]]

    def folded(self, traces: Sequence[Touched], again: Mapping[str, Nanos]) -> None:
        for trace in traces:
            known = self.waiting.get(trace.trace_id)
            if known is None or known[1].generation != trace.generation:
                continue
            if trace.trace_id in again:
                self.waiting[trace.trace_id] = (again[trace.trace_id], known[1])
            else:
                del self.waiting[trace.trace_id]

    def touch(self, traces: Mapping[str, Nanos], now: Nanos) -> None:
        for trace_id, last in traces.items():
            self._generation += 1
            due, known = self.waiting.get(
                trace_id,
                (now, Touched(trace_id=trace_id, generation=0, last_received=last)),
            )
            fresh = replace(
                known,
                generation=self._generation,
                last_received=max(last, known.last_received),
                first_received=known.first_received or last,
            )
            self.waiting[trace_id] = (min(due, now), fresh)

    def wake(self, now: Nanos) -> None:
        self.waiting = {
            trace_id: (min(due, now), trace) for trace_id, (due, trace) in self.waiting.items()
        }

    def rereading(self) -> Rereading:
        return self.history
