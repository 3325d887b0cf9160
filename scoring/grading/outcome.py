"""The outcome of a run by a configured check of the real state, never by the agent's claim."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field, model_validator

from gnomon.model import JsonValue
from scoring.grading.expect import Expectation, value_at
from scoring.grading.port import Abstained, Answer, CheckFailed, Evidence, Label, Surface
from scoring.grading.sources import Sources, Unknown
from scoring.grading.spec import GraderSpec, Means
from scoring.policies.endings import MISSING


class OutcomeCheck(GraderSpec, Sources):
    """Passed when the system of record says what it must."""

    type: Literal["outcome_check"]
    surface: Surface = Surface.OUTCOME
    expect: Expectation | None = Field(
        default=None, description="Unset for a command: `passed` of its answer must be true."
    )

    @model_validator(mode="after")
    def _expects(self) -> "OutcomeCheck":
        if self.expect is None and self.command is None:
            raise ValueError("expect is missing: say what the answer must hold")
        return self

    def judge(self, means: Means) -> Callable[[Evidence], Answer]:
        """Return what asks and compares."""
        asks = self.asks(means)
        expect = self.expect or Expectation(path="passed", equals=True)

        def look(evidence: Evidence) -> Answer:
            answer = asks(evidence.run)
            if isinstance(answer, Unknown):
                return Abstained(reason=answer.reason)
            if self.expect is None:
                _refuse_no_verdict(value_at(answer, "passed"))
            met = expect.met(answer, evidence.run)
            if isinstance(met, str):
                return Abstained(reason=met)
            said = "as expected" if met else "not as expected"
            return Label(passed=met, explanation=f"{expect.path or 'the answer'} is {said}")

        return look


def _refuse_no_verdict(passed: JsonValue) -> None:
    """Raise for an answer that is none: a program that says "yes" must not fail every run."""
    if passed is not MISSING and passed is not None and not isinstance(passed, bool):
        kind = type(passed).__name__
        raise CheckFailed(f"the command's passed is a {kind}; true, false or null is expected")
