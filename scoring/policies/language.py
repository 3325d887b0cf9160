"""The policy language: what a policy file may say. Reading it refuses what can never apply."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from gnomon import watch
from gnomon.errors import ConfigError
from gnomon.model import JsonValue
from gnomon.watch import Watch
from scoring.policies.said import Names, Number, Said, Some, Text, said
from scoring.policies.schemas import wrong_schema


class ResultOf(Said):
    """A value found in what another tool answered, about the same entity."""

    may_be_empty = frozenset({"match"})

    result_of: str = Field(description="The tool whose last successful answer is read.")
    match: dict[Text, Text] = Field(description="Its argument: the argument of the judged call.")
    path: str = Field(description="Where in the answer, `order.customer`.")


Bind = Annotated[
    dict[Text, Annotated[str | ResultOf, BeforeValidator(said)]],
    Field(description="Argument of the required call: argument of the judged call, or ResultOf."),
]


class When(Said):
    """A condition on one argument of the judged call."""

    may_be_empty = frozenset({"equals"})

    arg: str
    above: Number | None = None
    at_least: Number | None = None
    below: Number | None = None
    at_most: Number | None = None
    equals: JsonValue = None
    one_of: tuple[JsonValue, ...] | None = None

    @field_validator("one_of")
    @classmethod
    def _values(cls, value: tuple[JsonValue, ...]) -> tuple[JsonValue, ...]:
        if None in value:
            raise ValueError("an argument that is null can not be told from none: leave null out")
        return value

    @model_validator(mode="after")
    def _one_comparison(self) -> "When":
        said = self.model_fields_set - {"arg"}
        if len(said) != 1:
            raise ValueError("say exactly one of above, at_least, below, at_most, equals, one_of")
        return self


class Requirement(Said):
    """A call that must have finished successfully before the judged one started."""

    tool: str
    bind: Bind = {}


class ConditionalRequirement(Requirement):
    """A requirement that holds only for some calls."""

    when: When


class AfterAmbiguous(Said):
    """What must come first after a write whose result nobody knows (a timeout)."""

    related: Names = Field(description="The calls that count as a reaction.")
    next_must_be: str
    must_follow: bool = Field(default=False, description="No reaction at all is a breach, too.")
    bind: Bind = {}

    @model_validator(mode="after")
    def _reachable(self) -> "AfterAmbiguous":
        if self.next_must_be not in self.related:
            raise ValueError(f"next_must_be {self.next_must_be} must stand in related as well")
        return self


class Prohibited(Said):
    """A relation that must not occur, or a number of effects that must not be passed."""

    tool: str
    before: str | None = Field(default=None, description="Not before this tool succeeded.")
    after: str | None = Field(default=None, description="Not once this tool succeeded.")
    max_committed: Annotated[int, Field(ge=0)] | None = None
    per: Names = Field(default=(), description="Arguments that name the entity; none: per run.")
    idempotency: str | None = Field(
        default=None,
        description="Argument that names the effect: calls that share it take effect once.",
    )
    bind: Bind = {}

    @model_validator(mode="after")
    def _one_thing(self) -> "Prohibited":
        said = [
            name for name in ("before", "after", "max_committed") if name in self.model_fields_set
        ]
        if len(said) > 1:
            raise ValueError(f"{' and '.join(said)} are two rules: write two entries")
        if (self.per or self.idempotency) and self.max_committed is None:
            raise ValueError("per and idempotency need max_committed")
        if self.bind and self.before is None and self.after is None:
            raise ValueError("bind needs before or after: it says about what the other call is")
        return self


class Reading(Said):
    """How the answer of a tool is read, where the built-in reading does not fit."""

    may_be_empty = frozenset({"path"})

    path: str = Field(default="", description="Dotted, `approval.state`; '' is the whole answer.")
    succeeded: Names = Field(default=(), description="Values at `path` that mean success.")
    failed: Names = Field(default=(), description="Values at `path` that mean it did not happen.")
    pending: Names = Field(default=(), description="Values at `path` that mean not decided yet.")
    deduplicated: Names = Field(default=(), description="Values that mean it was done before.")

    @model_validator(mode="after")
    def _reads_something(self) -> "Reading":
        if not (self.succeeded or self.failed or self.pending or self.deduplicated):
            raise ValueError("say which values mean succeeded, failed, pending or deduplicated")
        return self


class Budgets(Said):
    """Limits for one run; a limit that can not be measured is not evaluable, never kept."""

    steps: Annotated[int, Field(gt=0)] | None = None
    model_calls: Annotated[int, Field(gt=0)] | None = None
    tool_calls: Annotated[int, Field(gt=0)] | None = None
    tokens: Annotated[int, Field(gt=0)] | None = None
    usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


class Scope(Said):
    """Which runs the policy speaks of; what is left out asks nothing."""

    agents: Names = ()
    versions: Names = ()
    environments: Names = ()


class Policy(Said):
    """One policy file."""

    policy: str = Field(default="", description="Its name; else that of the file.")
    version: str = Field(default="1", description="Raised by every change of meaning.")
    severity: Literal["hard", "soft"] = "hard"
    scope: Scope = Scope()
    required_before: dict[Text, Annotated[tuple[Requirement, ...], Some]] = {}
    conditionally_required_before: dict[
        Text, Annotated[tuple[ConditionalRequirement, ...], Some]
    ] = {}
    after_ambiguous_write: dict[Text, AfterAmbiguous] = {}
    prohibited: tuple[Prohibited, ...] = ()
    arguments: dict[Text, Annotated[dict[str, JsonValue], Some]] = Field(
        default={}, description="Tool: JSON Schema of its arguments."
    )
    results: dict[Text, Reading] = {}
    budgets: Budgets = Budgets()

    @property
    def tools(self) -> frozenset[str]:
        """Every tool the policy names."""
        names = {*self.required_before, *self.conditionally_required_before, *self.arguments}
        names |= {*self.after_ambiguous_write, *self.results}
        for required in (
            *self.required_before.values(),
            *self.conditionally_required_before.values(),
        ):
            for one in required:
                names |= {one.tool, *_asked(one.bind)}
        for after in self.after_ambiguous_write.values():
            names |= {*after.related, *_asked(after.bind)}
        for rule in self.prohibited:
            names |= {rule.tool, rule.before or "", rule.after or "", *_asked(rule.bind)}
        return frozenset(name for name in names if name)

    @model_validator(mode="after")
    def _rules(self) -> "Policy":
        if not (
            self.required_before
            or self.conditionally_required_before
            or self.after_ambiguous_write
            or self.prohibited
            or self.arguments
            or self.budgets.model_fields_set
        ):
            raise ValueError(
                "a policy without a rule holds for everything; write one rule at least"
            )
        return self


def _asked(bind: Mapping[str, str | ResultOf]) -> set[str]:
    return {source.result_of for source in bind.values() if isinstance(source, ResultOf)}


def read(path: Path) -> Policy:
    """Read a policy file; raises ConfigError that names line and mend."""
    return policy_of(watch.read(path), default_name=path.stem)


def policy_of(source: Watch, *, default_name: str) -> Policy:
    """Return the policy a parsed file holds; raises ConfigError that names line and mend."""
    policy = source.validate(source.data, Policy)
    refuse_wrong_schemas(source, policy)
    return policy if policy.policy else policy.model_copy(update={"policy": default_name})


def refuse_wrong_schemas(source: Watch, policy: Policy, place: tuple[int | str, ...] = ()) -> None:
    """Raise ConfigError for an argument schema that is none; `place` is where the policy stands."""
    for tool, schema in policy.arguments.items():
        wrong = wrong_schema(schema)
        if wrong is not None:
            raise ConfigError(source.complaint((*place, "arguments", tool, *wrong[0]), wrong[1]))
