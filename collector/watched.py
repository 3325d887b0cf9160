"""What gnomon.yaml says to the collector: how runs are named, what they cost, when they settle."""

import datetime as dt
import re
from functools import cached_property
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from gnomon.config import Duration, between, written
from gnomon.watch import Watch

SECTIONS = frozenset({"runs", "business_keys", "prices"})


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunNaming(_Section):
    """Which attributes (of span or resource, tried in order before the dialects' own) name a run."""

    run_id: Names = Field(default=(), description="Carries the run id; else it is the trace id.")
    conversation: Names = ()
    user: Names = ()
    agent: Names = ()
    version: Names = ()
    environment: Names = ()
    quiet_period: Annotated[Duration, between(dt.timedelta(0), dt.timedelta(days=30), written)] = (
        Field(
            default=dt.timedelta(seconds=30),
            description="A run is settled when its root has ended and nothing came for so long.",
        )
    )
    manifest: dict[str, Names] = Field(
        default={}, description="Pins beside the built-in ones: name to attributes."
    )


class KeySource(_Section):
    """Where a business key is found, first found wins; tool arguments as `tool.argument`."""

    attributes: Names = ()
    tool_arguments: Names = Field(
        default=(), description="`argument` of any tool, or `tool:argument` of one."
    )

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if not self.attributes and not self.tool_arguments:
            raise ValueError("say where it is found: `attributes` or `tool_arguments`")
        return self


_WILDCARDS = {"*": ".*", "?": "."}


class Price(_Section):
    """Prices in USD for a million tokens, for models that match, from a date on."""

    model: str = Field(description="Name or pattern with * and ?; compared without case.")
    provider: str | None = None
    since: dt.date = Field(default=dt.date(1970, 1, 1), description="First day (UTC) it holds.")
    input: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
    cached: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] | None = Field(
        default=None, description="Unset: as input."
    )
    cache_write: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] | None = Field(
        default=None, description="Unset: as input."
    )
    reasoning: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] | None = Field(
        default=None, description="Unset: as output."
    )

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The model pattern, compiled: brackets are part of a name (`claude-sonnet-4-5[1m]`)."""
        parts = (_WILDCARDS.get(character, re.escape(character)) for character in self.model)
        return re.compile("".join(parts) + r"\Z", re.IGNORECASE | re.DOTALL)

    @property
    def literal(self) -> int:
        """How many characters of the pattern stand for themselves."""
        return sum(character not in _WILDCARDS for character in self.model)

    @field_validator("model")
    @classmethod
    def _not_empty(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("name a model or a pattern such as 'gpt-4.1*'")
        return value


class Watched(_Section):
    """The collector's part of gnomon.yaml, validated."""

    runs: RunNaming = RunNaming()
    business_keys: dict[str, KeySource] = {}
    prices: tuple[Price, ...] = ()

    @field_validator("prices")
    @classmethod
    def _no_twins(cls, prices: tuple[Price, ...]) -> tuple[Price, ...]:
        seen: set[tuple[str, str | None, dt.date]] = set()
        for price in prices:
            key = (price.model.lower(), price.provider, price.since)
            if key in seen:
                raise ValueError(
                    f"{price.model} has two prices from {price.since} on; give one a later `since`,"
                    " or remove it"
                )
            seen.add(key)
        return prices


def watched(watch: Watch) -> Watched:
    """Return the collector's sections; raises ConfigError that names file, line and mend."""
    sections = {key: watch.data[key] for key in SECTIONS if watch.data.get(key) is not None}
    return watch.validate(sections, Watched)
