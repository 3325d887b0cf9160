"""Logs fill what spans leave open, and never add tokens to them."""

import json

from tests.spans import fold, make_log, make_span, run_of, step_of

CHAT = {"gen_ai.operation.name": "chat"}
DETAILS = "gen_ai.client.inference.operation.details"
CLAUDE = {"scope_name": "com.anthropic.claude_code.tracing"}


def test_a_details_record_fills_what_the_span_lacks():
    span = make_span(attributes={**CHAT, "gen_ai.request.model": "m"})
    log = make_log(
        DETAILS,
        span,
        attributes={
            "gen_ai.request.model": "other",
            "gen_ai.response.model": "m-1",
            "gen_ai.response.id": "x",
            "gen_ai.provider.name": "openai",
            "gen_ai.response.finish_reasons": '["stop"]',
        },
    )
    step = step_of(span, log)
    assert (step.request_model, step.response_model, step.response_id) == ("m", "m-1", "x")
    assert (step.provider, step.finish_reason) == ("openai", "stop")


def test_two_details_records_of_one_span_are_two_calls_and_fill_nothing():
    span = make_span(attributes=CHAT)
    logs = [make_log(DETAILS, span, n, attributes={"gen_ai.response.id": n}) for n in (1, 2)]
    assert step_of(span, *logs).response_id is None


def test_tokens_in_logs_are_never_added_to_a_span():
    span = make_span(attributes={**CHAT, "gen_ai.usage.input_tokens": 7})
    log = make_log(DETAILS, span, attributes={"gen_ai.usage.input_tokens": 7})
    assert run_of(span, logs=[log]).input_tokens == 7
    silent = make_span(attributes=CHAT)
    run = run_of(
        silent, logs=[make_log(DETAILS, silent, attributes={"gen_ai.usage.input_tokens": 7})]
    )
    assert run.input_tokens is None


def test_tokens_in_logs_count_where_the_trace_has_no_model_span():
    agent = make_span(attributes={"gen_ai.operation.name": "invoke_agent"})
    logs = [
        make_log(DETAILS, agent, n, attributes={"gen_ai.usage.input_tokens": 7}) for n in (1, 2)
    ]
    run = run_of(agent, logs=logs)
    assert (run.input_tokens, run.usage_source) == (14, "aggregate")


def test_claude_codes_records_of_requests_leave_out_the_cache():
    root = make_span(attributes={"span.type": "interaction"}, **CLAUDE)
    record = {
        "input_tokens": "25",
        "output_tokens": "17",
        "cache_read_tokens": "64",
        "cache_creation_tokens": "48",
    }
    run = run_of(root, logs=[make_log("api_request", root, attributes=record)])
    assert (run.input_tokens, run.output_tokens, run.cached_tokens) == (137, 17, 64)


def request(number, start, tokens):
    attributes = {"span.type": "llm_request", "model": "m", "input_tokens": tokens}
    return make_span(number, 1, start=start, attributes=attributes, **CLAUDE)


def test_claude_codes_records_tell_what_each_request_cost():
    root = make_span(1, seconds=9, attributes={"span.type": "interaction"}, **CLAUDE)

    def record(at, tokens, cost):
        told = {"model": "m", "input_tokens": tokens, "cost_usd": cost}
        return make_log("api_request", root, at, attributes=told)

    result = fold(
        [root, request(2, 0, 5), request(3, 2, 5), request(4, 4, 6)],
        [record(3.1, 5, "0.2"), record(1.1, 5, "0.1"), record(5.1, 6, "0.3")],
    )
    costs = {int(step.span_id, 16): step.cost_reported_usd for step in result.steps}
    assert costs == {1: None, 2: 0.1, 3: 0.2, 4: 0.3}


def test_choices_in_logs_tell_the_finish_reason():
    span = make_span(attributes=CHAT)
    body = json.dumps({"index": 0, "finish_reason": "tool_calls", "message": {}})
    step = step_of(span, make_log("gen_ai.choice", span, body=body))
    assert (step.finish_reason_raw, step.finish_reason) == ("tool_calls", "tool_call")


def test_an_exception_in_logs_fills_a_missing_class():
    told = {"exception.type": "openai.RateLimitError", "exception.message": "slow down"}
    failed = make_span(attributes=CHAT, status_code="Error")
    log = make_log("gen_ai.client.operation.exception", failed, attributes=told)
    step = step_of(failed, log)
    assert (step.error_type, step.error_message) == ("RateLimitError", "slow down")
    good = make_span(attributes=CHAT)
    assert (
        step_of(
            good, make_log("gen_ai.client.operation.exception", good, attributes=told)
        ).error_type
        is None
    )


def test_a_generic_class_in_logs_gives_way_to_the_one_in_the_message():
    told = {"exception.type": "Exception", "exception.message": "RateLimitError('slow down')"}
    failed = make_span(attributes=CHAT, status_code="Error")
    step = step_of(failed, make_log("gen_ai.client.operation.exception", failed, attributes=told))
    assert step.error_type == "RateLimitError"


def test_a_record_of_a_decision_fills_the_span_that_waited():
    span = make_span(attributes={"span.type": "tool.blocked_on_user", "source": "user_x"}, **CLAUDE)
    log = make_log("tool_decision", span, attributes={"decision": "accept", "source": "config"})
    step = step_of(span, log)
    assert (step.decision, step.decision_source) == ("accept", "user_x")


def test_a_plain_log_line_says_nothing():
    span = make_span(attributes=CHAT)
    assert step_of(span, make_log("", span, body="hello")) == step_of(span)
