"""One call, one count: rules D1 to D7."""

from tests.spans import make_event, make_span, run_of, steps_of

SDK = "com.anthropic.sdk.python"


def chat(number, parent="", *, tokens=None, id=None, model="m", kind="chat", **changes):  # noqa: A002
    attributes = {"gen_ai.operation.name": kind, "gen_ai.request.model": model}
    if tokens is not None:
        attributes |= {"gen_ai.usage.input_tokens": tokens, "gen_ai.usage.output_tokens": 1}
    if id is not None:
        attributes["gen_ai.response.id"] = id
    return make_span(number, parent, attributes=attributes | changes.pop("more", {}), **changes)


def tool(number, parent="", name="get_weather", *, method=None, **changes):
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if method is not None:
        attributes["mcp.method.name"] = method
    return make_span(number, parent, attributes=attributes, **changes)


def duplicates(steps):
    """Return the number of each duplicate with the number of the step that is kept."""
    return {n: int(s.duplicate_of, 16) for n, s in steps.items() if s.duplicate_of is not None}


def test_d1_one_response_id_is_one_call():
    root = make_span(1)
    steps = steps_of(root, chat(2, 1, tokens=9, id="x", start=0.1), chat(3, 1, tokens=9, id="x"))
    assert duplicates(steps) == {2: 3}
    assert not steps[2].counted
    assert steps[2].duplicate_reason.startswith("D1")


def test_d1_the_ancestor_is_kept_even_when_it_started_later():
    steps = steps_of(chat(1, tokens=9, id="x", start=0.5), chat(2, 1, tokens=9, id="x", start=0))
    assert duplicates(steps) == {2: 1}


def test_d1_of_two_that_started_together_the_smaller_id_is_kept():
    steps = steps_of(make_span(1), chat(3, 1, tokens=9, id="x"), chat(2, 1, tokens=9, id="x"))
    assert duplicates(steps) == {3: 2}


def test_d1_needs_usage_on_both():
    steps = steps_of(make_span(1), chat(2, 1, tokens=9, id="x"), chat(3, 1, id="x", start=2))
    assert duplicates(steps) == {}


def test_d1_holds_inside_a_trace_only():
    other = chat(3, tokens=9, id="x", trace_id="b" * 32)
    steps = steps_of(chat(2, tokens=9, id="x"), other)
    assert duplicates(steps) == {}


def test_d2_of_nested_model_steps_the_outer_counts():
    steps = steps_of(chat(1, tokens=9), make_span(2, 1), chat(3, 2, tokens=9))
    assert duplicates(steps) == {3: 1}
    assert steps[3].duplicate_reason.startswith("D2")


def test_d2_the_inner_counts_when_only_it_reports_usage():
    steps = steps_of(chat(1), chat(2, 1), chat(3, 2, tokens=9), chat(4, 2, tokens=8, start=0.1))
    assert duplicates(steps) == {1: 3, 2: 3}
    assert [steps[n].counted for n in (3, 4)] == [True, True]


def test_d2_of_embedding_wrappers_with_the_same_usage_the_inner_counts():
    inner = chat(2, 1, tokens=9, kind="embeddings")
    assert duplicates(steps_of(chat(1, tokens=9, kind="embeddings"), inner)) == {1: 2}


def test_d2_a_call_inside_a_tool_or_an_agent_is_a_call_of_its_own():
    agent = make_span(3, 2, attributes={"gen_ai.operation.name": "invoke_agent"})
    steps = steps_of(chat(1, tokens=9), tool(2, 1), agent, chat(4, 3, tokens=8))
    assert duplicates(steps) == {}


def test_d2_an_embedding_inside_a_model_call_is_not_the_same_call():
    assert duplicates(steps_of(chat(1, tokens=9), chat(2, 1, tokens=3, kind="embeddings"))) == {}


def test_d3_the_sdks_own_span_of_a_failed_call_is_folded_into_the_instrumentors():
    failed = {"status_code": "Error"}
    steps = steps_of(
        make_span(1, seconds=9),
        chat(2, 1, start=1, seconds=1, **failed),
        chat(3, 1, start=1.001, seconds=1.003, scope_name=SDK, **failed),
    )
    assert duplicates(steps) == {3: 2}
    assert steps[3].duplicate_reason.startswith("D3")


def test_d3_needs_the_same_parent_the_same_model_and_time_inside():
    base = [make_span(1, seconds=9), chat(2, 1, start=1)]
    for other in (
        chat(3, 1, start=1, model="other", scope_name=SDK),
        chat(3, 1, start=1, seconds=1.1, scope_name=SDK),
        chat(3, start=1, scope_name=SDK),
        chat(3, 1, start=1, scope_name="other"),
    ):
        assert duplicates(steps_of(*base, other)) == {}


def test_a_retry_is_no_duplicate():
    spans = [chat(n, 1, start=n, status_code="Error") for n in range(2, 8)]
    run = run_of(make_span(1, seconds=20), *spans)
    assert (run.llm_calls, run.llm_errors, run.duplicates) == (6, 6, 0)


def test_six_attempts_in_one_span_are_one_failed_call():
    events = [make_event("gen_ai.request.attempt", n / 10) for n in range(6)]
    step = steps_of(chat(1, status_code="Error", events=events))[1]
    assert (step.attempts, step.counted) == (6, True)


def logfire(number, *, log=False, **changes):
    more = {"logfire.span_type": "log" if log else "span"}
    return chat(
        number,
        1,
        scope_name="logfire.openai",
        name="streaming response from 'm' took 0.1s" if log else "Chat Completion with 'm'",
        seconds=0 if log else 1,
        more=more,
        **changes,
    )


def test_d4_a_stream_of_logfire_counts_where_its_usage_is():
    steps = steps_of(
        make_span(1, seconds=9),
        logfire(2, start=1),
        logfire(3, start=3),
        logfire(4, start=4, log=True, tokens=9),
    )
    assert duplicates(steps) == {3: 4}
    assert steps[3].duplicate_reason.startswith("D4")
    assert steps[2].counted


def test_d5_an_mcp_call_inside_the_tool_step_counts_once():
    steps = steps_of(
        tool(1, name="mcp__w__get_weather"),
        tool(2, 1, method="tools/call", scope_name="fastmcp"),
        tool(3, 2, method="tools/call", scope_name="mcp-python-sdk"),
    )
    assert duplicates(steps) == {2: 1, 3: 1}
    assert steps[2].duplicate_reason.startswith("D5")


def test_d5_three_nested_spans_of_fastmcp_are_one_call():
    nested = [tool(n, n - 1 or "", method="tools/call", scope_name="fastmcp") for n in (1, 2, 3)]
    assert duplicates(steps_of(*nested)) == {2: 1, 3: 1}


def test_d5_an_mcp_call_beside_the_tool_step_counts_once():
    steps = steps_of(
        make_span(1, seconds=9),
        tool(2, 1, name="mcp__w__get_weather", scope_name="agent", start=1),
        tool(3, 1, method="tools/call", scope_name="mcp-python-sdk", start=1.5),
        tool(4, 1, method="tools/call", scope_name="mcp-python-sdk", start=5),
    )
    assert duplicates(steps) == {3: 2}


def test_d5_both_ends_of_an_mcp_call_side_by_side_are_one_call():
    def end(number, scope, start, seconds):
        changes = {"scope_name": scope, "start": start, "seconds": seconds}
        return tool(number, 1, method="tools/call", **changes)

    root = make_span(1, seconds=99)
    one = steps_of(root, end(2, "mcp-python-sdk", 1, 4), end(3, "fastmcp", 2, 2))
    assert duplicates(one) == {3: 2}
    assert one[3].duplicate_reason.startswith("D5")
    at_once = steps_of(
        root,
        end(2, "mcp-python-sdk", 1, 9),
        end(3, "fastmcp", 1.5, 8),
        end(4, "mcp-python-sdk", 2, 9),
        end(5, "fastmcp", 2.5, 8),
    )
    assert duplicates(at_once) == {3: 2, 5: 4}
    assert duplicates(steps_of(root, end(2, "fastmcp", 1, 4), end(3, "fastmcp", 2, 2))) == {}
    assert duplicates(steps_of(root, end(2, "fastmcp", 1, 4), end(3, "mcp", 6, 1))) == {}


def test_d5_another_tool_is_another_call():
    assert duplicates(steps_of(tool(1, name="other"), tool(2, 1, method="tools/call"))) == {}


def retrieval(number, parent="", query="q"):
    attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": query}
    return make_span(number, parent, attributes=attributes)


def test_d6_nested_retrievals_of_one_query_count_once():
    assert duplicates(steps_of(retrieval(1), make_span(2, 1), retrieval(3, 2))) == {3: 1}
    assert duplicates(steps_of(retrieval(1), retrieval(2, 1, query="another"))) == {}


def test_d6_another_query_between_them_does_not_part_two_of_the_same():
    nested = [retrieval(1), retrieval(2, 1, query="rewritten"), retrieval(3, 2), retrieval(4, 3)]
    assert duplicates(steps_of(*nested)) == {3: 1, 4: 1}


def pending(number, real, true_parent=""):
    attributes = {
        "gen_ai.operation.name": "chat",
        "logfire.span_type": "pending_span",
        "logfire.pending_parent_id": true_parent or "0" * 16,
    }
    return make_span(number, real, scope_name="logfire", attributes=attributes, seconds=0)


def test_d7_a_pending_span_goes_when_the_real_one_is_there():
    steps = steps_of(chat(1, tokens=9, start=0.1), pending(2, 1))
    assert duplicates(steps) == {2: 1}
    assert steps[2].flags == ()
    assert steps[2].duplicate_reason.startswith("D7")


def test_d7_a_pending_span_alone_stands_for_the_real_one_and_keeps_the_run_open():
    child = chat(3, 1)
    steps = steps_of(pending(2, 1), child)
    assert steps[2].flags == ("pending",)
    assert steps[2].parent_span_id == ""
    assert "orphan" not in steps[3].flags
    run = run_of(pending(2, 1), make_span(3, 1))
    assert not run.complete
    assert "pending" in run.flags


def test_the_kept_step_takes_what_it_lacks_and_nothing_is_overwritten():
    kept = chat(1, tokens=9, id="x", more={"gen_ai.response.model": "m-1"})
    copy = chat(
        2,
        1,
        tokens=9,
        id="x",
        more={"gen_ai.provider.name": "anthropic", "gen_ai.response.model": "other"},
    )
    step = steps_of(kept, copy)[1]
    assert (step.provider, step.response_model) == ("anthropic", "m-1")


def test_a_call_reported_three_times_counts_once():
    steps = steps_of(
        make_span(1, seconds=9),
        chat(2, 1, tokens=9, id="x"),
        chat(3, 2, tokens=9, id="x", scope_name=SDK),
        chat(4, 1, tokens=9, id="x", start=0.1, scope_name="com.anthropic.claude-platform"),
    )
    assert duplicates(steps) == {3: 2, 4: 2}
    assert sum(step.counted for step in steps.values()) == 1


CACHED = {
    "gen_ai.usage.cache_read.input_tokens": 800,
    "gen_ai.usage.reasoning.output_tokens": 1,
}


def test_parts_that_only_the_duplicate_tells_are_the_kept_steps_whichever_is_outside():
    for outer, inner in (({}, CACHED), (CACHED, {})):
        kept = steps_of(
            chat(1, tokens=1000, id="x", more=outer), chat(2, 1, tokens=1000, id="x", more=inner)
        )[1]
        assert (kept.cached_tokens, kept.reasoning_tokens) == (800, 1)


def test_parts_of_another_total_and_zeros_are_not_taken():
    steps = steps_of(chat(1, tokens=900, id="x"), chat(2, 1, tokens=1000, id="x", more=CACHED))
    assert steps[1].cached_tokens is None
    none = {"gen_ai.usage.cache_read.input_tokens": 0}
    steps = steps_of(chat(1, tokens=9, id="x"), chat(2, 1, tokens=9, id="x", more=none))
    assert steps[1].cached_tokens is None


def test_tokens_that_only_the_duplicate_tells_are_the_kept_steps():
    beside = chat(3, 1, tokens=100, scope_name=SDK, start=0.1, seconds=0.5)
    steps = steps_of(make_span(1), chat(2, 1), beside)
    assert duplicates(steps) == {3: 2}
    assert (steps[2].input_tokens, steps[2].output_tokens) == (100, 1)
    only_output = {"gen_ai.usage.output_tokens": 1}
    steps = steps_of(chat(1, more=only_output), chat(2, 1, tokens=100))
    assert duplicates(steps) == {2: 1}
    assert (steps[1].input_tokens, steps[1].output_tokens) == (100, 1)
