"""A policy as a grader: kept, broken (with its violations), or not evaluable."""

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.grading.port import (
    Abstained,
    Answer,
    Evidence,
    GraderKind,
    Label,
    NotApplicable,
    Surface,
)
from scoring.grading.spec import digest_of
from scoring.policies.check import applies, check_run
from scoring.policies.language import Policy
from scoring.policies.verdict import Checked, Outcome

_REASONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyGrader:
    """Judges the trajectory of a run by the rules of one policy."""

    policy: Policy
    surface: Surface = Surface.POLICY
    kind: GraderKind = GraderKind.CODE

    @property
    def name(self) -> str:
        """The name of the policy."""
        return self.policy.policy

    @property
    def version(self) -> str:
        """The version the file names, else one made of its rules."""
        return version_of(self.policy)

    def grade(self, evidence: Evidence) -> Answer:
        """Check the recorded calls and budgets of a run."""
        if not applies(self.policy, evidence.run):
            return NotApplicable(reason="outside of the policy's scope")
        return answered(check_run(self.policy, evidence.run, evidence.steps), self.policy)


def version_of(policy: Policy) -> str:
    """Return the version a policy names, else one made of what it says."""
    if "version" in policy.model_fields_set:
        return policy.version
    return digest_of(policy.model_dump_json(exclude={"version"}))


def answered(checked: Checked, policy: Policy) -> Answer:
    """Return the judgment that a check amounts to."""
    match checked.outcome:
        case Outcome.BROKEN:
            steps = dict.fromkeys(step for found in checked.violations for step in found.steps)
            return Label(
                passed=False,
                explanation=_told([found.message for found in checked.violations]),
                evidence=tuple(steps),
                violations=tuple(checked.violations),
                severity=policy.severity,
                held=checked.held,
            )
        case Outcome.NOT_EVALUABLE:
            unknown = checked.not_evaluable
            steps = dict.fromkeys(step for found in unknown for step in found.steps)
            return Abstained(
                reason=_told([f"{found.rule}: {found.reason}" for found in unknown]),
                evidence=tuple(steps),
                held=checked.held,
            )
        case Outcome.KEPT | Outcome.NOT_APPLICABLE:
            return Label(passed=True, explanation=_kept(checked.applied), held=checked.held)


def _kept(applied: int) -> str:
    return f"{applied} rules applied, all kept" if applied else "no call that a rule is about"


def _told(sentences: Sequence[str]) -> str:
    shown = list(dict.fromkeys(sentences))
    more = f"; and {len(shown) - _REASONS} more" if len(shown) > _REASONS else ""
    return "; ".join(shown[:_REASONS]) + more
