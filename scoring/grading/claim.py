"""Whether what the agent said it did is what the system of record shows."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from gnomon.model import JsonValue
from scoring.grading.expect import value_at
from scoring.grading.port import Abstained, Answer, Evidence, Label, NotApplicable, Surface
from scoring.grading.sources import Sources, Unknown
from scoring.grading.spec import GraderSpec, Means
from scoring.policies.endings import MISSING
from scoring.policies.said import Names
from scoring.policies.sameness import same


class Claim(GraderSpec, Sources):
    """The claim in the final message's JSON against the verified state in the same words."""

    may_be_empty = frozenset({"truth"})

    type: Literal["claim"]
    surface: Surface = Surface.FACTUALITY
    claim: str = Field(description="Path in the JSON of the final message, `claimed_outcome`.")
    truth: str = Field(default="", description="Path in the answer of the system of record.")
    always_true: Names = Field(default=(), description="Claims no state contradicts.")
    success: Names = Field(
        default=(), description="Claims that the task is done; unset: all but `always_true`."
    )

    def judge(self, means: Means) -> Callable[[Evidence], Answer]:
        """Return what compares claim and state."""
        asks = self.asks(means)

        def look(evidence: Evidence) -> Answer:
            claim = _claim(evidence, self.claim)
            if isinstance(claim, Abstained | NotApplicable):
                return claim
            claimed = self._of_success(claim)
            if claim in self.always_true:
                return Label(passed=True, claimed=claimed, explanation="no state contradicts it")
            answer = asks(evidence.run)
            if isinstance(answer, Unknown):
                return Abstained(reason=answer.reason, claimed=claimed)
            state = value_at(answer, self.truth)
            if state is MISSING or state is None:
                where = self.truth or "its root"
                return Abstained(reason=f"the answer has nothing at {where}", claimed=claimed)
            true = same(claim, state)
            said = "fits" if true else "contradicts"
            return Label(passed=true, claimed=claimed, explanation=f"the claim {said} the state")

        return look

    def _of_success(self, claim: JsonValue) -> bool:
        return claim in self.success if self.success else claim not in self.always_true


def _claim(evidence: Evidence, path: str) -> JsonValue | Abstained | NotApplicable:
    if evidence.final_message is None:
        return Abstained(reason="the final message was not recorded")
    claim = value_at(evidence.final_json, path)
    if claim is MISSING or claim is None:
        return NotApplicable(reason=f"the final message claims nothing at {path}")
    return claim
