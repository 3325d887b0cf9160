"""Where scoring's SQL varies: column lists from row types, conditions from a filter."""

from dataclasses import dataclass
from typing import NamedTuple

from gnomon.clock import Nanos
from gnomon.model import Origin
from gnomon.store.statements import NANOS, Where


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
        found.add(f"started_at >= {NANOS.format(name='since')}", since=filter_.since)
    if filter_.until is not None:
        found.add(f"started_at < {NANOS.format(name='until')}", until=filter_.until)
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
    moment = NANOS.format(name="position")
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
