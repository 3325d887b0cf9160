"""Comparisons of two versions, read from what is stored and judged by the rule written before."""

from collections.abc import Sequence
from dataclasses import replace

from gnomon.clock import Clock, Nanos, to_nanos, utc_now
from gnomon.errors import InputError
from gnomon.model import Origin
from gnomon.store import Store
from scoring.grading.port import Grader, Surface
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import Measured, RuleSection
from scoring.stats.gates import Decision, Verdict
from scoring.stats.results import Difference
from scoring.versions import looks, rule
from scoring.versions.answers import (
    WITHHELD,
    Live,
    OnTasks,
    bare,
    for_reading,
    honest,
    untested,
)
from scoring.versions.asking import Asking, Sides
from scoring.versions.cells import common
from scoring.versions.guard import Guard
from scoring.versions.live import LiveFound, between_weeks
from scoring.versions.looks import Look, TakenBy, TakenLook, Unit
from scoring.versions.mix import mix
from scoring.versions.registry import Registry, Ruled
from scoring.versions.rule import Plan
from scoring.versions.ruling import Ruling, Silence
from scoring.versions.setting import Setting
from scoring.versions.store import RuleBook
from scoring.versions.strata import Pair
from scoring.versions.tasks import FIRST_TRIALS, TaskComparison, TaskRuns, any_time_of, on_tasks

JUDGING = frozenset({Surface.OUTCOME, Surface.POLICY})
"""Surfaces whose graders say what passes and what breaks a rule."""

NO_WINDOW = "the rule is about all runs, not those of a window or slice"
NO_OTHERS = "the rule is about {about} and says nothing of other runs; ask for these, or without"
OTHER_MIX = (
    "the rule takes out the mix of {mix} and says nothing of the numbers inside another slice"
)

_LEVEL = 0.95
"""Of what no rule is written about, and of guards."""

Tried = dict[str, TaskRuns]
"""Task: the runs of one version."""


class CompareReader:
    """What pages and API ask about two versions."""

    def __init__(
        self, store: Store, metrics: MetricReader, *, graders: Sequence[Grader] = (),
        clock: Clock = utc_now,
    ) -> None:  # fmt: skip
        judging = [f"{g.surface} {g.name} {g.version}" for g in graders if g.surface in JUDGING]
        self.plan = rule.plan_of(metrics.watched, judging)
        """The rule of gnomon.yaml with all that its answer depends on."""
        self._metrics = metrics
        self._asking = Asking(store, metrics.units)
        self._clock = clock
        self._registry = Registry(self.plan, RuleBook(store), self._asking, clock=clock)

    @property
    def rule(self) -> RuleSection | None:
        """The rule as it is written in gnomon.yaml."""
        return None if self.plan is None else self.plan.section

    def remember(self) -> None:
        """Note that the rule, or none, is in force, so that nobody can choose one after looking."""
        self._registry.log()

    def governs(self, on: str, metric: Measured | None = None, agent: str | None = None) -> bool:
        """Return whether the rule is about a kind of comparison, over all runs."""
        rule_ = self.rule
        return (
            rule_ is not None
            and rule_.basis == on
            and metric in (None, rule_.metric)
            and agent in (None, rule_.agent)
        )

    def origin(self, on: str) -> Origin | None:
        """Return whose runs a kind of comparison takes where nobody says: None is all."""
        if self.plan is not None and self.plan.section.basis == on:
            return self.plan.scope.origin
        return Origin.PRODUCTION if on == "live" else None

    def on_tasks(
        self, scope: Scope, *, base: str, cand: str, metric: Measured | None = None
    ) -> OnTasks:
        """Compare runs of the same tasks, paired by task."""
        asked = self._asked(scope, base, cand, metric, on="tasks")
        asked, plan = self._ruled_sides(asked, "tasks")
        trials = None if isinstance(plan, Silence) else plan.trials
        new, old = self._asking.tries(asked, trials=trials)
        units = looks.units_in_time(new, old, trials=trials)
        if isinstance(plan, Silence):
            comparison = on_tasks(new, old)
            guard = self._task_guard(asked, units, None)
            shown = honest(untested(comparison.difference), guard)
            comparison = replace(comparison, difference=shown)
            ruling = self._registry.silent(plan, guard, shown.n)
        else:
            comparison, guard, ruling = self._tasks_ruled(asked, plan, units, new, old)
        setting = self._setting(asked)
        return OnTasks(
            setting=setting,
            ruling=ruling,
            guard=guard,
            comparison=comparison,
            any_time=honest(self._any_time(asked, units, new, old, trials), guard),
            task_key=self._metrics.units.task,
            text=setting.absent or guard.why_nothing or self._why_no_tasks(new, old, units),
        )

    def _tasks_ruled(
        self, asked: Sides, plan: Plan, units: Sequence[Unit], new: Tried, old: Tried
    ) -> tuple[TaskComparison, Guard, Ruling]:
        look = self._task_look(asked, plan, units, new, old)
        ruled = self._registry.ruled(plan, asked, len(units), look)
        last = ruled.last
        if last is not None and last.tasks is not None:
            return last.tasks, last.guard, self._registry.ruling(ruled, ruled.decision)
        found = on_tasks(*_only(units, new, old), confidence=plan.confidence)
        found = replace(found, difference=bare(found.difference, WITHHELD))
        guard = self._task_guard(asked, units, plan.trials)
        decision = ruled.decision
        if not (ruled.waits or self._waits(asked, units, plan.trials)):
            # Invariants wait for no look: a new violation fails once both sides are judged.
            decision = guard.over(decision, known=plan.violations_known)
        return found, guard, self._registry.ruling(ruled, decision)

    def live(
        self, scope: Scope, *, base: str, cand: str, metric: Measured | None = None,
        by_slice: str | None = None,
    ) -> Live:  # fmt: skip
        """Compare live runs of the same weeks, the mix of inputs taken out."""
        asked = self._asked(scope, base, cand, metric, on="live")
        asked, plan = self._ruled_sides(asked, "live")
        slices = self._metrics.units.slices
        if by_slice is not None and by_slice not in slices:
            raise InputError(f"mix={by_slice} is no slice; known: {', '.join(slices) or 'none'}")
        name = by_slice or self._metrics.watched.mix_slice
        if isinstance(plan, Plan) and name != (plan.mix or None):
            plan = Silence(why=OTHER_MIX.format(mix=plan.mix))
        if isinstance(plan, Silence):
            found, guard = self._weeks(asked, name, confidence=_LEVEL)
            found = for_reading(found, guard)
            ruling = self._registry.silent(plan, guard, found.deciding.n)
        else:
            found, guard, ruling = self._weeks_ruled(asked, plan)
        if guard.incomplete:
            found = replace(found, mix=None)
        setting = self._setting(asked)
        return Live(
            setting=setting,
            ruling=ruling,
            guard=guard,
            found=found,
            text=setting.absent or guard.why_nothing or found.why_nothing,
        )

    def _weeks_ruled(self, asked: Sides, plan: Plan) -> tuple[LiveFound, Guard, Ruling]:
        ruled = self._weeks_looked(asked, plan, "request")
        last = ruled.last
        if last is not None and last.live is not None:
            return last.live, last.guard, self._registry.ruling(ruled, ruled.decision)
        found, guard = self._weeks(asked, plan.mix or None, confidence=plan.confidence)
        shown = replace(bare(found.deciding, WITHHELD), n=ruled.units)
        found = replace(found, difference=shown, mix=None)
        return found, guard, self._registry.ruling(ruled, ruled.decision)

    def _weeks_looked(self, asked: Sides, plan: Plan, by: TakenBy) -> Ruled:
        starts = self._asking.starts(asked, plan.mix)
        grown = looks.reached(starts, base=asked.base, cand=asked.cand)
        units = grown[-1][1] if grown else 0
        return self._registry.ruled(plan, asked, units, self._week_look(asked, plan, grown), by)

    def take_due(self) -> int:
        """Take every look whose units are there and judged; return how many were taken."""
        plan = self.plan
        if plan is None:
            return 0
        metric = plan.section.metric
        return sum(
            self._take(Sides(scope=plan.scope, base=base, cand=cand, metric=metric), plan)
            for base, cand in self._registry.ripe(plan)
        )

    def _take(self, asked: Sides, plan: Plan) -> int:
        if plan.trials is None:
            return self._weeks_looked(asked, plan, "job").newly
        new, old = self._asking.tries(asked, trials=plan.trials)
        units = looks.units_in_time(new, old, trials=plan.trials)
        look = self._task_look(asked, plan, units, new, old)
        return self._registry.ruled(plan, asked, len(units), look, "job").newly

    def judged_since(self, moment: Nanos) -> Nanos | None:
        """Return when the first verdict from a moment on was made: after it a look can be due."""
        return self._asking.judged_since(moment)

    # What is asked

    def _asked(
        self, scope: Scope, base: str, cand: str, metric: Measured | None, *, on: str
    ) -> Sides:
        if base == cand:
            raise InputError(f"base and cand are both {base}; name two versions")
        if scope.version is not None:
            raise InputError("a comparison names its versions as base and cand, not as version")
        if metric is None:
            metric = self.rule.metric if self.rule and self.rule.basis == on else "completion"
        return Sides(scope=scope, base=base, cand=cand, metric=metric)

    def _ruled_sides(self, asked: Sides, on: str) -> tuple[Sides, Plan | Silence]:
        """Return what is asked with the rule that decides it, else why none does.

        A rule has one scope, so that it has one series of looks at two versions: what a question
        leaves open is that of the rule, and of other runs the rule says nothing.
        """
        plan, scope = self.plan, asked.scope
        if plan is None:
            return asked, Silence(why="no rule is written")
        if not self.governs(on, asked.metric):
            about = f"the rule is about {plan.section.metric} on {plan.section.basis}"
            return asked, Silence(why=about)
        if scope.slices or scope.since is not None or scope.until is not None:
            return asked, Silence(why=NO_WINDOW)
        own = plan.scope
        filled = replace(
            scope,
            agent=own.agent if scope.agent is None else scope.agent,
            environment=own.environment if scope.environment is None else scope.environment,
        )
        if filled != own:
            return asked, Silence(why=NO_OTHERS.format(about=rule.about(plan.section)))
        asked = replace(asked, scope=own)
        return asked, self._registry.silence(plan, asked) or plan

    def _setting(self, asked: Sides) -> Setting:
        counts = self._asking.runs(asked)
        keys = self._metrics.units.slices
        return Setting(
            scope=asked.scope,
            base=asked.base,
            cand=asked.cand,
            metric=asked.metric,
            manifests=self._asking.manifests(asked, counts),
            runs=counts,
            links={
                v: asked.scope.of_version(v).link("scoped", counts.get(v, 0), keys=keys, plain=False)
                for v in asked.versions
            },
            judges=self._asking.judges(asked),
        )  # fmt: skip

    def _why_no_tasks(self, new: Tried, old: Tried, units: Sequence[Unit]) -> str:
        key = self._metrics.units.task
        if not new and not old:
            return f"no run names its task: give business key {key} a source, or set compare.task"
        return "" if units else f"the versions share no {key}"

    def _any_time(
        self, asked: Sides, units: Sequence[Unit], new: Tried, old: Tried, trials: int | None
    ) -> Difference:
        """Return the running difference over runs that are the same at every look.

        Where no rule says how many runs of a task count, their number grows with every run: then
        the first of each task is taken, and the flag `first_trials` says so.
        """
        if trials is None and any(side[u.task].runs > 1 for side in (new, old) for u in units):
            new, old = self._asking.tries(asked, trials=1)
            units = looks.units_in_time(new, old, trials=1)
            found = any_time_of([unit.task for unit in units], new, old)
            return replace(found, flags=(*found.flags, FIRST_TRIALS))
        return any_time_of([unit.task for unit in units], new, old)

    # Looks

    def _task_look(
        self, asked: Sides, plan: Plan, units: Sequence[Unit], new: Tried, old: Tried
    ) -> Look:
        def look(number: int, n: int) -> TakenLook | str:
            first = units[:n]
            waits = self._waits(asked, first, plan.trials)
            if waits:
                return waits
            sides = _only(first, new, old)
            found = on_tasks(*sides, confidence=plan.confidence)
            guard = self._task_guard(asked, first, plan.trials)
            decision = rule.decided(plan, found.difference, n=n)
            why, decision = _ruled_on(plan, guard, decision, asked.metric)
            if why:
                return why
            return TakenLook(
                look=number,
                n=n,
                seen_at=to_nanos(self._clock()),
                until=Nanos(max(one.last_start for side in sides for one in side.values())),
                decision=decision,
                guard=guard,
                tasks=found,
            )

        return look

    def _week_look(self, asked: Sides, plan: Plan, grown: Sequence[tuple[Nanos, int]]) -> Look:
        def look(number: int, n: int) -> TakenLook | str:
            until = next(moment for moment, units in grown if units >= n)
            then = replace(asked, scope=replace(asked.scope, until=Nanos(until + 1)))
            waits = self._waits(then)
            if waits:
                return waits
            found, guard = self._weeks(then, plan.mix or None, confidence=plan.confidence)
            decision = rule.decided(plan, found.deciding, n=n)
            why, decision = _ruled_on(plan, guard, decision, asked.metric)
            if why:
                return why
            return TakenLook(
                look=number,
                n=n,
                seen_at=to_nanos(self._clock()),
                until=until,
                decision=decision,
                guard=guard,
                live=found,
            )

        return look

    def _waits(self, asked: Sides, units: Sequence[Unit] = (), trials: int | None = None) -> str:
        """Return which of the runs to be looked at can still change, or ''."""
        pending = self._asking.pending(asked, [unit.task for unit in units], trials=trials)
        if pending.open:
            return f"{pending.open} of the runs to be looked at are not settled yet"
        unjudged = pending.unjudged
        if not unjudged or (asked.metric == "finished" and unjudged == pending.settled):
            return ""
        return f"{unjudged} of the runs to be looked at are not judged yet"

    def _task_guard(self, asked: Sides, units: Sequence[Unit], trials: int | None) -> Guard:
        names = [unit.task for unit in units]
        return self._asking.guard_of_tasks(asked, names, trials=trials, confidence=_LEVEL)

    def _weeks(
        self, asked: Sides, name: str | None, *, confidence: float
    ) -> tuple[LiveFound, Guard]:
        cells = self._asking.cells(asked, name)
        weeks, _ = common(cells, base=asked.base, cand=asked.cand)
        clusters = self._asking.alike(asked, weeks, name)
        unit = self._asking.unit(repeated=clusters is not None)
        pair = Pair(base=asked.base, cand=asked.cand, unit=unit, confidence=confidence)
        found = between_weeks(cells, pair, clusters=clusters)
        parted = None if name is None else mix(cells, name, pair, clusters=clusters)
        guard = self._asking.guard_of_weeks(asked, weeks, confidence=_LEVEL)
        shared, runs = self._asking.at_shared_tasks(asked, weeks)
        live = LiveFound(difference=found, weeks=len(weeks), mix=parted, shared=shared, runs=runs)
        return live, guard


def _only(units: Sequence[Unit], new: Tried, old: Tried) -> tuple[Tried, Tried]:
    names = [unit.task for unit in units]
    return {name: new[name] for name in names}, {name: old[name] for name in names}


def _ruled_on(
    plan: Plan, guard: Guard, decision: Decision, metric: Measured
) -> tuple[str, Decision]:
    """Return why there is nothing to look at yet, or '', and what rule and guard say together.

    A look that would pass but for violations nobody knows of waits for them: seen is nothing yet.
    """
    over = guard.over(decision, known=plan.violations_known)
    held = decision.verdict is Verdict.PASS and over.verdict is Verdict.NOT_ENOUGH_DATA
    return guard.says_nothing(metric) or (over.reason if held else ""), over
