"""Short ways to make spans and logs, and to read what was made of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from collector.dialects import content
from collector.dialects.read import read_span
from collector.spans import Event, LogRecord, Span
from gnomon.clock import Nanos
from gnomon.model import Bodies, Kind


def span(
    attributes: Mapping[str, Any] | None = None,
    *,
    name: str = "step",
    events: Sequence[Event] = (),
    failed: bool = False,
    span_id: str = "00000000000000a1",
    start: int = 1,
) -> Span:
    """Make a span; values that are no text become JSON text, as the store keeps them."""
    return Span(
        trace_id="0" * 31 + "1",
        span_id=span_id,
        name=name,
        start=Nanos(start),
        end=Nanos(start + 1),
        status_code="Error" if failed else "Unset",
        attributes=texts(attributes or {}),
        events=events,
    )


def event(name: str, time: int = 1, **attributes: Any) -> Event:
    return Event(time=Nanos(time), name=name, attributes=texts(attributes))


def named(name: str, attributes: Mapping[str, Any], time: int = 1) -> Event:
    return Event(time=Nanos(time), name=name, attributes=texts(attributes))


def log(
    name: str,
    body: Any = "",
    *,
    time: int = 1,
    observed: int = 1,
    span_id: str = "00000000000000a1",
    **attributes: Any,
) -> LogRecord:
    return LogRecord(
        trace_id="0" * 31 + "1",
        span_id=span_id,
        time=Nanos(time),
        observed=Nanos(observed),
        event_name=name,
        body=body if isinstance(body, str) else json.dumps(body),
        attributes=texts(attributes),
    )


def texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()
    }


def read(attributes: Mapping[str, Any], kind: Kind = Kind.LLM, **more: Any) -> Bodies:
    return content.read_bodies(span(attributes), kind, **more)


def messages(body: str | None) -> list[dict[str, Any]]:
    return [] if body is None else json.loads(body)


def parts(body: str | None) -> list[dict[str, Any]]:
    return [part for turn in messages(body) for part in turn["parts"]]


def user_text(bodies: Bodies) -> str | None:
    """Return the first text of a user in what was read."""
    return next((said(turn) for turn in messages(bodies.input) if turn["role"] == "user"), None)


def said(turn: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in turn["parts"] if part["type"] == "text")


def tool_calls(bodies: Bodies) -> list[dict[str, Any]]:
    return [part for part in parts(bodies.output) if part["type"] == "tool_call"]


def finish_of(step: Span) -> Any:
    """Return the finish reason as sent, several as a list."""
    return read_span(step).values.get("finish_reason_raw")


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def called(name: str, arguments: Any, identifier: str | None = None) -> dict[str, Any]:
    return {"type": "tool_call", "id": identifier, "name": name, "arguments": arguments}


def answered(result: Any, identifier: str | None = None) -> dict[str, Any]:
    return {"type": "tool_result", "id": identifier, "result": result}
