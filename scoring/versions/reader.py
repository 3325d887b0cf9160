"""Comparisons of two versions, read from what is stored and judged by the rule written before."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gnomon.clock import Clock, Nanos, utc_now
from gnomon.errors import InputError
from gnomon.model import Origin
from gnomon.store import Store
from scoring.grading.port import Grader, Surface
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import Measured, RuleSection
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
from scoring.versions.guard import Guard
from scoring.versions.live import LiveFound
from scoring.versions.looking import LEVEL, Looking, Tried
from scoring.versions.looks import TakenBy, TakenLook, Unit, Waiting
from scoring.versions.readiness import Readiness
from scoring.versions.registry import Registry, Ruled
from scoring.versions.rule import Plan
from scoring.versions.ruling import Ruling, Silence
from scoring.versions.setting import Setting
from scoring.versions.store import RuleBook
from scoring.versions.tasks import FIRST_TRIALS, TaskComparison, any_time_of, on_tasks

JUDGING = frozenset({Surface.OUTCOME, Surface.POLICY})
"""Surfaces whose graders say what passes and what breaks a rule."""

NO_WINDOW = "the rule is about all runs, not those of a window or slice"
NO_OTHERS = "the rule is about {about} and says nothing of other runs; ask for these, or without"
OTHER_MIX = (
    "the rule takes out the mix of {mix} and says nothing of the numbers inside another slice"
)


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
        self._looking = Looking(
            asking=self._asking,
            ready=Readiness(self._asking, graders, clock=clock),
            clock=clock,
        )
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
            guard = self._looking.task_guard(asked, units, None)
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
        look = self._looking.at_tasks(asked, plan, units)
        ruled = self._registry.ruled(plan, asked, len(units), look)
        last = ruled.last
        if last is not None and last.tasks is not None:
            return last.tasks, last.guard, self._after(asked, ruled, last)
        found = on_tasks(*_only(units, new, old), confidence=plan.confidence)
        found = replace(found, difference=bare(found.difference, WITHHELD))
        guard = self._looking.task_guard(asked, units, plan.trials)
        decision = ruled.decision
        if not (ruled.waits or self._looking.ready.waits_for_rules(asked, units, plan.trials)):
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
            found, guard = self._looking.weeks(asked, name, confidence=LEVEL)
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
            return last.live, last.guard, self._after(asked, ruled, last)
        found, guard = self._looking.weeks(asked, plan.mix or None, confidence=plan.confidence)
        shown = replace(bare(found.deciding, WITHHELD), n=ruled.units)
        found = replace(found, difference=shown, mix=None)
        return found, guard, self._registry.ruling(ruled, ruled.decision)

    def _weeks_looked(self, asked: Sides, plan: Plan, by: TakenBy) -> Ruled:
        starts = self._asking.starts(asked, plan.mix)
        grown = looks.reached(starts, base=asked.base, cand=asked.cand)
        units = grown[-1][1] if grown else 0
        look = self._looking.at_weeks(asked, plan, grown)
        return self._registry.ruled(plan, asked, units, look, by)

    def _after(self, asked: Sides, ruled: Ruled, last: TakenLook) -> Ruling:
        """Return what a look decided, and what was decided of its runs since."""
        ruling = self._registry.ruling(ruled, ruled.decision)
        return replace(ruling, decided_since=self._asking.decided_since(asked, last))

    def take_due(self, told: Callable[[Waiting], None] = lambda waiting: None) -> int:
        """Take every look whose units are there and judged; return how many were taken.

        told: hears of each whose units are there and that waits for something else.
        """
        plan = self.plan
        if plan is None:
            return 0
        taken = 0
        for base, cand in self._registry.ripe(plan):
            asked = Sides(scope=plan.scope, base=base, cand=cand, metric=plan.section.metric)
            ruled = self._take(asked, plan)
            taken += ruled.newly
            if ruled.waits is not None:
                told(ruled.waits)
        return taken

    def _take(self, asked: Sides, plan: Plan) -> Ruled:
        if plan.trials is None:
            return self._weeks_looked(asked, plan, "job")
        new, old = self._asking.tries(asked, trials=plan.trials)
        units = looks.units_in_time(new, old, trials=plan.trials)
        look = self._looking.at_tasks(asked, plan, units)
        return self._registry.ruled(plan, asked, len(units), look, "job")

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


def _only(units: Sequence[Unit], new: Tried, old: Tried) -> tuple[Tried, Tried]:
    names = [unit.task for unit in units]
    return {name: new[name] for name in names}, {name: old[name] for name in names}
