"""What changed since somebody last looked, as those ask who judge runs."""

from collections.abc import Iterable, Iterator, Sequence

import orjson

from collector.reading import rows
from collector.reading import statements as st
from collector.reading.lots import MANY, MANY_TRACES, lists
from collector.reading.rows import Place, newest
from collector.reading.runs import RunReader
from gnomon.clock import Nanos
from gnomon.model import Run, RunId, Step
from gnomon.store.statements import columns, filled

LOT_SPANS = 20_000
"""Spans of runs that are read together; a larger run comes alone."""


class ChangeReader(RunReader):
    """Runs by when they were written, and many runs at once with their steps."""

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

    def many_runs(self, run_ids: Iterable[str]) -> dict[RunId, Run]:
        """Return many runs by id, a few statements for all; those that do not exist are left out."""
        places = newest(self.places(run_ids))
        sql = filled(self._sql["runs_at"], columns=columns(Run))
        found: dict[RunId, Run] = {}
        for lot in _by_time(list(places.values())):
            for row in self._store.read(
                sql,
                tag="collector.runs_at",
                first=lot[0].started_at,
                last=lot[-1].started_at,
                runs=orjson.dumps([place.run_id for place in lot]).decode(),
            ):
                run = rows.run(row)
                if run.started_at == places[run.run_id].started_at:
                    found[run.run_id] = run
        return found

    def counted_steps(self, runs: Sequence[Run]) -> dict[RunId, list[Step]]:
        """Return the counted steps of some runs in order of start, ties by span id."""
        sql = filled(self._sql["counted_steps"], columns=st.step_columns(whole=True))
        found: dict[RunId, list[Step]] = {run.run_id: [] for run in runs}
        for traces in lists((trace for run in runs for trace in run.trace_ids), MANY_TRACES):
            for row in self._store.read(sql, tag="collector.counted_steps", traces=traces):
                if row["run_id"] in found:
                    found[row["run_id"]].append(rows.step(row))
        for steps in found.values():
            steps.sort(key=lambda step: (step.started_at, step.span_id))
        return found


def _by_time(places: Sequence[Place]) -> Iterator[list[Place]]:
    ordered = sorted(places, key=lambda place: place.started_at)
    for start in range(0, len(ordered), MANY):
        yield ordered[start : start + MANY]


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
