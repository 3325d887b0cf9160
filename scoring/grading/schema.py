"""Whether the final message, or what a tool was given or gave back, has the shape it must have."""

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from gnomon.model import JsonValue, Kind, Step
from scoring.grading.port import Abstained, Answer, Evidence, Label, NotApplicable, Surface
from scoring.grading.spec import GraderSpec, Means
from scoring.policies.recorded import read
from scoring.policies.schemas import complaints, validator_of, wrong_schema
from scoring.policies.verdict import Held, Rule, RuleKind, Violation

_SHOWN = 5
_KINDS = {"arguments": RuleKind.ARGUMENTS, "result": RuleKind.RESULT}


class Schema(GraderSpec):
    """A JSON Schema that must hold."""

    type: Literal["schema"]
    surface: Surface = Surface.TRAJECTORY
    tool: str | None = Field(default=None, description="Unset: the final message is looked at.")
    part: Literal["arguments", "result"] = "arguments"
    json_schema: dict[str, JsonValue] = Field(alias="schema")

    @field_validator("json_schema")
    @classmethod
    def _a_schema(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        wrong = wrong_schema(value)
        if wrong is not None:
            where = ".".join(str(part) for part in wrong[0])
            raise ValueError(f"{where + ': ' if where else ''}{wrong[1]}")
        return value

    @model_validator(mode="after")
    def _part_of_a_tool(self) -> "Schema":
        if self.tool is None and "part" in self.model_fields_set:
            raise ValueError("part needs tool")
        return self

    def judge(self, means: Means) -> Callable[[Evidence], Answer]:
        """Return what validates."""
        del means
        validator = validator_of(self.json_schema)
        return lambda evidence: self._look(evidence, validator)

    def _look(self, evidence: Evidence, validator: Any) -> Answer:
        if self.tool is not None:
            return self._tool(evidence, validator)
        if evidence.final_message is None:
            return Abstained(reason="the final message was not recorded")
        if evidence.final_json is None:
            return Label(passed=False, explanation="the final message holds no JSON")
        wrong = complaints(validator, evidence.final_json, whole="the message")[:_SHOWN]
        return Label(passed=not wrong, explanation="; ".join(wrong) or "the schema holds")

    def _tool(self, evidence: Evidence, validator: Any) -> Answer:
        calls = [
            step
            for step in evidence.steps
            if step.kind is Kind.TOOL
            and step.tool_name == self.tool
            # A call that failed has no result to validate.
            and not (self.part == "result" and step.status == "error")
        ]
        if not calls:
            return NotApplicable(reason=f"no call of {self.tool}")
        rule = Rule(f"{self.part}.{self.tool}", _KINDS[self.part])
        found: list[Violation] = []
        unknown: list[str] = []
        for step in calls:
            text = _part(step, self.part)
            if text is None:
                unknown.append(step.span_id)
            elif wrong := complaints(validator, read(text), whole=self.part)[:_SHOWN]:
                found.append(rule.broken("; ".join(wrong), (step.span_id,)))
        kept = len(calls) - len(found) - len(unknown)
        held = (Held(kind=rule.kind, kept=kept, broken=len(found), unknown=len(unknown)),)
        if not found and unknown:
            reason = f"{self.part} of {len(unknown)} calls of {self.tool} were not recorded"
            return Abstained(reason=reason, evidence=tuple(unknown), held=held)
        evidence_steps = tuple(step for one in found for step in one.steps)
        said = f"{len(found)} of {len(calls)} calls of {self.tool} break the schema"
        return Label(
            passed=not found,
            explanation=said,
            evidence=evidence_steps,
            violations=tuple(found),
            held=held,
        )


def _part(step: Step, part: str) -> str | None:
    return step.tool_arguments if part == "arguments" else step.tool_result
