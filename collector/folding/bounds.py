"""How long names and ids may be, so that a step and a run are rows of bounded size.

What is longer is cut, ends in a digest of the whole, so that it stays another than what begins
alike, and is flagged `truncated`; the raw span has it whole.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from collector.short import ID, NAME, short
from gnomon.model import Evaluation, JsonValue

WORDS: Final = 8_192
"""Characters of an explanation, of the parameters of a call, of one pin."""

LISTED: Final = 100
"""Models, tools, agents … of a run, judgments of a step."""

REASONS: Final = 16
"""Different finish reasons of one call."""

PATH: Final = 32
"""Agents above a step that its path names: the outermost."""

TRUNCATED: Final = "truncated"

BOUNDS: Final[Mapping[str, int]] = {
    **dict.fromkeys(
        (
            "agent_name",
            "agent_version",
            "workflow_name",
            "environment",
            "provider",
            "request_model",
            "response_model",
            "model",
            "service_tier",
            "error_type",
            "tool_name",
            "tool_type",
            "handoff_from",
            "handoff_to",
            "prompt_name",
            "prompt_version",
            "decision",
            "decision_source",
            "graph_node",
            "graph_parent",
            "span_name",
            "scope_name",
            "scope_version",
            "service_name",
            "service_version",
        ),
        NAME,
    ),
    **dict.fromkeys(
        ("run_id", "agent_id", "conversation_id", "user_id", "response_id", "tool_call_id"), ID
    ),
}
"""Characters of each field that is a name or an id."""

_WORD_LISTS: Final = ("tags", "guardrails")


def cut(values: dict[str, JsonValue]) -> bool:
    """Cut the names and ids among the fields of a step, in place; tell whether any was too long."""
    long = [
        name
        for name, value in values.items()
        if isinstance(value, str) and len(value) > NAME and len(value) > BOUNDS.get(name, math.inf)
    ]
    for name in long:
        values[name] = short(values[name], BOUNDS[name])
    for name in _WORD_LISTS:
        words = values.get(name)
        if words and any(len(word) > NAME for word in words):
            values[name] = [short(word, NAME) for word in words]
            long.append(name)
    return bool(long)


def cut_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """Return business keys with values that are no longer than ids."""
    return {name: short(value, ID) for name, value in keys.items()}


def cut_judgments(judged: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the first judgments, with names as short as names are."""
    return [
        replace(
            one,
            name=short(one.name, NAME),
            label=one.label and short(one.label, NAME),
            explanation=one.explanation and one.explanation[:WORDS],
            annotator=one.annotator and short(one.annotator, NAME),
            error_type=one.error_type and short(one.error_type, NAME),
        )
        for one in judged[:LISTED]
    ]


def plain_parameters(parameters: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the parameters of a call that are single values, where all of them are too many."""
    single = {
        short(name, NAME): value
        for name, value in parameters.items()
        if not isinstance(value, dict | list) and len(str(value)) <= NAME
    }
    return dict(list(single.items())[: WORDS // (2 * NAME)])
