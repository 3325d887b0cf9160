"""How a tool call ended: what its span and its answer say, as far as anybody knows."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from gnomon.model import JsonValue, Step
from scoring.policies.language import Reading
from scoring.policies.remarks import Says, failing
from scoring.policies.replies import listener_of, texts_of
from scoring.policies.sameness import same


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
    TIMED_OUT_AFTER_COMMIT = "timed_out_after_commit"
    """It took effect, and the agent was told of a timeout: a trial's own record knows that."""
    UNRECORDED = "unrecorded"
    """The call is known, its answer was not recorded."""
    UNCLEAR = "unclear"
    """The answer is known and can be read either way; `results` of a policy says how it is meant."""


class Ended(NamedTuple):
    """How a call ended, and whether that is a yes to what it asked for."""

    ending: Ending
    affirmed: bool = False


HARNESS = {
    "success": Ended(Ending.SUCCEEDED, affirmed=True),
    "committed": Ended(Ending.SUCCEEDED),
    "verified": Ended(Ending.SUCCEEDED, affirmed=True),
    "granted": Ended(Ending.SUCCEEDED, affirmed=True),
    "deduplicated": Ended(Ending.DEDUPLICATED),
    "failed": Ended(Ending.FAILED),
    "not_found": Ended(Ending.FAILED),
    "denied": Ended(Ending.FAILED),
    "error": Ended(Ending.FAILED),
    "pending": Ended(Ending.PENDING),
    "timed_out_after_commit": Ended(Ending.TIMED_OUT_AFTER_COMMIT),
    "timed_out": Ended(Ending.AMBIGUOUS),
}
"""Statuses of a trial's own record, which knows more than the agent saw."""

_SAID = {
    Says.NOTHING: Ended(Ending.SUCCEEDED),
    Says.WITHDRAWN: Ended(Ending.SUCCEEDED),
    Says.YES: Ended(Ending.SUCCEEDED),
    Says.GRANTED: Ended(Ending.SUCCEEDED, affirmed=True),
    Says.REPEATED: Ended(Ending.DEDUPLICATED),
    Says.STRANGE: Ended(Ending.UNCLEAR),
    Says.EITHER: Ended(Ending.UNCLEAR),
    Says.NO: Ended(Ending.FAILED),
    Says.LATE: Ended(Ending.AMBIGUOUS),
    Says.WAITING: Ended(Ending.PENDING),
}
"""How a call ended whose answer says this; what speaks of something else was given for asking."""

_ANY = "*"
"""In a reading: whatever stands there, or here."""


def ending_of(step: Step, result: JsonValue, reading: Reading | None) -> Ended:
    """Return how a call ended: the policy's own reading first, then status, then the answer."""
    if reading is not None and step.tool_result is not None:
        found = _read(result, reading)
        if found is not None:
            return found
    if step.status == "error":
        told = failing(step.error_type or "", step.error_message or "", *texts_of(result))
        return _SAID[told]
    if step.tool_result is None:
        return Ended(Ending.UNRECORDED)
    return _SAID[listener_of(step.tool_name or "").hears(result)]


def _read(result: JsonValue, reading: Reading) -> Ended | None:
    value = at(result, reading.path) if reading.path else result
    if value is MISSING:
        return None
    for ending, values in (
        (Ending.DEDUPLICATED, reading.deduplicated),
        (Ending.PENDING, reading.pending),
        (Ending.FAILED, reading.failed),
        (Ending.SUCCEEDED, reading.succeeded),
    ):
        if any(_means(value, word) for word in values):
            return Ended(ending, affirmed=ending is Ending.SUCCEEDED)
    # Success was defined and this is not it.
    return Ended(Ending.FAILED) if reading.succeeded else None


def _means(value: JsonValue, word: str) -> bool:
    if isinstance(value, bool) or value is None:
        return json.dumps(value) == word or (word == _ANY and value is not None)
    if isinstance(value, str):
        return _fits(value.strip(), word)
    return word == _ANY or same(value, word)


def _fits(text: str, word: str) -> bool:
    """Return whether a text is the one a policy names, in which * stands for any."""
    if _ANY not in word:
        return same(text, word)
    first, *rest = word.split(_ANY)
    last = rest.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for part in rest:
        place = text.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


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
