"""How a tool call ended: what its span and its answer say, as far as anybody knows."""

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from http import HTTPStatus

from gnomon.model import JsonValue, Step
from scoring.policies.language import Reading
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
    UNRECORDED = "unrecorded"
    """The call is known, its answer was not recorded."""
    UNCLEAR = "unclear"
    """The answer is known and can be read either way; `results` of a policy says how it is meant."""


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

_TIMEOUTS = ("timeout", "timedout", "deadlineexceeded")
_WAITING = "pending requested waiting awaiting inreview underreview submitted pendingapproval"
_REFUSED = "failed failure error denied rejected declined refused notfound forbidden unauthorized"
_REPEATED = "deduplicated duplicate alreadydone replayed"
_WORDS = {
    **dict.fromkeys(_WAITING.split(), Ending.PENDING),
    **dict.fromkeys(_REFUSED.split(), Ending.FAILED),
    **dict.fromkeys(_REPEATED.split(), Ending.DEDUPLICATED),
    "open": Ending.UNCLEAR,
}
"""What a status says, in small letters and digits only."""

_STATES = frozenset({"status", "state"})
_CODES = frozenset({"status", "status_code", "statusCode", "http_status"})
_GRANTS = frozenset(
    [
        "ok",
        "success",
        "succeeded",
        "approved",
        "granted",
        "accepted",
        "allowed",
        "authorized",
        "authorised",
        "verified",
    ]
)
_ERRORS = frozenset({"error", "isError", "is_error"})
_WRAPPERS = frozenset(
    [
        "approval",
        "authorization",
        "verification",
        "decision",
        "review",
        "request",
        "outcome",
        "result",
        "response",
        "output",
        "data",
        "content",
        "text",
        "structuredContent",
        "structured_content",
    ]
)
"""Under these words stands the answer itself, and no record that it merely tells of."""
_TOLD = frozenset(
    [
        "error",
        "errors",
        "message",
        "detail",
        "details",
        "reason",
        "code",
        "title",
        "type",
        "cause",
        "description",
        "content",
        "text",
        "error_message",
        "error_type",
        "errorMessage",
        "errorType",
        "status",
        "status_code",
        "statusCode",
    ]
)
"""Where an answer that says no says why."""

_NO = frozenset({"false", "no", "0"})
_NONE = frozenset({"", "none", "null", "false", "no", "0"})
_WEIGHT = (
    Ending.DEDUPLICATED,
    Ending.PENDING,
    Ending.AMBIGUOUS,
    Ending.FAILED,
    Ending.UNCLEAR,
)
"""Of several things that an answer says of itself the first of these counts."""

_DEEP = 8
_MOST_TOLD = 50
_SHORT = 80
"""Characters of a text that is a remark; a longer one is content, and may speak of anything."""

_FAILING = re.compile(
    r"(?:error|exception|failure|failed|fatal)\s*[:!-]"
    r"|error (?:executing|calling|invoking|running|while|in|from)\b"
    r"|(?:tool|request|call|operation) failed\b"
    r"|traceback \(most recent call last\)",
    re.IGNORECASE,
)
_STATUS_LINE = re.compile(r"(?:HTTP(?:/\d(?:\.\d)?)?\s+)?([45]\d\d)\b[\s:-]*(.*)", re.IGNORECASE)
_PHRASES = {status.value: re.sub(r"\W", "", status.phrase).lower() for status in HTTPStatus}
_LATE = frozenset({408, 504})


def ending_of(step: Step, result: JsonValue, reading: Reading | None) -> Ending:
    """Return how a call ended: the policy's own reading first, then status, then the answer."""
    if reading is not None and step.tool_result is not None:
        found = _read(result, reading)
        if found is not None:
            return found
    if step.status == "error":
        told = [step.error_type or "", step.error_message or "", *_texts(result)]
        return _failing(told)
    return Ending.UNRECORDED if step.tool_result is None else said(result)


def _read(result: JsonValue, reading: Reading) -> Ending | None:
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
            return ending
    # Success was defined and this is not it.
    return Ending.FAILED if reading.succeeded else None


def _means(value: JsonValue, word: str) -> bool:
    if isinstance(value, bool) or value is None:
        return json.dumps(value) == word
    return same(value.strip() if isinstance(value, str) else value, word)


def said(answer: JsonValue, depth: int = 0) -> Ending:
    """Read an answer without a rule of its own: what it says about itself, else success."""
    if isinstance(answer, str):
        return _of_text(answer)
    if answer is False or depth > _DEEP:
        return Ending.UNCLEAR
    if not isinstance(answer, Mapping):
        return Ending.SUCCEEDED
    found = set(_of_fields(answer, depth))
    if Ending.FAILED in found:
        found.add(_failing(_texts(answer)))
    return next((ending for ending in _WEIGHT if ending in found), Ending.SUCCEEDED)


def _of_fields(answer: Mapping[str, JsonValue], depth: int) -> Iterator[Ending | None]:
    """Yield what each field of an answer says of the call."""
    for name, value in answer.items():
        if name in _STATES or name in _GRANTS:
            yield _word(value)
        if name in _GRANTS:
            yield _granted(value)
        if name in _CODES:
            yield _coded(value)
        if name in _ERRORS and _plain(value) not in _NONE:
            yield Ending.FAILED
        if name == "errors" and value:
            yield Ending.UNCLEAR
        if name == "deduplicated" and _plain(value) == "true":
            yield Ending.DEDUPLICATED
        if name in _WRAPPERS and isinstance(value, str | Mapping):
            yield said(value, depth + 1)
        elif isinstance(value, Mapping) and len(answer) == 1 and name not in _ERRORS:
            # An order that is pending, or a refund that is? The answer alone does not tell.
            inner = said(value, depth + 1)
            yield None if inner is Ending.SUCCEEDED else Ending.UNCLEAR


def _word(value: JsonValue) -> Ending | None:
    if not isinstance(value, str) or len(value) > _SHORT:
        return None
    word = _squeezed(value)
    return Ending.AMBIGUOUS if _late(word) else _WORDS.get(word)


def _granted(value: JsonValue) -> Ending | None:
    if value is None:
        return Ending.UNCLEAR
    return Ending.FAILED if _plain(value) in _NO else None


def _coded(value: JsonValue) -> Ending | None:
    code = _plain(value)
    if len(code) != 3 or not code.isdecimal() or code[0] not in "45":
        return None
    return Ending.AMBIGUOUS if int(code) in _LATE else Ending.FAILED


def _of_text(text: str) -> Ending:
    start = text.strip()[:500]
    word = _word(start)
    if word is not None and " " not in start:
        return word
    if _FAILING.match(start):
        return _failing([start])
    line = _STATUS_LINE.fullmatch(start.split("\n", 1)[0])
    if line is not None and _squeezed(line[2]).startswith(_PHRASES.get(int(line[1]), "\n")):
        return _coded(line[1]) or Ending.FAILED
    if len(start) > _SHORT:
        return Ending.SUCCEEDED
    squeezed = _squeezed(start)
    if "timedout" in squeezed or "deadlineexceeded" in squeezed or squeezed.endswith("timeout"):
        return Ending.AMBIGUOUS
    remarks = any(part in _WORDS for part in re.findall(r"[a-z]+", start.lower()))
    return word or (Ending.UNCLEAR if remarks else Ending.SUCCEEDED)


def _failing(told: list[str]) -> Ending:
    """Return whether what failed may have taken effect all the same."""
    late = any(_late(_squeezed(text[:500])) or text in ("504", "408") for text in told)
    return Ending.AMBIGUOUS if late else Ending.FAILED


def _texts(value: JsonValue) -> list[str]:
    """Return the texts and codes an answer explains itself with; a bounded number."""
    found: list[str] = []
    waiting: list[tuple[JsonValue, int]] = [(value, 0)]
    while waiting and len(found) < _MOST_TOLD:
        one, depth = waiting.pop()
        if isinstance(one, Mapping) and depth < _DEEP:
            waiting += [(inner, depth + 1) for name, inner in one.items() if name in _TOLD]
        elif isinstance(one, list) and depth < _DEEP:
            waiting += [(inner, depth + 1) for inner in one[:_MOST_TOLD]]
        else:
            found.append(_plain(one))
    return found


def _late(squeezed: str) -> bool:
    return any(word in squeezed for word in _TIMEOUTS)


def _squeezed(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _plain(value: JsonValue) -> str:
    """Return a text, number or word in small letters; of a list or object whether it is empty."""
    if isinstance(value, str):
        return value.strip().lower()
    if isinstance(value, list | Mapping):
        return "…" if value else ""
    return json.dumps(value)


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
