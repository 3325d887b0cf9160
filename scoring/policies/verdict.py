"""What a policy says about a run: breaches with their evidence, and what could not be judged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class RuleKind(StrEnum):
    """What a rule is about. Known from what the rule is, never from how it is called."""

    CHECK = "check"
    """A call that must have succeeded before another one."""
    GATE = "gate"
    """The same for some calls only: an approval of what is large or dangerous."""
    REACTION = "reaction"
    """What must follow a write whose result nobody knows."""
    ORDER = "order"
    """A call that must not come before or after another one."""
    PROHIBITED = "prohibited"
    """A call that must not be made."""
    EFFECTS = "effects"
    """How often something may take effect."""
    ARGUMENTS = "arguments"
    RESULT = "result"
    BUDGET = "budget"
    CIRCLES = "circles"
    """Calls that lead back to where the run has been."""
    GOAL = "goal"
    """What must be reached before the end."""
    UNKNOWN = "unknown"
    """Its grader does not say."""


class Outcome(StrEnum):
    """What became of rules."""

    NOT_APPLICABLE = "not_applicable"
    KEPT = "kept"
    BROKEN = "broken"
    NOT_EVALUABLE = "not_evaluable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One breach of one rule."""

    rule: str
    """Path of the rule in the file: `required_before.issue_refund.0`."""
    kind: RuleKind = RuleKind.UNKNOWN
    message: str
    """What happened, in names of tools and rules; never what people or agents wrote."""
    steps: Sequence[str]
    """Span ids: the judged call first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEvaluable:
    """A rule that applied, but whose evidence was not recorded. Neither kept nor broken."""

    rule: str
    kind: RuleKind
    reason: str
    steps: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A rule that was held against a call, or against the whole run, and kept."""

    kind: RuleKind
    steps: Sequence[str]


Finding = Violation | NotEvaluable | Kept


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a policy: where it stands, and what it is about."""

    path: str
    kind: RuleKind

    def broken(self, message: str, steps: Sequence[str]) -> Violation:
        """Return a breach."""
        return Violation(rule=self.path, kind=self.kind, message=message, steps=steps)

    def unknown(self, reason: str, steps: Sequence[str]) -> NotEvaluable:
        """Return that it can not be told."""
        return NotEvaluable(rule=self.path, kind=self.kind, reason=reason, steps=steps)

    def kept(self, *steps: str) -> Kept:
        """Return that it was kept."""
        return Kept(kind=self.kind, steps=steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Against how many calls of a run rules of one kind were held; a budget, against the run."""

    kind: RuleKind
    kept: int = 0
    broken: int = 0
    unknown: int = 0
    """Nobody can tell: what they hang on was not recorded."""


def outcome_of(held: Iterable[Held]) -> Outcome:
    """Return what became of all of it; a breach weighs more than what could not be judged."""
    seen = list(held)
    if any(one.broken for one in seen):
        return Outcome.BROKEN
    if any(one.unknown for one in seen):
        return Outcome.NOT_EVALUABLE
    return Outcome.KEPT if any(one.kept for one in seen) else Outcome.NOT_APPLICABLE


def held_of(findings: Iterable[Finding]) -> list[Held]:
    """Return how often rules of each kind were held against a call.

    Of several rules of a kind that speak of one call it is one: broken if any is, else unknown.
    """
    weights = {Kept: 0, NotEvaluable: 1, Violation: 2}
    calls: dict[RuleKind, dict[str, int]] = {}
    for finding in findings:
        of_kind = calls.setdefault(finding.kind, {})
        call = next(iter(finding.steps), "")
        of_kind[call] = max(of_kind.get(call, 0), weights[type(finding)])
    return [
        Held(kind=kind, kept=found.count(0), broken=found.count(2), unknown=found.count(1))
        for kind, found in ((kind, list(of_kind.values())) for kind, of_kind in calls.items())
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One policy, one run."""

    policy: str
    version: str
    violations: Sequence[Violation]
    not_evaluable: Sequence[NotEvaluable]
    applied: int
    """How many rules found a call to look at; 0 means that the policy is kept vacuously."""
    held: Sequence[Held]
    """What was judged, by kind: a rule that looked at a call and does not speak of it judged nothing."""

    @property
    def outcome(self) -> Outcome:
        """One word; a breach weighs more than what could not be judged.

        A run without any call that a rule is about kept them all: were it left out, what is left
        would be chosen by what was done, and a rule that forbids a call would be broken by each.
        """
        if self.violations:
            return Outcome.BROKEN
        if self.not_evaluable:
            return Outcome.NOT_EVALUABLE
        return Outcome.KEPT
