"""What the rule says of one comparison: the verdict, the looks behind it, and how the rule came about."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.clock import Nanos, from_nanos, rfc3339
from gnomon.model import JsonValue
from scoring.stats.gates import Decision, Verdict
from scoring.versions.force import Force
from scoring.versions.looks import Compared, TakenLook, Undecided, Waiting
from scoring.versions.rule import NO_RULE, Plan

READING = "what this one shows is for reading, not for deciding"
AGAIN = "run the candidate again under a new version: this rule is there before it"


def written_after(first_seen_at: Nanos) -> str:
    """Return why a rule decides nothing of versions that had both run when it was first seen."""
    return (
        f"the rule was first seen on {day(first_seen_at)}, after runs of both versions had come in:"
        f" {READING}. To decide, {AGAIN}"
    )


def was_in_force(force: Force) -> str:
    """Return why a rule decides nothing of versions that had both run under another, or under none."""
    since = f"(since {day(force.at)})"
    if not force.digest:
        return f"when both versions had run, no rule was in force {since}: {READING}. To decide, {AGAIN}"
    return (
        f"when both versions had run, rule {force.digest} was in force {since}: {force.text};"
        f" {READING}. To decide, write that rule again as it was, or {AGAIN}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """The last look at the same versions under another rule."""

    digest: str
    text: str
    compared: Compared
    taken: TakenLook

    @property
    def warning(self) -> str:
        """What a reader of a later rule must be told."""
        return (
            f"the rule was changed after looking: on {day(self.taken.seen_at)} rule {self.digest}"
            f" ({self.text}) said {self.taken.decision.verdict} of {self.compared.cand} against"
            f" {self.compared.base} at n = {self.taken.n}"
        )

    def as_json(self) -> JsonValue:
        """Return the rule and what it said."""
        return {"hash": self.digest, "text": self.text, "look": self.taken.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """That the rule decides nothing of a comparison, in either direction, and why."""

    why: str
    late: bool = False
    """The rule is about it, but was not in force when both versions had run."""
    in_force: Force | None = None
    """What was."""
    earlier: Sequence[Earlier] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the rule says about one comparison."""

    plan: Plan | None
    decision: Decision
    n: int
    """Units compared so far."""
    governs: bool = False
    """Whether the rule is about this comparison."""
    first_seen_at: Nanos | None = None
    written_before: bool | None = None
    """Whether the rule was in force when both versions had run; None where it is about another."""
    in_force: Force | None = None
    """What was, where this rule is late: another rule, or none."""
    looks: Sequence[TakenLook] = ()
    waits: Waiting | None = None
    """What the next look waits for, beside units."""
    decided_since: int = 0
    """Runs of which the last look could not tell, and of which it can be told now."""
    earlier: Sequence[Earlier] = ()
    """Looks at these versions under other rules."""

    @property
    def digest(self) -> str:
        """Twelve digits that name the rule; '' without one."""
        return "" if self.plan is None else self.plan.digest

    @property
    def sentence(self) -> str:
        """The verdict as a person reads it."""
        if self.plan is None:
            return f"{Verdict.NOT_ENOUGH_DATA}: {NO_RULE}"
        missing = f", {self.decision.missing} more needed" if self.decision.missing else ""
        return f"{self.decision.verdict}: {self.plan.text}: {self.reason}{missing}"

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, and what the look behind it could not know."""
        undecided = self._undecided
        return (
            self.decision.reason
            if undecided is None
            else f"{self.decision.reason}; {undecided.text}"
        )

    @property
    def _undecided(self) -> Undecided | None:
        decided = bool(self.looks) and self.decision == self.looks[-1].decision
        return self.looks[-1].undecided if decided else None

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the way the rule came about or was applied, plainly."""
        told = [one.warning for one in self.earlier]
        if self.decided_since and (last := self.looks[-1]).undecided is not None:
            told.append(
                f"look {last.look} was taken once and stands: of its {last.undecided.runs} undecided"
                f" run{'' if last.undecided.runs == 1 else 's'}, {self.decided_since}"
                f" {'was' if self.decided_since == 1 else 'were'} decided since"
            )
        return told

    @property
    def late(self) -> bool:
        """Whether the rule is about this and came too late to decide it."""
        return self.written_before is False

    def as_json(self) -> JsonValue:
        """Return the frozen plan, then the verdict and its looks."""
        seen = self.first_seen_at
        return {
            "rule": None if self.plan is None else self.plan.as_json(),
            "hash": self.digest,
            "first_seen_at": None if seen is None else rfc3339(seen),
            "written_before": self.written_before,
            "in_force": None if self.in_force is None else self.in_force.as_json(),
            "governs": self.governs,
            "verdict": self.decision.verdict.value,
            "reason": self.decision.reason,
            "missing": self.decision.missing,
            "n": self.n,
            "waits": None if self.waits is None else self.waits.as_json(),
            "looks": [look.as_json() for look in self.looks],
            "decided_since": self.decided_since,
            "looks_planned": [] if self.plan is None else list(self.plan.sizes),
            "earlier_rules": [one.as_json() for one in self.earlier],
            "sentence": self.sentence,
        }


def day(moment: Nanos) -> str:
    """Return a moment as people write it, to the minute, UTC."""
    return f"{from_nanos(moment):%Y-%m-%d %H:%M} UTC"
