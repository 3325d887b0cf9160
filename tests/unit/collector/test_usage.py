"""Tokens have one meaning whatever the source: rules T6, T7 and section 3.3."""

import json

import pytest

from tests.spans import make_log, make_span, read, run_of, steps_of

CHAT = {"gen_ai.operation.name": "chat"}
AGENT = {"gen_ai.operation.name": "invoke_agent"}


def usage(step):
    return (
        step.input_tokens,
        step.output_tokens,
        step.cached_tokens,
        step.cache_write_tokens,
        step.reasoning_tokens,
    )


def test_absent_is_none_and_a_reported_zero_is_zero():
    assert usage(read(CHAT)) == (None,) * 5
    step = read({**CHAT, "gen_ai.usage.input_tokens": 5, "gen_ai.usage.cache_read.input_tokens": 0})
    assert usage(step) == (5, None, 0, None, None)


def test_all_zero_on_a_successful_call_was_not_reported():
    zero = {**CHAT, "gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 0}
    assert usage(read(zero)) == (None,) * 5
    assert usage(read(zero, status_code="Error")) == (0, 0, None, None, None)


def test_the_guard_mends_an_exclusive_input():
    step = read(
        {
            **CHAT,
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 1,
            "gen_ai.usage.cache_read.input_tokens": 64,
            "gen_ai.usage.cache_creation.input_tokens": 48,
        }
    )
    assert usage(step) == (122, 1, 64, 48, None)
    assert step.flags == ("tokens_adjusted",)


def test_claude_codes_own_counters_leave_out_the_cache():
    step = read(
        {
            "span.type": "llm_request",
            "input_tokens": 100,
            "output_tokens": 29,
            "cache_read_tokens": 64,
            "cache_creation_tokens": 0,
        },
        scope_name="com.anthropic.claude_code.tracing",
    )
    assert usage(step) == (164, 29, 64, 0, None)
    assert step.flags == ()


def test_openllmetrys_bedrock_leaves_out_the_cache():
    step = read(
        {
            **CHAT,
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 5,
            "gen_ai.usage.cache_read_input_tokens": 30,
            "gen_ai.usage.cache_creation_input_tokens": 20,
        },
        scope_name="opentelemetry.instrumentation.bedrock",
    )
    assert usage(step) == (150, 5, 30, 20, None)


def test_an_anthropic_body_leaves_out_the_cache_and_a_gemini_body_the_thoughts():
    anthropic = {
        "id": "msg_1",
        "usage": {
            "input_tokens": 25,
            "output_tokens": 29,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 48,
        },
    }
    assert usage(read({**CHAT, "output.value": json.dumps(anthropic)})) == (137, 29, 64, 48, None)
    gemini = {
        "usageMetadata": {
            "promptTokenCount": 120,
            "candidatesTokenCount": 17,
            "thoughtsTokenCount": 64,
            "cachedContentTokenCount": 32,
        }
    }
    assert usage(read({**CHAT, "output.value": json.dumps(gemini)})) == (120, 81, 32, None, 64)


def test_restated_usage_is_read_only_where_the_spans_own_keys_say_nothing():
    literal = "{'prompt_tokens': 140, 'completion_tokens': 29, 'prompt_tokens_details': {'cached_tokens': 32}}"
    assert usage(read({**CHAT, "metadata.usage_object": literal})) == (140, 29, 32, None, None)
    own = {**CHAT, "gen_ai.usage.input_tokens": 140, "gen_ai.usage.output_tokens": 29}
    assert usage(read({**own, "metadata.usage_object": literal})) == (140, 29, None, None, None)
    raw = {"input_tokens": 9, "output_tokens": 8, "output_tokens_details": {"reasoning_tokens": 7}}
    assert usage(read({**CHAT, "gen_ai.usage.raw": json.dumps(raw)})) == (9, 8, None, None, 7)


def test_t6_totals_never_fill_anything():
    step = read(
        {
            **CHAT,
            "gen_ai.usage.total_tokens": 7,
            "llm.usage.total_tokens": 7,
            "llm.token_count.total": 7,
            "ai.usage.totalTokens": 7,
            "gen_ai.client.token.usage": 7,
        }
    )
    assert usage(step) == (None,) * 5


def test_t7_tokens_on_other_kinds_are_aggregates():
    step = read({**AGENT, "gen_ai.usage.input_tokens": 7, "llm.token_count.completion": 2})
    assert usage(step) == (None,) * 5
    assert step.aggregate_usage == {"input_tokens": 7, "output_tokens": 2}
    step = read(
        {
            **AGENT,
            "gen_ai.aggregated_usage.input_tokens": 7,
            "gen_ai.aggregated_usage.details.reasoning_tokens": 0,
        }
    )
    assert step.aggregate_usage == {"input_tokens": 7, "reasoning_tokens": 0}
    crew = (
        "{'total_tokens': 9, 'prompt_tokens': 7, 'cached_prompt_tokens': 3, 'completion_tokens': 2}"
    )
    step = read({"crewai.crew.usage_metrics": crew}, name="crewai.workflow")
    assert step.aggregate_usage == {"input_tokens": 7, "output_tokens": 2, "cached_tokens": 3}


def model_call(number: int, parent: int, tokens: int | None):
    told = {} if tokens is None else {"gen_ai.usage.input_tokens": tokens}
    return make_span(number, parent, attributes=CHAT | told)


def test_aggregates_are_never_added_to_model_steps():
    agent = make_span(1, attributes={**AGENT, "gen_ai.usage.input_tokens": 100})
    run = run_of(agent, model_call(2, 1, 30), model_call(3, 1, None))
    assert (run.input_tokens, run.usage_source) == (30, "model_steps")
    assert "aggregate_only" not in run.flags


def test_without_model_tokens_the_outermost_aggregate_of_each_subtree_counts():
    root = make_span(1, name="request")
    first = make_span(2, 1, attributes={**AGENT, "gen_ai.usage.input_tokens": 100})
    nested = make_span(3, 2, attributes={**AGENT, "gen_ai.usage.input_tokens": 60})
    second = make_span(4, 1, attributes={**AGENT, "gen_ai.usage.input_tokens": 7})
    run = run_of(root, first, nested, second, model_call(5, 3, None))
    assert (run.input_tokens, run.usage_source) == (107, "aggregate")
    assert "aggregate_only" in run.flags


def test_nobody_reported_tokens_is_none():
    run = run_of(make_span(1), model_call(2, 1, None))
    assert (run.input_tokens, run.usage_source) == (None, None)


def test_a_model_call_inside_a_tool_counts_once():
    steps = steps_of(
        make_span(1, attributes=AGENT),
        model_call(2, 1, 10),
        make_span(3, 1, attributes={"gen_ai.operation.name": "execute_tool"}),
        make_span(4, 3, attributes=AGENT),
        model_call(5, 4, 20),
    )
    assert [steps[n].counted for n in (2, 5)] == [True, True]


HUGE = 2**63 - 1
COST = {**CHAT, "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 1}


@pytest.mark.parametrize("count", [HUGE, 10**12 + 1, -1, 2**64, 10**30, 1e308, "inf", 7.5, "7.5"])
def test_tokens_beyond_belief_are_not_believed_and_flagged(count):
    step = read({**CHAT, "gen_ai.usage.input_tokens": count, "gen_ai.usage.output_tokens": 3})
    assert usage(step) == (None, 3, None, None, None)
    assert step.flags == ("implausible",)


def test_a_figure_that_is_not_believed_leaves_room_for_the_next_source():
    step = read({**CHAT, "gen_ai.usage.input_tokens": HUGE, "llm.token_count.prompt": 7})
    assert step.input_tokens == 7
    assert step.flags == ("implausible",)


def test_a_trillion_tokens_are_believed():
    step = read({**CHAT, "gen_ai.usage.input_tokens": 10**12})
    assert (step.input_tokens, step.flags) == (10**12, ())


@pytest.mark.parametrize("cost", ["1e308", "-0.5", "inf", "1000000001"])
@pytest.mark.parametrize("key", ["gen_ai.usage.cost", "llm.cost.total"])
def test_costs_beyond_belief_are_not_believed_and_flagged(key, cost):
    step = read({**COST, key: cost})
    assert (step.cost_reported_usd, step.flags) == (None, ("implausible",))


@pytest.mark.parametrize(
    "key",
    ["gen_ai.response.time_to_first_chunk", "ai.response.msToFirstChunk", "ttft_ms"],
)
@pytest.mark.parametrize("wait", ["1e308", "-1", "1e30"])
def test_waits_beyond_belief_are_not_believed_and_flagged(key, wait):
    step = read({**CHAT, key: wait})
    assert (step.ttft_ns, step.flags) == (None, ("implausible",))


def test_a_first_token_in_the_far_future_is_not_believed():
    step = read(
        {**CHAT, "langfuse.observation.completion_start_time": "9999-01-01T00:00:00Z"},
    )
    assert (step.ttft_ns, step.flags) == (None, ("implausible",))


def test_extreme_figures_everywhere_still_make_a_run():
    wild = {
        **CHAT,
        "gen_ai.usage.input_tokens": HUGE,
        "gen_ai.usage.output_tokens": HUGE,
        "gen_ai.usage.cache_read.input_tokens": HUGE,
        "gen_ai.usage.cache_creation.input_tokens": HUGE,
        "gen_ai.usage.cost": 1e308,
    }
    run = run_of(*(make_span(number, attributes=wild) for number in (1, 2, 3)))
    assert (run.input_tokens, run.output_tokens, run.cost_reported_usd) == (None, None, None)
    assert "implausible" in run.flags


def test_an_aggregate_and_a_body_are_held_to_the_same_bounds():
    aggregate = read({**AGENT, "gen_ai.aggregated_usage.input_tokens": HUGE})
    assert (aggregate.aggregate_usage, aggregate.flags) == ({}, ("implausible",))
    body = {"id": "msg_1", "usage": {"input_tokens": 5, "cache_read_input_tokens": HUGE}}
    told = read({**CHAT, "output.value": json.dumps(body)})
    assert (told.input_tokens, told.cached_tokens) == (None, None)
    assert told.flags == ("implausible",)


def test_records_of_calls_are_held_to_the_same_bounds():
    span = make_span(attributes=AGENT)
    log = make_log("api_request", span, attributes={"input_tokens": HUGE, "output_tokens": 2})
    (step,) = steps_of(span, logs=[log]).values()
    assert (step.aggregate_usage, step.flags) == ({"output_tokens": 2}, ("implausible",))
