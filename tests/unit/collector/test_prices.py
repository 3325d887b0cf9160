"""What a call costs by the dated table; what is not known has no price."""

import pytest

from tests.spans import START, fold, make_span, read, run_of

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}
TABLE = {
    "prices": [
        {
            "model": "m*",
            "input": 1,
            "output": 10,
            "cached": 0.5,
            "cache_write": 2,
            "reasoning": 20,
        }
    ]
}


def cost(attributes, table=TABLE, **changes):
    span = make_span(attributes=CHAT | attributes, **changes)
    return fold([span], watched=table).steps[0].cost_usd


def tokens(**counts):
    return {f"gen_ai.usage.{name.replace('__', '.')}": count for name, count in counts.items()}


def test_four_parts_have_their_own_price():
    told = tokens(
        input_tokens=1000,
        cache_read__input_tokens=100,
        cache_write__input_tokens=200,
        output_tokens=50,
        reasoning__output_tokens=30,
    )
    expected = (700 * 1 + 100 * 0.5 + 200 * 2 + 20 * 10 + 30 * 20) / 1e6
    assert cost({"gen_ai.response.model": "m-1", **told}) == pytest.approx(expected)


def test_parts_without_a_price_of_their_own_cost_as_input_and_output():
    told = tokens(
        input_tokens=1000,
        cache_read__input_tokens=100,
        output_tokens=50,
        reasoning__output_tokens=30,
    )
    table = {"prices": [{"model": "m", "input": 1, "output": 10}]}
    assert cost({"gen_ai.response.model": "m", **told}, table) == pytest.approx(1500 / 1e6)


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.response.model": "other", **tokens(input_tokens=1, output_tokens=1)},
        {"gen_ai.response.model": "m", **tokens(input_tokens=1)},
        {"gen_ai.response.model": "m", **tokens(output_tokens=1)},
        {"gen_ai.response.model": "m"},
        tokens(input_tokens=1, output_tokens=1),
    ],
)
def test_an_unknown_model_or_missing_tokens_have_no_price(attributes):
    assert cost(attributes) is None


def test_zero_tokens_of_a_failed_call_cost_nothing():
    told = tokens(input_tokens=0, output_tokens=0)
    assert cost({"gen_ai.request.model": "m", **told}, status_code="Error") == 0


def test_an_embedding_needs_input_only():
    told = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "m"}
    assert cost({**told, **tokens(input_tokens=1000)}) == pytest.approx(0.001)


def priced(model, provider, table, start=0.0):
    attributes = {
        **CHAT,
        "gen_ai.response.model": model,
        "gen_ai.provider.name": provider,
        **tokens(input_tokens=1_000_000, output_tokens=0),
    }
    return (
        fold([make_span(attributes=attributes, start=start)], watched={"prices": table})
        .steps[0]
        .cost_usd
    )


def row(model, price, **more):
    return {"model": model, "input": price, "output": 0, **more}


def test_the_most_specific_pattern_wins():
    table = [row("*", 1), row("gpt-4.1*", 3), row("gpt-*", 2), row("gpt-4.1-mini", 4)]
    assert priced("gpt-4.1-mini", "openai", table) == 4
    assert priced("GPT-4.1-2025", "openai", table) == 3
    assert priced("gpt-5", "openai", table) == 2
    assert priced("other", "openai", table) == 1


def test_a_price_of_the_provider_is_more_specific_and_holds_for_it_only():
    table = [row("m", 1), row("m", 2, provider="azure.ai.openai")]
    assert priced("m", "azure", table) == 2
    assert priced("m", "openai", table) == 1


@pytest.mark.parametrize("spelling", ["azure", "Azure.AI.OpenAI", "az.ai.openai"])
def test_a_provider_may_be_written_in_any_spelling_that_spans_use(spelling):
    assert priced("m", "azure", [row("m", 2, provider=spelling)]) == 2


def test_the_latest_price_that_is_not_after_the_start_holds():
    day = 86400.0
    assert START // 10**9 == 1_750_000_000  # 2025-06-15 15:06:40 UTC
    table = [
        row("m", 1, since="2025-01-01"),
        row("m", 2, since="2025-06-15"),
        row("m", 3, since="2025-06-16"),
    ]
    assert priced("m", "openai", table) == 2
    assert priced("m", "openai", table, start=day) == 3
    assert priced("m", "openai", table, start=-day) == 1
    assert priced("m", "openai", table, start=-365 * day) is None


ALIAS = {"prices": [{"model": "m", "input": 1, "output": 10}]}


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        ("m-2025-08-07", 0.001),
        ("m@20250807", 0.001),
        ("m-latest", 0.001),
        ("m-0613", 0.001),
        ("m-2411", 0.001),
        ("m-1", None),
        ("m-5-20251101", None),
        ("m-20259901", None),
        ("m-mini", None),
        ("m2", None),
        ("x-2025", None),
    ],
)
def test_the_requested_name_is_priced_where_the_answer_is_a_dated_name_of_it(answered, expected):
    told = {"gen_ai.request.model": "m", "gen_ai.response.model": answered}
    found = cost({**told, **tokens(input_tokens=1000, output_tokens=0)}, ALIAS)
    assert found == (None if expected is None else pytest.approx(expected))


def test_brackets_are_part_of_a_name():
    table = [row("claude-4-5[1m]", 6), row("claude-[345]-*", 1), row("claude-3-o*", 9)]
    assert priced("claude-4-5[1m]", "anthropic", table) == 6
    assert priced("Claude-4-5[1M]", "anthropic", table) == 6
    assert priced("claude-4-51", "anthropic", table) is None
    assert priced("claude-3-opus", "anthropic", table) == 9
    assert priced("claude-[345]-x", "anthropic", table) == 1


def test_a_question_mark_is_one_character_and_nothing_else_is_a_sign():
    assert priced("m.4", "openai", [row("m.?", 1)]) == 1
    assert priced("mx4", "openai", [row("m.?", 1)]) is None
    assert priced("m.45", "openai", [row("m.?", 1)]) is None


def test_a_runs_cost_is_a_sum_of_what_is_known_and_says_what_is_not():
    def call(number, model, **more):
        attributes = {
            **CHAT,
            "gen_ai.response.model": model,
            **tokens(input_tokens=1000, output_tokens=0),
        }
        return make_span(number, 1, attributes=attributes, **more)

    silent = make_span(5, 1, attributes=CHAT, status_code="Error")
    run = run_of(
        make_span(1), call(2, "m"), call(3, "m-2"), call(4, "unknown"), silent, watched=TABLE
    )
    assert run.cost_usd == pytest.approx(0.002)
    assert (run.unpriced_calls, run.cost_reported_usd) == (1, None)
    assert run_of(make_span(1), call(2, "unknown"), watched=TABLE).cost_usd is None


def test_what_the_source_says_it_cost_is_kept_apart():
    step = read({**CHAT, "operation.cost": 0.25})
    assert (step.cost_reported_usd, step.cost_usd) == (0.25, None)
