"""Figures over many runs: counts by value, sums by time. ClickHouse computes, exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from collector.reading import rows
from collector.reading import statements as st
from collector.views import FACETS, Deploy, Facet, FacetCount, RunBucket, RunFilter
from gnomon.clock import LAST_MOMENT, Nanos
from gnomon.store import Store
from gnomon.store.sql import load

_EVER = 0
"""The width of one bucket that holds every moment there is."""


def facets(store: Store, where: RunFilter, *, limit: int) -> Mapping[Facet, Sequence[FacetCount]]:
    """Return the most frequent values of each facet, each without its own condition."""
    condition, others = st.faceted(where)
    sql = st.filled(load("collector")["facets"], where=condition.text, **others)
    (row,) = store.read(sql, tag="collector.facets", bind=condition.params)
    counted = {facet: dict(zip(*row[facet], strict=True)) for facet in FACETS}
    return {facet: _most_frequent(counted[facet], limit) for facet in FACETS}


def counts(store: Store, where: RunFilter, *, width_ns: int) -> list[RunBucket]:
    """Return how many runs began per width of time, and how they ended: a third of `buckets`."""
    condition = st.where(where)
    sql = st.filled(load("collector")["counts"], where=condition.text)
    found = store.read(sql, tag="collector.counts", width=width_ns, bind=condition.params)
    return [RunBucket(**row) for row in found]


def buckets(
    store: Store, where: RunFilter, *, width_ns: int, by_version: bool = False
) -> list[RunBucket]:
    """Return figures per width of time, oldest first; widths without a run are left out."""
    condition = st.where(where)
    sql = st.filled(load("collector")["buckets"], where=condition.text)
    found = store.read(
        sql, tag="collector.buckets", width=width_ns, by_version=by_version, bind=condition.params
    )
    return [rows.bucket(row) for row in found]


def versions(store: Store, where: RunFilter, *, limit: int) -> list[RunBucket]:
    """Return the figures of each agent's versions, those with most runs first; ties by name."""
    found = buckets(store, where, width_ns=_EVER, by_version=True)
    named = [bucket for bucket in found if bucket.version]
    named.sort(key=lambda bucket: (-bucket.runs, bucket.agent, bucket.version))
    return [replace(bucket, start=where.since or Nanos(0)) for bucket in named[:limit]]


def totals(store: Store, where: RunFilter) -> RunBucket:
    """Return the figures of the whole filter as one bucket that starts at `since`."""
    start = where.since or Nanos(0)
    found = buckets(store, where, width_ns=_EVER)
    if not found:
        return RunBucket(start=start, runs=0, errors=0, unknown=0, open=0)
    return replace(found[0], start=start)


def deploys(store: Store, where: RunFilter) -> list[Deploy]:
    """Return the versions whose first run of all lies in the filter's time, oldest first.

    Of the other conditions only those hold that a version keeps: origin, agent, version.
    """
    lasting = RunFilter(origin=where.origin, agent=where.agent, version=where.version)
    condition = st.where(lasting)
    sql = st.filled(load("collector")["deploys"], where=condition.text)
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
