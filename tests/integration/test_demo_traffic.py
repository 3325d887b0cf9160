"""The refund desk through the real receivers: what is folded equals what happened."""

import datetime as dt
import json
import random
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.folding.fold import Folded, fold_traces
from collector.queue.port import LedgerRow, Request
from collector.queue.spool import Spool
from collector.receiving.receivers import build_receivers
from collector.spans import Span
from collector.watched import watched
from gnomon.cli.demo import Totals, Truth, demo_config, demo_policy, run_traffic
from gnomon.cli.demo.rehearsal import TASKS
from gnomon.cli.demo.releases import RELEASES, Mistake
from gnomon.clock import Nanos, to_nanos, utc_now
from gnomon.config import Settings
from gnomon.model import Kind, Run, RunState, RunStatus, Step
from gnomon.watch import parse
from scoring.metrics import watched as metrics_watched
from scoring.policies.check import check_run
from scoring.policies.language import policy_of
from tests import samples

START = dt.datetime(2026, 11, 2, 12, tzinfo=dt.UTC)
NOW = to_nanos(START + dt.timedelta(hours=1))


@dataclass(frozen=True)
class Sent:
    """One history, as sent and as received."""

    totals: Totals
    requests: Sequence[Request]
    ledger: Sequence[LedgerRow]
    spans: Sequence[Span]
    folded: Folded

    @property
    def runs(self) -> dict[str, Run]:
        return {run.run_id: run for run in self.folded.runs}

    def steps(self, run_id: str) -> list[Step]:
        return [step for step in self.folded.steps if step.run_id == run_id]


def fold(spans: Sequence[Span]) -> Folded:
    return fold_traces(
        spans,
        [],
        watched=watched(parse(demo_config())),
        previous={},
        received={span.trace_id: Nanos(to_nanos(START)) for span in spans},
        now=NOW,
    )


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Sent:
    data: Path = tmp_path_factory.mktemp("demo")
    settings = Settings(data=data, otlp_grpc_port=0, otlp_http_port=0)
    spool = Spool(data, settings.queue, clock=utc_now)
    grpc, http = build_receivers(spool, settings, utc_now)
    spool.start()
    grpc.start()
    http.start()
    try:
        totals = run_traffic(
            f"http://127.0.0.1:{http.port}",
            seed=7,
            runs=400,
            speed=1.0,
            start=START,
            clock=lambda: START,
            stop=threading.Event(),
            on_progress=lambda _: None,
            grpc_address=f"127.0.0.1:{grpc.port}",
        )
    finally:
        http.stop(5.0)
        grpc.stop(5.0)
    requests = [queued.request for queued in spool.take(2**31, 0.0)]
    ledger = spool.books.ledger(Nanos(0), to_nanos(utc_now() + dt.timedelta(hours=1)))
    spool.stop(5.0)
    spans = [
        span
        for request in requests
        for span in samples.spans_of(ExportTraceServiceRequest.FromString(request.payload))
    ]
    return Sent(totals=totals, requests=requests, ledger=ledger, spans=spans, folded=fold(spans))


def truths(sent: Sent) -> list[tuple[Truth, Run]]:
    return [(truth, sent.runs[truth.run_id]) for truth in sent.totals.truths.values()]


def test_nothing_was_refused_and_both_transports_were_used(sent: Sent) -> None:
    assert all(not row.rejected for row in sent.ledger)
    assert {row.source for row in sent.ledger} == {
        "traces/http/loopback",
        "traces/grpc/loopback",
    }


def test_a_repeated_request_is_recognised_and_counted_once(sent: Sent) -> None:
    assert sent.totals.batches_repeated >= 1
    assert len(sent.requests) == sent.totals.batches - sent.totals.batches_repeated
    received = sum(row.received for row in sent.ledger)
    assert received == sent.totals.spans + sent.totals.spans_repeated


def test_there_is_a_run_for_every_ticket_and_no_other(sent: Sent) -> None:
    assert set(sent.runs) == set(sent.totals.truths)
    environments = Counter(run.environment for run in sent.runs.values())
    assert environments == {"production": 400, "rehearsal": TASKS * len(RELEASES)}
    assert len(sent.folded.steps) == sent.totals.spans


def test_run_totals_equal_the_truth(sent: Sent) -> None:
    for truth, run in truths(sent):
        counts = truth.counts
        assert (run.llm_calls, run.llm_errors) == (counts.llm_calls, counts.llm_errors)
        assert (run.tool_calls, run.tool_errors) == (counts.tool_calls, counts.tool_errors)
        assert run.retrievals == counts.retrievals
        assert run.spans == counts.spans
        assert run.steps == counts.llm_calls + counts.tool_calls + counts.retrievals
        assert run.input_tokens == counts.input_tokens
        assert run.output_tokens == counts.output_tokens
        assert run.cached_tokens == counts.cached_tokens
        assert run.reasoning_tokens == counts.reasoning_tokens
        assert run.usage_source == "model_steps"
        assert run.duplicates == 0


def test_runs_know_who_what_and_when(sent: Sent) -> None:
    for truth, run in truths(sent):
        assert run.agent_name == "cx-agent"
        assert run.agent_version == truth.agent_version
        assert run.service_name == "refund-desk"
        assert run.conversation_id == truth.conversation
        assert run.user_id == truth.customer
        assert ("task_id" in run.business_keys) == (run.environment == "rehearsal")
        assert {key: run.business_keys[key] for key in run.business_keys if key != "task_id"} == {
            "order_id": truth.order,
            "ticket_id": truth.ticket,
            "customer_id": truth.customer,
            "topic": truth.topic,
        }
        assert (run.started_at, run.ended_at) == (truth.started_at, truth.ended_at)
        assert list(run.dialects) == [truth.dialect]


def test_a_run_is_complete_and_settled(sent: Sent) -> None:
    for _, run in truths(sent):
        assert run.complete
        assert run.state is RunState.SETTLED
        assert run.flags == ()


def test_a_run_fails_only_when_the_agent_did(sent: Sent) -> None:
    for truth, run in truths(sent):
        assert run.error_type == truth.error_type
        assert run.status == (RunStatus.OK if truth.error_type is None else RunStatus.ERROR)


def test_the_last_word_and_the_question_are_on_the_run(sent: Sent) -> None:
    for truth, run in truths(sent):
        assert run.input is not None
        assert truth.order in run.input
        if truth.claimed_outcome is not None:
            assert run.output is not None
            said = json.loads(run.output.splitlines()[-1])
            assert said["claimed_outcome"] == truth.claimed_outcome


def test_cost_is_what_the_price_table_says(sent: Sent) -> None:
    # USD for a million tokens: uncached input, cached input, output (gnomon.yaml of the demo).
    prices = {"toy-2-mini": (0.40, 0.10, 1.60), "toy-3": (1.25, 0.125, 10.00)}
    for truth, run in truths(sent):
        fresh, cached, out = prices[truth.model]
        counts = truth.counts
        if counts.input_tokens is None or counts.cached_tokens is None:
            continue
        usd = (counts.input_tokens - counts.cached_tokens) * fresh + counts.cached_tokens * cached
        usd += (counts.output_tokens or 0) * out
        assert run.cost_usd == pytest.approx(usd / 1_000_000, rel=1e-9)


def test_both_dialects_are_read_alike(sent: Sent) -> None:
    seen = set()
    for truth, _ in truths(sent):
        seen.add(truth.dialect)
        for step in sent.steps(truth.run_id):
            if step.kind is Kind.LLM:
                assert step.request_model == truth.model
                assert step.provider == "toy_ai"
                if step.status == "ok":
                    assert step.model is not None
                    assert step.model.startswith(truth.model)
                    assert step.finish_reason in {"stop", "tool_call"}
            if step.kind is Kind.TOOL:
                assert step.tool_name in {tool for tool in step.span_name.split() if tool}
                assert step.tool_call_id is not None
                assert step.tool_arguments is not None
                assert isinstance(json.loads(step.tool_arguments), dict)
                assert step.tool_result is not None
    assert seen == {"otel-genai", "openinference"}


def test_the_manifest_tells_the_versions_apart(sent: Sent) -> None:
    hashes: dict[str, set[str]] = {"rc3": set(), "rc4": set()}
    for truth, run in truths(sent):
        assert run.manifest["policy"] == "refund-policy-v3"
        if truth.dialect == "otel-genai":
            hashes[truth.agent_version].add(run.manifest_hash)
    assert hashes["rc3"].isdisjoint(hashes["rc4"])


def test_without_the_disorder_the_result_is_the_same(sent: Sent) -> None:
    once = {(span.trace_id, span.span_id): span for span in sent.spans}
    ordered = sorted(once.values(), key=lambda span: (span.start, span.span_id))
    assert fold(ordered) == sent.folded
    shuffled = [*sent.spans, *sent.spans[::3]]
    random.Random(1).shuffle(shuffled)
    assert fold(shuffled) == sent.folded


BREACHES: dict[Mistake | None, set[str]] = {
    Mistake.UNVERIFIED_REFUND: {"required_before"},
    Mistake.SKIPPED_APPROVAL: {"conditionally_required_before"},
    Mistake.UNSAFE_RETRY: {"after_ambiguous_write"},
}
"""What the desk's policy must see; other mistakes break no rule of order."""


def test_the_policy_finds_the_mistakes_of_order_and_no_others(sent: Sent) -> None:
    policy = policy_of(parse(demo_policy()), default_name="refund-desk")
    met = set()
    for truth, run in truths(sent):
        checked = check_run(policy, run, sent.steps(truth.run_id))
        broken = {violation.rule.split(".")[0] for violation in checked.violations}
        expected = BREACHES.get(truth.mistake, set())
        allowed = set(expected)
        if truth.mistake is Mistake.UNVERIFIED_REFUND:
            # A check after the payment also breaks "no refund before verification".
            allowed |= {"prohibited"}
        assert expected <= broken <= allowed, (truth.mistake, truth.faults, broken)
        # Whether a payment took place before its timeout, no trace tells.
        unknown = {found.rule.split(".")[0] for found in checked.not_evaluable}
        hangs_on_it = truth.mistake is Mistake.UNSAFE_RETRY or (
            truth.mistake is Mistake.UNVERIFIED_REFUND and "timeout_after_commit" in truth.faults
        )
        assert unknown <= ({"prohibited"} if hangs_on_it else set()), (truth.mistake, truth.faults)
        assert unknown or truth.mistake is not Mistake.UNSAFE_RETRY
        met.add(truth.mistake)
    assert met == {None, *Mistake}


def test_the_rule_of_the_comparison_speaks_of_the_agent_that_the_runs_name(sent: Sent) -> None:
    rule = metrics_watched.watched(parse(demo_config("http://127.0.0.1:1"))).compare.rule
    assert rule is not None
    assert {run.agent_name for run in sent.runs.values()} == {rule.agent}
