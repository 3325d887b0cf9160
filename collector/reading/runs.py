"""Runs read back from ClickHouse: lists, single ones, and where each stands."""

from collections.abc import Iterable, Mapping, Sequence

from collector.reading import charts, rows
from collector.reading import statements as st
from collector.reading.lots import MANY_TRACES, lists
from collector.reading.rows import Place
from collector.views import Deploy, Facet, FacetCount, RunBucket, RunFilter, RunPosition
from gnomon.model import Run, RunId
from gnomon.store import Store
from gnomon.store.sql import load

_LOOK = 4
"""A look without FINAL takes so many rows for each one asked for, since folds of one run repeat it;
each further look takes so many times more."""


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
        found: list[Run] = []
        look = limit * _LOOK
        while len(found) < limit:
            places = self._candidates(where, look, after, newer=newer)
            if places:
                found += self._live(where, places, limit - len(found), newer=newer)
            if len(places) < look:
                break
            after, look = places[-1], look * _LOOK
        return found[::-1] if newer else found

    def count(self, where: RunFilter) -> int:
        """Return how many runs the filter finds."""
        condition = st.where(where)
        sql = st.filled(self._sql["count_runs"], where=condition.text)
        (row,) = self._store.read(sql, tag="collector.count_runs", bind=condition.params)
        return int(row["runs"])

    def run(self, run_id: str) -> Run | None:
        """Return one run."""
        return self.runs_of([run_id]).get(RunId(run_id))

    def runs_of(self, run_ids: Iterable[str]) -> dict[RunId, Run]:
        """Return some runs by id; those that do not exist are left out."""
        places = newest(self.places(run_ids))
        sql = st.filled(self._sql["run_at"], columns=st.columns(Run))
        found: dict[RunId, Run] = {}
        for place in places.values():
            for row in self._store.read(
                sql, tag="collector.run_at", run_id=place.run_id, started_at=place.started_at
            ):
                found[place.run_id] = rows.run(row)
        return found

    def traces_of_runs(self, run_ids: Iterable[str]) -> dict[RunId, Sequence[str]]:
        """Return the traces each of these runs lies in."""
        return {run_id: place.trace_ids for run_id, place in newest(self.places(run_ids)).items()}

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

    def buckets(
        self, where: RunFilter, *, width_ns: int, by_version: bool = False
    ) -> list[RunBucket]:
        """Return figures per width of time (multiples of the width since 1970), oldest first.

        Widths without a run are left out.
        """
        return charts.buckets(self._store, where, width_ns=width_ns, by_version=by_version)

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

    def _candidates(
        self, where: RunFilter, look: int, after: RunPosition | None, *, newer: bool
    ) -> list[RunPosition]:
        """Return where rows stand that fit, the next `look` ones, whether still valid or not.

        Every row that counts is among them: it is a row without FINAL, too.
        """
        condition = st.where(where)
        if after is not None:
            st.behind(condition, after, newer=newer)
        sql = st.filled(self._sql["candidates"], where=condition.text, direction=_way(newer))
        found = self._store.read(sql, tag="collector.candidates", limit=look, bind=condition.params)
        return [RunPosition(row["started_at"], row["run_id"]) for row in found]

    def _live(
        self, where: RunFilter, places: Sequence[RunPosition], limit: int, *, newer: bool
    ) -> list[Run]:
        """Return the valid rows at these places that fit."""
        condition = st.where(where)
        st.at_places(condition, places)
        sql = st.filled(
            self._sql["runs"],
            columns=st.columns(Run),
            where=condition.text,
            direction=_way(newer),
        )
        found = self._store.read(sql, tag="collector.runs", limit=limit, bind=condition.params)
        return [rows.run(row) for row in found]


def _way(newer: bool) -> str:
    return "ASC" if newer else "DESC"


def newest(places: Iterable[Place]) -> dict[RunId, Place]:
    """Return the last written place of each run."""
    found: dict[RunId, Place] = {}
    for place in places:
        known = found.get(place.run_id)
        if known is None or place.folded_at > known.folded_at:
            found[place.run_id] = place
    return found
