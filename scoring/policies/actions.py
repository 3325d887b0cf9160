"""What an agent did, tool call by tool call, as the policies see it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gnomon.clock import Nanos
from gnomon.model import JsonValue, Kind, Step
from scoring.policies.endings import MISSING, Ending, at, ending_of
from scoring.policies.language import Reading
from scoring.policies.recorded import read, read_object

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
    affirmed: bool = False
    """Its answer says yes to what it asked for, and not merely that the asking was done."""
    step: str = ""
    """Its evidence: the span id."""
    unreadable: bool = False
    """Arguments were recorded, but as something that is no object."""

    @property
    def succeeded(self) -> bool:
        """Whether others may rely on it."""
        return self.ending in (Ending.SUCCEEDED, Ending.DEDUPLICATED)

    @property
    def unknown(self) -> bool:
        """Whether nobody knows if it succeeded."""
        return self.ending in (Ending.UNRECORDED, Ending.UNCLEAR)

    @property
    def ambiguous(self) -> bool:
        """Whether the agent could not know if it took effect."""
        return self.ending in (Ending.AMBIGUOUS, Ending.TIMED_OUT_AFTER_COMMIT)

    @property
    def committed(self) -> bool:
        """Whether it surely is an effect; one that was recognised as a repeat is none."""
        return self.ending in (Ending.SUCCEEDED, Ending.TIMED_OUT_AFTER_COMMIT)

    @property
    def may_have_committed(self) -> bool:
        """Whether it is an effect, or may be one."""
        return self.committed or self.ambiguous or self.unknown


def actions_of(steps: Sequence[Step], readings: Mapping[str, Reading]) -> list[Action]:
    """Return the counted tool calls of a run in order of start, then of span id."""
    calls = [step for step in steps if step.counted and step.kind is Kind.TOOL and step.tool_name]
    calls.sort(key=lambda step: (step.started_at, step.span_id))
    return [_action(step, readings) for step in calls]


def _action(step: Step, readings: Mapping[str, Reading]) -> Action:
    tool = step.tool_name or ""
    arguments = None if step.tool_arguments is None else read_object(step.tool_arguments)
    result = None if step.tool_result is None else read(step.tool_result)
    ended = ending_of(step, result, readings.get(tool))
    return Action(
        tool=tool,
        started=step.started_at,
        ended=step.ended_at,
        ending=ended.ending,
        affirmed=ended.affirmed,
        arguments=arguments,
        result=result,
        step=step.span_id,
        unreadable=arguments is None and step.tool_arguments is not None,
    )


def argument(action: Action, name: str) -> object:
    """Return an argument at a dotted path, or UNRESOLVED."""
    if action.arguments is None:
        return UNRESOLVED
    value = at(action.arguments, name)
    return UNRESOLVED if value is MISSING or value is None else value


def untold(actions: Iterable[Action]) -> str:
    """Say why the arguments of some calls are None."""
    unreadable = {action.unreadable for action in actions}
    if unreadable == {True}:
        return "can not be read as an object"
    return "were not recorded" + (" or can not be read as an object" if True in unreadable else "")
