"""The statements of metrics, put together from closed sets: nothing a caller says becomes SQL."""

from collections.abc import Mapping
from dataclasses import dataclass

from collector import relations
from collector.statements import filled
from gnomon.errors import InputError
from gnomon.store.client import Value
from gnomon.store.sql import load
from scoring.metrics.parts import PARTS, RATIOS, TOTALS, condition
from scoring.metrics.scope import Scope

RUN_COLUMNS = (
    "run_id", "revision", "agent_name", "agent_version", "environment", "business_keys", "started_at", "state",
    "status", "flags", "duration_ns", "complete", "usage_source", "steps", "llm_calls", "llm_errors",
    "embedding_calls", "tool_calls", "tool_errors", "input_tokens", "output_tokens", "cached_tokens",
    "reasoning_tokens", "cost_usd", "unpriced_calls", "manifest",
)  # fmt: skip

STEP_COLUMNS = (
    "run_id", "kind", "status", "input_tokens", "output_tokens", "tool_name", "tool_arguments",
    "decision", "decision_source", "duration_ns",
)  # fmt: skip

ALL = ""
"""Everything in one group."""

_FILLED = ("scoped", "finished", "aborted", "priced", "clean", "checked")
"""Parts that statements name."""

_SINCE = "started_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')"
_UNTIL = "started_at < fromUnixTimestamp64Nano({until:Int64}, 'UTC')"

GROUPS: Mapping[str, str] = {
    ALL: "''",
    "version": "ifNull(agent_version, '')",
    "environment": "environment",
    "week": "toString(toUnixTimestamp64Nano(toDateTime64(toStartOfWeek(started_at, 1), 9, 'UTC')))",
    "day": "toString(toUnixTimestamp64Nano(toDateTime64(toStartOfDay(started_at), 9, 'UTC')))",
}
"""How runs may be grouped; `slice:<name>` groups by the values of a slice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """What gnomon.yaml says about units: keys of clusters, tasks and slices."""

    cluster_by: str | None
    task: str
    slices: Mapping[str, str]
    people_usd_per_minute: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL and its typed parameters."""

    sql: str
    params: Mapping[str, Value]


def group_of(by: str, units: Units) -> tuple[str, Mapping[str, Value]]:
    """Return the expression that groups runs, with its parameters."""
    if by in GROUPS:
        return GROUPS[by], {}
    kind, _, name = by.partition(":")
    if kind == "slice" and name in units.slices:
        return "business_keys[{slice_key:String}]", {"slice_key": units.slices[name]}
    known = [name for name in GROUPS if name] + [f"slice:{name}" for name in units.slices]
    raise InputError(f"by={by} groups nothing; write one of {', '.join(known)}")


def statement(name: str, scope: Scope, units: Units, *, by: str = ALL, part: str = "scoped") -> Statement:  # fmt: skip
    """Return a statement of `queries.sql` for a scope."""
    return compiled(load("scoring.metrics")[name], scope, units, by=by, part=part)


def compiled(sql: str, scope: Scope, units: Units, *, by: str = ALL, part: str = "scoped") -> Statement:  # fmt: skip
    """Fill the words of a statement for a scope; other rooms of scoring bring their own SQL."""
    if part not in PARTS:
        raise InputError(f"no part {part}; known: {', '.join(sorted(PARTS))}")
    where = scope.where(units.slices)
    group, more = group_of(by, units)
    steps = relations.counted_steps(where, STEP_COLUMNS)
    runs = relations.runs(where, RUN_COLUMNS)
    named = load("scoring.metrics")
    words = {
        "judged": named["judged"],
        "judgements": named["judgements"],
        "breaches": named["breaches"],
        "placed": named["placed"],
        "group": group,
        "part": condition(part),
        "inner": inner(),
        "outer": outer(),
        **{name: condition(name) for name in _FILLED},
        "runs": _bare(runs.sql, scope),
        "steps": steps.sql,
        "bounds": _bounds(scope),
    }
    # In this order: what is filled in first may hold words that come later.
    text = filled(sql, **words)
    own: dict[str, Value] = {
        "cluster": units.cluster_by or "",
        "task": units.task,
        "people_usd_per_minute": units.people_usd_per_minute,
    }
    return Statement(sql=text, params={**steps.params, **runs.params, **more, **own})


def _bare(runs: str, scope: Scope) -> str:
    """Return the runs without a version, where that is asked for."""
    if scope.version != "":
        return runs
    return f"(SELECT * FROM {runs} WHERE ifNull(agent_version, '') = '')"  # noqa: S608 - a closed set


def _bounds(scope: Scope) -> str:
    """Return the window, as a condition on tables whose rows carry the start of their run."""
    asked = ((_SINCE, scope.since), (_UNTIL, scope.until))
    return " AND ".join(text for text, moment in asked if moment is not None) or "true"


def inner() -> str:
    """Return what is added up within a cluster."""
    lines = []
    for name, ratio in RATIOS.items():
        base = condition(ratio.m)
        y = f"sumIf({ratio.y}, {base})" if ratio.amount else f"countIf({condition(ratio.y)})"
        lines += [f"{y} AS y_{name}", f"countIf({base}) AS m_{name}"]
    lines += [f"countIf({condition(name)}) AS part_{name}" for name in PARTS]
    scoped = condition("scoped")
    lines += [f"sumIf({column}, {scoped}) AS total_{name}" for name, column in TOTALS.items()]
    return ",\n        ".join(lines)


def outer() -> str:
    """Return what is added up over clusters: sums, and products for the spread between them."""
    lines = []
    for name in RATIOS:
        y, m = f"toFloat64(y_{name})", f"toFloat64(m_{name})"
        lines += [
            f"countIf(m_{name} > 0) AS clusters_{name}",
            f"sum({m}) AS sum_m_{name}",
            f"sum({y}) AS sum_y_{name}",
            f"sum({m} * {m}) AS sum_mm_{name}",
            f"sum({m} * {y}) AS sum_my_{name}",
            f"sum({y} * {y}) AS sum_yy_{name}",
        ]
    lines += [f"sum(part_{name}) AS parts_{name}" for name in PARTS]
    lines += [f"sum(total_{name}) AS totals_{name}" for name in TOTALS]
    return ",\n    ".join(lines)
