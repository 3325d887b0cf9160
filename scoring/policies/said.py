"""What people write in a file: every field says something, or is left out."""

from decimal import Decimal
from typing import Annotated, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

T = TypeVar("T")

_EMPTY = "says nothing when it is empty: write {what}, or leave it out"


class Said(BaseModel):
    """A part of a file. `field:` without a value is no way to leave a field out: it is refused.

    Else a rule whose limit was forgotten would hold for everything, or for nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    may_be_empty: ClassVar[frozenset[str]] = frozenset()
    """Fields whose empty text, list or mapping means something that leaving it out does not."""

    @field_validator("*", mode="before")
    @classmethod
    def _nothing_empty(cls, value: object, info: ValidationInfo) -> object:
        return _known(value) if info.field_name in cls.may_be_empty else said(value)


def said(value: T) -> T:
    """Refuse null and what is empty; raises ValueError that says the mend."""
    return something(_known(value))


def _known(value: T) -> T:
    if value is None:
        raise ValueError(_EMPTY.format(what="a value"))
    return value


def something(value: T) -> T:
    """Refuse an empty text, list or mapping; raises ValueError that says the mend."""
    if isinstance(value, str) and not value.strip():
        raise ValueError(_EMPTY.format(what="a value"))
    if isinstance(value, list | tuple | dict) and not value:
        raise ValueError(_EMPTY.format(what="an entry"))
    return value


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Some = AfterValidator(something)
"""Refuses what is written and empty: such a rule would hold for everything."""
Text = Annotated[str, Some]
Names = Annotated[tuple[Text, ...], BeforeValidator(_listed)]
"""One text, or several."""
Number = Annotated[Decimal, Field(allow_inf_nan=False)]
