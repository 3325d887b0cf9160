"""What an agent did, tool call by tool call, as the policies see it."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gnomon.clock import Nanos
from gnomon.model import JsonValue, Kind, Step
from scoring.policies.language import Reading


class Ending(StrEnum):
    """How a call ended, as far as anybody knows."""

    SUCCEEDED = "succeeded"
    DEDUPLICATED = "deduplicated"
    """It had been done before; nothing happened twice."""
    FAILED = "failed"
    PENDING = "pending"
    """Asked, not granted."""
    AMBIGUOUS = "ambiguous"
    """Nobody knows whether it took effect: a timeout."""
    UNRECORDED = "unrecorded"
    """The call is known, its answer was not recorded."""


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
    def may_have_committed(self) -> bool:
        """Whether it counts as an effect; one that was recognised as a repeat does not."""
        return self.ending in (Ending.SUCCEEDED, Ending.AMBIGUOUS, Ending.UNRECORDED)


class Trajectory:
    """The calls of a run in order of start, found by tool and by time without looking at all."""

    def __init__(self, actions: Sequence[Action]) -> None:
        self.all = actions
        self._starts = [action.started for action in actions]
        self._of: dict[str, list[Action]] = {}
        for action in actions:
            self._of.setdefault(action.tool, []).append(action)
        self._starts_of = {
            tool: [action.started for action in calls] for tool, calls in self._of.items()
        }

    @property
    def tools(self) -> Collection[str]:
        """The tools that were called."""
        return self._of.keys()

    def of(self, tool: str) -> Sequence[Action]:
        """Return the calls of a tool."""
        return self._of.get(tool, ())

    def before(self, tool: str, moment: Nanos) -> Sequence[Action]:
        """Return the calls of a tool that started by a moment."""
        return self.of(tool)[: bisect_right(self._starts_of.get(tool, ()), moment)]

    def since(self, moment: Nanos) -> Iterator[Action]:
        """Yield all calls that started at a moment or later."""
        for place in range(bisect_left(self._starts, moment), len(self.all)):
            yield self.all[place]


HARNESS = {
    "success": Ending.SUCCEEDED,
    "committed": Ending.SUCCEEDED,
    "verified": Ending.SUCCEEDED,
    "granted": Ending.SUCCEEDED,
    "deduplicated": Ending.DEDUPLICATED,
    "failed": Ending.FAILED,
    "not_found": Ending.FAILED,
    "denied": Ending.FAILED,
    "error": Ending.FAILED,
    "pending": Ending.PENDING,
    "timed_out_after_commit": Ending.AMBIGUOUS,
    "timed_out": Ending.AMBIGUOUS,
}
"""Statuses of a trial's own record, which knows more than the agent saw."""

_TIMEOUTS = ("timeout", "timedout", "deadlineexceeded", "timed_out")
_WAITING = frozenset({"pending", "requested", "waiting", "open", "in_review", "submitted"})
_REFUSED = frozenset(
    {"failed", "failure", "error", "denied", "rejected", "declined", "refused", "not_found"}
)
_REPEATED = frozenset({"deduplicated", "duplicate", "already_done", "replayed"})


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


def ending_of(step: Step, result: JsonValue, reading: Reading | None) -> Ending:
    """Return how a call ended: the policy's own reading first, then status, then the answer."""
    if reading is not None and result is not None:
        found = _read(result, reading)
        if found is not None:
            return found
    if step.status == "error":
        return _failure(step)
    if step.tool_result is None and step.tool_arguments is None:
        return Ending.UNRECORDED
    return _said(result)


def _failure(step: Step) -> Ending:
    text = f"{step.error_type or ''} {step.error_message or ''}".lower().replace(" ", "")
    return Ending.AMBIGUOUS if any(word in text for word in _TIMEOUTS) else Ending.FAILED


def _read(result: JsonValue, reading: Reading) -> Ending | None:
    value = at(result, reading.path)
    if value is MISSING:
        return None
    text = _text(value)
    for ending, values in (
        (Ending.DEDUPLICATED, reading.deduplicated),
        (Ending.PENDING, reading.pending),
        (Ending.FAILED, reading.failed),
        (Ending.SUCCEEDED, reading.succeeded),
    ):
        if text in values:
            return ending
    # Success was defined and this is not it.
    return Ending.FAILED if reading.succeeded else None


def _said(result: JsonValue) -> Ending:
    """Read an answer without a rule of its own: what it says about itself, else success."""
    if not isinstance(result, Mapping):
        return Ending.SUCCEEDED
    status = _text(result.get("status", result.get("state", ""))).lower()
    error = _text(result.get("error") or "").lower().replace(" ", "")
    if status in _REPEATED or result.get("deduplicated") is True:
        return Ending.DEDUPLICATED
    if status in _WAITING:
        return Ending.PENDING
    if any(word in error or word == status for word in _TIMEOUTS):
        return Ending.AMBIGUOUS
    refused = (result.get(word) is False for word in ("ok", "success", "approved", "granted"))
    if error or status in _REFUSED or any(refused):
        return Ending.FAILED
    return Ending.SUCCEEDED


class _Missing:
    """No value, as apart from null."""


MISSING = _Missing()


def at(value: JsonValue, path: str) -> JsonValue:
    """Return what stands at a dotted path (numbers index lists), or MISSING."""
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value


def _json(text: str | None) -> JsonValue:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)
