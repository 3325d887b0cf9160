"""Whether a guardrail tripped: its status, its output, an event, or the step it stopped (3.4)."""

from collector.dialects.values import as_json
from collector.folding.steps import Draft
from gnomon.model import JsonValue, Kind

_OUTPUTS = (
    "output.value",
    "langfuse.observation.output",
    "mlflow.spanOutputs",
    "traceloop.entity.output",
    "gen_ai.completion",
)
_WHEN_TRUE = ("tripwire_triggered", "triggered", "tripped", "blocked", "flagged")
_WHEN_FALSE = ("passed", "allowed", "valid")
_WORDS = frozenset({"tripped", "triggered", "blocked", "block", "flagged", "fail", "failed"})
_TRIPWIRE = "tripwire"


def tripped(draft: Draft) -> bool:
    """Tell whether a guardrail step stopped something. A trip is no failure of the run by itself."""
    if draft.kind is not Kind.GUARDRAIL:
        return False
    if draft.failed or any(_TRIPWIRE in event.name.lower() for event in draft.span.events):
        return True
    attributes = draft.span.attributes
    return any(_says_so(attributes[key]) for key in _OUTPUTS if key in attributes) or (
        _stopped_its_parent(draft)
    )


def _says_so(output: str) -> bool:
    value: JsonValue = as_json(output)
    if isinstance(value, dict):
        value = {**value, **(value["output"] if isinstance(value.get("output"), dict) else {})}
        return any(value.get(key) is True for key in _WHEN_TRUE) or any(
            value.get(key) is False for key in _WHEN_FALSE
        )
    word = value if isinstance(value, str) else output
    return word.strip().lower() in _WORDS


def _stopped_its_parent(draft: Draft) -> bool:
    """The OpenAI agents SDK leaves the guardrail ok and fails the step above it by its name."""
    parent = draft.parent
    if parent is None or not parent.failed:
        return False
    message = parent.span.status_message
    return _TRIPWIRE in message.lower() and draft.span.name in message
