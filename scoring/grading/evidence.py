"""The evidence of one run: the run, its steps, and bodies read only when a grader asks."""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from collector.dialects.content import assistant_text
from collector.dialects.values import FORGIVING, as_json
from gnomon.model import Bodies, JsonValue, Kind, Run, Step

_CUT = 2_000
"""Characters of `Run.output`; a longer last message is read from its step."""

_LOOK = 5
"""Model steps from the end in which the whole last message is looked for."""

_JSON_FROM_END = 64 * 1024
_BRACES = 200
"""Places at which a JSON object in a message is tried to begin."""


class BodyReader(Protocol):
    """What reads what steps read and wrote."""

    def bodies_of(self, steps: Sequence[Step]) -> list[Bodies]:
        """Return the bodies of some steps, in their order."""


class StoredEvidence:
    """A run as it is stored."""

    def __init__(self, run: Run, steps: Sequence[Step], reader: BodyReader) -> None:
        self.run = run
        self.steps = steps
        self._reader = reader
        self._read: dict[tuple[str, str], Bodies] = {}
        self._lock = threading.Lock()

    @cached_property
    def final_message(self) -> str | None:
        """The agent's last words, whole; None where nobody recorded them."""
        said = self.run.output
        if said is None or len(said) < _CUT:
            return said
        spoken = [step for step in self.steps if step.kind is Kind.LLM][-_LOOK:]
        for bodies in reversed(self.bodies(spoken)):
            text = assistant_text(bodies)
            if text is not None and text.startswith(said[: _CUT - 1]):
                return text
        return said

    @cached_property
    def final_json(self) -> JsonValue:
        """The JSON in the final message, or None."""
        return None if self.final_message is None else json_in(self.final_message)

    def bodies(self, steps: Sequence[Step]) -> Sequence[Bodies]:
        """What these steps read and wrote, each read once."""
        with self._lock:
            missing = [s for s in steps if (s.trace_id, s.span_id) not in self._read]
            if missing:
                for step, bodies in zip(missing, self._reader.bodies_of(missing), strict=True):
                    self._read[step.trace_id, step.span_id] = bodies
            return [self._read[step.trace_id, step.span_id] for step in steps]


def json_in(text: str) -> JsonValue:
    """Return the JSON a message is, or ends with (alone or in a fence), or None."""
    whole = as_json(text)
    if whole is not None:
        return whole
    end = text[-_JSON_FROM_END:].rstrip().removesuffix("```").rstrip()
    at = end.find("{")
    for _ in range(_BRACES):
        if at < 0:
            return None
        try:
            value, stop = FORGIVING.raw_decode(end, at)
        except (ValueError, RecursionError):
            stop = -1
            value = None
        if stop == len(end):
            return value
        at = end.find("{", max(stop, at + 1))
    return None
