"""One lot of traces from their spans to their rows: read, fold, compare with what is stored, write."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable

import structlog

from collector.folding.fold import Folded, Previous, fold_traces
from collector.folding.open_runs import OpenRuns
from collector.queue.port import Touched
from collector.reading.rows import Place, newest
from collector.store import Reader, Writer
from collector.watched import Watched
from gnomon.clock import Nanos
from gnomon.model import Run, RunId

log = structlog.get_logger(__name__)

LARGEST = 200_000
"""Spans folded together at most. A run that spreads over more is cut, and the log says so."""


@dataclass(slots=True)
class _Reach:
    """The traces that must be folded together, and the runs known to lie in them."""

    traces: set[str]
    looked: set[str] = field(default_factory=set)
    """Traces whose runs are known."""
    asked: set[str] = field(default_factory=set)
    """Runs whose places are known."""
    places: list[Place] = field(default_factory=list)

    @property
    def stored(self) -> Mapping[RunId, Place]:
        """The stored version of each run."""
        return newest(self.places)

    @property
    def beyond(self) -> set[str]:
        """Traces of the known runs that are not in reach yet."""
        return {t for place in self.places for t in place.trace_ids} - self.traces


class TraceFolding:
    """Folds traces out of the store back into it. Doing it twice changes nothing."""

    def __init__(self, reader: Reader, writer: Writer, watched: Watched) -> None:
        self._reader = reader
        self._writer = writer
        self._watched = watched
        self._reading = reading_of(watched)
        self._open = OpenRuns()

    def settle(self, traces: Sequence[Touched], now: Nanos) -> set[str]:
        """Settle the runs of which nothing came since they were folded; return their traces."""
        quiet = self._open.take_quiet(traces, now)
        if quiet:
            folded_at = max([now, *(waiting.folded_at + 1 for waiting in quiet.values())])
            runs = [waiting.run for waiting in quiet.values()]
            self._writer.runs(runs, reading=self._reading, folded_at=folded_at)
        return set(quiet)

    def span_counts(self, traces: Sequence[str]) -> dict[str, int]:
        """Return how many spans each of these traces has."""
        return self._reader.span_counts(traces)

    def fold(self, traces: Sequence[Touched], now: Nanos) -> dict[str, Nanos]:
        """Fold whole traces with all that share a run with them; write what changed."""
        reach = _Reach({trace.trace_id for trace in traces})
        self._widen(reach)
        folded = self._folded(reach, traces, now)
        while self._meets_others(reach, folded):
            folded = self._folded(reach, traces, now)
        self._open.forget(reach.traces)
        folded_at = max([now, *(place.folded_at + 1 for place in reach.places)])
        self._write(reach, folded, folded_at)
        self._open.remember(traces, folded, folded_at)
        return dict(folded.again)

    def _folded(self, reach: _Reach, touched: Sequence[Touched], now: Nanos) -> Folded:
        received: dict[str, Nanos] = {}
        for place in reach.places:
            for trace in place.trace_ids:
                received[trace] = max(place.last_received_at, received.get(trace, Nanos(0)))
        received.update({trace.trace_id: trace.last_received for trace in touched})
        return fold_traces(
            self._reader.spans(reach.traces),
            self._reader.logs(reach.traces),
            watched=self._watched,
            previous={run_id: _previous(place) for run_id, place in reach.stored.items()},
            received=received,
            now=now,
        )

    def _widen(self, reach: _Reach) -> None:
        """Add every trace that shares a run, directly or through others, up to a bound."""
        while fresh := reach.traces - reach.looked:
            reach.looked |= fresh
            self._ask(reach, self._reader.run_ids_of_traces(sorted(fresh)))

    def _ask(self, reach: _Reach, run_ids: Iterable[str]) -> None:
        unknown = sorted(set(run_ids) - reach.asked)
        reach.asked.update(unknown)
        if unknown:
            reach.places += self._reader.places(unknown)
        beyond = reach.beyond
        if beyond:
            reach.traces |= self._bounded(reach, beyond)

    def _bounded(self, reach: _Reach, beyond: set[str]) -> set[str]:
        counts = self._reader.span_counts(sorted(reach.traces | beyond))
        room = LARGEST - sum(counts.get(trace, 0) for trace in reach.traces)
        added: set[str] = set()
        for trace in sorted(beyond):
            room -= counts.get(trace, 0)
            if room < 0:
                log.error("run_cut", traces=len(reach.traces | beyond), limit=LARGEST)
                break
            added.add(trace)
        return added

    def _meets_others(self, reach: _Reach, folded: Folded) -> bool:
        """Tell whether a run of this fold is stored with traces that were not read."""
        before = set(reach.traces)
        self._ask(reach, (run.run_id for run in folded.runs))
        self._widen(reach)
        return reach.traces != before

    def _write(self, reach: _Reach, folded: Folded, folded_at: int) -> None:
        stored = reach.stored
        changed = self._changed_traces(folded, stored)
        steps = [step for step in folded.steps if step.trace_id in changed]
        self._writer.steps(steps, folded_at=folded_at)
        if reach.places:
            # Only where runs are stored can there be steps to take back.
            self._take_back_steps(reach.traces if changed else set(), folded, folded_at)
        news = [run for run in folded.runs if not self._is_stored(run, stored.get(run.run_id))]
        self._writer.runs(news, reading=self._reading, folded_at=folded_at)
        self._writer.forget_runs(_stale(reach, folded), folded_at=folded_at)

    def _changed_traces(self, folded: Folded, stored: Mapping[RunId, Place]) -> set[str]:
        """Return the traces in which some run holds other content, or was read otherwise."""
        return {
            trace
            for run in folded.runs
            for trace in run.trace_ids
            if not self._has_same_steps(run, stored.get(run.run_id))
        }

    def _has_same_steps(self, run: Run, place: Place | None) -> bool:
        return (
            place is not None
            and place.content_digest == run.content_digest
            and place.reading == self._reading
        )

    def _is_stored(self, run: Run, place: Place | None) -> bool:
        return (
            place is not None
            and self._has_same_steps(run, place)
            and place.started_at == run.started_at
            and place.state is run.state
            and place.settled_at == run.settled_at
            and place.revision == run.revision
            and place.last_received_at == run.last_received_at
        )

    def _take_back_steps(self, traces: set[str], folded: Folded, folded_at: int) -> None:
        named = {(step.trace_id, step.span_id) for step in folded.steps}
        stale = [
            key
            for key in self._reader.step_keys(sorted(traces))
            if (key.trace_id, key.span_id) not in named
        ]
        self._writer.forget_steps(stale, folded_at=folded_at)


def _stale(reach: _Reach, folded: Folded) -> list[Place]:
    """Return the places at which a run stands no more."""
    stand = {run.run_id: run.started_at for run in folded.runs}
    return [
        place
        for place in reach.places
        if stand.get(place.run_id) != place.started_at
        # A run that was only partly in reach is not gone because it was not folded.
        and (place.run_id in stand or reach.traces.issuperset(place.trace_ids))
    ]


def reading_of(watched: Watched) -> str:
    """Name the mapping: a digest of the code that reads spans and of what gnomon.yaml adds."""
    digest = hashlib.sha256(watched.model_dump_json().encode())
    for file in sorted(_sources(resources.files("collector")), key=lambda file: file.name):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _sources(folder: Traversable) -> Iterable[Traversable]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry)
        elif entry.name.endswith(".py"):
            yield entry


def _previous(place: Place) -> Previous:
    return Previous(
        run_id=place.run_id,
        state=place.state,
        revision=place.revision,
        settled_at=place.settled_at,
        content_digest=place.content_digest,
        trace_ids=place.trace_ids,
        started_at=place.started_at,
    )
