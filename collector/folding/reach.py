"""Which traces must be folded together: those that share a run, directly or through others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from collector.reading.rows import Place
from collector.store import Reader

log = structlog.get_logger(__name__)

LARGEST = 200_000
"""Spans folded together at most. A run that spreads over more is cut, and the log says so."""


@dataclass(slots=True)
class Reach:
    """The traces that must be folded together, and the runs known to lie in them."""

    reader: Reader
    traces: set[str]
    places: list[Place] = field(default_factory=list)
    _looked: set[str] = field(default_factory=set)
    """Traces whose runs are known."""
    _asked: set[str] = field(default_factory=set)
    """Runs whose places are known."""

    def widen(self, run_ids: Sequence[str] = ()) -> bool:
        """Add every trace that shares a run with those here, up to a bound; tell if there was any.

        `run_ids` are runs that turned out to lie here.
        """
        before = len(self.traces)
        self._ask(run_ids)
        while fresh := self.traces - self._looked:
            self._looked |= fresh
            # A run has the id of its trace unless it was named otherwise.
            self._ask(fresh | self.reader.run_ids_of_traces(sorted(fresh)))
        return len(self.traces) > before

    def _ask(self, run_ids: Iterable[str]) -> None:
        unknown = sorted(set(run_ids) - self._asked)
        if unknown:
            self._asked.update(unknown)
            self.places += self.reader.places(unknown)
        beyond = {t for place in self.places for t in place.trace_ids} - self.traces
        if beyond:
            self.traces |= self._bounded(beyond)

    def _bounded(self, beyond: set[str]) -> set[str]:
        counts = self.reader.span_counts(sorted(self.traces | beyond))
        room = LARGEST - sum(counts.get(trace, 0) for trace in self.traces)
        added: set[str] = set()
        for trace in sorted(beyond):
            room -= counts.get(trace, 0)
            if room < 0:
                log.error("run_cut", traces=len(self.traces | beyond), limit=LARGEST)
                break
            added.add(trace)
        return added
