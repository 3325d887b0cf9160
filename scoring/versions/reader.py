"""Comparisons of two versions, read from what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collector.reading.statements import filled
from gnomon.errors import InputError
from gnomon.model import JsonValue
from gnomon.store import Store
from gnomon.store.sql import load
from scoring.metrics.moments import Crossed, Moments
from scoring.metrics.parts import condition
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Link, Scope
from scoring.metrics.statements import Statement, compiled
from scoring.metrics.watched import Measured, RuleSection
from scoring.stats.results import Difference
from scoring.versions.live import NO_COMMON_WEEK, Both, Cell, Mix, between_weeks, common, mix
from scoring.versions.manifests import Manifests, PinRow, manifests
from scoring.versions.rule import Ruling, confidence_of, ruling
from scoring.versions.tasks import TaskComparison, on_tasks, task_of

_NOBODY = "false"

PASSED: Mapping[Measured, tuple[str, str]] = {
    "completion": (condition("verified"), condition("unverified")),
    "clean": (condition("clean"), condition("unchecked")),
    "finished": (condition("finished"), _NOBODY),
}
"""Metric: the conditions of a pass and of an undecided run."""

SURFACE: Mapping[Measured, str] = {"completion": "outcome", "clean": "policy", "finished": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What two versions are compared on, and what must be known of them."""

    base: str
    cand: str
    metric: Measured
    manifests: Manifests
    runs: Mapping[str, int]
    """Settled runs in the scope, by version."""
    links: Mapping[str, Link]
    judges: Mapping[str, Sequence[str]]
    """Grader versions behind the labels, by version of the agent."""

    @property
    def warnings(self) -> list[str]:
        """What stands above the numbers as a banner."""
        told = [self.manifests.warning] if self.manifests.warning else []
        if self.judges[self.base] != self.judges[self.cand]:
            sides = " and ".join(
                ", ".join(self.judges[v]) or "none" for v in (self.base, self.cand)
            )
            told.append(
                f"the sides were judged by different graders ({sides}): run graders backfill"
            )
        return told

    def as_json(self) -> dict[str, JsonValue]:
        """Return the setting as the API writes it."""
        return {
            "base": self.base,
            "cand": self.cand,
            "metric": self.metric,
            "runs": dict(self.runs),
            "links": {version: link.as_json() for version, link in self.links.items()},
            "warnings": self.warnings,
            "manifests": self.manifests.as_json(),
            "judges": {version: list(names) for version, names in self.judges.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Two versions live, in the same weeks."""

    setting: Setting
    ruling: Ruling
    difference: Difference
    text: str
    weeks: int
    """Weeks both have."""
    mix: Mix | None

    def as_json(self) -> JsonValue:
        """Return the plan and verdict first, then the numbers."""
        return {
            **self.setting.as_json(),
            "ruling": self.ruling.as_json(),
            "difference": self.difference.as_json(),
            "text": self.text,
            "weeks": self.weeks,
            "mix": None if self.mix is None else self.mix.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTasks:
    """Two versions on the same tasks."""

    setting: Setting
    ruling: Ruling
    comparison: TaskComparison
    task_key: str
    text: str

    def as_json(self) -> JsonValue:
        """Return the plan and verdict first, then the numbers."""
        return {
            **self.setting.as_json(),
            "ruling": self.ruling.as_json(),
            "task_key": self.task_key,
            "text": self.text,
            **self.comparison.as_json(),
        }


class CompareReader:
    """What pages and API ask about two versions."""

    def __init__(self, store: Store, metrics: MetricReader) -> None:
        self._store = store
        self._metrics = metrics
        self._sql = load("scoring.versions")

    @property
    def rule(self) -> RuleSection | None:
        """The rule of gnomon.yaml."""
        return self._metrics.watched.compare.rule

    def live(
        self, scope: Scope, *, base: str, cand: str, metric: Measured | None = None,
        by_slice: str | None = None,
    ) -> Live:  # fmt: skip
        """Compare live runs of the same weeks, the mix of inputs taken out."""
        setting = self._setting(scope, base, cand, self._metric(metric, on="live"))
        confidence = confidence_of(self.rule)
        name = by_slice or self._metrics.watched.mix_slice
        cells = self._cells(scope, setting, name)
        weeks, _ = common(cells, base=base, cand=cand)
        clusters = self._clusters(scope, setting, weeks, cells)
        found = between_weeks(
            cells, base=base, cand=cand, unit=self._metrics.units.cluster_by or "run",
            clusters=clusters, confidence=confidence,
        )  # fmt: skip
        parted = None
        if name is not None:
            parted = mix(cells, name, base=base, cand=cand, confidence=confidence)
        return Live(
            setting=setting,
            ruling=ruling(self.rule, found, on="live", metric=setting.metric),
            difference=found,
            text=self._told(setting) or ("" if weeks else NO_COMMON_WEEK),
            weeks=len(weeks),
            mix=parted,
        )

    def on_tasks(
        self, scope: Scope, *, base: str, cand: str, metric: Measured | None = None
    ) -> OnTasks:
        """Compare runs of the same tasks, paired by task."""
        setting = self._setting(scope, base, cand, self._metric(metric, on="tasks"))
        sql = load("scoring.metrics")["tasks"]
        rows = self._read(sql, scope, "scoring.tasks", versions=[base, cand])
        sides = {version: [r for r in rows if r["version"] == version] for version in (base, cand)}
        new, old = (
            {row["task"]: task_of(row, setting.metric) for row in sides[v]} for v in (cand, base)
        )
        comparison = on_tasks(new, old, confidence=confidence_of(self.rule))
        key = self._metrics.units.task
        text = self._told(setting)
        if not text and not rows:
            text = f"no run names its task: give business key {key} a source, or set compare.task"
        elif not text and not comparison.difference.n:
            text = f"the versions share no {key}"
        return OnTasks(
            setting=setting,
            ruling=ruling(self.rule, comparison.difference, on="tasks", metric=setting.metric),
            comparison=comparison,
            task_key=key,
            text=text,
        )

    def _metric(self, metric: Measured | None, *, on: str) -> Measured:
        if metric is not None:
            return metric
        return self.rule.metric if self.rule is not None and self.rule.basis == on else "completion"

    def _told(self, setting: Setting) -> str:
        absent = [v for v in (setting.base, setting.cand) if not setting.runs.get(v)]
        return f"no settled run of {' and '.join(absent)} in this scope" if absent else ""

    def _setting(self, scope: Scope, base: str, cand: str, metric: Measured) -> Setting:
        if base == cand:
            raise InputError(f"base and cand are both {base}; name two versions")
        if scope.version is not None:
            raise InputError("a comparison names its versions as base and cand, not as version")
        both = [base, cand]
        counts = {
            row["version"]: int(row["runs"])
            for row in self._read(self._sql["scoped_runs"], scope, "scoring.scoped_runs", versions=both)
        }  # fmt: skip
        pins = self._read(self._sql["pins"], scope, "scoring.pins", versions=both)
        return Setting(
            base=base,
            cand=cand,
            metric=metric,
            manifests=manifests([PinRow(**row) for row in pins], counts, base=base, cand=cand),
            runs=counts,
            links={v: self._link(scope, v, counts.get(v, 0)) for v in both},
            judges=self._judges(scope, both, SURFACE[metric]),
        )

    def _link(self, scope: Scope, version: str, runs: int) -> Link:
        own = scope.of_version(version)
        return own.link("scoped", runs, keys=self._metrics.units.slices, plain=False)

    def _judges(
        self, scope: Scope, versions: Sequence[str], surface: str
    ) -> dict[str, Sequence[str]]:
        found: dict[str, list[str]] = {version: [] for version in versions}
        rows = self._read(
            self._sql["judges"], scope, "scoring.judges", versions=list(versions), surface=surface
        )
        for row in rows:
            found[row["version"]].append(f"{row['grader']} {row['grader_version']}")
        return {version: tuple(names) for version, names in found.items()}

    def _cells(self, scope: Scope, setting: Setting, name: str | None) -> list[Cell]:
        passed, undecided = PASSED[setting.metric]
        sql = filled(self._sql["cells"], passed=passed, undecided=undecided)
        rows = self._read(
            sql, scope, "scoring.cells", by="" if name is None else f"slice:{name}",
            versions=[setting.base, setting.cand],
        )  # fmt: skip
        return [Cell(**row) for row in rows]

    def _clusters(
        self, scope: Scope, setting: Setting, weeks: Sequence[int], cells: Sequence[Cell]
    ) -> Mapping[int | None, Both] | None:
        if self._metrics.units.cluster_by is None or not weeks:
            return None
        passed, undecided = PASSED[setting.metric]
        either = f"({passed}) OR ({undecided})"
        cases: dict[int | None, tuple[str, str]] = {None: (passed, passed)}
        if any(cell.undecided for cell in cells):
            cases |= {1: (passed, either), -1: (either, passed)}
        return {
            worst: self._both(scope, setting, weeks, y_new, y_old)
            for worst, (y_new, y_old) in cases.items()
        }

    def _both(
        self, scope: Scope, setting: Setting, weeks: Sequence[int], y_new: str, y_old: str
    ) -> Both:
        sql = filled(self._sql["crossed"], y_new=y_new, y_old=y_old)
        (row,) = self._read(
            sql, scope, "scoring.crossed", new=setting.cand, old=setting.base, weeks=list(weeks)
        )
        crossed = Crossed(
            clusters=int(row["clusters"]), yy=row["y1y0"], ym=row["y1m0"], my=row["m1y0"], mm=row["m1m0"]
        )  # fmt: skip
        return Both(new=_side(row, "1"), old=_side(row, "0"), crossed=crossed)

    def _read(
        self, sql: str, scope: Scope, tag: str, *, by: str = "", **more: Any
    ) -> list[dict[str, Any]]:
        made: Statement = compiled(sql, scope, self._metrics.units, by=by)
        return self._store.read(made.sql, tag=tag, bind={**made.params, **more})


def _side(row: Mapping[str, Any], n: str) -> Moments:
    return Moments(
        clusters=int(row[f"clusters{n}"]), m=row[f"m{n}"], y=row[f"y{n}"],
        mm=row[f"m{n}m{n}"], my=row[f"m{n}y{n}"], yy=row[f"y{n}y{n}"],
    )  # fmt: skip
