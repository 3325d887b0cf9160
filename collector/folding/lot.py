"""One lot of traces from their spans to their rows: read, have it folded, write what came of it.

What is read and written passes through as bytes: this process answers senders meanwhile.
"""

import hashlib
import threading
from collections.abc import Iterable, Sequence
from importlib import resources
from importlib.resources.abc import Traversable

from collector import encoded
from collector.folding.messages import Lot, Outcome
from collector.folding.open_runs import OpenRuns
from collector.folding.reach import Reach
from collector.folding.workers import Worker, worker_of, workers
from collector.queue.port import Touched
from collector.store import Reader, Writer
from collector.watched import Watched
from gnomon.clock import Nanos


class TraceFolding:
    """Folds traces out of the store back into it. Doing it twice changes nothing."""

    def __init__(
        self, reader: Reader, writer: Writer, watched: Watched, *, processes: int = 0
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._workers = workers(watched, reading_of(watched), processes)
        self._open = OpenRuns()
        self._together = threading.Lock()
        """Held while traces are folded that may share a run with some of another lot."""

    def begin(self) -> None:
        """Be ready to fold; raises Unavailable when that is not possible."""
        for worker in self._workers:
            worker.begin()

    def close(self, timeout: float) -> None:
        """End those who fold."""
        for worker in self._workers:
            worker.close(timeout)

    def settle(self, traces: Sequence[Touched], now: Nanos) -> set[str]:
        """Settle the runs of which nothing came since they were folded; return their traces."""
        quiet = self._open.take_quiet(traces, now)
        folded_at = max([now, *(waiting.folded_at + 1 for waiting in quiet.values())])
        lines = [encoded.settled(waiting.row, folded_at=folded_at) for waiting in quiet.values()]
        for rows in encoded.runs(lines):
            self._writer.write(rows)
        return set(quiet)

    def span_counts(self, traces: Sequence[str]) -> dict[str, int]:
        """Return how many spans each of these traces has."""
        return self._reader.span_counts(traces)

    def shares(self, traces: Sequence[Touched]) -> Sequence[Sequence[Touched]]:
        """Return the traces in shares that can be folded at the same time."""
        shares: list[list[Touched]] = [[] for _ in self._workers]
        for trace in traces:
            shares[worker_of(trace.trace_id, len(shares))].append(trace)
        return [share for share in shares if share]

    def fold(self, traces: Sequence[Touched], now: Nanos) -> dict[str, Nanos]:
        """Fold whole traces with all that share a run with them; write what changed.

        The traces are of one share.
        """
        reach = Reach(self._reader, {trace.trace_id for trace in traces})
        if not reach.widen():
            return self._fold(reach, traces, now)
        # Some run lies in several traces; another share may hold one of them.
        with self._together:
            reach = Reach(self._reader, {trace.trace_id for trace in traces})
            reach.widen()
            return self._fold(reach, traces, now)

    def _fold(self, reach: Reach, traces: Sequence[Touched], now: Nanos) -> dict[str, Nanos]:
        worker = self._workers[worker_of(traces[0].trace_id, len(self._workers))]
        outcome, folded_at = self._outcome(worker, reach, traces, now)
        while reach.widen(outcome.run_ids):
            outcome, folded_at = self._outcome(worker, reach, traces, now)
        self._open.forget(reach.traces)
        for rows in outcome.rows:
            self._writer.write(rows)
        self._open.remember(traces, outcome.quiet, folded_at)
        return dict(outcome.again)

    def _outcome(
        self, worker: Worker, reach: Reach, touched: Sequence[Touched], now: Nanos
    ) -> tuple[Outcome, Nanos]:
        folded_at = Nanos(max([now, *(place.folded_at + 1 for place in reach.places)]))
        traces = sorted(reach.traces)
        lot = Lot(
            now=now,
            folded_at=folded_at,
            received={trace.trace_id: trace.last_received for trace in touched},
            traces=traces,
            places=reach.places,
            spans=self._reader.span_lines(traces),
            logs=self._reader.log_lines(traces),
            # Only where runs are stored can there be steps to take back.
            step_keys=self._reader.step_key_lines(traces) if reach.places else b"",
        )
        return Outcome.read(worker.ask(lot.pieces())), folded_at


def reading_of(watched: Watched) -> str:
    """Name the mapping: a digest of the code that reads spans and of what gnomon.yaml adds."""
    digest = hashlib.sha256(watched.model_dump_json().encode())
    for file in _sources(resources.files("collector")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _sources(folder: Traversable) -> Iterable[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry)
        elif entry.name.endswith(".py"):
            yield entry
