"""What really happened in a run, for whoever wants to check what the telemetry made of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.cli.demo.releases import Mistake
from gnomon.cli.demo.talk import ModelCall, Reply, ToolUse
from gnomon.cli.demo.world import Refund
from gnomon.clock import Nanos

Dialect = Literal["otel-genai", "openinference"]
Outcome = Literal["refunded", "not_refunded", "refunded_twice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a perfect reader of the run's spans adds up; None: nobody reported it."""

    spans: int
    llm_calls: int
    llm_errors: int
    tool_calls: int
    tool_errors: int
    retrievals: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """One run as the world saw it."""

    run_id: str
    index: int
    agent_version: str
    model: str
    dialect: Dialect
    ticket: str
    conversation: str
    topic: str
    customer: str
    order: str
    started_at: Nanos
    ended_at: Nanos
    mistake: Mistake | None
    faults: Sequence[str]
    """Faults around the agent that came about."""
    due: int | None
    """What had to go back; None: nothing."""
    blocked: bool
    """The payment was declined or the approval is pending: paying nothing is right."""
    refunds: Sequence[Refund]
    """Committed in this run."""
    paid_before: int
    """Refunds of the order that earlier runs committed."""
    claimed_outcome: str | None
    """None: the agent had no last word."""
    error_type: str | None
    """Why the run failed as a whole."""
    counts: Counts

    @property
    def outcome(self) -> Outcome:
        """The end state of the order, whatever anybody says."""
        paid = self.paid_before + len(self.refunds)
        if paid > 1:
            return "refunded_twice"
        return "refunded" if paid == 1 else "not_refunded"

    @property
    def state_right(self) -> bool:
        """Whether exactly that was paid which had to be."""
        paid = [refund.amount for refund in self.refunds]
        return paid == ([] if self.due is None or self.blocked else [self.due])

    @property
    def claim_true(self) -> bool | None:
        """Whether the last word fits the end state; asking for a person always does."""
        if self.claimed_outcome is None:
            return None
        return self.claimed_outcome in {"needs_review", self.outcome}


def count(calls: Sequence[ModelCall], uses: Sequence[ToolUse]) -> Counts:
    """Add up a run from the agent's own records, not from its spans."""
    usages = [call.got.usage for call in calls if isinstance(call.got, Reply)]
    retrievals = sum(use.answer.call.name == "consult_refund_policy" for use in uses)
    return Counts(
        spans=1 + len(calls) + len(uses) + retrievals,
        llm_calls=len(calls),
        llm_errors=len(calls) - len(usages),
        tool_calls=len(uses),
        tool_errors=sum(use.answer.error_type is not None for use in uses),
        retrievals=retrievals,
        input_tokens=_sum(usage.input for usage in usages),
        output_tokens=_sum(usage.output for usage in usages),
        cached_tokens=_sum(usage.cached for usage in usages),
        reasoning_tokens=_sum(usage.reasoning for usage in usages),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
