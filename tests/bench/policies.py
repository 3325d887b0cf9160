"""How long a policy takes over a million steps on one core. Goal: under 60 s."""

import json
import resource
import time
from collections.abc import Sequence

from gnomon.cli.demo import demo_policy
from gnomon.clock import Nanos
from gnomon.model import Kind, Run, RunId, SpanId, Step, TraceId
from gnomon.watch import parse
from scoring.policies.check import check_run
from scoring.policies.language import policy_of
from tests.bench.figures import Figure, say

STEPS = 1_000_000
GOAL = 60.0
SECOND = 1_000_000_000
CALLS = (
    ("get_order", {"order": "O-1"}, {"order": {"id": "O-1", "customer": "c1", "total": 40}}),
    ("verify_identity", {"customer": "c1"}, {"ok": True}),
    ("consult_refund_policy", {"topic": "refunds"}, {"policy": "Refund once. " * 8}),
    ("request_refund_approval", {"order": "O-1", "amount": 140}, {"status": "granted"}),
    ("issue_refund", {"order": "O-1", "amount": 140, "idempotency_key": "k"}, {"ok": True}),
    ("inspect_order_status", {"order": "O-1"}, {"refunds": [{"refund": "R-1", "amount": 140}]}),
)


BOUND = """
required_before: {refund: [{tool: check, bind: {order: order}}]}
prohibited:
  - {tool: refund, max_committed: 1, per: order}
  - {tool: refund, after: close, bind: {order: order}}
"""

Call = tuple[str, object, object]


def bound_calls(count: int) -> list[Call]:
    """Return first all checks, then a refund for each: every one is bound to its own order."""
    return [
        (tool, {"order": f"O-{place}"}, {"ok": True})
        for tool in ("check", "refund")
        for place in range(count // 4)
    ]


def steps_of(run_id: str, count: int, turns: Sequence[Call] = CALLS) -> list[Step]:
    """Return a run: half of its steps are model calls, the others go round the tools."""
    found = []
    for place in range(count):
        tool, arguments, result = turns[place // 2 % len(turns)]
        calls = place % 2 == 1
        found.append(
            Step(
                run_id=RunId(run_id),
                trace_id=TraceId(run_id),
                span_id=SpanId(f"{place:016x}"),
                started_at=Nanos(place * SECOND),
                ended_at=Nanos(place * SECOND + SECOND // 2),
                duration_ns=SECOND // 2,
                kind=Kind.TOOL if calls else Kind.LLM,
                counted=True,
                tool_name=tool if calls else None,
                tool_arguments=json.dumps(arguments) if calls else None,
                tool_result=json.dumps(result) if calls else None,
            )
        )
    return found


def measure(per_run: int, rules: str, turns: Sequence[Call] = CALLS) -> float:
    """Check a million steps in runs of this length; return CPU seconds."""
    policy = policy_of(parse(rules), default_name="desk")
    steps = steps_of("r", per_run, turns)
    run = Run(
        run_id=RunId("r"),
        trace_ids=["r"],
        root_span_id="root",
        started_at=Nanos(0),
        ended_at=Nanos(per_run * SECOND),
        duration_ns=per_run * SECOND,
        active_ns=per_run * SECOND,
        last_received_at=Nanos(0),
    )
    began = time.process_time()
    for _ in range(STEPS // per_run):
        check_run(policy, run, steps)
    return time.process_time() - began


def run(*, quick: bool) -> list[Figure]:
    """Check a million steps in short and in long runs; say what memory it took."""
    found = []
    for per_run in (12, 10_000) if quick else (12, 100, 1_000, 10_000):
        seconds = measure(per_run, demo_policy())
        say(f"runs of {per_run:>6} steps: {seconds:6.1f} s a million steps")
        found.append(
            Figure(name=f"policy over a million steps, {per_run:,} a run", value=seconds, unit="s of CPU", below=GOAL)
        )  # fmt: skip
    for per_run in (16_000,) if quick else (1_000, 4_000, 16_000, 1_000_000):
        seconds = measure(per_run, BOUND, bound_calls(per_run))
        say(f"runs of {per_run:>6} steps, bound: {seconds:6.1f} s a million steps")
        found.append(
            Figure(name=f"policy of bound calls over a million steps, {per_run:,} a run", value=seconds, unit="s of CPU", below=GOAL)
        )  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(f"peak memory {peak:.0f} MiB")
    return found


if __name__ == "__main__":
    run(quick=False)
