"""What changed since somebody last looked, as those ask who judge runs."""

from collections.abc import Iterable, Iterator, Sequence

from collector import rows
from collector import statements as st
from collector.lots import in_lots
from gnomon.clock import Nanos
from gnomon.model import Run, RunId, Step
from gnomon.store import Store
from gnomon.store.sql import load

LOT_SPANS = 20_000
"""Spans of runs that are read together; a larger run comes alone."""


class ChangeReader:
    """Runs by when they were written, and the steps of many runs at once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("collector")

    def settled_between(self, start: Nanos, end: Nanos) -> list[RunId]:
        """Return the runs that were written as settled in [start, end), by id.

        Time is that of the writing, not `settled_at`: a span that waited in the queue settles its
        run in the past of what was read already.
        """
        found = self._store.read(
            self._sql["settled_between"], tag="collector.settled_between", start=start, end=end
        )
        return [RunId(row["run_id"]) for row in found]

    def first_written(self, since: Nanos) -> Nanos | None:
        """Return when the first run was written from `since` on, or None."""
        (row,) = self._store.read(
            self._sql["first_written"], tag="collector.first_written", since=since
        )
        return None if row["at"] is None else Nanos(row["at"])

    def counted_steps(self, runs: Sequence[Run]) -> dict[RunId, list[Step]]:
        """Return the counted steps of some runs in order of start, ties by span id."""
        sql = st.filled(self._sql["counted_steps"], columns=st.step_columns(whole=True))
        found: dict[RunId, list[Step]] = {run.run_id: [] for run in runs}
        for traces in in_lots(trace for run in runs for trace in run.trace_ids):
            for row in self._store.read(sql, tag="collector.counted_steps", traces=traces):
                if row["run_id"] in found:
                    found[row["run_id"]].append(rows.step(row))
        for steps in found.values():
            steps.sort(key=lambda step: (step.started_at, step.span_id))
        return found


def lots_of_runs(runs: Iterable[Run], most: int = 200) -> Iterator[list[Run]]:
    """Yield runs together up to `LOT_SPANS` spans and `most` runs."""
    lot: list[Run] = []
    size = 0
    for run in runs:
        if lot and (size + run.spans > LOT_SPANS or len(lot) == most):
            yield lot
            lot, size = [], 0
        lot.append(run)
        size += run.spans
    if lot:
        yield lot
