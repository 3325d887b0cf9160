"""A refund desk of made-up runs, and readers that answer from memory: for the tests of pages."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from collector.queue.port import DeadLetter, LedgerRow
from collector.spans import Span
from gnomon.clock import Nanos
from gnomon.model import Bodies, Kind, Run, RunId, RunState, RunStatus, SpanId, Step, TraceId
from tests.page_memory import MemoryBooks, MemoryReader

SECOND = 1_000_000_000
MINUTE = 60 * SECOND
DAY = 86_400 * SECOND
NOW = Nanos(1_792_584_000 * SECOND)
"""2026-10-21 12:00 UTC."""


def message(role: str, *parts: Mapping[str, object]) -> dict[str, object]:
    return {"role": role, "parts": list(parts)}


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def books() -> MemoryBooks:
    made = MemoryBooks()
    chance = random.Random(3)
    for back in range(36):
        hour = Nanos((NOW // (60 * MINUTE) - back) * 60 * MINUTE)
        for source, scale in (("traces/grpc/10.0.4.7", 1), ("traces/http/loopback", 4)):
            received = chance.randint(900, 2400) * scale
            bad = {"bad_ids": 2} if back % 7 == 3 else {}
            late = 12 if back == 0 and scale == 1 else 0
            made.rows.append(
                LedgerRow(
                    source=source,
                    hour=hour,
                    received=received,
                    stored=received - sum(bad.values()) - late,
                    rejected=bad,
                    pending=late,
                )
            )
    made.pending = Nanos(NOW - 2 * SECOND)
    for number, reason in ((4, "store_refused"), (9, "store_refused")):
        letter = DeadLetter(
            id=number,
            source="traces/http/loopback",
            signal="traces",
            reason=reason,
            detail="Code 27: the field start_time_unix_nano can not be read at row 3",
            items=14,
            size=2216,
            received_at=Nanos(NOW - number * MINUTE),
            buried_at=Nanos(NOW - number * MINUTE + 3 * SECOND),
        )
        made.letters[number] = (letter, b"\x0a\xf2\x10refund-desk" + bytes(range(200)))
    return made


SAID = (
    "Customer c{n} asks for {amount} back for order O-{order}, which arrived broken.",
    "My parcel O-{order} never came. Please return the {amount} I paid.",
    "Order O-{order}: charged twice, I want {amount} back.",
    "Please cancel O-{order} and refund {amount}; I changed my mind after a week.",
)
ERRORS = ("ToolTimeout", "RateLimitError", "BudgetExceeded", "ValidationError")


def desk(count: int = 1400, *, days: int = 30, seed: int = 7) -> MemoryReader:
    """Return a month of the desk; the second version begins after twenty days and fails more."""
    reader = MemoryReader()
    chance = random.Random(seed)
    made = [make_run(chance, number, count, days) for number in range(count)]
    for run, steps in made:
        reader.steps[run.run_id] = steps
        say(reader, run, steps)
    reader.all = sorted(
        (run for run, _ in made), key=lambda one: (one.started_at, one.run_id), reverse=True
    )
    return reader


def hexes(chance: random.Random, digits: int) -> str:
    return f"{chance.getrandbits(4 * digits):0{digits}x}"


def make_run(chance: random.Random, number: int, count: int, days: int) -> tuple[Run, list[Step]]:
    start = NOW - days * DAY + int((number + chance.random()) / count * (days * DAY - 3 * MINUTE))
    version = "v14-rc" if start > NOW - days * DAY // 3 and chance.random() < 0.6 else "v13"
    dip = days * DAY * 0.17 < NOW - start < days * DAY * 0.22
    roll = chance.random()
    fails = roll < (0.31 if dip else 0.09 if version == "v14-rc" else 0.05)
    unknown = not fails and roll > 0.985
    order, amount = 700 + number % 900, chance.choice((12, 40, 85, 120, 310))
    trace = hexes(chance, 32)
    failure = chance.choice(ERRORS) if fails else None
    slip = "ToolTimeout" if not fails and chance.random() < 0.06 else None
    steps = make_steps(chance, trace, start, version, order, amount, failure, slip)
    end = max(step.ended_at for step in steps)
    calls = [step for step in steps if step.kind is Kind.LLM]
    recent = end > NOW - 30 * SECOND
    run = Run(
        run_id=RunId(trace),
        trace_ids=[trace],
        root_span_id=None if unknown else steps[0].span_id,
        agent_name="refund-desk",
        agent_version=version,
        service_name="refunds",
        conversation_id=f"chat-{number % 600}",
        user_id=f"c{number % 300}",
        environment="production",
        business_keys={"order": f"O-{order}"},
        started_at=Nanos(start),
        ended_at=Nanos(end),
        duration_ns=end - start,
        active_ns=sum(step.duration_ns for step in steps if step.counted),
        state=RunState.OPEN if recent or unknown else RunState.SETTLED,
        settled_at=Nanos(end + 30 * SECOND),
        revision=1,
        complete=not unknown,
        status=RunStatus.UNKNOWN if unknown else RunStatus.ERROR if fails else RunStatus.OK,
        error_type=failure,
        error_types=sorted({one for one in (failure, slip) if one}),
        input=chance.choice(SAID).format(n=number % 300, amount=amount, order=order),
        output=f"Refunded {amount} for O-{order}.",
        steps=sum(step.counted for step in steps),
        spans=len(steps),
        llm_calls=len(calls),
        tool_calls=sum(step.kind is Kind.TOOL for step in steps),
        input_tokens=sum(step.input_tokens or 0 for step in calls),
        output_tokens=sum(step.output_tokens or 0 for step in calls),
        cached_tokens=sum(step.cached_tokens or 0 for step in calls),
        usage_source="model_steps",
        cost_usd=sum(step.cost_usd or 0 for step in calls),
        models=["m-large-2026-08"],
        tools=sorted({step.tool_name for step in steps if step.tool_name}),
        agents=["refund-desk"],
        dialects=["otel-genai"],
        last_received_at=Nanos(end),
    )
    return run, steps


TOOLS = ("verify_identity", "inspect_order_status", "consult_refund_policy", "issue_refund")
REQUEST: Mapping[str, Callable[[int, int], Mapping[str, object]]] = {
    "verify_identity": lambda order, amount: {"customer": "c1"},
    "inspect_order_status": lambda order, amount: {"order": f"O-{order}"},
    "consult_refund_policy": lambda order, amount: {"topic": "refunds"},
    "issue_refund": lambda order, amount: {
        "order": f"O-{order}",
        "amount": amount,
        "idempotency_key": f"k-{order}",
    },
}
ANSWER: Mapping[str, Mapping[str, object]] = {
    "verify_identity": {"verified": True},
    "inspect_order_status": {"status": "delivered", "refunds": []},
    "consult_refund_policy": {"policy": "Refund once. Confirm the status before any retry."},
    "issue_refund": {"ok": True, "refund": "R-91"},
}


def make_steps(
    chance: random.Random,
    trace: str,
    start: int,
    version: str,
    order: int,
    amount: int,
    failure: str | None,
    slip: str | None,
) -> list[Step]:
    root = hexes(chance, 16)
    common = {
        "run_id": RunId(trace),
        "trace_id": TraceId(trace),
        "service_name": "refunds",
        "environment": "production",
        "dialect": "otel-genai",
        "agent_name": "refund-desk",
        "agent_version": version,
        "agent_path": ("refund-desk",),
        "scope_name": "opentelemetry.instrumentation.genai.refunds",
    }
    steps: list[Step] = []
    at = start + 4_000_000
    slow = 1.5 if version == "v14-rc" else 1.0
    tools = [*TOOLS, *(("issue_refund", "issue_refund") if failure == "ToolTimeout" else ())]

    def add(parent: str, kind: Kind, took: float, **more: object) -> Step:
        nonlocal at
        length = max(1, int(took * SECOND))
        step = Step(
            **common,  # type: ignore[arg-type]
            span_id=SpanId(hexes(chance, 16)),
            parent_span_id=parent,
            started_at=Nanos(at),
            ended_at=Nanos(at + length),
            duration_ns=length,
            kind=kind,
            **more,  # type: ignore[arg-type]
        )
        steps.append(step)
        at += length + 3_000_000
        return step

    for turn, tool in enumerate([*tools, ""]):
        begun = at
        wrapper = hexes(chance, 16)
        tokens = 900 + 420 * turn + chance.randint(0, 90)
        add(
            wrapper,
            Kind.LLM,
            chance.uniform(0.3, 1.6) * slow,
            counted=True,
            model="m-large-2026-08",
            request_model="m-large",
            response_model="m-large-2026-08",
            provider="provider",
            input_tokens=tokens,
            cached_tokens=tokens // 2,
            output_tokens=chance.randint(20, 180),
            cost_usd=tokens * 2e-6,
            finish_reason="tool_call" if tool else "stop",
            span_name="chat m-large",
            content_captured=True,
        )
        if tool:
            wrong = failure if turn == len(tools) - 1 else None
            wrong = wrong or (slip if turn == 1 else None)
            asked = dict(REQUEST[tool](order, amount))
            if turn >= len(TOOLS):
                asked["idempotency_key"] = f"k-{order}-{turn}"
            add(
                wrapper,
                Kind.TOOL,
                4.0 if wrong == "ToolTimeout" else chance.uniform(0.02, 0.5),
                counted=True,
                tool_name=tool,
                tool_call_id=f"call_{turn}",
                tool_arguments=json.dumps(asked),
                tool_result=None if wrong else json.dumps(ANSWER[tool]),
                status="error" if wrong else "ok",
                status_from="span" if wrong else "",
                error_type=wrong,
                error_message=f"{wrong}: no answer within 4000 ms" if wrong else None,
                span_name=f"execute_tool {tool}",
            )
        steps.append(
            Step(
                **common,  # type: ignore[arg-type]
                span_id=SpanId(wrapper),
                parent_span_id=root,
                started_at=Nanos(begun),
                ended_at=Nanos(at),
                duration_ns=at - begun,
                kind=Kind.CHAIN,
                span_name=f"turn {turn + 1}",
            )
        )
    top = Step(
        **common,  # type: ignore[arg-type]
        span_id=SpanId(root),
        started_at=Nanos(start),
        ended_at=Nanos(at),
        duration_ns=at - start,
        kind=Kind.AGENT,
        span_name="invoke_agent refund-desk",
        status="error" if failure else "ok",
        error_type=failure,
    )
    return sorted([top, *steps], key=lambda step: (step.started_at, step.span_id))


SYSTEM = "You are the refund desk. Verify the customer, check the order, follow the policy."


def say(reader: MemoryReader, run: Run, steps: Sequence[Step]) -> None:
    """Give the model calls of a run their messages, each reading what was said before."""
    so_far: list[dict[str, object]] = [message("user", text(run.input or ""))]
    ordered = [step for step in steps if step.kind in (Kind.LLM, Kind.TOOL)]
    for index, step in enumerate(ordered):
        if step.kind is Kind.TOOL:
            result = json.loads(step.tool_result) if step.tool_result else {"error": "timeout"}
            part = {"type": "tool_result", "id": step.tool_call_id, "result": result}
            so_far.append(message("tool", part))
            continue
        nearest = ordered[index + 1] if index + 1 < len(ordered) else None
        if nearest is not None and nearest.kind is Kind.TOOL:
            call = {
                "type": "tool_call",
                "id": nearest.tool_call_id,
                "name": nearest.tool_name,
                "arguments": json.loads(nearest.tool_arguments or "{}"),
            }
            answer = message("assistant", call)
        else:
            answer = message("assistant", text(run.output or ""))
        key = (step.trace_id, step.span_id)
        reader.said[key] = Bodies(
            input=json.dumps(so_far),
            output=json.dumps([{**answer, "finish_reason": step.finish_reason}]),
            system=SYSTEM,
        )
        reader.raw[key] = Span(
            trace_id=step.trace_id,
            span_id=step.span_id,
            parent_span_id=step.parent_span_id,
            name=step.span_name,
            kind="Client",
            start=step.started_at,
            end=step.ended_at,
            resource={"service.name": "refunds", "service.version": run.agent_version or ""},
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "m-large",
                "gen_ai.usage.input_tokens": str(step.input_tokens),
                "gen_ai.input.messages": json.dumps(so_far),
            },
            scope_name=step.scope_name,
        )
        so_far.append(answer)


@cache
def wide_run(count: int, *, each: int = 9, root: str = "f" * 32) -> tuple[Run, Sequence[Step]]:
    """Return a run of `count` steps in three levels, with one error in the middle."""
    trace, steps = root, []
    for index in range(count):
        group = (index - 1) // (each + 1)
        first = 1 + group * (each + 1)
        parent = "" if index == 0 else f"{0:016x}" if index == first else f"{first:016x}"
        start = NOW - 600 * SECOND + index * 50_000_000
        leaf = index > 0 and index != first
        last = index == count - 1
        length = (count - index) * 50_000_000 if index == 0 else 50_000_000 * (1 if leaf else each)
        failed = index == count // 2 // (each + 1) * (each + 1) + 3
        steps.append(
            Step(
                run_id=RunId(trace),
                trace_id=TraceId(trace),
                span_id=SpanId(f"{index:016x}"),
                parent_span_id=parent,
                started_at=Nanos(start),
                ended_at=Nanos(start + length),
                duration_ns=length,
                kind=Kind.AGENT if index == 0 else Kind.TOOL if leaf else Kind.CHAIN,
                counted=leaf,
                span_name="turn" if not last else "last turn",
                agent_name="crawler",
                tool_name=f"fetch_{index}" if leaf else None,
                tool_arguments="{}" if leaf else None,
                status="error" if failed else "ok",
                error_type="ToolTimeout" if failed else None,
            )
        )
    run = Run(
        run_id=RunId(trace),
        trace_ids=[trace],
        root_span_id=steps[0].span_id,
        agent_name="crawler",
        agent_version="2",
        started_at=steps[0].started_at,
        ended_at=steps[0].ended_at,
        duration_ns=steps[0].duration_ns,
        active_ns=steps[0].duration_ns,
        state=RunState.SETTLED,
        complete=True,
        status=RunStatus.OK,
        error_types=["ToolTimeout"],
        steps=count - 1 - count // (each + 1),
        spans=count,
        tool_calls=count,
        last_received_at=steps[0].ended_at,
    )
    return run, steps
