"""Taking a look: what the runs of its first units show, once nothing about them can change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnomon.clock import Clock, Nanos, to_nanos
from scoring.metrics.watched import Measured
from scoring.stats.gates import Decision, Verdict
from scoring.versions import rule
from scoring.versions.asking import Asking, Sides
from scoring.versions.cells import common
from scoring.versions.guard import Guard
from scoring.versions.live import LiveFound, between_weeks
from scoring.versions.looks import Look, TakenLook, Unit, Waiting, units_in_time
from scoring.versions.mix import mix
from scoring.versions.readiness import Readiness
from scoring.versions.rule import Plan
from scoring.versions.strata import Pair
from scoring.versions.tasks import TaskRuns, on_tasks

LEVEL = 0.95
"""Of what no rule is written about, and of guards."""

CHANGED = "its runs changed while they were read"

Tried = dict[str, TaskRuns]
"""Task: the runs of one version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Looks at the first units of two versions, and at all that stands beside the difference."""

    asking: Asking
    ready: Readiness
    clock: Clock

    def at_tasks(self, asked: Sides, plan: Plan, units: Sequence[Unit]) -> Look:
        """Return how a look at the first tasks is taken."""

        def look(number: int, n: int) -> TakenLook | Waiting:
            first = units[:n]
            waits = self.ready.waits(asked, first, plan.trials)
            if waits is not None:
                return waits
            found = self._tasks_seen(asked, plan, first, number)
            # A look during which a run was opened again is none.
            return self.ready.waits(asked, first, plan.trials) or found

        return look

    def _tasks_seen(
        self, asked: Sides, plan: Plan, units: Sequence[Unit], number: int
    ) -> TakenLook | Waiting:
        names = [unit.task for unit in units]
        # Read anew: what was there before may be older than what was waited for.
        new, old = self.asking.tries(asked, trials=plan.trials, tasks=names)
        if units_in_time(new, old, trials=plan.trials) != list(units):
            return Waiting(text=CHANGED, passing=True)
        found = on_tasks(new, old, confidence=plan.confidence)
        guard = self.task_guard(asked, units, plan.trials)
        decision = rule.decided(plan, found.difference, n=len(units))
        why, decision = _ruled_on(plan, guard, decision, asked.metric)
        if why:
            return Waiting(text=why)
        undecided = None
        if found.difference.open:
            undecided = self.asking.undecided(asked, "tried", trials=plan.trials, tasks=names)
        return TakenLook(
            look=number,
            n=len(units),
            seen_at=to_nanos(self.clock()),
            until=Nanos(max(one.last_start for side in (new, old) for one in side.values())),
            decision=decision,
            guard=guard,
            tasks=found,
            undecided=undecided,
        )

    def at_weeks(self, asked: Sides, plan: Plan, grown: Sequence[tuple[Nanos, int]]) -> Look:
        """Return how a look at the live runs is taken, up to when the plan was reached."""

        def look(number: int, n: int) -> TakenLook | Waiting:
            until = next(moment for moment, units in grown if units >= n)
            then = replace(asked, scope=replace(asked.scope, until=Nanos(until + 1)))
            waits = self.ready.waits(then)
            if waits is not None:
                return waits
            found = self._weeks_seen(then, plan, number, n, until)
            return self.ready.waits(then) or found

        return look

    def _weeks_seen(
        self, asked: Sides, plan: Plan, number: int, n: int, until: Nanos
    ) -> TakenLook | Waiting:
        found, guard = self.weeks(asked, plan.mix or None, confidence=plan.confidence)
        decision = rule.decided(plan, found.deciding, n=n)
        why, decision = _ruled_on(plan, guard, decision, asked.metric)
        if why:
            return Waiting(text=why)
        undecided = None
        if found.deciding.open:
            cells = self.asking.cells(asked, None)
            weeks, _ = common(cells, base=asked.base, cand=asked.cand)
            undecided = self.asking.undecided(asked, "same_weeks", weeks=weeks)
        return TakenLook(
            look=number,
            n=n,
            seen_at=to_nanos(self.clock()),
            until=until,
            decision=decision,
            guard=guard,
            live=found,
            undecided=undecided,
        )

    def task_guard(self, asked: Sides, units: Sequence[Unit], trials: int | None) -> Guard:
        """Return what stands beside the difference on tasks."""
        names = [unit.task for unit in units]
        return self.asking.guard_of_tasks(asked, names, trials=trials, confidence=LEVEL)

    def weeks(
        self, asked: Sides, name: str | None, *, confidence: float
    ) -> tuple[LiveFound, Guard]:
        """Return what live runs of the common weeks show, with what stands beside it."""
        cells = self.asking.cells(asked, name)
        weeks, _ = common(cells, base=asked.base, cand=asked.cand)
        clusters = self.asking.alike(asked, weeks, name)
        unit = self.asking.unit(repeated=clusters is not None)
        pair = Pair(base=asked.base, cand=asked.cand, unit=unit, confidence=confidence)
        found = between_weeks(cells, pair, clusters=clusters)
        parted = None if name is None else mix(cells, name, pair, clusters=clusters)
        guard = self.asking.guard_of_weeks(asked, weeks, confidence=LEVEL)
        shared, runs = self.asking.at_shared_tasks(asked, weeks)
        live = LiveFound(difference=found, weeks=len(weeks), mix=parted, shared=shared, runs=runs)
        return live, guard


def _ruled_on(
    plan: Plan, guard: Guard, decision: Decision, metric: Measured
) -> tuple[str, Decision]:
    """Return why there is nothing to look at yet, or '', and what rule and guard say together.

    A look that would pass but for violations nobody knows of waits for them: seen is nothing yet.
    """
    over = guard.over(decision, known=plan.violations_known)
    held = decision.verdict is Verdict.PASS and over.verdict is Verdict.NOT_ENOUGH_DATA
    return guard.says_nothing(metric) or (over.reason if held else ""), over
