"""A run is a pure fold over its de-duplicated steps."""

import json

import pytest

from tests.spans import SECOND, START, TRACE, fold, make_event, make_span, run_of, span_id

AGENT = {"gen_ai.operation.name": "invoke_agent"}
CHAT = {"gen_ai.operation.name": "chat"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}


def messages(role, text):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def test_times_and_activity():
    run = run_of(
        make_span(1, seconds=10),
        make_span(2, 1, start=1, seconds=2, attributes=CHAT),
        make_span(3, 1, start=2, seconds=2, attributes=TOOL),
        make_span(4, 1, start=8, seconds=1, attributes=CHAT),
    )
    assert (run.started_at, run.ended_at) == (START, START + 10 * SECOND)
    assert (run.duration_ns, run.active_ns) == (10 * SECOND, 4 * SECOND)


def test_only_work_is_counted_and_every_span_is_told():
    run = run_of(
        make_span(1, attributes=AGENT),
        make_span(2, 1, attributes=CHAT),
        make_span(3, 1, attributes=CHAT, status_code="Error"),
        make_span(4, 1, attributes=TOOL, status_code="Error"),
        make_span(5, 1, attributes={"gen_ai.operation.name": "embeddings"}),
        make_span(6, 1, attributes={"gen_ai.operation.name": "retrieval"}),
        make_span(7, 1, attributes={"gen_ai.operation.name": "handoff"}),
        make_span(
            8,
            1,
            scope_name="com.anthropic.claude_code.tracing",
            attributes={"span.type": "tool.blocked_on_user", "source": "user"},
        ),
        make_span(9, 1, attributes={"gen_ai.operation.name": "plan"}),
    )
    assert (run.steps, run.spans) == (7, 9)
    assert (run.llm_calls, run.llm_errors) == (2, 1)
    assert (run.tool_calls, run.tool_errors) == (1, 1)
    assert (run.embedding_calls, run.retrievals, run.handoffs, run.human_actions) == (1, 1, 1, 1)


def test_a_failed_call_does_not_fail_the_run_and_a_failed_root_does():
    ok = run_of(make_span(1), make_span(2, 1, attributes=TOOL, status_code="Error"))
    assert (ok.status, ok.error_type) == ("ok", None)
    failed = make_span(1, status_code="Error", attributes={"error.type": "a.Timeout"})
    run = run_of(failed, make_span(2, 1, attributes={**TOOL, "error.type": "Denied"}))
    assert (run.status, run.error_type) == ("error", "Timeout")
    assert run.error_types == ("Denied", "Timeout")


def test_without_a_root_the_earliest_step_stands_in_and_the_status_is_unknown():
    run = run_of(make_span(3, 99, start=1), make_span(2, 98, start=0, status_code="Error"))
    assert (run.root_span_id, run.status) == (span_id(2), "unknown")
    assert (run.complete, run.orphans) == (False, 2)
    assert "no_root" in run.flags


def test_a_step_whose_parent_id_was_no_id_is_the_root():
    """4.2: a parent id of the wrong length is accepted as a root with the flag `orphan`."""
    odd = {**CHAT, "gnomon.ingest.flags": "orphan"}
    spans = [make_span(1, seconds=3, attributes=odd, status_code="Error"), make_span(2, 1)]
    run = run_of(*spans)
    assert (run.root_span_id, run.status, run.complete) == (span_id(1), "error", True)
    assert run.flags == ("orphan",)
    asked = {"runs": {"quiet_period": "1m"}}
    later = run_of(*spans, watched=asked, received={TRACE: START}, now=START + 61 * SECOND)
    assert later.state == "settled"


def test_two_roots_are_no_root():
    run = run_of(make_span(1, start=1), make_span(2))
    assert (run.root_span_id, run.status, run.complete) == (span_id(2), "unknown", False)


def test_a_wrapper_that_is_folded_into_the_call_inside_it_stays_the_root():
    asked = {"gen_ai.operation.name": "embeddings"}
    inner = make_span(2, 1, attributes={**asked, "gen_ai.usage.input_tokens": "11"})
    run = run_of(make_span(1, attributes=asked, status_code="Error"), inner)
    assert (run.root_span_id, run.status, run.complete) == (span_id(1), "error", True)
    assert (run.embedding_calls, run.input_tokens, run.flags) == (1, 11, ())


def test_a_counted_step_whose_parent_is_missing_makes_the_run_incomplete():
    root = make_span(1)
    assert run_of(root, make_span(2, 1, attributes=CHAT)).complete
    assert not run_of(root, make_span(2, 99, attributes=CHAT)).complete
    assert run_of(root, make_span(2, 99)).complete


def test_the_agent_is_the_outermost_one_else_the_workflow_else_the_service():
    service = {"service.name": "desk", "service.version": "7"}
    inner = make_span(3, 2, attributes={**AGENT, "gen_ai.agent.name": "inner"}, resource=service)
    outer = make_span(
        2,
        1,
        start=5,
        attributes={**AGENT, "gen_ai.agent.name": "outer", "gen_ai.agent.version": "3"},
        resource=service,
    )
    run = run_of(make_span(1, resource=service), inner, outer)
    assert (run.agent_name, run.agent_version) == ("outer", "3")
    assert run.agents == ("inner", "outer")
    flow = make_span(1, attributes={"gen_ai.workflow.name": "flow"}, resource=service)
    assert run_of(flow).agent_name == "flow"
    assert run_of(make_span(1, resource=service)).agent_name == "desk"
    assert run_of(make_span(1, resource=service)).agent_version == "7"
    assert run_of(make_span(1)).agent_name is None


def test_the_roots_value_wins_then_the_agents_then_the_most_frequent_one():
    def user(number, value, parent=1, kind=CHAT, **changes):
        own = {} if value is None else {"user.id": value}
        return make_span(number, parent, attributes={**kind, **own}, **changes)

    rest = [user(3, "b"), user(4, "b"), user(5, "a"), user(6, "a"), user(7, "c")]
    assert run_of(make_span(1), *rest).user_id == "a"
    assert run_of(make_span(1), user(2, "z", kind=AGENT), *rest).user_id == "z"
    root = make_span(1, attributes={"user.id": "root"})
    assert run_of(root, user(2, "z", kind=AGENT), *rest).user_id == "root"


def test_question_and_answer_come_from_the_container_else_from_the_calls():
    first = make_span(
        2,
        1,
        attributes={
            **CHAT,
            "gen_ai.input.messages": messages("user", "q1"),
            "gen_ai.output.messages": messages("assistant", "a1"),
        },
    )
    last = make_span(
        3,
        1,
        start=3,
        attributes={
            **CHAT,
            "gen_ai.input.messages": messages("user", "q2"),
            "gen_ai.output.messages": messages("assistant", "a2" + "x" * 3000),
        },
    )
    run = run_of(make_span(1, seconds=9), first, last)
    assert (run.input, len(run.output), run.output[:2]) == ("q1", 2000, "a2")
    root = make_span(
        1,
        seconds=9,
        attributes={
            **AGENT,
            "gen_ai.input.messages": messages("user", "q0"),
            "gen_ai.output.messages": messages("assistant", "a0"),
        },
    )
    run = run_of(root, first, last)
    assert (run.input, run.output) == ("q0", "a0")


def test_models_tools_and_dialects_are_distinct_and_sorted():
    def call(number, model):
        return make_span(number, 1, attributes={**CHAT, "gen_ai.response.model": model})

    run = run_of(
        make_span(1), call(2, "b"), call(3, "a"), call(4, "b"), make_span(5, 1, attributes=TOOL)
    )
    assert (run.models, run.tools) == (("a", "b"), ("refund",))
    assert run.dialects == ("otel", "otel-genai")


def test_what_the_source_dropped_is_summed_and_chunk_events_count_as_dropped():
    chunks = [make_event("gen_ai.content.completion.chunk", n) for n in range(3)]
    run = run_of(
        make_span(1, dropped_attributes=1, dropped_events=2, dropped_links=3),
        make_span(2, 1, dropped_attributes=4, events=chunks),
    )
    assert (run.dropped_attributes, run.dropped_events, run.dropped_links) == (5, 5, 3)


GUARD = {"openinference.span.kind": "GUARDRAIL"}


@pytest.mark.parametrize(
    ("attributes", "changes", "tripped"),
    [
        ({}, {"status_code": "Error"}, 1),
        ({}, {}, 0),
        ({"output.value": "pass"}, {}, 0),
        ({"output.value": "blocked"}, {}, 1),
        ({"output.value": '{"tripwire_triggered": true}'}, {}, 1),
        ({"output.value": '{"output": {"triggered": true}}'}, {}, 1),
        ({"langfuse.observation.output": '{"passed": true}'}, {}, 0),
        ({"langfuse.observation.output": '{"passed": false}'}, {}, 1),
        ({}, {"events": [make_event("tripwire_triggered")]}, 1),
    ],
)
def test_a_guardrail_trips_by_status_output_or_event(attributes, changes, tripped):
    guard = make_span(2, 1, attributes=GUARD | attributes, **changes)
    run = run_of(make_span(1), guard)
    assert run.guardrail_trips == tripped
    assert run.status == "ok"


def test_a_guardrail_that_failed_the_step_above_it_by_name_tripped():
    turn = make_span(
        2,
        1,
        status_code="Error",
        status_message="Guardrail tripwire triggered: {'guardrail': 'no_secrets'}",
    )
    guard = make_span(3, 2, name="no_secrets", attributes=GUARD, status_code="Ok")
    other = make_span(4, 2, name="other", attributes=GUARD, status_code="Ok")
    assert run_of(make_span(1), turn, guard, other).guardrail_trips == 1


def test_the_manifest_holds_what_is_known_and_its_hash():
    watched = {"runs": {"manifest": {"policy": ["policy.version"]}}}
    root = make_span(
        1,
        resource={"service.name": "desk", "service.version": "7"},
        attributes={"policy.version": "p3"},
    )
    call = make_span(
        2,
        1,
        attributes={
            **CHAT,
            "gen_ai.response.model": "m",
            "gen_ai.prompt.name": "greet",
            "gen_ai.prompt.version": 4,
        },
    )
    run = run_of(root, call, watched=watched)
    assert run.manifest == {
        "agent_version": "7",
        "application": "desk 7",
        "model": "m",
        "policy": "p3",
        "prompt": "greet@4",
    }
    assert len(run.manifest_hash) == 16
    assert run_of(root, watched=watched).manifest_hash != run.manifest_hash
    assert run_of(make_span(1)).manifest == {}
    assert run_of(make_span(1)).manifest_hash == ""


def test_business_keys_come_from_attributes_resource_baggage_and_tool_arguments():
    watched = {
        "business_keys": {
            "order_id": {"attributes": ["order.id"], "tool_arguments": ["refund:order_id"]},
            "ticket": {"attributes": ["ticket"]},
            "tenant": {"attributes": ["tenant"]},
        }
    }
    arguments = json.dumps({"order_id": "A-1001", "amount": 5})
    root = make_span(1, attributes={"baggage.ticket": "T-1"}, resource={"tenant": '"acme"'})
    call = make_span(2, 1, attributes={**TOOL, "gen_ai.tool.call.arguments": arguments})
    other = make_span(
        3,
        1,
        attributes={**TOOL, "gen_ai.tool.name": "look", "gen_ai.tool.call.arguments": arguments},
    )
    result = fold([root, call, other], watched=watched)
    keys = {int(step.span_id, 16): step.business_keys for step in result.steps}
    assert keys == {1: {"ticket": "T-1", "tenant": "acme"}, 2: {"order_id": "A-1001"}, 3: {}}
    assert result.runs[0].business_keys == {"order_id": "A-1001", "ticket": "T-1", "tenant": "acme"}


def test_configured_attributes_come_before_those_of_the_dialect():
    watched = {
        "runs": {
            "conversation": "case.id",
            "user": "customer",
            "agent": ["desk.agent"],
            "version": "desk.version",
            "environment": "stage",
        }
    }
    root = make_span(
        1,
        attributes={
            **AGENT,
            "gen_ai.conversation.id": "c",
            "case.id": "K",
            "user.id": "u",
            "gen_ai.agent.name": "a",
            "desk.agent": "A",
        },
        resource={"customer": "U", "desk.version": "V", "stage": "S", "service.version": "1"},
    )
    run = run_of(root, watched=watched)
    assert (run.conversation_id, run.user_id, run.agent_name) == ("K", "U", "A")
    assert (run.agent_version, run.environment) == ("V", "S")


RUN_ID = {"runs": {"run_id": "job.id"}}


def test_several_runs_in_one_trace_are_parted_by_the_configured_run_id():
    server = make_span(1, seconds=9)
    one = make_span(2, 1, attributes={"job.id": "one"})
    two = make_span(3, 1, start=3, attributes={"job.id": "two"}, status_code="Error")
    below = make_span(4, 3, start=3, attributes=CHAT)
    runs = {run.run_id: run for run in fold([server, one, two, below], watched=RUN_ID).runs}
    assert set(runs) == {server.trace_id, "one", "two"}
    assert (runs["two"].spans, runs["two"].llm_calls) == (2, 1)
    assert (runs["two"].root_span_id, runs["two"].status) == (span_id(3), "error")
    assert all(run.complete for run in runs.values())


def test_one_run_over_several_traces_is_folded_by_the_configured_run_id():
    first = make_span(1, attributes={**AGENT, "job.id": "one", "gen_ai.agent.name": "a"})
    second = make_span(2, start=5, attributes={**CHAT, "job.id": "one"}, trace_id="b" * 32)
    run = run_of(first, second, watched=RUN_ID)
    assert run.trace_ids == (first.trace_id, second.trace_id)
    assert (run.root_span_id, run.spans, run.llm_calls) == (first.span_id, 2, 1)
    assert (run.complete, run.status) == (True, "ok")


def test_without_a_configured_run_id_each_trace_is_a_run():
    spans = [make_span(1), make_span(2, trace_id="b" * 32)]
    assert [run.run_id for run in fold(spans).runs] == ["a" * 32, "b" * 32]
