"""The decision rule: written in gnomon.yaml before anybody looks, hashed, and applied as it stands."""

from dataclasses import dataclass

from gnomon.model import JsonValue
from scoring.metrics.watched import RuleSection
from scoring.stats.gates import Decision, Look, Verdict, non_inferiority, superiority
from scoring.stats.results import Shown

HASH_LENGTH = 12

NO_RULE = (
    "no rule is written: add compare.rule to gnomon.yaml before you look, such as"
    " {metric: completion, basis: tasks, margin: 0.05, n: 200}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the rule says about one comparison."""

    rule: RuleSection | None
    decision: Decision
    n: int
    """Units compared so far."""

    @property
    def digest(self) -> str:
        """Twelve digits that name the rule; '' without one."""
        return digest_of(self.rule)

    @property
    def sentence(self) -> str:
        """The verdict as a person reads it."""
        if self.rule is None:
            return f"{Verdict.NOT_ENOUGH_DATA}: {NO_RULE}"
        missing = f", {self.decision.missing} more needed" if self.decision.missing else ""
        return f"{self.decision.verdict}: {said(self.rule)}: {self.decision.reason}{missing}"

    def as_json(self) -> JsonValue:
        """Return the frozen plan, then the verdict."""
        plan = None if self.rule is None else {**self.rule.model_dump(), "text": said(self.rule)}
        return {
            "rule": plan,
            "hash": self.digest,
            "verdict": self.decision.verdict.value,
            "reason": self.decision.reason,
            "missing": self.decision.missing,
            "n": self.n,
            "sentence": self.sentence,
        }


def digest_of(rule: RuleSection | None) -> str:
    """Return the first digits of the SHA-256 of the rule's canonical JSON."""
    return "" if rule is None else rule.rule().digest()[:HASH_LENGTH]


def said(rule: RuleSection) -> str:
    """Return the rule in words."""
    looks = f" in {rule.looks} looks" if rule.looks > 1 else ""
    level = f"{100 * (1 - rule.alpha):g} %"
    if rule.kind == "superiority":
        asked = f"{rule.metric} on {rule.basis} is better"
    else:
        asked = f"{rule.metric} on {rule.basis} is not worse by {100 * (rule.margin or 0):g} points"
    return f"{asked}, shown at {level} with n = {rule.n}{looks}"


def confidence_of(rule: RuleSection | None) -> float:
    """Return the confidence at which intervals are taken: that of the rule at each look."""
    return 0.95 if rule is None else rule.rule().look_confidence()


def ruling(rule: RuleSection | None, found: Shown, *, on: str, metric: str) -> Ruling:
    """Apply the rule to a difference; a rule about something else decides nothing here."""
    if rule is None:
        return Ruling(rule=None, decision=_undecided("no rule is written"), n=found.n)
    if rule.basis != on or rule.metric != metric:
        reason = f"the rule is about {rule.metric} on {rule.basis}"
        return Ruling(rule=rule, decision=_undecided(reason), n=found.n)
    return Ruling(rule=rule, decision=_decided(rule, found), n=found.n)


def _decided(rule: RuleSection, found: Shown) -> Decision:
    look = Look(n=found.n, planned=rule.n, looks=rule.looks)
    if rule.kind == "superiority":
        return superiority(found, look)
    return non_inferiority(found, rule.margin or 0.0, look)


def _undecided(reason: str) -> Decision:
    return Decision(verdict=Verdict.NOT_ENOUGH_DATA, reason=reason)
