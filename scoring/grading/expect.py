"""What an answer must say: a value at a path, compared as values."""

from pydantic import Field, field_validator, model_validator

from gnomon.model import JsonValue, Run
from scoring.grading.port import key_of
from scoring.policies.endings import MISSING, at
from scoring.policies.said import Number, Said
from scoring.policies.sameness import number, same


class Expectation(Said):
    """Exactly one comparison with what stands at `path` of the answer."""

    may_be_empty = frozenset({"path", "equals"})

    path: str = Field(default="", description="Dotted, `refunds.0.amount`; '' is the whole answer.")
    equals: JsonValue = None
    one_of: tuple[JsonValue, ...] | None = None
    at_least: Number | None = None
    at_most: Number | None = None
    exists: bool | None = Field(default=None, description="Whether anything must stand there.")
    equals_key: str | None = Field(default=None, description="A business key of the run.")

    @field_validator("one_of")
    @classmethod
    def _values(cls, value: tuple[JsonValue, ...]) -> tuple[JsonValue, ...]:
        if None in value:
            raise ValueError("null is no value to compare with: write `exists: false` instead")
        return value

    @field_validator("equals", mode="before")
    @classmethod
    def _value(cls, value: JsonValue) -> JsonValue:
        if value is None:
            raise ValueError("write a value; where nothing may stand, write `exists: false`")
        return value

    @model_validator(mode="after")
    def _one_comparison(self) -> "Expectation":
        if len(self.model_fields_set - {"path"}) != 1:
            raise ValueError(
                "say exactly one of equals, one_of, at_least, at_most, exists, equals_key"
            )
        return self

    def met(self, answer: JsonValue, run: Run) -> bool | str:
        """Return whether the answer says it, or why that can not be told."""
        value = value_at(answer, self.path)
        if self.exists is not None:
            return (value is not MISSING and value is not None) == self.exists
        if value is MISSING:
            return f"the answer has nothing at {self.path or 'its root'}"
        if value is None:
            return f"the answer has null at {self.path or 'its root'}"
        return self._compared(value, run)

    def _compared(self, value: JsonValue, run: Run) -> bool | str:
        if self.equals_key is not None:
            wanted = key_of(run, self.equals_key)
            return f"the run has no {self.equals_key}" if wanted is None else same(value, wanted)
        if self.one_of is not None:
            return any(same(value, item) for item in self.one_of)
        if self.at_least is None and self.at_most is None:
            return same(value, self.equals)
        found = number(value)
        if found is None:
            return f"the answer has no number at {self.path or 'its root'}"
        enough = self.at_least is None or found >= self.at_least
        return enough and (self.at_most is None or found <= self.at_most)


def value_at(answer: JsonValue, path: str) -> JsonValue:
    """Return what stands at a path of an answer, or MISSING."""
    return answer if not path else at(answer, path)
