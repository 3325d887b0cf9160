"""The rule in force: when it was first seen, which looks were taken under it, and what it says."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnomon.clock import Clock, to_nanos
from scoring.stats.gates import Decision
from scoring.versions import looks
from scoring.versions.asking import Asking, Sides
from scoring.versions.looks import Compared, Look, TakenBy, TakenLook
from scoring.versions.rule import Plan, undecided
from scoring.versions.ruling import Earlier, Ruling
from scoring.versions.store import RuleBook, RuleRow, SeenRule

NEAREST = 10
"""To so many versions before it a new one is compared unasked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """How far the looks at one comparison have come."""

    plan: Plan
    compared: Compared
    units: int
    """Units so far."""
    taken: Sequence[TakenLook]
    waits: str
    """What the next look waits for, beside units; ''."""
    earlier: Sequence[Earlier]
    newly: int = 0
    """Looks that were taken just now."""

    @property
    def last(self) -> TakenLook | None:
        """The look taken last."""
        return self.taken[-1] if self.taken else None

    @property
    def decision(self) -> Decision:
        """What the last look decided, or what the next one waits for."""
        done = len(self.taken)
        if self.last is not None and (self.last.decided or done == len(self.plan.sizes)):
            return self.last.decision
        missing = max(0, self.plan.sizes[done] - self.units)
        reason = self.waits or (f"not shown at look {done}" if done else "no planned look")
        return undecided(reason, missing)


class Registry:
    """Knows rules and looks. One at a time, so that a look is taken once."""

    def __init__(self, plan: Plan | None, book: RuleBook, asking: Asking, *, clock: Clock) -> None:
        self._plan = plan
        self._book = book
        self._asking = asking
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: SeenRule | None = None

    def seen(self) -> SeenRule | None:
        """Return when the rule was first seen; one never seen before is noted now."""
        if self._plan is None:
            return None
        with self._lock:
            if self._seen is None:
                self._seen = self._book.rule(self._plan.digest) or self._noted(self._plan)
            return self._seen

    def _noted(self, plan: Plan) -> SeenRule:
        ran = self._asking.versions_that_ran(with_task=plan.section.basis == "tasks")
        seen = SeenRule(first_seen_at=to_nanos(self._clock()), versions=tuple(ran))
        self._book.note_rule(RuleRow.of(plan, seen))
        return seen

    def ripe(self, plan: Plan) -> list[tuple[str, str]]:
        """Return baseline and candidate wherever a look has its units and is not taken yet.

        A version is the candidate to the NEAREST that ran first before it did.
        """
        units = self._asking.units_by_age(plan.scope)
        ages = list(units)
        pairs = [
            (base, cand)
            for place, cand in enumerate(ages)
            for base in ages[max(0, place - NEAREST) : place]
        ]
        reached = {(base, cand): min(units[base], units[cand]) for base, cand in pairs}
        if plan.trials is not None:
            common = self._asking.common_tasks(plan.scope, trials=plan.trials)
            reached = {pair: common.get(pair, 0) for pair in pairs}
        progress = self._book.progress(plan.digest)

        def is_ripe(pair: tuple[str, str]) -> bool:
            taken, decided = progress.get(pair, (0, False))
            return not decided and taken < len(plan.sizes) and reached[pair] >= plan.sizes[taken]

        return [pair for pair in pairs if is_ripe(pair)]

    def ruled(
        self, plan: Plan, asked: Sides, units: int, look: Look, by: TakenBy = "request"
    ) -> Ruled:
        """Return the looks taken so far; one that is due is taken now, and remembered."""
        self.seen()
        scope = asked.scope
        compared = Compared(
            agent=scope.agent,
            environment=scope.environment,
            origin=scope.origin.value if scope.origin else None,
            base=asked.base,
            cand=asked.cand,
        )
        with self._lock:
            known = self._book.looks(compared)
            before = [one.taken for one in known if one.digest == plan.digest]
            taken, waits = looks.take(plan.sizes, units, before, look)
            taken[len(before) :] = [replace(one, by=by) for one in taken[len(before) :]]
            for one in taken[len(before) :]:
                self._book.note_look(plan.digest, compared, one)
        last = {one.digest: one for one in known if one.digest != plan.digest}
        return Ruled(
            plan=plan,
            compared=compared,
            units=units,
            taken=taken,
            waits=waits,
            newly=len(taken) - len(before),
            earlier=[
                Earlier(digest=one.digest, text=one.text, taken=one.taken) for one in last.values()
            ],
        )

    def ruling(self, ruled: Ruled, decision: Decision) -> Ruling:
        """Return what the rule says, and how it came about."""
        seen = self.seen()
        return Ruling(
            plan=ruled.plan,
            decision=decision,
            n=ruled.units,
            governs=True,
            first_seen_at=None if seen is None else seen.first_seen_at,
            written_before=None if seen is None else seen.before(ruled.compared),
            looks=ruled.taken,
            earlier=ruled.earlier,
        )

    def silent(self, why: str, n: int) -> Ruling:
        """Return that the rule, if there is one, says nothing of a comparison."""
        seen = self.seen()
        return Ruling(
            plan=self._plan,
            decision=undecided(why),
            n=n,
            first_seen_at=None if seen is None else seen.first_seen_at,
        )
