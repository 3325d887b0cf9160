"""A pseudo-model: it follows a script, takes its time, counts its tokens, and fails sometimes."""

from collections.abc import Sequence

from gnomon.cli.demo.chance import Chance
from gnomon.cli.demo.plan import ModelFault, Plan
from gnomon.cli.demo.script import Script
from gnomon.cli.demo.talk import Message, Refused, Reply, ToolCall, Usage
from gnomon.cli.demo.tickets import Ticket
from gnomon.cli.demo.toolbox import DEFINITIONS_JSON, SYSTEM

_CHARACTERS_PER_TOKEN = 4
_CACHE_BLOCK = 128
_FASTEST, _SLOWEST = 400_000, 4_000_000
"""Bounds of a model call in microseconds."""

_OVERHEAD = (len(SYSTEM) + len(DEFINITIONS_JSON)) // _CHARACTERS_PER_TOKEN


class PseudoModel:
    """Answers the calls of one run."""

    def __init__(self, ticket: Ticket, plan: Plan, chance: Chance) -> None:
        self._script = Script(ticket, plan)
        self._plan = plan
        self._chance = chance
        self._calls = 0
        self._read_before = 0

    def respond(self, messages: Sequence[Message]) -> Reply | Refused:
        """Return the next answer; every call is one attempt."""
        self._calls += 1
        chance = self._chance.below("call", self._calls)
        refused = self._refusal(chance)
        if refused is not None:
            return refused
        decision = self._script.decide(messages)
        calls = [
            ToolCall(
                id=f"call_{chance.code(f'tool {place}', 12)}", name=name, arguments=dict(arguments)
            )
            for place, (name, arguments) in enumerate(decision.calls)
        ]
        message = Message(role="assistant", text=decision.say, calls=calls)
        usage = self._usage(messages, message, chance)
        microseconds = self._duration(usage, chance)
        return Reply(
            message=message,
            usage=usage,
            response_id=f"resp_{chance.code('response', 20).lower()}",
            microseconds=microseconds,
            first_chunk_microseconds=microseconds * chance.whole("first chunk", 15, 45) // 100,
        )

    def _refusal(self, chance: Chance) -> Refused | None:
        fault = self._plan.model_fault
        if fault is ModelFault.RATE_LIMITED and self._calls == 2:
            return Refused(
                error_type="RateLimitError",
                error="429: too many requests, retry after 1 s",
                microseconds=chance.whole("refused", 90_000, 250_000),
            )
        if fault is ModelFault.DOWN and self._calls >= 2:
            return Refused(
                error_type="InternalServerError",
                error="500: the model is not available",
                microseconds=chance.whole("refused", 400_000, 1_500_000),
            )
        return None

    def _usage(self, read: Sequence[Message], said: Message, chance: Chance) -> Usage:
        heard = _OVERHEAD + sum(4 + turn.size() // _CHARACTERS_PER_TOKEN for turn in read)
        reasoning = chance.whole("reasoning", 40, 260) if self._plan.release.reasons else None
        output = 12 + said.size() // _CHARACTERS_PER_TOKEN + (reasoning or 0)
        warm = self._read_before > 0 and chance.happens("cache", 0.85)
        cached = self._read_before // _CACHE_BLOCK * _CACHE_BLOCK if warm else 0
        self._read_before = heard
        return Usage(input=heard, output=output, cached=cached, reasoning=reasoning)

    def _duration(self, usage: Usage, chance: Chance) -> int:
        thinking = usage.output * self._plan.release.microseconds_per_token
        wanted = 350_000 + thinking + chance.whole("jitter", 0, 600_000)
        return max(_FASTEST, min(_SLOWEST, wanted))
