"""Evidence as a plug-in gets it: copies of its own, so that it changes nothing for another grader."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TypeVar

from gnomon.errors import Unavailable
from gnomon.model import Bodies, JsonValue, Run, Step
from scoring.grading.port import Evidence

T = TypeVar("T")
Noun = TypeVar("Noun", Run, Step, Bodies)


class Lent:
    """Evidence of one run, lent to one plug-in; remembers that the store was away."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._away: Unavailable | None = None

    def refuse_if_away(self) -> None:
        """Raise: what was made of evidence that could not be read is no answer; it is asked again."""
        if self._away is not None:
            raise self._away

    @cached_property
    def run(self) -> Run:
        """The run."""
        return noun_of_its_own(self._evidence.run)

    @cached_property
    def steps(self) -> Sequence[Step]:
        """Its counted steps in order of start, ties by span id."""
        return [noun_of_its_own(step) for step in self._evidence.steps]

    @property
    def final_message(self) -> str | None:
        """The agent's last words, whole; None where nobody recorded them."""
        return self._read(lambda: self._evidence.final_message)

    @cached_property
    def final_json(self) -> JsonValue:
        """The JSON in the final message, or None."""
        return json_of_its_own(self._read(lambda: self._evidence.final_json))

    def bodies(self, steps: Sequence[Step]) -> Sequence[Bodies]:
        """What these steps read and wrote; asked by the steps as they are stored.

        What is read is kept for the other graders: a step that was changed would read nothing.
        """
        stored = {(step.trace_id, step.span_id): step for step in self._evidence.steps}
        asked = [stored.get((step.trace_id, step.span_id), step) for step in steps]
        found = self._read(lambda: self._evidence.bodies(asked))
        return [noun_of_its_own(bodies) for bodies in found]

    def _read(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except Unavailable as error:
            self._away = error
            raise


def noun_of_its_own(noun: Noun) -> Noun:
    """Return a copy that shares no mapping and no list with the noun."""
    held = {field.name: getattr(noun, field.name) for field in fields(noun)}
    shared = {name: value for name, value in held.items() if isinstance(value, dict | list)}
    return replace(noun, **{name: json_of_its_own(value) for name, value in shared.items()})


def json_of_its_own(value: JsonValue) -> JsonValue:
    """Return a copy of a value of JSON. Not recursive: how deep it goes is up to the agent."""
    whole = [value]
    left: list[JsonValue] = [whole]
    while left:
        place = left.pop()
        for key, inner in place.items() if isinstance(place, dict) else enumerate(place):
            if isinstance(inner, dict | list):
                place[key] = inner.copy()
                left.append(place[key])
    return whole[0]
