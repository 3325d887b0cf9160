"""Metrics, surfaces and the runs behind them, read from what is stored."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import orjson

from collector.views import Among
from gnomon.clock import Nanos, rfc3339
from gnomon.model import JsonValue
from gnomon.store import Store
from gnomon.store.client import Value
from gnomon.store.sql import load
from scoring.grading.policy import PolicyGrader
from scoring.grading.port import State
from scoring.metrics import rules, statements
from scoring.metrics import surfaces as seven_surfaces
from scoring.metrics.asked import FIRST, WHOLE
from scoring.metrics.compute import nine
from scoring.metrics.conditions import Condition
from scoring.metrics.figures import Guarded
from scoring.metrics.group import Group
from scoring.metrics.others import Others, others_of
from scoring.metrics.pulse import Beat, Pulse, beat, pulse
from scoring.metrics.ruled import RuleCount, Ruled, ruled_of
from scoring.metrics.rules import RuleReport
from scoring.metrics.scope import Scope
from scoring.metrics.statements import ALL, Statement, Units, statement
from scoring.metrics.sums import Sums, of_row
from scoring.metrics.surfaces import GraderCount, SurfaceReport
from scoring.metrics.three import ThreeNumbers, three
from scoring.metrics.tooluse import Sides
from scoring.metrics.watched import MetricsWatched

_PERIODS = {"week": dt.timedelta(weeks=1), "day": dt.timedelta(days=1)}
_LISTED = 2_000
"""So many runs are handed on by id; more by the question that finds them."""
_NOBODY: Mapping[str, str] = MappingProxyType({})
_JOINS = {"max_bytes_before_external_join": 2 * 1024**3}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricReport:
    """One group of runs: its nine metrics and the three numbers."""

    group: str
    runs: int
    """Scoped runs."""
    metrics: Sequence[Guarded]
    three: ThreeNumbers

    def as_json(self) -> JsonValue:
        """Return the report as the API writes it."""
        return {
            "group": self.group,
            "runs": self.runs,
            "metrics": {metric.name: metric.as_json() for metric in self.metrics},
            "three": self.three.as_json(),
        }

    def metric(self, name: str) -> Guarded:
        """Return one metric with its guard."""
        return next(metric for metric in self.metrics if metric.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfacesReport:
    """One group of runs: its seven surfaces, side by side."""

    group: str
    runs: int
    surfaces: Sequence[SurfaceReport]

    def as_json(self) -> JsonValue:
        """Return the report as the API writes it."""
        return {
            "group": self.group,
            "runs": self.runs,
            "surfaces": {report.name: report.as_json() for report in self.surfaces},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """One run behind a number."""

    run_id: str
    started_at: Nanos


VERDICTS = ("any", "pass", "fail", *(str(state) for state in State if state is not State.WAITING))
"""What one grader may have said of a run: any is pass or fail, the rest what became of the grader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which of the scope's runs a list shows."""

    part: str = "scoped"
    grader: str = ""
    verdict: str = "any"
    """One of VERDICTS, of that grader."""
    rule: str = ""
    """`policy/rule` that was broken; `policy` alone: any of its rules."""
    common: str | None = None
    """A version: only runs of tasks that it solved as well."""


class MetricReader:
    """What pages and API ask; every number comes with its guard and its runs."""

    def __init__(
        self, store: Store, watched: MetricsWatched, versions: Mapping[str, str] = _NOBODY
    ) -> None:
        self.watched = watched
        self._versions = versions
        """Of each grader that is set up, by name."""
        self._unmixed = ""
        """The version of the data of which none speaks of another version."""
        self._store = store
        self.units = Units(
            cluster_by=watched.cluster_by,
            task=watched.compare.task,
            slices=watched.slices,
            people_usd_per_minute=watched.metrics.people_usd_per_minute or 0.0,
            by_task=watched.by_task,
        )

    def metrics(self, scope: Scope, *, by: str = ALL) -> list[MetricReport]:
        """Return the nine metrics of each group; without a run one empty group, if ungrouped."""
        return self._metrics(scope, by, self.groups(scope, by))

    def _metrics(self, scope: Scope, by: str, groups: Sequence[Group]) -> list[MetricReport]:
        sides = self._sides(scope, [g.sums.group for g in groups]) if by == "version" else {}
        conditions = self._conditions(scope, by, groups)
        return [
            MetricReport(
                group=named(by, group.sums.group),
                runs=group.sums.parts["scoped"],
                metrics=nine(
                    group,
                    sides=sides.get(group.sums.group),
                    conditions=conditions.get(group.sums.group, ()),
                ),
                three=three(group),
            )
            for group in groups
        ]

    def surfaces(self, scope: Scope, *, by: str = ALL) -> list[SurfacesReport]:
        """Return the seven surfaces of each group."""
        return self._surfaces(scope, by, self.groups(scope, by))

    def reports(self, scope: Scope, *, by: str) -> tuple[list[MetricReport], list[SurfacesReport]]:
        """Return metrics and surfaces of each group out of one reading of the sums."""
        groups = self.groups(scope, by)
        return self._metrics(scope, by, groups), self._surfaces(scope, by, groups)

    def _surfaces(self, scope: Scope, by: str, groups: Sequence[Group]) -> list[SurfacesReport]:
        graders = self._read(statement("graders", scope, self.units, by=by), "scoring.graders")
        ruled = self._ruled(scope, by)
        return [
            SurfacesReport(
                group=named(by, group.sums.group),
                runs=group.sums.parts["scoped"],
                surfaces=seven_surfaces.seven(
                    group,
                    [seven_surfaces.grader_of(row) for row in _of(graders, group)],
                    ruled.get(group.sums.group, Ruled()),
                ),
            )
            for group in groups
        ]

    def rules(self, scope: Scope, policies: Sequence[PolicyGrader]) -> list[RuleReport]:
        """Return every rule with the runs that broke it, or how rarely it breaks at most."""
        (group,) = self.groups(scope, ALL, whole=False)
        return rules.reports(group, self.ruled(scope), policies)

    def graders(self, scope: Scope) -> list[GraderCount]:
        """Return what became of each grader, by its newest version on each run."""
        rows = self._read(statement("graders", scope, self.units), "scoring.graders")
        return [seven_surfaces.grader_of(row) for row in rows]

    def ruled(self, scope: Scope) -> Ruled:
        """Return every rule that was broken, with the runs that broke it and those judged."""
        return self._ruled(scope, ALL).get(ALL, Ruled())

    def broken_by_time(self, scope: Scope, *, width_ns: int) -> dict[Nanos, Sequence[RuleCount]]:
        """Return the rules that were broken in each stretch of time."""
        found = self._ruled(scope, f"width:{width_ns}")
        return {Nanos(int(start)): ruled.broken for start, ruled in found.items() if ruled.broken}

    def _ruled(self, scope: Scope, by: str) -> dict[str, Ruled]:
        rows = self._read(statement("rules", scope, self.units, by=by), "scoring.rules")
        ordered = groupby(rows, key=itemgetter("grp"))
        return {group: ruled_of(some) for group, some in ordered}

    def pulse(self, scope: Scope, *, by: str = ALL) -> list[Pulse]:
        """Return verdicts, the three numbers and violations of each group."""
        return [pulse(group) for group in self.groups(scope, by, whole=False)]

    def beats(self, scope: Scope, *, width_ns: int) -> list[Beat]:
        """Return verdicts and pass rate of each stretch of time that has a run, oldest first."""
        return [beat(group) for group in self.groups(scope, f"width:{width_ns}", whole=False)]

    def behind(
        self, scope: Scope, which: Which, *, limit: int, before: Behind | None = None
    ) -> list[Behind]:
        """List the runs behind a number, newest first, behind `before`."""
        made = self._behind(scope, which, limit=limit, before=before)
        rows = self._read(made, "scoring.behind")
        return [Behind(run_id=row["run_id"], started_at=row["began"]) for row in rows]

    def among(self, scope: Scope, which: Which) -> Among:
        """Return the runs behind a number as a condition on lists of runs."""
        found = self.behind(scope, which, limit=_LISTED + 1)
        if len(found) <= _LISTED:
            ids = orjson.dumps([run.run_id for run in found]).decode()
            return Among(sql="JSONExtract({among:String}, 'Array(String)')", params={"among": ids})
        made = self._behind(scope, which)
        own = made.named("among")
        return Among(sql=f"(SELECT run_id FROM ({own.sql}))", params=own.params)  # noqa: S608 - a closed set

    def _behind(
        self, scope: Scope, which: Which, *, limit: int | None = None, before: Behind | None = None
    ) -> Statement:
        common, more = "true", dict[str, Value]()
        if which.common is not None:
            solved = statement("solved_tasks", scope.of_version(which.common), self.units, part="verified").named("common")  # fmt: skip
            common, more = f"task IN ({solved.sql})", dict(solved.params)
        made = statement(
            "behind", scope, self.units, part=which.part,
            behind=before is not None, some=limit is not None, common=common,
        )  # fmt: skip
        asked: dict[str, Value] = {
            "grader": which.grader, "verdict": which.verdict, "rule": which.rule,
        }  # fmt: skip
        if limit is not None:
            asked["limit"] = limit
        if before is not None:
            asked |= {"before": before.started_at, "before_id": before.run_id}
        return Statement(sql=made.sql, params={**made.params, **more, **asked})

    def groups(self, scope: Scope, by: str, *, whole: bool = True) -> list[Group]:
        """Return the sums of each group of a scope; not `whole`: what the first page asks, the rest is 0."""
        asked = WHOLE if whole else FIRST
        rows = self._read(statement("sums", scope, self.units, by=by, asked=asked), "scoring.sums")
        found = [of_row(row, asked) for row in rows]
        if not found and by == ALL:
            found = [Sums()]
        others = self._others(scope, by)
        return [
            Group(
                sums=sums, scope=narrowed(scope, by, sums.group), units=self.units,
                others=others.get(sums.group, ()),
            )
            for sums in found
        ]  # fmt: skip

    def _others(self, scope: Scope, by: str) -> dict[str, Sequence[Others]]:
        """Return for which runs other versions speak; as a rule none, which is soon told."""
        if not self._versions or self._unmixed == (data := self.data_version()):
            return {}
        present = [f"{name}\n{version}" for name, version in self._versions.items()]
        asked = {"names": list(self._versions), "present": present}
        (row,) = self._store.read(
            load("scoring.metrics")["others_at_all"], tag="scoring.others_at_all", bind=asked
        )
        if not row["n"]:
            self._unmixed = data
            return {}
        rows = self._read(statement("others", scope, self.units, by=by), "scoring.others", **asked)
        grouped = groupby(rows, key=itemgetter("grp"))
        return {group: [others_of(row, self._versions) for row in some] for group, some in grouped}

    def data_version(self) -> str:
        """Return a short text that changes when any run or verdict does; answered in a millisecond."""
        rows = self._store.read(load("scoring.metrics")["data_version"], tag="scoring.data_version")
        return " ".join(f"{row['block']:x}.{row['parts']:x}" for row in rows)

    def _sides(self, scope: Scope, versions: Sequence[str]) -> dict[str, Sides]:
        """Return each version beside the newest other one, by their common tasks."""
        if len(versions) < 2:
            return {}
        newest = self._read(
            statement("newest_versions", scope, self.units), "scoring.newest_versions"
        )
        last = [row["version"] for row in newest]
        rows = self._read(
            statement("tasks", scope, self.units), "scoring.tasks", versions=list(versions)
        )
        steps: dict[str, dict[str, Sequence[int]]] = {version: {} for version in versions}
        for row in rows:
            if row["solved_steps"]:
                steps[row["version"]][row["task"]] = row["solved_steps"]
        found = {}
        for version in versions:
            other = next(name for name in last if name != version)
            found[version] = Sides(other=other, own_steps=steps[version], other_steps=steps[other])
        return found

    def _conditions(
        self, scope: Scope, by: str, groups: Sequence[Group]
    ) -> dict[str, list[Condition]]:
        if not any(g.sums.parts["varied"] + g.sums.parts["faulty"] for g in groups):
            return {}
        found: dict[str, list[Condition]] = {}
        for row in self._read(
            statement("conditions", scope, self.units, by=by), "scoring.conditions"
        ):
            group = row.pop("grp")
            row["fault"] = bool(row["fault"])
            found.setdefault(group, []).append(Condition(**row))
        return found

    def _read(self, sql: Statement, tag: str, **more: Any) -> list[dict[str, Any]]:
        return self._store.read(sql.sql, tag=tag, bind={**sql.params, **more})


def narrowed(scope: Scope, by: str, group: str) -> Scope:
    """Return the scope of one group."""
    match by:
        case "version":
            return scope.of_version(group)
        case statements.RELEASE:
            agent, version = orjson.loads(group)
            return replace(scope, agent=agent or scope.agent, version=version)
        case "environment":
            return replace(scope, environment=group)
        case "week" | "day":
            start = int(group)
            width = _PERIODS[by] // dt.timedelta(microseconds=1) * 1000
            return scope.within(Nanos(start), Nanos(start + width))
        case _ if by.startswith("width:"):
            start = int(group)
            return scope.within(Nanos(start), Nanos(start + int(by.partition(":")[2])))
        case _ if by.startswith("slice:"):
            return replace(scope, slices={**scope.slices, by.partition(":")[2]: group})
        case _:
            return scope


def named(by: str, group: str) -> str:
    """Return how a group is called: the start of a week or day in RFC 3339, else its value."""
    return rfc3339(Nanos(int(group))) if by in _PERIODS else group


def _of(rows: Sequence[Mapping[str, Any]], group: Group) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["grp"] == group.sums.group]
