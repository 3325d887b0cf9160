"""Whether what a grader or a check answered can be taken as what it says it is."""

import json
import math
from collections.abc import Sequence

from gnomon.model import JsonValue
from scoring.grading.port import Abstained, CheckFailed, Label, NotApplicable
from scoring.policies.verdict import Held, RuleKind, Violation

_MOST = 2**32
"""What the store can count."""


def wrong_answer(answer: object) -> str | None:
    """Return what is wrong with an answer, or None; plug-ins are not type-checked."""
    match answer:
        case Label():
            return _label(answer)
        case Abstained(reason=reason, claimed=claimed, evidence=evidence):
            return (
                _text("reason", reason)
                or _truth("claimed", claimed)
                or _steps(evidence)
                or _held(answer.held)
            )
        case NotApplicable(reason=reason):
            return _text("reason", reason) or _held(answer.held)
        case _:
            return f"it answered with a {type(answer).__name__}"


def _label(label: Label) -> str | None:
    return (
        _truth("passed", label.passed)
        or _score(label.score)
        or _truth("claimed", label.claimed)
        or _text("explanation", label.explanation)
        or _steps(label.evidence)
        or _violations(label.violations)
        or _held(label.held)
        or (None if label.severity in ("hard", "soft") else "its severity is neither hard nor soft")
    )


def _score(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"its score is a {type(value).__name__}, not a number"
    try:
        return None if math.isfinite(value) else f"its score is {value}: no finite number"
    except OverflowError:
        return "its score is too large a number"


def _truth(name: str, value: object) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    return f"its {name} is a {type(value).__name__}; True, False or None is expected"


def _text(name: str, value: object) -> str | None:
    return None if isinstance(value, str) else f"its {name} is a {type(value).__name__}, not text"


def _steps(value: object) -> str | None:
    wrong = "its evidence is no list of span ids"
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return wrong
    return None if all(isinstance(step, str) for step in value) else wrong


def _violations(value: object) -> str | None:
    if not isinstance(value, Sequence) or not all(isinstance(one, Violation) for one in value):
        return "its violations are no list of Violation"
    wrong = (
        _text("violation's rule", one.rule)
        or _text("violation's message", one.message)
        or _steps(one.steps)
        or _kind(one.kind)
        for one in value
    )
    return next((why for why in wrong if why is not None), None)


def _held(value: object) -> str | None:
    if not isinstance(value, Sequence) or not all(isinstance(one, Held) for one in value):
        return "its held is no list of Held"
    counts = [count for one in value for count in (one.kept, one.broken, one.unknown)]
    if not all(type(count) is int and 0 <= count < _MOST for count in counts):
        return "what it held rules against is no number of calls"
    return next((why for one in value if (why := _kind(one.kind)) is not None), None)


def _kind(value: object) -> str | None:
    if isinstance(value, RuleKind):
        return None
    return f"a kind of rule is one of {', '.join(RuleKind)}, as scoring.policies.verdict has them"


def json_of(body: bytes, otherwise: str) -> JsonValue:
    """Return the JSON value a check answered; raises CheckFailed with what is said otherwise."""
    try:
        return json.loads(body, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise CheckFailed(otherwise) from error


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number that is too large")
    return number
