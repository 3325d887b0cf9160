"""The words between agent, model and tools, and the records of what happened when."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gnomon.clock import Nanos

Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model asks for a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What came back for one call."""

    call: ToolCall
    result: Mapping[str, Any]
    error_type: str | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of the conversation between the agent's parts."""

    role: Role
    text: str = ""
    calls: Sequence[ToolCall] = ()
    answer: ToolAnswer | None = None

    def size(self) -> int:
        """Return how many characters the model has to read."""
        inside = [compact({"name": call.name, **call.arguments}) for call in self.calls]
        if self.answer is not None:
            inside.append(compact(self.answer.result))
        return len(self.text) + sum(map(len, inside))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens in the inclusive meaning; None: the model's provider does not report the field."""

    input: int
    output: int
    cached: int
    reasoning: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model call that worked."""

    message: Message
    usage: Usage
    response_id: str
    microseconds: int
    first_chunk_microseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A model call that failed at the provider."""

    error_type: str
    error: str
    microseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One attempt to get an answer from the model."""

    start: Nanos
    end: Nanos
    read: Sequence[Message]
    got: Reply | Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool call as it was carried out."""

    start: Nanos
    end: Nanos
    answer: ToolAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How an agent finished: with a last message, or with an error."""

    at: Nanos
    text: str | None = None
    error_type: str | None = None
    error: str = ""


def compact(value: object) -> str:
    """Return JSON text without spaces, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
