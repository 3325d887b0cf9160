"""The toy agent: asks the model, carries out the tools, stops at its step budget."""

from collections.abc import Sequence
from typing import Protocol

from opentelemetry.trace import Span

from gnomon.cli.demo.chance import Chance
from gnomon.cli.demo.model import PseudoModel
from gnomon.cli.demo.talk import (
    Ended,
    Message,
    ModelCall,
    Refused,
    Reply,
    ToolAnswer,
    ToolCall,
    ToolUse,
)
from gnomon.cli.demo.tickets import Ticket
from gnomon.cli.demo.world import World
from gnomon.clock import Nanos

MODEL_CALL_BUDGET = 12
_ATTEMPTS = 3
_BACKOFF = 1_000_000
"""Microseconds before a refused model call is tried again."""
_TIMEOUT = 400_000
"""Microseconds after which a payment counts as not answered."""


class Instrument(Protocol):
    """Writes what the agent does as spans; one implementation per dialect."""

    def open(self, ticket: Ticket, start: Nanos) -> Span:
        """Begin the agent's span."""

    def model_call(self, agent: Span, ticket: Ticket, call: ModelCall) -> None:
        """Write the span of one model call."""

    def tool_use(self, agent: Span, ticket: Ticket, use: ToolUse) -> None:
        """Write the span of one tool call."""

    def close(self, agent: Span, ended: Ended, calls: list[ModelCall]) -> None:
        """End the agent's span."""


class Agent:
    """Handles one ticket. Time is its own: it moves with what the model and the tools take."""

    def __init__(
        self, model: PseudoModel, world: World, instrument: Instrument, chance: Chance
    ) -> None:
        self._model = model
        self._world = world
        self._instrument = instrument
        self._chance = chance
        self._now = Nanos(0)
        self.model_calls: list[ModelCall] = []
        self.tool_uses: list[ToolUse] = []

    def handle(self, ticket: Ticket, start: Nanos) -> Ended:
        """Work on a ticket until there is a last word or an error."""
        self._now = start
        span = self._instrument.open(ticket, start)
        self._pass(self._chance.whole("pick up", 2_000, 20_000))
        ended = self._work(span, ticket)
        self._instrument.close(span, ended, self.model_calls)
        return ended

    def _work(self, span: Span, ticket: Ticket) -> Ended:
        messages = [Message(role="user", text=ticket.text)]
        for _ in range(MODEL_CALL_BUDGET):
            got = self._ask(span, ticket, messages)
            if isinstance(got, Refused):
                return Ended(at=self._now, error_type=got.error_type, error=got.error)
            messages.append(got.message)
            if not got.message.calls:
                return Ended(at=self._now, text=got.message.text)
            answers = self._carry_out(span, ticket, got.message.calls)
            messages.extend(Message(role="tool", answer=answer) for answer in answers)
        return Ended(
            at=self._now,
            error_type="StepBudgetExceeded",
            error=f"stopped after {MODEL_CALL_BUDGET} model calls without a last word",
        )

    def _ask(self, span: Span, ticket: Ticket, messages: list[Message]) -> Reply | Refused:
        got = self._attempt(span, ticket, messages)
        for attempt in range(1, _ATTEMPTS):
            if isinstance(got, Reply):
                break
            self._pass(_BACKOFF * attempt)
            got = self._attempt(span, ticket, messages)
        return got

    def _attempt(self, span: Span, ticket: Ticket, messages: list[Message]) -> Reply | Refused:
        start = self._now
        got = self._model.respond(messages)
        self._pass(got.microseconds)
        call = ModelCall(start=start, end=self._now, read=tuple(messages), got=got)
        self.model_calls.append(call)
        self._instrument.model_call(span, ticket, call)
        self._pass(self._chance.whole(f"between {len(self.model_calls)}", 300, 3_000))
        return got

    def _carry_out(self, span: Span, ticket: Ticket, calls: Sequence[ToolCall]) -> list[ToolAnswer]:
        """Run the calls of one answer side by side, as they were asked for."""
        start = self._now
        uses: list[ToolUse] = []
        for call in calls:
            began = Nanos(start + 150_000 * len(uses))
            answer = self._world.call(call.name, call.arguments, began)
            timed_out = answer.error_type == "timeout"
            number = len(self.tool_uses) + len(uses)
            usual = self._chance.whole(f"tool {number}", 20_000, 300_000)
            took = _TIMEOUT if timed_out else usual
            uses.append(
                ToolUse(
                    start=began,
                    end=Nanos(began + took * 1_000),
                    answer=ToolAnswer(
                        call=call,
                        result=answer.result,
                        error_type=answer.error_type,
                        error=answer.error,
                    ),
                )
            )
        for use in sorted(uses, key=lambda use: use.end):
            self._instrument.tool_use(span, ticket, use)
        self.tool_uses.extend(uses)
        self._now = max(use.end for use in uses)
        self._pass(500)
        return [use.answer for use in uses]

    def _pass(self, microseconds: int) -> None:
        self._now = Nanos(self._now + microseconds * 1_000)
