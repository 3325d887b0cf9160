"""Whether a span carries content at all, and which switch turns content on."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from collector.dialects.content import events
from collector.dialects.content.frameworks import (
    HAYSTACK_INPUTS,
    HAYSTACK_OUTPUTS,
    REDACTED,
)
from collector.dialects.content.records import CALL_ATTRIBUTE, call_id
from collector.dialects.content.tools import ARGUMENTS, RESULTS
from collector.dialects.keysets import Keys, OfKeys
from collector.dialects.values import PLACEHOLDERS
from collector.spans import LogRecord, Span
from gnomon.model import Kind

_REQUEST: Final = "request_data"
_REQUEST_SIGNS: Final = ('"messages"', '"prompt"', '"input"')
"""Logfire puts parameters alone under this key too."""

CONTENT_KEYS: Final = frozenset(
    {
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.prompt",
        "gen_ai.completion",
        "gen_ai.content.prompt",
        "gen_ai.content.completion",
        "input.value",
        "output.value",
        "traceloop.entity.input",
        "traceloop.entity.output",
        "gen_ai.task.input",
        "gen_ai.task.output",
        "langfuse.observation.input",
        "langfuse.observation.output",
        "langfuse.trace.input",
        "langfuse.trace.output",
        "mlflow.spanInputs",
        "mlflow.spanOutputs",
        "ai.prompt",
        "ai.prompt.messages",
        "ai.response.text",
        "ai.response.toolCalls",
        "ai.response.object",
        "ai.response.reasoning",
        "ai.result.text",
        "ai.result.toolCalls",
        "ai.result.object",
        "ai.value",
        "ai.values",
        "gcp.vertex.agent.llm_request",
        "gcp.vertex.agent.llm_response",
        "events",
        "all_messages_events",
        "pydantic_ai.all_messages",
        "final_result",
        "user_prompt",
        "response_data",
        _REQUEST,
        "crewai.crew.result",
        "crewai.task.description",
        "gen_ai.retrieval.query.text",
        "gen_ai.retrieval.documents",
        "reranker.query",
        "full_command",
        "file_path",
        "mcp.request.argument",
        "mcp.response.value",
        *HAYSTACK_INPUTS,
        *HAYSTACK_OUTPUTS,
        *ARGUMENTS,
        *RESULTS,
    }
)
_STARTS: Final = (
    "llm.input_messages.",
    "llm.output_messages.",
    "llm.prompts.",
    "llm.choices.",
    "llm.completions.",
    "embedding.embeddings.",
    "retrieval.documents.",
    "reranker.input_documents.",
    "reranker.output_documents.",
)
_NUMBERED: Final = re.compile(r"gen_ai\.(?:prompt|completion)\.\d")
_ROLES_ONLY: Final = (".role", ".finish_reason")
_SILENT: Final = PLACEHOLDERS | {REDACTED, events.ELIDED}
_EMPTY: Final = _SILENT | {"{}"}
_EVENT_KEYS: Final = (
    events.BODY,
    "content",
    "message",
    "tool_calls",
    "output",
    "document",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
)
_EVENTS: Final = frozenset(
    {*events.MESSAGES, *events.EVENT_KEYS, events.DETAILS, "tool.output", "db.query.result"}
)
_LOG_KEYS: Final = (*_EVENT_KEYS, "prompt", "prompt_text", "response", "tool_input")
_LOG_SIGNS: Final = (
    'content"',
    'content\\"',
    'tool_calls"',
    'tool_calls\\"',
    "gen_ai.input.messages",
    "gen_ai.output.messages",
)
"""Keys of a body that hold content, also inside JSON text of JSON text."""

_CLAUDE_CODE: Final = frozenset({"user_prompt", "assistant_response", "tool_result"})
_LOGS: Final = _EVENTS | _CLAUDE_CODE | {f"claude_code.{name}" for name in _CLAUDE_CODE}


def content_captured(span: Span, kind: Kind, logs: Sequence[LogRecord] = ()) -> bool:
    """Return whether messages, arguments, results or documents came along; parses nothing."""
    attributes = span.attributes
    if not CONTENT_KEYS.isdisjoint(attributes) and any(
        _holds(key, attributes[key]) for key in CONTENT_KEYS.intersection(attributes)
    ):
        return True
    if _is_flattened(attributes):
        return True
    if kind is Kind.TOOL and attributes.get("tool.parameters", "{}") not in _EMPTY:
        return '"properties"' not in attributes["tool.parameters"]
    if any(
        event.name in _EVENTS and _tells(event.attributes, _EVENT_KEYS) for event in span.events
    ):
        return True
    return bool(logs) and _in_logs(span, logs)


@OfKeys
def _is_flattened(keys: Keys) -> bool:
    """Return whether flattened messages or documents hold more than roles."""
    return any(
        (key.startswith(_STARTS) or _NUMBERED.match(key) is not None)
        and not key.endswith(_ROLES_ONLY)
        for key in keys
    )


def _holds(key: str, words: str) -> bool:
    """Return whether an attribute says anything; `{}` does only where a model wrote it."""
    if key == _REQUEST:
        return any(sign in words for sign in _REQUEST_SIGNS)
    return words.strip() not in (_SILENT if key.startswith("ai.re") else _EMPTY)


def _tells(attributes: Mapping[str, str], keys: Sequence[str]) -> bool:
    return any(attributes[key].strip() not in _SILENT for key in keys if key in attributes)


def _in_logs(span: Span, logs: Sequence[LogRecord]) -> bool:
    call = call_id(span)
    for log in logs:
        if log.event_name not in _LOGS:
            continue
        if log.span_id != span.span_id and (not call or log.attributes.get(CALL_ATTRIBUTE) != call):
            continue
        if _tells(log.attributes, _LOG_KEYS) or _speaks(log):
            return True
    return False


def _speaks(log: LogRecord) -> bool:
    """Return whether the body of an event holds more than roles and placeholders."""
    body = log.body.strip()
    if body in _EMPTY or f'"{events.ELIDED}"' in body:
        return False
    if body.startswith(("{", '"{')) and body.endswith(("}", '}"')):
        return any(sign in body for sign in _LOG_SIGNS)
    return log.event_name in events.MESSAGES or log.event_name in events.EVENT_KEYS


_GENAI: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_GENAI_LATEST: Final = (
    f"{_GENAI}=SPAN_ONLY (or EVENT_ONLY, SPAN_AND_EVENT; older libraries: true) with "
    "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
)
_CLAUDE_CODE_SWITCHES: Final = (
    "OTEL_LOG_USER_PROMPTS=1, OTEL_LOG_TOOL_DETAILS=1, OTEL_LOG_TOOL_CONTENT=1, "
    "OTEL_LOG_ASSISTANT_RESPONSES=1"
)
_ANTHROPIC: Final = "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"
_SWITCHES: Final = {
    "otel": _GENAI_LATEST,
    "otel-genai": _GENAI_LATEST,
    "google-adk": _GENAI_LATEST,
    "strands": _GENAI_LATEST,
    "autogen": _GENAI_LATEST,
    "anthropic-sdk": _ANTHROPIC,
    "anthropic-platform": _ANTHROPIC,
    "claude-code": _CLAUDE_CODE_SWITCHES,
    "haystack": "HAYSTACK_CONTENT_TRACING_ENABLED=true",
    "semantic-kernel": ("SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"),
    "agent-framework": "ENABLE_SENSITIVE_DATA=true",
    "openllmetry": "TRACELOOP_TRACE_CONTENT=true (on unless it was switched off)",
}


def switch_for(dialect: str) -> str | None:
    """Return which switch turns content capture on, or None where there is none to turn."""
    return _SWITCHES.get(dialect)
