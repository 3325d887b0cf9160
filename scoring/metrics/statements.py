"""The statements of metrics, put together from closed sets: nothing a caller says becomes SQL."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from collector.reading import relations
from gnomon.errors import InputError
from gnomon.store.client import Value
from gnomon.store.sql import load
from gnomon.store.statements import filled
from scoring.metrics.asked import WHOLE, Asked
from scoring.metrics.parts import PARTS, condition, staged
from scoring.metrics.scope import Scope
from scoring.rows import VerdictRow

RUN_COLUMNS = (
    "run_id", "revision", "agent_name", "agent_version", "environment", "business_keys", "started_at", "state",
    "status", "flags", "duration_ns", "complete", "usage_source", "steps", "llm_calls", "llm_errors",
    "embedding_calls", "tool_calls", "tool_errors", "input_tokens", "output_tokens", "cached_tokens",
    "reasoning_tokens", "cost_usd", "unpriced_calls", "manifest",
)  # fmt: skip

_BESIDE = frozenset({"started_at", "run_id", "revision", "judged_at", "at"})
VERDICT_COLUMNS = tuple(f.name for f in fields(VerdictRow) if f.name not in _BESIDE)

ALL = ""
"""Everything in one group."""

_FILLED = ("scoped", "clean", "checked")
"""Parts that statements name."""

_NAMED = ("scoped", "verified", "finished", "aborted", "priced")
"""Parts that the sums name as columns."""

_SINCE = "started_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')"
_UNTIL = "started_at < fromUnixTimestamp64Nano({until:Int64}, 'UTC')"

_POSITION = "(began < {before:Int64} OR (began = {before:Int64} AND run_id < {before_id:String}))"
"""What stands behind a run in a list, newest first."""

_MOST = "LIMIT {limit:UInt32}"

_NANOS = "toUnixTimestamp64Nano(started_at)"
_DAY = 86_400 * 10**9

GROUPS: Mapping[str, str] = {
    ALL: "''",
    "version": "ifNull(agent_version, '')",
    "environment": "environment",
    # A week begins on Monday; 1970 began on a Thursday. toStartOfWeek ends in 2149, toStartOfDay in 2106.
    "week": f"toString({_NANOS} - positiveModulo({_NANOS} - {4 * _DAY}, {7 * _DAY}))",
    "day": f"toString({_NANOS} - positiveModulo({_NANOS}, {_DAY}))",
}
"""How runs may be grouped; `slice:<name>` groups by the values of a slice, `width:<ns>` by time."""

RELEASE = "release"
"""Groups runs by agent and version: two agents may call theirs the same. For the house alone."""

_RELEASE = "toJSONString([ifNull(agent_name, ''), ifNull(agent_version, '')])"

_WIDTH = (
    "toString(intDiv(toUnixTimestamp64Nano(started_at), {group_width:Int64}) * {group_width:Int64})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """What gnomon.yaml says about units: keys of clusters, tasks and slices."""

    cluster_by: str | None
    task: str
    slices: Mapping[str, str]
    people_usd_per_minute: float = 0.0
    by_task: bool = False
    """Whether runs without a cluster are alike where they try the same task."""

    @property
    def clustered(self) -> bool:
        """Whether runs can come in clusters."""
        return self.cluster_by is not None or self.by_task

    def unit(self, *, repeated: bool, named: bool = True) -> str:
        """Return what one unit is: a cluster, a task if runs of tasks repeat, else a run.

        named: whether any run tells its cluster.
        """
        if self.tasks(repeated=repeated, named=named):
            return self.task
        return self.cluster_by or "run"

    def tasks(self, *, repeated: bool, named: bool = True) -> bool:
        """Return whether the units are tasks: their runs repeat, and nothing else clusters them."""
        if self.cluster_by == self.task:
            return repeated
        return repeated and self.by_task and (self.cluster_by is None or not named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL and its typed parameters."""

    sql: str
    params: Mapping[str, Value]

    def named(self, name: str) -> "Statement":
        """Return the same with its parameters renamed, to stand within another statement."""
        sql = re.sub(r"\{(\w+):", rf"{{{name}_\1:", self.sql)
        params = {f"{name}_{own}": value for own, value in self.params.items()}
        return Statement(sql=sql, params=params)


def group_of(by: str, units: Units) -> tuple[str, Mapping[str, Value]]:
    """Return the expression that groups runs, with its parameters."""
    if by in GROUPS:
        return GROUPS[by], {}
    if by == RELEASE:
        return _RELEASE, {}
    kind, _, name = by.partition(":")
    if kind == "width" and name.isdecimal():
        return _WIDTH, {"group_width": int(name)}
    if kind == "slice" and name in units.slices:
        return "business_keys[{slice_key:String}]", {"slice_key": units.slices[name]}
    known = [name for name in GROUPS if name] + [f"slice:{name}" for name in units.slices]
    raise InputError(f"by={by} groups nothing; write one of {', '.join(known)}")


def statement(
    name: str,
    scope: Scope,
    units: Units,
    *,
    by: str = ALL,
    part: str = "scoped",
    asked: Asked = WHOLE,
    behind: bool = False,
    some: bool = False,
    common: str = "true",
) -> Statement:
    """Return a statement of `queries.sql` for a scope.

    asked: what `sums` adds up; behind: only what stands behind the position that the caller names; some: at most `limit` rows;
    common: a further condition, compiled already.
    """
    position = _POSITION if behind else "true"
    sql = filled(
        load("scoring.metrics")[name], position=position, most=_MOST if some else "", common=common
    )
    return compiled(sql, scope, units, by=by, part=part, asked=asked)


def compiled(
    sql: str,
    scope: Scope,
    units: Units,
    *,
    by: str = ALL,
    part: str = "scoped",
    asked: Asked = WHOLE,
) -> Statement:
    """Fill the words of a statement for a scope; other rooms of scoring bring their own SQL."""
    if part not in PARTS:
        raise InputError(f"no part {part}; known: {', '.join(sorted(PARTS))}")
    where = scope.where(units.slices)
    group, more = group_of(by, units)
    runs = relations.runs(where, RUN_COLUMNS)
    chosen, bare = _bare(runs.sql, scope, units)
    named = load("scoring.metrics")
    words = {
        "units": named["sums_of_clusters" if units.clustered else "sums_of_runs"],
        "counted": named["counted"],
        "ruled": named["ruled_clusters" if units.clustered else "ruled_runs"],
        "said": named["said"],
        "parted": staged((*asked.parts, *_NAMED), named["judged"]),
        "judged": named["judged"],
        "verdicts": named["verdicts"],
        "judgements": named["judgements"],
        "placed": named["placed"],
        "group": group,
        "part": condition(part),
        "counts": ", ".join(asked.counts()),
        "totals": ", ".join(asked.amounts()),
        "bases": str(asked.bases()),
        "hits": str(asked.hits()),
        "own_bases": str([m for m, _ in asked.own_places()]),
        "own_hits": str([y for _, y in asked.own_places()]),
        "values": named["values"] if asked.values else "",
        **{name: condition(name) for name in _FILLED},
        "runs": chosen,
        "verdict_columns": ", ".join(VERDICT_COLUMNS),
        "bounds": _bounds(scope),
    }
    # In this order: what is filled in first may hold words that come later.
    text = filled(sql, **words)
    own: dict[str, Value] = {
        "cluster": units.cluster_by or "",
        "task": units.task,
        "by_task": units.by_task,
        "people_usd_per_minute": units.people_usd_per_minute,
    }
    return Statement(sql=text, params={**runs.params, **bare, **more, **own})


def _bare(runs: str, scope: Scope, units: Units) -> tuple[str, dict[str, Value]]:
    """Return the runs that name no version or no value of a slice, where those are asked for."""
    asked = ["ifNull(agent_version, '') = ''"] if scope.version == "" else []
    params: dict[str, Value] = {}
    for number, name in enumerate(scope.bare):
        params[f"bare{number}"] = units.slices[name]
        asked.append(f"business_keys[{{bare{number}:String}}] = ''")
    if not asked:
        return runs, params
    return f"(SELECT * FROM {runs} WHERE {' AND '.join(asked)})", params  # noqa: S608 - a closed set


def _bounds(scope: Scope) -> str:
    """Return the window, as a condition on tables whose rows carry the start of their run."""
    asked = ((_SINCE, scope.since), (_UNTIL, scope.until))
    return " AND ".join(text for text, moment in asked if moment is not None) or "true"
