"""The agent's spans in the OpenTelemetry GenAI conventions, written by hand with the SDK."""

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import AttributeValue

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
from gnomon.cli.demo.toolbox import DEFINITIONS_JSON, DESCRIPTIONS, SYSTEM
from gnomon.clock import Nanos

AGENT = "cx-agent"
PROVIDER = "toy_ai"
POLICY_INDEX = "policy-index-v5"

_SYSTEM = compact([{"type": "text", "content": SYSTEM}])


class GenAi:
    """invoke_agent, chat, execute_tool and retrieval spans as of the current conventions."""

    def __init__(self, tracer: Tracer, release: Release) -> None:
        self._tracer = tracer
        self._release = release

    def open(self, ticket: Ticket, start: Nanos) -> Span:
        """Begin the agent's span."""
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.agent.name": AGENT,
            "gen_ai.agent.version": self._release.version,
            "gen_ai.conversation.id": ticket.conversation,
            "gen_ai.request.model": self._release.model,
            "gen_ai.prompt.name": "refund-desk",
            "gen_ai.prompt.version": self._release.prompt_version,
            "gen_ai.system_instructions": _SYSTEM,
            "gen_ai.tool.definitions": DEFINITIONS_JSON,
            "gen_ai.input.messages": messages([Message(role="user", text=ticket.text)]),
            **business(ticket, self._release),
        }
        return self._tracer.start_span(
            f"invoke_agent {AGENT}",
            context=Context(),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=start,
        )

    def model_call(self, agent: Span, ticket: Ticket, call: ModelCall) -> None:
        """Write a `chat` span."""
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.conversation.id": ticket.conversation,
            "gen_ai.request.model": self._release.model,
            "gen_ai.request.max_tokens": 1024,
            "gen_ai.request.temperature": 0.2,
            "gen_ai.request.stream": True,
            "gen_ai.system_instructions": _SYSTEM,
            "gen_ai.tool.definitions": DEFINITIONS_JSON,
            "gen_ai.input.messages": messages(call.read),
            "server.address": "api.toy.example",
        }
        if isinstance(call.got, Reply):
            attributes.update(self._reply(call.got))
        span = self._tracer.start_span(
            f"chat {self._release.model}",
            context=set_span_in_context(agent, Context()),
            kind=SpanKind.CLIENT,
            attributes=attributes,
            start_time=call.start,
        )
        if isinstance(call.got, Refused):
            _failed(span, call.got.error_type, call.got.error)
        span.end(end_time=call.end)

    def tool_use(self, agent: Span, ticket: Ticket, use: ToolUse) -> None:
        """Write an `execute_tool` span, with the retrieval inside where there is one."""
        del ticket
        call, answer = use.answer.call, use.answer
        span = self._tracer.start_span(
            f"execute_tool {call.name}",
            context=set_span_in_context(agent, Context()),
            kind=SpanKind.INTERNAL,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": call.name,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.description": DESCRIPTIONS[call.name],
                "gen_ai.tool.call.id": call.id,
                "gen_ai.tool.call.arguments": compact(call.arguments),
                "gen_ai.tool.call.result": compact(answer.result),
            },
            start_time=use.start,
        )
        if call.name == "consult_refund_policy":
            self._retrieval(span, use)
        if answer.error_type is not None:
            _failed(span, answer.error_type, answer.error)
        span.end(end_time=use.end)

    def close(self, agent: Span, ended: Ended, calls: list[ModelCall]) -> None:
        """End the agent's span; its token sums restate those of the model calls."""
        replies = [call.got for call in calls if isinstance(call.got, Reply)]
        if replies:
            agent.set_attributes(
                {
                    "gen_ai.usage.input_tokens": sum(got.usage.input for got in replies),
                    "gen_ai.usage.output_tokens": sum(got.usage.output for got in replies),
                }
            )
        if ended.text is not None:
            said = Message(role="assistant", text=ended.text)
            agent.set_attribute("gen_ai.output.messages", messages([said], finish_reason="stop"))
        if ended.error_type is not None:
            _failed(agent, ended.error_type, ended.error)
        agent.end(end_time=ended.at)

    def _reply(self, got: Reply) -> dict[str, AttributeValue]:
        asked = bool(got.message.calls)
        found: dict[str, AttributeValue] = {
            "gen_ai.response.id": got.response_id,
            "gen_ai.response.model": self._release.served_model,
            "gen_ai.response.finish_reasons": ["tool_calls" if asked else "stop"],
            "gen_ai.response.time_to_first_chunk": got.first_chunk_microseconds / 1_000_000,
            "gen_ai.output.messages": messages(
                [got.message], finish_reason="tool_call" if asked else "stop"
            ),
            "gen_ai.usage.input_tokens": got.usage.input,
            "gen_ai.usage.output_tokens": got.usage.output,
            "gen_ai.usage.cache_read.input_tokens": got.usage.cached,
        }
        if got.usage.reasoning is not None:
            found["gen_ai.usage.reasoning.output_tokens"] = got.usage.reasoning
        return found

    def _retrieval(self, tool: Span, use: ToolUse) -> None:
        query = str(use.answer.call.arguments["topic"])
        span = self._tracer.start_span(
            f"retrieval {POLICY_INDEX}",
            context=set_span_in_context(tool, Context()),
            kind=SpanKind.CLIENT,
            attributes={
                "gen_ai.operation.name": "retrieval",
                "gen_ai.data_source.id": POLICY_INDEX,
                "gen_ai.retrieval.query.text": query,
                "gen_ai.retrieval.documents": compact(
                    [{"id": "refunds-3", "score": 0.92}, {"id": "retries-1", "score": 0.71}]
                ),
            },
            start_time=inside(use)[0],
        )
        span.end(end_time=inside(use)[1])


def business(ticket: Ticket, release: Release) -> Mapping[str, AttributeValue]:
    """Return what ties a run to the shop's own records, and what it was made of."""
    rehearsed = {"rehearsal.task": ticket.task} if ticket.task else {}
    return {
        **rehearsed,
        "user.id": ticket.customer,
        "order.id": ticket.order.id,
        "ticket.id": ticket.id,
        "ticket.topic": str(ticket.topic),
        "customer.id": ticket.customer,
        "desk.policy": "refund-policy-v3",
        "desk.tool_schema": "refund-tools-v2",
        "desk.retry_policy": release.retry_policy,
    }


def inside(use: ToolUse) -> tuple[Nanos, Nanos]:
    """Return the middle of a tool call: when its own look-up took place."""
    eighth = (use.end - use.start) // 8
    return Nanos(use.start + eighth), Nanos(use.end - eighth)


def messages(turns: Sequence[Message], *, finish_reason: str | None = None) -> str:
    """Return turns as the JSON text of the conventions."""
    found: list[dict[str, Any]] = [{"role": turn.role, "parts": _parts(turn)} for turn in turns]
    if finish_reason is not None:
        found[-1]["finish_reason"] = finish_reason
    return compact(found)


def _parts(turn: Message) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if turn.text:
        parts.append({"type": "text", "content": turn.text})
    parts.extend(
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in turn.calls
    )
    if turn.answer is not None:
        call = turn.answer.call
        parts.append({"type": "tool_call_response", "id": call.id, "response": turn.answer.result})
    return parts


def _failed(span: Span, error_type: str, error: str) -> None:
    span.set_attribute("error.type", error_type)
    span.set_status(Status(StatusCode.ERROR, error))
