"""What the desk's runs look like, and that their spans tell what happened."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan

from gnomon.cli.demo.chance import Chance
from gnomon.cli.demo.desk import Desk, Handled
from gnomon.cli.demo.plan import SLOW_PAYMENTS
from gnomon.cli.demo.releases import Mistake
from gnomon.cli.demo.schedule import HISTORY_RUNS, arrivals
from gnomon.clock import to_nanos
from gnomon.errors import ConfigError

START = dt.datetime(2026, 11, 2, 12, tzinfo=dt.UTC)
MILLISECOND = 1_000_000


def story(
    seed: int = 7, *, salt: str = "", runs: int = HISTORY_RUNS
) -> list[tuple[float, Handled]]:
    desk = Desk(seed, salt)
    return [
        (arrival.position, desk.handle(arrival.index, arrival.at, arrival.position))
        for arrival in arrivals(Chance("t"), to_nanos(START), runs=runs, speed=1.0)
    ]


@pytest.fixture(scope="module")
def long() -> list[tuple[float, Handled]]:
    return story(runs=1_200)


def wire(handled: Sequence[tuple[float, Handled]]) -> bytes:
    return b"".join(
        encode_spans(run.spans).SerializeToString(deterministic=True) for _, run in handled
    )


def tools(run: Handled, name: str) -> list[ReadableSpan]:
    return [
        span
        for span in run.spans
        if span.attributes
        and (span.attributes.get("gen_ai.tool.name") or span.attributes.get("tool.name")) == name
    ]


def test_the_same_seed_and_start_give_the_same_bytes() -> None:
    assert wire(story(runs=60)) == wire(story(runs=60))


def test_another_seed_gives_another_story() -> None:
    mistakes = [run.truth.mistake for _, run in story(7, runs=100)]
    assert mistakes != [run.truth.mistake for _, run in story(8, runs=100)]


def test_another_day_gives_the_same_story_under_other_names() -> None:
    monday, tuesday = story(salt="monday", runs=60), story(salt="tuesday", runs=60)
    for (_, one), (_, other) in zip(monday, tuesday, strict=True):
        assert one.truth.mistake == other.truth.mistake
        assert one.truth.ended_at == other.truth.ended_at
        assert one.truth.run_id != other.truth.run_id
        assert one.truth.ticket != other.truth.ticket


def test_ids_are_unique(long: list[tuple[float, Handled]]) -> None:
    spans = [span for _, run in long for span in run.spans]
    contexts = [span.context for span in spans]
    assert len({context.span_id for context in contexts}) == len(spans)
    assert len({context.trace_id for context in contexts}) == len(long)


def test_every_mistake_happens_and_every_fault_comes_about(
    long: list[tuple[float, Handled]],
) -> None:
    made = Counter(run.truth.mistake for _, run in long)
    assert all(made[mistake] > 0 for mistake in Mistake), made
    assert made[None] > 0.7 * len(long)
    faults = {fault for _, run in long for fault in run.truth.faults}
    assert faults == {
        "timeout_after_commit",
        "timeout_before_commit",
        "declined",
        "approval_pending",
        "lookup_failed",
        "model_rate_limited",
        "model_down",
    }


def test_without_a_mistake_the_right_thing_is_paid_and_said(
    long: list[tuple[float, Handled]],
) -> None:
    for _, run in long:
        truth = run.truth
        if truth.mistake is None and "model_down" not in truth.faults:
            assert truth.state_right, truth
            assert truth.claim_true, truth
            assert truth.error_type is None


def test_an_unsafe_retry_pays_twice(long: list[tuple[float, Handled]]) -> None:
    for _, run in long:
        if run.truth.mistake is Mistake.UNSAFE_RETRY:
            assert run.truth.outcome == "refunded_twice"
            assert run.truth.claim_true is False
            keys = {refund.idempotency_key for refund in run.truth.refunds}
            assert len(keys) == 2


def test_an_unverified_refund_starts_before_the_check_has_passed(
    long: list[tuple[float, Handled]],
) -> None:
    ways = set()
    for _, run in long:
        if run.truth.mistake is Mistake.UNVERIFIED_REFUND:
            paid = tools(run, "issue_refund")[0]
            checks = tools(run, "verify_identity")
            assert all((check.end_time or 0) > (paid.start_time or 0) for check in checks)
            overlap = any((check.start_time or 0) < (paid.end_time or 0) for check in checks)
            ways.add((bool(checks), overlap))
    assert ways == {(False, False), (True, False), (True, True)}


def test_a_wrong_amount_is_not_what_was_due(long: list[tuple[float, Handled]]) -> None:
    for _, run in long:
        if run.truth.mistake is Mistake.WRONG_AMOUNT:
            assert [refund.amount for refund in run.truth.refunds] != [run.truth.due]
            assert not run.truth.state_right


def test_a_skipped_approval_pays_more_than_100_without_asking(
    long: list[tuple[float, Handled]],
) -> None:
    for _, run in long:
        if run.truth.mistake is Mistake.SKIPPED_APPROVAL:
            assert not tools(run, "request_refund_approval")
            assert run.truth.refunds[0].amount > 100


def test_a_false_claim_says_refunded_where_nothing_was_paid(
    long: list[tuple[float, Handled]],
) -> None:
    for _, run in long:
        if run.truth.mistake is Mistake.FALSE_CLAIM:
            assert run.truth.claimed_outcome == "refunded"
            assert run.truth.outcome == "not_refunded"


@pytest.mark.parametrize("mistake", [Mistake.ENDLESS_LOOP, Mistake.ENDLESS_POLLING], ids=str)
def test_an_endless_run_is_stopped_by_its_step_budget(
    long: list[tuple[float, Handled]], mistake: Mistake
) -> None:
    for _, run in long:
        if run.truth.mistake is mistake:
            assert run.truth.error_type == "StepBudgetExceeded"
            assert run.truth.claimed_outcome is None
            assert run.truth.counts.llm_calls - run.truth.counts.llm_errors == 12


def test_the_slow_hours_hurt_the_older_version_only(long: list[tuple[float, Handled]]) -> None:
    def right(version: str, *, slow: bool) -> float:
        runs = [
            run.truth.state_right
            for position, run in long[:HISTORY_RUNS]
            if run.truth.agent_version == version
            and (SLOW_PAYMENTS[0] <= position < SLOW_PAYMENTS[1]) == slow
        ]
        return sum(runs) / len(runs)

    assert right("rc3", slow=True) < right("rc3", slow=False) - 0.1
    assert right("rc4", slow=True) > 0.85


def test_times_are_those_of_real_calls(long: list[tuple[float, Handled]]) -> None:
    for _, run in long[:HISTORY_RUNS]:
        for span in run.spans:
            took = (span.end_time or 0) - (span.start_time or 0)
            if span.name.startswith("chat ") and span.status.is_ok:
                assert 400 * MILLISECOND <= took <= 4_000 * MILLISECOND
            if span.name.startswith("execute_tool "):
                assert 20 * MILLISECOND <= took <= 400 * MILLISECOND


def test_children_lie_inside_their_parents_and_one_root_holds_them(
    long: list[tuple[float, Handled]],
) -> None:
    for _, run in long[:HISTORY_RUNS]:
        by_id = {span.context.span_id: span for span in run.spans}
        roots = [span for span in run.spans if span.parent is None]
        assert roots == [run.spans[-1]]
        for span in run.spans:
            if span.parent is not None:
                parent = by_id[span.parent.span_id]
                assert (parent.start_time or 0) <= (span.start_time or 0)
                assert (span.end_time or 0) <= (parent.end_time or 0)


def test_spans_end_in_order_and_drop_nothing(long: list[tuple[float, Handled]]) -> None:
    for _, run in long[:HISTORY_RUNS]:
        ends = [span.end_time or 0 for span in run.spans]
        assert all(before <= after for before, after in pairwise(ends))
        assert all(span.dropped_attributes == 0 for span in run.spans)
        assert run.truth.counts.spans == len(run.spans)


def test_tools_of_one_answer_run_side_by_side(long: list[tuple[float, Handled]]) -> None:
    check = tools(long[0][1], "verify_identity")[0]
    read = tools(long[0][1], "consult_refund_policy")[0]
    assert (read.start_time or 0) < (check.end_time or 0)
    assert (check.start_time or 0) < (read.end_time or 0)


def test_a_run_ends_with_one_json_line(long: list[tuple[float, Handled]]) -> None:
    for _, run in long[:HISTORY_RUNS]:
        attributes = run.spans[-1].attributes or {}
        text = attributes.get("output.value")
        if "gen_ai.output.messages" in attributes:
            said = json.loads(str(attributes["gen_ai.output.messages"]))
            text = said[0]["parts"][0]["content"]
        if run.truth.claimed_outcome is None:
            assert text is None
        else:
            last = json.loads(str(text).splitlines()[-1])
            assert set(last) == {"claimed_outcome", "message"}
            assert last["claimed_outcome"] == run.truth.claimed_outcome


def test_a_follow_up_continues_the_conversation_of_an_earlier_run(
    long: list[tuple[float, Handled]],
) -> None:
    ends: dict[str, int] = {}
    followed = 0
    for _, run in long:
        truth = run.truth
        if truth.topic == "follow_up":
            followed += 1
            assert ends[truth.conversation] < truth.started_at
        else:
            ends[truth.conversation] = truth.ended_at
    assert followed > 60


def test_a_disabled_sdk_is_named_with_its_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with pytest.raises(ConfigError, match="OTEL_SDK_DISABLED"):
        Desk(7)
