"""Figures over many runs: counts by value, sums by time. ClickHouse computes, exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from collector.reading import rows
from collector.reading import statements as st
from collector.views import FACETS, Deploy, Facet, FacetCount, RunBucket, RunFigures, RunFilter
from gnomon.clock import LAST_MOMENT, Nanos
from gnomon.store import Store
from gnomon.store.sql import load
from gnomon.store.statements import filled

_KEYS = """intDiv(toUnixTimestamp64Nano(started_at), {width:Int64}) * {width:Int64} AS start,
    ifNull(agent_name, '') AS agent, ifNull(agent_version, '') AS version,
    (grouping(start) = 0)::Bool AS by_time, (grouping(version) = 0)::Bool AS by_version"""
_GROUPED = "GROUP BY GROUPING SETS ((start), (agent, version), ()) ORDER BY start, agent, version"
_NO_KEYS = "0 AS start, '' AS agent, '' AS version, false AS by_time, false AS by_version"
"""By time, by version, and all runs together; or all of them alone."""


def facets(store: Store, where: RunFilter, *, limit: int) -> Mapping[Facet, Sequence[FacetCount]]:
    """Return the most frequent values of each facet, each without its own condition."""
    condition, others = st.faceted(where)
    sql = filled(load("collector")["facets"], where=condition.text, **others)
    (row,) = store.read(sql, tag="collector.facets", bind=condition.params)
    counted = {facet: dict(zip(*row[facet], strict=True)) for facet in FACETS}
    return {facet: _most_frequent(counted[facet], limit) for facet in FACETS}


def counts(store: Store, where: RunFilter, *, width_ns: int) -> list[RunBucket]:
    """Return how many runs began per width of time, and how they ended: a third of `buckets`."""
    condition = st.where(where)
    sql = filled(load("collector")["counts"], where=condition.text)
    found = store.read(sql, tag="collector.counts", width=width_ns, bind=condition.params)
    return [RunBucket(**row) for row in found]


def figures(store: Store, where: RunFilter, *, width_ns: int, versions: int) -> RunFigures:
    """Return the figures by time, by agent and version, and of all runs, from one look at them."""
    found = _buckets(store, where, _KEYS, _GROUPED, width=width_ns)
    by_version = [row.bucket for row in found if row.by_version and row.bucket.version]
    by_version.sort(key=lambda one: (-one.runs, one.agent, one.version))
    return RunFigures(
        total=_total(found, where),
        points=[row.bucket for row in found if row.by_time],
        versions=by_version[:versions],
    )


def totals(store: Store, where: RunFilter) -> RunBucket:
    """Return the figures of the whole filter as one bucket that starts at `since`."""
    return _total(_buckets(store, where, _NO_KEYS, ""), where)


class _Row(NamedTuple):
    bucket: RunBucket
    by_time: bool
    by_version: bool


def _buckets(store: Store, where: RunFilter, keys: str, grouped: str, **params: int) -> list[_Row]:
    condition = st.where(where)
    sql = filled(load("collector")["buckets"], keys=keys, where=condition.text, grouped=grouped)
    found = store.read(sql, tag="collector.buckets", bind={**condition.params, **params})
    return [_Row(rows.bucket(row), row["by_time"], row["by_version"]) for row in found]


def _total(found: Sequence[_Row], where: RunFilter) -> RunBucket:
    start = where.since or Nanos(0)
    whole = (row.bucket for row in found if not (row.by_time or row.by_version))
    nothing = RunBucket(start=start, runs=0, errors=0, unknown=0, open=0)
    return replace(next(whole, nothing), start=start)


def deploys(store: Store, where: RunFilter) -> list[Deploy]:
    """Return the versions whose first run of all lies in the filter's time, oldest first.

    Of the other conditions only those hold that a version keeps: origin, agent, version.
    """
    lasting = RunFilter(origin=where.origin, agent=where.agent, version=where.version)
    condition = st.where(lasting)
    sql = filled(load("collector")["deploys"], where=condition.text)
    found = store.read(
        sql,
        tag="collector.deploys",
        since=where.since or 0,
        last=LAST_MOMENT if where.until is None else where.until - 1,
        bind=condition.params,
    )
    return [Deploy(**row) for row in found]


def _most_frequent(counts: Mapping[str, int], limit: int) -> list[FacetCount]:
    """Return the values with most runs; ties by value. '' means that a run has none."""
    named = [FacetCount(value=value, runs=runs) for value, runs in counts.items() if value]
    return sorted(named, key=lambda count: (-count.runs, count.value))[:limit]
