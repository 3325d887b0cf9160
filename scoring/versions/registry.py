"""The rule in force: when it was first seen, which looks were taken under it, and what it says."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnomon.clock import Clock, to_nanos
from scoring.metrics.scope import Scope
from scoring.stats.gates import Decision
from scoring.versions import looks
from scoring.versions.asking import Asking, Sides
from scoring.versions.guard import Guard
from scoring.versions.looks import Compared, Look, TakenBy, TakenLook
from scoring.versions.mirror import mirrored
from scoring.versions.rule import Plan, undecided
from scoring.versions.ruling import Earlier, Ruling, Silence, written_after
from scoring.versions.store import RuleBook, RuleRow, SeenRule, StoredLook

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
        return None if self._plan is None else self._first_seen(self._plan)

    def _first_seen(self, plan: Plan) -> SeenRule:
        with self._lock:
            if self._seen is None:
                self._seen = self._book.rule(plan.digest) or self._noted(plan)
            return self._seen

    def _noted(self, plan: Plan) -> SeenRule:
        ran = self._asking.versions_that_ran(plan.scope, with_task=plan.trials is not None)
        seen = SeenRule(first_seen_at=to_nanos(self._clock()), versions=tuple(ran))
        self._book.note_rule(RuleRow.of(plan, seen))
        return seen

    def silence(self, plan: Plan, asked: Sides) -> Silence | None:
        """Return why the rule decides nothing of two versions, or None where it was there before."""
        compared = _about(asked.scope, asked.base, asked.cand)
        seen = self._first_seen(plan)
        known = self._book.looks(compared)
        others = _others(known, plan)
        if compared.pair <= self._ran(plan, seen):
            return Silence(why=written_after(seen.first_seen_at), late=True, earlier=others)
        if any(one.digest == plan.digest for one in known):
            return None  # its own look came first: of two rules that were there, that one decides
        for one in others:
            if one.compared.overlaps(compared) and plan.digest in one.taken.rules:
                return Silence(why=one.comes_first, late=True, earlier=others)
        return None

    def _ran(self, plan: Plan, seen: SeenRule) -> frozenset[str]:
        """Return the versions that had run when the rule was first seen.

        What was noted then is never taken back. What had arrived by then joins it as it is read
        now: it may have waited unread, or may name its version or task only since.
        """
        arrived = self._asking.arrived(
            plan.scope, seen.first_seen_at, with_task=plan.trials is not None
        )
        return seen.ran(plan.scope.agent) | arrived

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
        ran = self._ran(plan, self._first_seen(plan))
        others = self._book.looked_otherwise(plan.digest)

        def is_ripe(pair: tuple[str, str]) -> bool:
            compared = _about(plan.scope, *pair)
            taken, decided = progress.get(compared.pair, (0, False))
            if decided or taken == len(plan.sizes) or reached[pair] < plan.sizes[taken]:
                return False
            late = not taken and any(compared.overlaps(other) for other in others)
            return not (late or compared.pair <= ran)

        return [pair for pair in pairs if is_ripe(pair)]

    def ruled(
        self, plan: Plan, asked: Sides, units: int, look: Look, by: TakenBy = "request"
    ) -> Ruled:
        """Return the looks taken so far; one that is due is taken now, and remembered."""
        compared = _about(asked.scope, asked.base, asked.cand)
        with self._lock:
            known = self._book.looks(compared)
            own = [one for one in known if one.digest == plan.digest]
            before = looks.until_decided(
                one.taken if one.compared.base == asked.base else mirrored(one.taken, plan)
                for one in own
            )
            taken, waits = looks.take(plan.sizes, units, before, look)
            if len(taken) > len(before):
                rules = [digest for digest in self._book.known() if digest != plan.digest]
                taken[len(before) :] = [
                    replace(one, by=by, rules=rules) for one in taken[len(before) :]
                ]
            for one in taken[len(before) :]:
                self._book.note_look(plan.digest, compared, one)
        return Ruled(
            plan=plan,
            compared=compared,
            units=units,
            taken=taken,
            waits=waits,
            newly=len(taken) - len(before),
            earlier=_others(known, plan),
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
            written_before=True,
            looks=ruled.taken,
            earlier=ruled.earlier,
        )

    def silent(self, silence: Silence, guard: Guard, n: int) -> Ruling:
        """Return that the rule, if there is one, decides nothing; what breaks rules anew is told."""
        seen = self.seen()
        breach = f"; {guard.text}" if silence.late and guard.new else ""
        return Ruling(
            plan=self._plan,
            decision=undecided(f"{silence.why}{breach}"),
            n=n,
            governs=silence.late,
            first_seen_at=None if seen is None else seen.first_seen_at,
            written_before=False if silence.late else None,
            earlier=silence.earlier,
        )


def _about(scope: Scope, base: str, cand: str) -> Compared:
    origin = None if scope.origin is None else scope.origin.value
    return Compared(
        agent=scope.agent, environment=scope.environment, origin=origin, base=base, cand=cand
    )


def _others(known: Sequence[StoredLook], plan: Plan) -> Sequence[Earlier]:
    last = {one.digest: one for one in known if one.digest != plan.digest}
    return [
        Earlier(digest=one.digest, text=one.text, compared=one.compared, taken=one.taken)
        for one in last.values()
    ]
