"""The rule of this process: whether it decides two versions, the looks under it, and what it says."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnomon.clock import Clock, Nanos, to_nanos
from scoring.metrics.scope import Scope
from scoring.stats.gates import Decision
from scoring.versions import looks
from scoring.versions.asking import Asking, Sides
from scoring.versions.force import Force, History, first_seen
from scoring.versions.guard import Guard
from scoring.versions.looks import Compared, Look, TakenBy, TakenLook, Waiting
from scoring.versions.mirror import mirrored
from scoring.versions.rule import Plan, undecided
from scoring.versions.ruling import Earlier, Ruling, Silence, was_in_force, written_after
from scoring.versions.store import RuleBook, StoredLook

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
    waits: Waiting | None
    """What the next look waits for, beside units."""
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
        reason = f"not shown at look {done}" if done else "no planned look"
        if self.waits is not None:
            reason = self.waits.text
        return undecided(reason, missing)


class Registry:
    """Knows rules and looks. One at a time, so that a look is taken once."""

    def __init__(self, plan: Plan | None, book: RuleBook, asking: Asking, *, clock: Clock) -> None:
        self._plan = plan
        self._book = book
        self._asking = asking
        self._clock = clock
        self._lock = threading.Lock()
        self._noted = False

    def log(self) -> Sequence[Force]:
        """Return the rules that came into force; once in a process its own joins them."""
        with self._lock:
            log = self._book.log()
            if not self._noted:
                log = [*log, *self._coming(log)]
                self._noted = True
            return log

    def _coming(self, log: Sequence[Force]) -> Sequence[Force]:
        """Note the rule of this process, or that it has none, unless that is in force already."""
        plan, last = self._plan, log[-1] if log else None
        digest = "" if plan is None else plan.digest
        if digest == (last.digest if last else ""):
            return []
        force = Force(
            place=1 + (last.place if last else 0),
            digest=digest,
            at=to_nanos(self._clock()),
            text="" if plan is None else plan.text,
            rule="" if plan is None else plan.rule.canonical(),
            ran=self._asking.ran(),
        )
        self._book.note(force)
        return [force]

    def _history(self, plan: Plan) -> History:
        with_task = plan.trials is not None
        arrived = self._asking.arrived(plan.scope, with_task=with_task)
        return History.of(self.log(), plan.scope, arrived, with_task=with_task)

    def silence(self, plan: Plan, asked: Sides) -> Silence | None:
        """Return why the rule decides nothing of two versions, or None where it was in force."""
        compared = _about(asked.scope, asked.base, asked.cand)
        known = self._book.looks(compared)
        history = self._history(plan)
        looked = any(one.digest == plan.digest for one in known)
        if history.decides(plan.digest, compared.pair, looked=looked):
            return None
        before = history.until(compared.pair)
        in_force = before[-1] if before else None
        if in_force is None or plan.digest not in {one.digest for one in before}:
            why = written_after(first_seen(history.log, plan.digest))
        else:
            why = was_in_force(in_force)
        return Silence(why=why, late=True, earlier=_others(known, plan), in_force=in_force)

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
        history = self._history(plan)

        def is_ripe(pair: tuple[str, str]) -> bool:
            compared = _about(plan.scope, *pair)
            taken, decided = progress.get(compared.pair, (0, False))
            if decided or taken == len(plan.sizes) or reached[pair] < plan.sizes[taken]:
                return False
            return history.decides(plan.digest, compared.pair, looked=taken > 0)

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
                taken[len(before) :] = [replace(one, by=by) for one in taken[len(before) :]]
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
        return Ruling(
            plan=ruled.plan,
            decision=decision,
            n=ruled.units,
            governs=True,
            first_seen_at=self._first_seen_at(),
            written_before=True,
            looks=ruled.taken,
            waits=ruled.waits,
            earlier=ruled.earlier,
        )

    def silent(self, silence: Silence, guard: Guard, n: int) -> Ruling:
        """Return that the rule, if there is one, decides nothing; what breaks rules anew is told."""
        breach = f"; {guard.text}" if silence.late and guard.new else ""
        return Ruling(
            plan=self._plan,
            decision=undecided(f"{silence.why}{breach}"),
            n=n,
            governs=silence.late,
            first_seen_at=self._first_seen_at(),
            written_before=False if silence.late else None,
            in_force=silence.in_force,
            earlier=silence.earlier,
        )

    def _first_seen_at(self) -> Nanos | None:
        return None if self._plan is None else first_seen(self.log(), self._plan.digest)


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
