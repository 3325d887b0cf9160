"""Where scoring's SQL varies: column lists from row types, conditions from a filter."""

from dataclasses import dataclass, field, fields
from typing import NamedTuple

from gnomon.clock import Nanos, moments
from gnomon.model import Origin
from gnomon.store.client import Value

_NANOS = "fromUnixTimestamp64Nano({{{name}:Int64}}, 'UTC')"


class ViolationPosition(NamedTuple):
    """Where a violation stands in the list: newest run first."""

    started_at: Nanos
    run_id: str
    policy: str
    policy_version: str
    revision: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationFilter:
    """Which violations. Times are those of the run's start, half-open; None asks nothing."""

    since: Nanos | None = None
    until: Nanos | None = None
    policy: str | None = None
    rule: str | None = None
    severity: str | None = None
    agent: str | None = None
    version: str | None = None
    environment: str | None = None
    run_id: str | None = None
    origin: Origin | None = Origin.PRODUCTION
    graders: tuple[tuple[str, str], ...] | None = None
    """Policies by name and version; None: whichever judged."""


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, and their typed parameters."""

    conditions: list[str] = field(default_factory=list)
    params: dict[str, Value] = field(default_factory=dict)

    def add(self, condition: str, **params: Value) -> None:
        """Add a condition that names its parameters."""
        self.conditions.append(condition)
        self.params.update(params)

    @property
    def text(self) -> str:
        """The conditions as SQL; none is `true`."""
        return " AND ".join(self.conditions) or "true"


def columns(row_type: type) -> str:
    """Return the select list of a row type: its fields, moments as nanoseconds."""
    times = moments(row_type)
    return ", ".join(
        f"toUnixTimestamp64Nano({f.name}) AS {f.name}" if f.name in times else f.name
        for f in fields(row_type)
    )


def filled(sql: str, **words: str) -> str:
    """Put words such as `{{columns}}` and `{{where}}` into a statement."""
    for name, text in words.items():
        sql = sql.replace("{{" + name + "}}", text)
    return sql


_EQUAL = {
    "policy": "policy",
    "rule": "rule",
    "severity": "severity",
    "agent": "agent_name",
    "version": "agent_version",
    "environment": "environment",
    "run_id": "run_id",
    "origin": "origin",
}
"""Field of the filter to its column."""

_OF_RUN = ("agent", "version", "environment", "run_id", "origin")
"""Conditions that `grader_status` has as well."""


def of_violations(filter_: ViolationFilter) -> Where:
    """Compile a filter for the table of violations."""
    return _compiled(filter_, tuple(_EQUAL), "policy", "policy_version")


def of_statuses(filter_: ViolationFilter) -> Where:
    """Compile what a filter says about runs and graders, for the table of statuses."""
    return _compiled(filter_, _OF_RUN, "grader", "grader_version")


def _compiled(
    filter_: ViolationFilter, names: tuple[str, ...], grader: str, grader_version: str
) -> Where:
    found = Where()
    if filter_.since is not None:
        found.add(f"started_at >= {_NANOS.format(name='since')}", since=filter_.since)
    if filter_.until is not None:
        found.add(f"started_at < {_NANOS.format(name='until')}", until=filter_.until)
    for name in names:
        value = getattr(filter_, name)
        if value is not None:
            found.add(f"{_EQUAL[name]} = {{{name}:String}}", **{name: str(value)})
    if filter_.graders is not None:
        found.add(
            f"concat({grader}, '\\n', {grader_version}) IN {{graders:Array(String)}}",
            graders=[f"{name}\n{version}" for name, version in filter_.graders],
        )
    return found


def behind(found: Where, at: ViolationPosition) -> None:
    """Add the condition that a row stands behind a position, newest first."""
    moment = _NANOS.format(name="position")
    found.add(
        f"started_at <= {moment} AND (started_at, run_id, policy, policy_version, revision, place)"
        f" < ({moment}, {{position_run:String}}, {{position_policy:String}},"
        " {position_version:String}, {position_revision:UInt32}, {position_place:UInt32})",
        position=at.started_at,
        position_run=at.run_id,
        position_policy=at.policy,
        position_version=at.policy_version,
        position_revision=at.revision,
        position_place=at.place,
    )
