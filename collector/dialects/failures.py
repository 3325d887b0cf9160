"""When a span failed, with which class and with what words: rules E1 to E7 (2.8)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from collector.dialects.facts import Facts
from collector.dialects.rules import FAILED, Field, keys, of_span, quoted
from collector.dialects.values import as_bool, found, unquoted
from collector.spans import Event, Span
from gnomon.model import JsonValue

MAX_MESSAGE = 2_000

_TRACEBACK = "Traceback (most recent call last)"
_CLASS = re.compile(r"<class '([^']+)'>")
_LEADING_CLASS = re.compile(r"([A-Z]\w+)\(")
_GENERIC = frozenset({"Exception", "Error", "ERROR"})


@dataclass(frozen=True, slots=True)
class Failed:
    """The rule and the key that say that a span failed."""

    rule: str
    key: str


def failure_of(span: Span) -> Failed | None:
    """Return why the span counts as failed; None when it did not fail (E1, E2, E3)."""
    if span.status_code == "Error":
        return Failed("E1", "status")
    if span.status_code == "Ok":
        return None
    for key, failed in FAILURE_MARKS.items():
        if key in span.attributes and failed(span.attributes[key]):
            return Failed("E2", key)
    return None


def _is_given(value: str) -> bool:
    return found(value) is not None


FAILURE_MARKS: Mapping[str, Callable[[str], bool]] = {
    "error.type": _is_given,
    "langfuse.observation.level": lambda value: unquoted(value) == "ERROR",
    "gen_ai.tool.status": lambda value: value.lower() == "error",
    "success": lambda value: as_bool(value) is False,
    "gen_ai.task.status": lambda value: value.lower() == "failure",
}
"""Attributes that make a span without a status a failed one (E2)."""


def class_name(text: str) -> str:
    """Return the last dotted part of a class; `_OTHER` and numbers stay."""
    named = _CLASS.search(text)
    name = (named.group(1) if named else text).strip()
    if name.replace(".", "", 1).isdigit():
        return name
    return name.rpartition(".")[2] or name


def error_type_of(raw: str | None, message: str | None) -> str | None:
    """Return the class of an error; a generic one gives way to the class in the message (E6)."""
    name = class_name(raw) if raw is not None else None
    if name is None or name in _GENERIC:
        leading = _LEADING_CLASS.match(message or "")
        if leading is not None:
            return leading.group(1)
    return name


def cut_message(text: str) -> str | None:
    """Return a message without its traceback, at most 2,000 characters (E7)."""
    return found(text.partition(_TRACEBACK)[0].strip()[:MAX_MESSAGE])


def _exception(facts: Facts) -> Event | None:
    return facts.last_event("exception") if facts.span.events else None


def _exception_type(facts: Facts, _key: str) -> JsonValue:
    event = _exception(facts)
    return found(event.attributes.get("exception.type")) if event else None


def _exception_message(facts: Facts, _key: str) -> JsonValue:
    event = _exception(facts)
    return found(event.attributes.get("exception.message")) if event else None


def _status_message(facts: Facts, _key: str) -> JsonValue:
    return cut_message(facts.span.status_message)


ERRORS: tuple[Field, ...] = (
    Field(
        "error_type",
        (
            *keys("E5", "error.type", take=quoted, only=FAILED),
            *of_span("E5", "span event exception", _exception_type, FAILED),
            *keys(
                "E5",
                "error_class",
                "error_type",
                "error.code",
                "status_code",
                "http.response.status_code",
                take=quoted,
                only=FAILED,
            ),
        ),
    ),
    Field(
        "error_message",
        (
            *of_span("E7", "status message", _status_message, FAILED),
            *of_span("E7", "span event exception", _exception_message, FAILED),
            *keys(
                "E7",
                "langfuse.observation.status_message",
                "error.message",
                "error",
                take=quoted,
                only=FAILED,
            ),
        ),
    ),
)
