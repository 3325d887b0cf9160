"""The same agent as a team would see it that instruments with OpenInference."""

from collections.abc import Iterator, Sequence

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import AttributeValue

from gnomon.cli.demo.genai import AGENT, PROVIDER, business, inside
from gnomon.cli.demo.releases import Release
from gnomon.cli.demo.talk import (
    Ended,
    Message,
    ModelCall,
    Refused,
    Reply,
    ToolUse,
    compact,
)
from gnomon.cli.demo.tickets import Ticket
from gnomon.cli.demo.toolbox import DEFINITIONS, DESCRIPTIONS, SYSTEM
from gnomon.cli.demo.world import POLICY_TEXT
from gnomon.clock import Nanos

_TOOLS = {
    f"llm.tools.{place}.tool.json_schema": compact(definition)
    for place, definition in enumerate(DEFINITIONS)
}


class OpenInference:
    """AGENT, LLM, TOOL and RETRIEVER spans with flattened messages."""

    def __init__(self, tracer: Tracer, release: Release) -> None:
        self._tracer = tracer
        self._release = release

    def open(self, ticket: Ticket, start: Nanos) -> Span:
        """Begin the agent's span."""
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "AGENT",
            "agent.name": AGENT,
            "session.id": ticket.conversation,
            "input.value": ticket.text,
            "input.mime_type": "text/plain",
            **business(ticket, self._release),
        }
        return self._tracer.start_span(
            AGENT,
            context=Context(),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=start,
        )

    def model_call(self, agent: Span, ticket: Ticket, call: ModelCall) -> None:
        """Write an LLM span."""
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "LLM",
            "session.id": ticket.conversation,
            "llm.provider": PROVIDER,
            "llm.system": PROVIDER,
            "llm.invocation_parameters": compact(
                {"model": self._release.model, "temperature": 0.2, "max_tokens": 1024}
            ),
            **dict(_flattened("llm.input_messages", call.read, system=SYSTEM)),
            **_TOOLS,
        }
        if isinstance(call.got, Reply):
            attributes.update(self._reply(call.got))
        span = self._child(agent, "ToyChat", attributes, call.start)
        match call.got:
            case Refused(error_type=error_type, error=error):
                _failed(span, error_type, error, call.end)
            case Reply():
                span.set_status(StatusCode.OK)
        span.end(end_time=call.end)

    def tool_use(self, agent: Span, ticket: Ticket, use: ToolUse) -> None:
        """Write a TOOL span, with the RETRIEVER inside where there is one."""
        call, answer = use.answer.call, use.answer
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "TOOL",
            "session.id": ticket.conversation,
            "tool.name": call.name,
            "tool.description": DESCRIPTIONS[call.name],
            "tool_call.id": call.id,
            "input.value": compact(call.arguments),
            "input.mime_type": "application/json",
            "output.value": compact(answer.result),
            "output.mime_type": "application/json",
        }
        span = self._child(agent, call.name, attributes, use.start)
        if call.name == "consult_refund_policy":
            self._retrieval(span, use)
        if answer.error_type is not None:
            _failed(span, answer.error_type, answer.error, use.end)
        else:
            span.set_status(StatusCode.OK)
        span.end(end_time=use.end)

    def close(self, agent: Span, ended: Ended, calls: list[ModelCall]) -> None:
        """End the agent's span."""
        del calls
        if ended.text is not None:
            agent.set_attributes({"output.value": ended.text, "output.mime_type": "text/plain"})
        if ended.error_type is not None:
            _failed(agent, ended.error_type, ended.error, ended.at)
        else:
            agent.set_status(StatusCode.OK)
        agent.end(end_time=ended.at)

    def _reply(self, got: Reply) -> dict[str, AttributeValue]:
        usage = got.usage
        found: dict[str, AttributeValue] = {
            "llm.model_name": self._release.served_model,
            "llm.finish_reason": "tool_calls" if got.message.calls else "stop",
            "llm.token_count.prompt": usage.input,
            "llm.token_count.completion": usage.output,
            "llm.token_count.total": usage.input + usage.output,
            "llm.token_count.prompt_details.cache_read": usage.cached,
            **dict(_flattened("llm.output_messages", [got.message])),
        }
        if usage.reasoning is not None:
            found["llm.token_count.completion_details.reasoning"] = usage.reasoning
        return found

    def _retrieval(self, tool: Span, use: ToolUse) -> None:
        start, end = inside(use)
        attributes: dict[str, AttributeValue] = {
            "openinference.span.kind": "RETRIEVER",
            "input.value": str(use.answer.call.arguments["topic"]),
            "input.mime_type": "text/plain",
            "retrieval.documents.0.document.id": "refunds-3",
            "retrieval.documents.0.document.score": 0.92,
            "retrieval.documents.0.document.content": POLICY_TEXT,
        }
        span = self._child(tool, "PolicyIndex", attributes, start)
        span.set_status(StatusCode.OK)
        span.end(end_time=end)

    def _child(
        self, parent: Span, name: str, attributes: dict[str, AttributeValue], start: Nanos
    ) -> Span:
        return self._tracer.start_span(
            name,
            context=set_span_in_context(parent, Context()),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=start,
        )


def _flattened(
    prefix: str, turns: Sequence[Message], *, system: str | None = None
) -> Iterator[tuple[str, AttributeValue]]:
    place = 0
    if system is not None:
        yield f"{prefix}.0.message.role", "system"
        yield f"{prefix}.0.message.content", system
        place = 1
    for turn in turns:
        at = f"{prefix}.{place}.message"
        yield f"{at}.role", turn.role
        yield from _content(at, turn)
        place += 1


def _content(at: str, turn: Message) -> Iterator[tuple[str, AttributeValue]]:
    if turn.text:
        yield f"{at}.content", turn.text
    for place, call in enumerate(turn.calls):
        asked = f"{at}.tool_calls.{place}.tool_call"
        yield f"{asked}.id", call.id
        yield f"{asked}.function.name", call.name
        yield f"{asked}.function.arguments", compact(call.arguments)
    if turn.answer is not None:
        yield f"{at}.tool_call_id", turn.answer.call.id
        yield f"{at}.name", turn.answer.call.name
        yield f"{at}.content", compact(turn.answer.result)


def _failed(span: Span, error_type: str, error: str, at: Nanos) -> None:
    """Record a failure the way OpenInference does: an exception event and the status."""
    span.add_event(
        "exception",
        {"exception.type": error_type, "exception.message": error, "exception.escaped": "False"},
        timestamp=at,
    )
    span.set_status(Status(StatusCode.ERROR, error))
