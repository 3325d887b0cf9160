"""What the collector's API answers with, as its OpenAPI describes it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from collector.folding.set_aside import SetAside
from collector.queue.port import DeadLetter, LedgerRow
from collector.spans import LogRecord, Span
from gnomon.http import described
from gnomon.model import Bodies, Document, Run, Step

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class Item(BaseModel):
    """One span or log record inside a dead letter."""

    trace_id: str
    span_id: str
    name: str
    service: str


class Summary(BaseModel):
    """What a dead letter holds, as far as it can be read."""

    error: str | None = Field(description="Why the payload can not be decoded; null if it can.")
    items: list[Item] = Field(description="The first items.")
    head: str = Field(description="The first bytes, in hex.")


StepOut = described(
    Step,
    left_out=Annotated[
        Sequence[str], Field(description="Fields too long for a list; ask for the step itself.")
    ],
    **{name: str | None for name in Bodies.__dataclass_fields__ if name != "documents"},
    documents=Sequence[described(Document)],  # type: ignore[misc] # a type made at run time
)
"""A step. `input` … `documents` are there with `bodies=1` and for a single step."""

RunOut = described(
    Run,
    limits=Annotated[
        Sequence[str], Field(description="What the source of this run does not tell.")
    ],
)
"""A run. `limits` is there for a single run."""

SpanOut = described(Span, logs=Sequence[described(LogRecord)])  # type: ignore[misc] # as above
LetterOut = described(
    DeadLetter,
    summary=Annotated[Summary | None, Field(description="What is inside; for a single letter.")],
)
LedgerRowOut = described(LedgerRow)
Unread = described(SetAside)


class Filled(BaseModel):
    """Why one field of a step has its value."""

    field: str
    value: Any
    rule: str = Field(description="Number of the rule, as in the specification of the dialects.")
    key: str = Field(description="The attribute it was read from.")


class SpanExplained(BaseModel):
    """A span as it is read now, field by field."""

    items: list[Filled]
    unread: list[str] = Field(description="Attributes that no field was read from.")


class Totals(BaseModel):
    """Sums over all rows of a ledger."""

    received: int
    stored: int
    rejected: Mapping[str, int]
    pending: int


class Ledger(BaseModel):
    """received = stored + rejected + pending, by source and hour."""

    items: list[LedgerRowOut]  # type: ignore[valid-type] # a type made at run time
    totals: Totals
    balanced: bool
    oldest_pending: Moment | None
    unread: list[Unread] = Field(  # type: ignore[valid-type] # a type made at run time
        description="Traces that are stored but cannot be folded into runs; the first 100."
    )
    unread_traces: int = Field(description="How many there are.")


class Refolded(BaseModel):
    """How many traces will be read again."""

    traces: int


class RereadingOut(BaseModel):
    """How far the reading of history is."""

    traces: int
    """So many are still to be read again."""
    until: str | None
    """When the last of them is due to be read, RFC 3339; null where there is none."""


class Resent(BaseModel):
    """A dead letter that is pending again."""

    id: int
