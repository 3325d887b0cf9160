"""Content under keys of one framework: Vercel, ADK, Haystack, pydantic-ai, Claude Code, Logfire."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from collector.dialects.content import events, parts, records
from collector.dialects.content.messages import Message, message, said, spoken
from collector.dialects.content.parts import Part
from collector.dialects.content.shapes import messages_of
from collector.dialects.values import as_json, found, unquoted
from collector.spans import LogRecord, Span
from gnomon.model import JsonValue

Flat = Mapping[str, str]

REDACTED: Final = "<REDACTED>"
"""What Claude Code writes where a switch is off."""

HAYSTACK_INPUTS: Final = (
    "haystack.component.input",
    "haystack.agent.input",
    "haystack.agent.step.llm.input",
    "haystack.agent.step.tool.input",
    "haystack.agent.step.input",
    "haystack.pipeline.input_data",
)
HAYSTACK_OUTPUTS: Final = (
    "haystack.component.output",
    "haystack.agent.output",
    "haystack.agent.step.llm.output",
    "haystack.agent.step.tool.output",
    "haystack.agent.step.output",
    "haystack.pipeline.output_data",
)


def value_of(words: str | None) -> JsonValue:
    """Return the JSON an attribute holds, else its text; None where nothing is found or `{}`."""
    if found(words) is None or words == "{}":
        return None
    value = as_json(words)
    return words if value is None else value


def vercel_input(attributes: Flat) -> list[Message]:
    """Read `ai.prompt.messages`, `ai.prompt`, `ai.value` and `ai.values`."""
    for key in ("ai.prompt.messages", "ai.prompt"):
        if made := messages_of(value_of(attributes.get(key)), "user"):
            return made
    words = [unquoted(attributes.get("ai.value"))]
    listed = value_of(attributes.get("ai.values"))
    if isinstance(listed, list):
        words = [unquoted(item) if isinstance(item, str) else None for item in listed]
    return [made for word in words for made in said("user", word)]


def vercel_output(attributes: Flat) -> list[Message]:
    """Read `ai.response.*` (up to version 3 `ai.result.*`)."""
    content: list[Part] = []
    for key in ("response", "result"):
        prefix = f"ai.{key}."
        if words := found(attributes.get(f"{prefix}reasoning")):
            content += _vercel_reasoning(words)
        if words := found(attributes.get(f"{prefix}text")):
            content.append(parts.text(words))
        calls = value_of(attributes.get(f"{prefix}toolCalls"))
        for call in calls if isinstance(calls, list) else ():
            content += [parts.call(call)] if isinstance(call, Mapping) else [parts.other(call)]
        if words := found(attributes.get(f"{prefix}object")):
            content.append(parts.text(words))
        if content:
            finish = attributes.get(f"{prefix}finishReason")
            return [message("assistant", content, finish=finish)]
    return []


def _vercel_reasoning(words: str) -> list[Part]:
    value = as_json(words) if words.startswith("[{") else None
    return parts.parts_of(value) if isinstance(value, list) else [parts.reasoning(words)]


def adk_input(attributes: Flat) -> list[Message]:
    """Read `gcp.vertex.agent.llm_request`; `{}` says that capture was off."""
    return messages_of(value_of(attributes.get("gcp.vertex.agent.llm_request")), "user")


def adk_output(attributes: Flat) -> list[Message]:
    """Read `gcp.vertex.agent.llm_response`."""
    return messages_of(value_of(attributes.get("gcp.vertex.agent.llm_response")), "assistant")


def haystack(attributes: Flat, keys: Sequence[str], role: str) -> list[Message]:
    """Read what a component, an agent, a step or a pipeline took or gave; reprs stay text."""
    for key in keys:
        if key in attributes and (made := messages_of(value_of(attributes[key]), role)):
            return made
    return []


def pydantic_ai(attributes: Flat) -> events.Told:
    """Read a model call's `events` (version 1), or an agent's whole conversation."""
    if "events" in attributes:
        return events.of_list(as_json(attributes["events"]))
    if "all_messages_events" in attributes:
        turns = events.of_list(as_json(attributes["all_messages_events"]))[0]
    elif "pydantic_ai.all_messages" in attributes:
        turns = messages_of(value_of(attributes["pydantic_ai.all_messages"]), "user")
    else:
        return [], said("assistant", found(attributes.get("final_result")))
    return _conversation(turns, found(attributes.get("final_result")))


def _conversation(turns: list[Message], result: str | None) -> events.Told:
    """Split a whole conversation into what was read and the last answer."""
    read, written = turns, []
    if turns and turns[-1]["role"] == "assistant":
        read, written = turns[:-1], turns[-1:]
    if result and not any(part.get("text") == result for turn in written for part in turn["parts"]):
        if not any(part["type"] == "text" for turn in written for part in turn["parts"]):
            read, written = turns, []
        written = [*written, *said("assistant", result)]
    return read, written


def claude_code_input(span: Span, logs: Sequence[LogRecord]) -> list[Message]:
    """Read `user_prompt`, or the log event of that name."""
    told = [span.attributes.get("user_prompt")]
    if not _uncovered(told):
        told = list(_told(span, logs, "user_prompt", "prompt_text", "prompt"))
    return [made for words in _uncovered(told) for made in said("user", words)]


def claude_code_output(span: Span, logs: Sequence[LogRecord]) -> list[Message]:
    """Read the log events `assistant_response` of a turn."""
    told = list(_told(span, logs, "assistant_response", "response"))
    return [made for words in _uncovered(told) for made in said("assistant", words)]


def _told(span: Span, logs: Sequence[LogRecord], name: str, *keys: str) -> Iterator[str | None]:
    for log in records.own(span, logs, name, f"claude_code.{name}"):
        yield next((log.attributes[key] for key in keys if log.attributes.get(key)), None)


def _uncovered(told: Sequence[str | None]) -> list[str]:
    return [words for words in told if words and words != REDACTED]


def logfire_input(attributes: Flat) -> list[Message]:
    """Read `request_data`; an object of parameters alone is no content."""
    value = value_of(attributes.get("request_data"))
    if not isinstance(value, Mapping) or not {"messages", "prompt", "input"} & value.keys():
        return []
    return messages_of(value, "user")


def logfire_output(attributes: Flat) -> list[Message]:
    """Read `response_data`: a message, or the joined chunks of a stream."""
    value = value_of(attributes.get("response_data"))
    if not isinstance(value, Mapping):
        return []
    for key in ("message", "combined_chunk_content", "text"):
        made = messages_of(value.get(key), "assistant")
        if spoken(made):
            return made
    return []


def crewai(attributes: Flat) -> events.Told:
    """Read the task and the result of a crew."""
    asked = found(attributes.get("crewai.task.description"))
    return said("user", asked), said("assistant", found(attributes.get("crewai.crew.result")))
