"""What an agent did, tool call by tool call, as the policies see it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon.clock import Nanos
from gnomon.model import JsonValue, Kind, Step
from scoring.policies.endings import MISSING, Ending, at, ending_of
from scoring.policies.language import Reading

UNRESOLVED = object()
"""The value could not be found: nobody recorded it, or nobody asked for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One tool call. `arguments` and `result` are None where nobody recorded them."""

    tool: str
    started: Nanos
    ended: Nanos
    ending: Ending
    arguments: Mapping[str, JsonValue] | None
    result: JsonValue = None
    step: str = ""
    """Its evidence: the span id."""

    @property
    def succeeded(self) -> bool:
        """Whether others may rely on it."""
        return self.ending in (Ending.SUCCEEDED, Ending.DEDUPLICATED)

    @property
    def unknown(self) -> bool:
        """Whether nobody knows if it succeeded."""
        return self.ending in (Ending.UNRECORDED, Ending.UNCLEAR)

    @property
    def may_have_committed(self) -> bool:
        """Whether it may be an effect; one that was recognised as a repeat is none."""
        return self.unknown or self.ending in (Ending.SUCCEEDED, Ending.AMBIGUOUS)


def actions_of(steps: Sequence[Step], readings: Mapping[str, Reading]) -> list[Action]:
    """Return the counted tool calls of a run in order of start, then of span id."""
    calls = [step for step in steps if step.counted and step.kind is Kind.TOOL and step.tool_name]
    calls.sort(key=lambda step: (step.started_at, step.span_id))
    return [_action(step, readings) for step in calls]


def _action(step: Step, readings: Mapping[str, Reading]) -> Action:
    tool = step.tool_name or ""
    arguments = _json(step.tool_arguments)
    result = _json(step.tool_result)
    return Action(
        tool=tool,
        started=step.started_at,
        ended=step.ended_at,
        ending=ending_of(step, result, readings.get(tool)),
        arguments=arguments if isinstance(arguments, Mapping) else None,
        result=result,
        step=step.span_id,
    )


def argument(action: Action, name: str) -> object:
    """Return an argument at a dotted path, or UNRESOLVED."""
    if action.arguments is None:
        return UNRESOLVED
    value = at(action.arguments, name)
    return UNRESOLVED if value is MISSING or value is None else value


def _json(text: str | None) -> JsonValue:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
