"""What a policy says about a run: breaches with their evidence, and what could not be judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One breach of one rule."""

    rule: str
    """Path of the rule in the file: `required_before.issue_refund.0`."""
    message: str
    """What happened, in names of tools and rules; never what people or agents wrote."""
    steps: Sequence[str]
    """Span ids: the judged call first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEvaluable:
    """A rule that applied, but whose evidence was not recorded. Neither kept nor broken."""

    rule: str
    reason: str
    steps: Sequence[str]


Finding = Violation | NotEvaluable


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One policy, one run."""

    policy: str
    version: str
    violations: Sequence[Violation]
    not_evaluable: Sequence[NotEvaluable]
    applied: int
    """How many rules found a call to judge; 0 means that the policy holds vacuously."""

    @property
    def outcome(self) -> Literal["kept", "broken", "not_evaluable", "not_applicable"]:
        """One word; a breach weighs more than what could not be judged."""
        if self.violations:
            return "broken"
        if self.not_evaluable:
            return "not_evaluable"
        return "kept" if self.applied else "not_applicable"
