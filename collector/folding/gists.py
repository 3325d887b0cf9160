"""What a run was asked and what it answered; looks into four steps at most."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from collector.dialects.content import sources
from collector.dialects.content.messages import Message
from collector.folding.parts import Part
from collector.spans import Span
from gnomon.model import Kind

MAX_TEXT = 2_000
"""Characters of the first question and the last answer that are kept on the run."""

_Side = Literal["input", "output"]


def gist_of(parts: Sequence[Part], root: Part, agent: Part | None) -> tuple[str | None, str | None]:
    """Return the first user text and the last assistant text of a run.

    They come from the root or the outermost agent, else from the first and the last model call.
    """
    outer = [root, agent] if agent is not None and agent is not root else [root]
    calls = [part for part in parts if part.step.counted and part.step.kind is Kind.LLM]
    last = max(calls, key=lambda part: (part.step.ended_at, part.key), default=None)
    asked = _said((*outer, *calls[:1]), parts, "input")
    answered = _said((*outer, *((last,) if last else ())), parts, "output")
    return asked, answered


def _said(places: Iterable[Part], parts: Sequence[Part], side: _Side) -> str | None:
    """Return the first text that one of the steps holds, cut to its limit."""
    for part in places:
        for span in _reports(part, parts):
            for text in _texts(span, part, side):
                return text[:MAX_TEXT]
    return None


def _reports(part: Part, parts: Sequence[Part]) -> Iterator[Span]:
    """Yield the span of a step, then those of its duplicates, as far as they hold content."""
    if part.step.content_captured:
        yield part.draft.span
    if part.draft.has_duplicates:
        for copy in parts:
            if copy.draft.duplicate_of is part.draft and copy.step.content_captured:
                yield copy.draft.span


def _texts(span: Span, part: Part, side: _Side) -> Iterator[str]:
    """Yield the first text of a user in the input, or the last of an assistant in the output."""
    place = sources.Place(span, part.draft.logs)
    if side == "input":
        yield from _by(sources.first(place, sources.INPUT), "user")
    else:
        yield from _by(reversed(sources.first(place, sources.OUTPUT)), "assistant")


def _by(messages: Iterable[Message], role: str) -> Iterator[str]:
    for message in messages:
        if message["role"] == role:
            text = "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")
            if text.strip():
                yield text
