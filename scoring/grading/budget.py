"""Whether a run stayed within its steps, tokens, money and time."""

from collections.abc import Callable
from typing import Literal

from pydantic import field_validator

from scoring.grading.policy import answered
from scoring.grading.port import Answer, Evidence, Surface
from scoring.grading.spec import GraderSpec, Means
from scoring.policies.check import check_run
from scoring.policies.language import Budgets, Policy


class Budget(GraderSpec):
    """Limits of one run; one that can not be measured is not evaluable, never kept."""

    may_be_empty = frozenset({"limits"})
    """Its own complaint names the limits there are."""

    type: Literal["budget"]
    surface: Surface = Surface.EFFICIENCY
    limits: Budgets

    @field_validator("limits")
    @classmethod
    def _one_at_least(cls, value: Budgets) -> Budgets:
        if not value.model_fields_set:
            raise ValueError("say one limit at least: steps, model_calls, tool_calls, tokens, usd")
        return value

    def judge(self, means: Means) -> Callable[[Evidence], Answer]:
        """Return what compares."""
        del means
        policy = Policy(policy=self.name, budgets=self.limits, severity="soft")

        def look(evidence: Evidence) -> Answer:
            return answered(check_run(policy, evidence.run, evidence.steps), policy)

        return look
