"""Names and ids are short whatever was sent, so that a step and a run are rows of bounded size."""

import json
from dataclasses import asdict, fields

import pytest

from collector.folding import bounds
from collector.short import NAME
from gnomon.model import Step
from tests.spans import fold, make_event, make_span, read, run_of, step_of, steps_of

HUGE = "é" * 1_000_000
CHAT = {"gen_ai.operation.name": "chat"}


def test_every_bound_is_of_a_field() -> None:
    assert bounds.BOUNDS.keys() <= {one.name for one in fields(Step)}
    assert min(bounds.BOUNDS.values()) == NAME


@pytest.mark.parametrize(
    ("field", "attributes", "length"),
    [
        ("agent_name", {"gen_ai.agent.name": HUGE}, 256),
        ("agent_version", {"gen_ai.agent.version": HUGE}, 256),
        ("workflow_name", {"gen_ai.workflow.name": HUGE}, 256),
        ("request_model", {"gen_ai.request.model": HUGE}, 256),
        ("model", {"llm.model_name": HUGE}, 256),
        ("provider", {"gen_ai.provider.name": HUGE}, 256),
        ("error_type", {"error.type": HUGE}, 256),
        ("finish_reason", {"gen_ai.response.finish_reason": HUGE}, 256),
        ("finish_reason_raw", {"gen_ai.response.finish_reason": HUGE}, 256),
        ("prompt_name", {"gen_ai.prompt.name": HUGE}, 256),
        ("conversation_id", {"gen_ai.conversation.id": HUGE}, 512),
        ("user_id", {"user.id": HUGE}, 512),
        ("response_id", {"gen_ai.response.id": HUGE}, 512),
    ],
)
def test_a_name_is_cut_at_a_character_and_flagged_and_stays_another(
    field: str, attributes: dict[str, str], length: int
) -> None:
    step = read({**CHAT, **attributes})
    kept = getattr(step, field)
    assert (kept[: length - 17], len(kept)) == ("é" * (length - 17), length)
    assert step.flags == ("truncated",)
    assert getattr(read({**CHAT, **attributes}), field) == kept
    (key,) = attributes
    assert getattr(read({**CHAT, key: HUGE + "."}), field) != kept


def test_names_around_a_span_and_of_tools_are_cut() -> None:
    around = {"service.name": HUGE, "service.version": HUGE}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": HUGE}
    step = step_of(make_span(name=HUGE, scope_name=HUGE, resource=around, attributes=tool))
    names = (step.span_name, step.scope_name, step.service_name, step.service_version)
    assert {len(name) for name in (*names, step.tool_name or "")} == {256}
    assert step.agent_version == step.service_version
    assert step.flags == ("truncated",)


def test_a_name_at_its_bound_is_whole() -> None:
    step = read({**CHAT, "gen_ai.agent.name": "a" * 256, "session.id": "b" * 512})
    assert (step.agent_name, step.conversation_id) == ("a" * 256, "b" * 512)
    assert step.flags == ()


def test_business_keys_and_the_run_id_are_ids() -> None:
    watched = {"business_keys": {"order": {"attributes": ["order"]}}, "runs": {"run_id": "run"}}
    step = step_of(make_span(attributes={"order": HUGE, "run": HUGE}), watched=watched)
    assert (len(step.business_keys["order"]), len(step.run_id)) == (512, 512)
    assert step.flags == ("truncated",)


def test_runs_whose_long_ids_begin_alike_are_two_runs() -> None:
    watched = {"business_keys": {"order": {"attributes": ["order"]}}, "runs": {"run_id": "run"}}
    spans = [
        make_span(number, attributes={"order": f"{'o' * 600}{number}", "run": f"{HUGE}{number}"})
        for number in (1, 2, 3)
    ]
    spans.append(make_span(4, attributes=spans[0].attributes))
    folded = fold(spans, watched=watched)
    assert sorted(run.spans for run in folded.runs) == [1, 1, 2]
    assert len({run.business_keys["order"] for run in folded.runs}) == 3


def test_names_around_a_span_labels_and_pins_that_begin_alike_stay_apart() -> None:
    def told(number: int) -> tuple[object, ...]:
        judged = {
            "gen_ai.evaluation.name": f"{HUGE}{number}",
            "gen_ai.evaluation.score.label": f"{HUGE}{number}",
        }
        span = make_span(
            name=f"{HUGE}{number}",
            attributes={
                **CHAT,
                "tag.tags": json.dumps([f"{HUGE}{number}"]),
                "gen_ai.response.finish_reasons": json.dumps([f"{HUGE}{number}", "stop"]),
                "prompt.text": f"{HUGE}{number}",
            },
            resource={"service.name": f"{HUGE}{number}"},
            events=[make_event("gen_ai.evaluation.result", **judged)],
        )
        folded = fold([span], watched={"runs": {"manifest": {"text": ["prompt.text"]}}})
        (step,), (run,) = folded.steps, folded.runs
        (one,) = step.evaluations
        return (
            step.span_name,
            step.service_name,
            step.finish_reason_raw,
            step.tags[0],
            one.name,
            one.label,
            run.manifest["text"],
        )

    assert all(one != two for one, two in zip(told(1), told(2), strict=True))


def test_finish_reasons_stay_a_list_of_few() -> None:
    step = read(
        {**CHAT, "gen_ai.response.finish_reasons": json.dumps([f"r{n}" for n in range(99)])}
    )
    assert json.loads(step.finish_reason or "") == [f"r{n}" for n in range(16)]
    assert step.flags == ("truncated",)


def test_parameters_that_are_too_long_lose_what_is_no_single_value() -> None:
    sent = {"temperature": 0.5, "response_format": {"schema": HUGE}, "stop": HUGE, "seed": 7}
    step = read({**CHAT, "llm.invocation_parameters": json.dumps(sent)})
    assert json.loads(step.request_params or "") == {"temperature": 0.5, "seed": 7}
    assert step.flags == ("truncated",)


def test_judgments_are_few_and_their_names_short() -> None:
    told = {"gen_ai.evaluation.name": HUGE, "gen_ai.evaluation.explanation": HUGE}
    events = [make_event("gen_ai.evaluation.result", **told) for _ in range(300)]
    step = step_of(make_span(events=events))
    assert len(step.evaluations) == 100
    assert len(step.evaluations[0].name) == 256
    assert len(step.evaluations[0].explanation or "") == 8_192


def test_the_path_names_the_outermost_agents() -> None:
    def agent(number: int) -> object:
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"a{number}"}

    steps = steps_of(*(make_span(n, n - 1 or "", attributes=agent(n)) for n in range(1, 41)))
    assert steps[33].agent_path == tuple(f"a{n}" for n in range(1, 33))
    assert steps[40].agent_path == steps[33].agent_path
    assert ("truncated" in steps[33].flags, "truncated" in steps[34].flags) == (False, True)


def test_a_run_is_a_bounded_row_whatever_its_spans_are_called() -> None:
    agents = [
        make_span(
            n,
            1 if n > 1 else "",
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": f"{n:04}{HUGE}",
                "gen_ai.request.model": f"{n:04}{HUGE}",
                "session.id": HUGE,
            },
            resource={"service.name": HUGE},
        )
        for n in range(1, 21)
    ]
    calls = [
        make_span(
            n, 1, attributes={**CHAT, "gen_ai.request.model": f"{n:04}", "error.type": f"E{n}"}
        )
        for n in range(100, 250)
    ]
    run = run_of(*agents, *calls)
    assert len(run.agents) == 20
    assert run.models == tuple(f"{n:04}" for n in range(100, 200))
    assert len(run.error_types) == 100
    assert "truncated" in run.flags
    assert len(json.dumps(asdict(run))) < 100_000


def test_what_was_cut_in_one_span_is_not_said_of_another() -> None:
    steps = fold([make_span(1, name=HUGE), make_span(2, 1)]).steps
    assert [step.flags for step in steps] == [("truncated",), ()]
