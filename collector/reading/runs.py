"""Runs read back from ClickHouse: lists, single ones, and where each stands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from collector.reading import charts, rows
from collector.reading import statements as st
from collector.reading.lots import MANY_TRACES, in_lots, lists
from collector.reading.rows import Place
from collector.short import ID, short
from collector.views import Deploy, Facet, FacetCount, RunBucket, RunFigures, RunFilter, RunPosition
from gnomon.clock import Nanos
from gnomon.model import Run, RunId
from gnomon.store import Store
from gnomon.store.client import Row
from gnomon.store.sql import load
from gnomon.store.statements import columns, filled

_LOOK = 4
"""A look without FINAL takes so many rows for each one asked for, since folds of one run repeat it;
each further look takes so many times more."""


_AT_ONCE = 50
"""Places that are looked at together at least."""

_FEW = 2_000
"""Rows that a filter is narrowed to at most."""

_POSITION = "toUnixTimestamp64Nano(started_at) AS started_at, run_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run stands, and what its steps are found by."""

    run_id: RunId
    started_at: Nanos
    trace_ids: Sequence[str]


class RunReader:
    """The runs, and figures over many of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("collector")

    def runs(
        self,
        where: RunFilter,
        *,
        limit: int,
        after: RunPosition | None = None,
        newer: bool = False,
    ) -> list[Run]:
        """List runs, newest first, behind `after`; with `newer` those just before it instead.

        `newer` also answers newest first: the `limit` rows nearest to `after`.
        """
        found = self._walked(where, columns(Run), limit, after, newer=newer)
        return [rows.run(row) for row in found]

    def positions(
        self,
        where: RunFilter,
        *,
        limit: int,
        after: RunPosition | None = None,
        newer: bool = False,
    ) -> list[RunPosition]:
        """Return where the runs stand that `runs` would list: a fraction of the work."""
        found = self._walked(where, _POSITION, limit, after, newer=newer)
        return [RunPosition(**row) for row in found]

    def narrowed(self, where: RunFilter) -> RunFilter:
        """Return a filter that finds the same, by places instead of a text where these are few.

        For several questions with one text: looking through all of it is what they cost.
        """
        if where.text is None:
            return where
        holding = RunFilter(since=where.since, until=where.until, origin=None, text=where.text)
        places = self._candidates(holding, _FEW + 1, None, newer=False)
        if len(places) > _FEW:
            return where
        live = self._live(holding, _POSITION, places, _FEW, newer=False)
        return replace(where, text=None, places=[RunPosition(**row) for row in live])

    def count(self, where: RunFilter) -> int:
        """Return how many runs the filter finds."""
        condition = st.where(where)
        sql = filled(self._sql["count_runs"], where=condition.text)
        (row,) = self._store.read(sql, tag="collector.count_runs", bind=condition.params)
        return int(row["runs"])

    def run(self, run_id: str) -> Run | None:
        """Return one run."""
        place = self.standing(run_id)
        if place is None:
            return None
        sql = filled(self._sql["run_at"], columns=columns(Run))
        found = self._store.read(
            sql, tag="collector.run_at", run_id=place.run_id, started_at=place.started_at
        )
        return rows.run(found[0]) if found else None

    def standing(self, run_id: str) -> Standing | None:
        """Return where a run stands now; of two places, after a crash, the one written last."""
        known = short(run_id, ID)
        found = self._store.read(self._sql["standing"], tag="collector.standing", run_id=known)
        return Standing(run_id=RunId(known), **found[0]) if found else None

    def beginning(self, prefix: str, *, limit: int) -> list[RunPosition]:
        """Return the runs whose ids begin so."""
        found = self._store.read(
            self._sql["runs_beginning"], tag="collector.runs_beginning", prefix=prefix, limit=limit
        )
        return [RunPosition(**row) for row in found]

    def places(self, run_ids: Iterable[str]) -> list[Place]:
        """Return where these runs stand; twice only after a crash between two passes."""
        return [
            rows.place(row)
            for some in lists(run_ids)
            for row in self._store.read(self._sql["places"], tag="collector.places", runs=some)
        ]

    def run_ids_of_traces(self, traces: Iterable[str]) -> set[str]:
        """Return every run id under which a step of these traces was ever stored."""
        return {
            row["run_id"]
            for some in lists(traces, MANY_TRACES)
            for row in self._store.read(
                self._sql["run_ids_of_traces"], tag="collector.run_ids_of_traces", traces=some
            )
        }

    def facets(self, where: RunFilter, *, limit: int) -> Mapping[Facet, Sequence[FacetCount]]:
        """Return the most frequent values of each facet, each without its own condition."""
        return charts.facets(self._store, where, limit=limit)

    def figures(self, where: RunFilter, *, width_ns: int, versions: int) -> RunFigures:
        """Return figures by time (multiples of the width since 1970), by version, and of all."""
        return charts.figures(self._store, where, width_ns=width_ns, versions=versions)

    def counts(self, where: RunFilter, *, width_ns: int) -> list[RunBucket]:
        """Return how many runs began per width of time, and how they ended; nothing else."""
        return charts.counts(self._store, where, width_ns=width_ns)

    def totals(self, where: RunFilter) -> RunBucket:
        """Return the figures of the whole filter as one bucket that starts at `since`."""
        return charts.totals(self._store, where)

    def deploys(self, where: RunFilter) -> list[Deploy]:
        """Return the versions whose first run of all lies in the filter's time, oldest first."""
        return charts.deploys(self._store, where)

    def data_version(self) -> str:
        """Return a short text that changes when any run does; answered in a millisecond."""
        (row,) = self._store.read(self._sql["data_version"], tag="collector.data_version")
        return f"{row['block']:x}.{row['parts']:x}"

    def _walked(
        self,
        where: RunFilter,
        columns: str,
        limit: int,
        after: RunPosition | None,
        *,
        newer: bool,
    ) -> list[Row]:
        """Return the rows of the runs nearest to `after`, newest first."""
        found: list[Row] = []
        for places in self._ahead(where, limit, after, newer=newer):
            found += self._live(where, columns, places, limit - len(found), newer=newer)
            if len(found) >= limit:
                break
        return found[::-1] if newer else found

    def _ahead(
        self, where: RunFilter, limit: int, after: RunPosition | None, *, newer: bool
    ) -> Iterator[list[RunPosition]]:
        """Yield places where rows may stand that fit, nearest first, some at a time."""
        many = max(limit, _AT_ONCE)
        if where.places is not None:
            yield from in_lots(_beyond(where.places, after, newer=newer), many)
            return
        look = limit * _LOOK
        while True:
            places = self._candidates(where, look, after, newer=newer)
            yield from in_lots(places, many)
            if len(places) < look:
                return
            after, look = places[-1], look * _LOOK

    def _candidates(
        self, where: RunFilter, look: int, after: RunPosition | None, *, newer: bool
    ) -> list[RunPosition]:
        """Return where rows stand that fit, the next `look` ones, whether still valid or not.

        Every row that counts is among them: it is a row without FINAL, too.
        """
        condition = st.where(where)
        if after is not None:
            st.behind(condition, after, newer=newer)
        sql = filled(self._sql["candidates"], where=condition.text, direction=_way(newer))
        found = self._store.read(sql, tag="collector.candidates", limit=look, bind=condition.params)
        return [RunPosition(row["started_at"], row["run_id"]) for row in found]

    def _live(
        self,
        where: RunFilter,
        columns: str,
        places: Sequence[RunPosition],
        limit: int,
        *,
        newer: bool,
    ) -> list[Row]:
        """Return the valid rows at these places that fit."""
        condition = st.where(replace(where, places=places))
        sql = filled(
            self._sql["runs"], columns=columns, where=condition.text, direction=_way(newer)
        )
        return self._store.read(sql, tag="collector.runs", limit=limit, bind=condition.params)


def _beyond(
    places: Sequence[RunPosition], after: RunPosition | None, *, newer: bool
) -> list[RunPosition]:
    """Return the places behind (or before) a position, nearest first."""
    if newer:
        return sorted(place for place in places if after is None or place > after)
    return sorted((place for place in places if after is None or place < after), reverse=True)


def _way(newer: bool) -> str:
    return "ASC" if newer else "DESC"
