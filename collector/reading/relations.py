"""Runs and steps as tables that a statement of another room may join: de-duplicated, in scope."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from collector.reading import statements as st
from collector.views import RunFilter
from gnomon.model import Run, Step
from gnomon.store.client import Value

_SINCE = "started_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND "


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A sub-query in brackets, and the typed parameters it names."""

    sql: str
    params: Mapping[str, Value]


def runs(where: RunFilter, columns: Sequence[str]) -> Relation:
    """Return the runs a filter finds, with these fields of `Run`."""
    condition = st.where(where)
    return Relation(
        sql=f"(SELECT {_listed(columns, Run)} FROM runs FINAL WHERE {condition.text})",  # noqa: S608 - a closed set
        params=condition.params,
    )


def counted_steps(where: RunFilter, columns: Sequence[str]) -> Relation:
    """Return the counted steps of the runs a filter finds, with these fields of `Step`.

    No step starts before its run, so the filter's beginning bounds the steps as well.
    """
    condition = st.where(where)
    since = _SINCE if where.since is not None else ""
    return Relation(
        sql=(
            f"(SELECT {_listed(columns, Step)} FROM steps FINAL WHERE {since}counted"  # noqa: S608 - a closed set
            f" AND run_id IN (SELECT run_id FROM runs FINAL WHERE {condition.text}))"
        ),
        params=condition.params,
    )


def _listed(columns: Sequence[str], row_type: type) -> str:
    known = {field.name for field in fields(row_type)}
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise ValueError(f"{row_type.__name__} has no {', '.join(unknown)}")
    return ", ".join(columns)
