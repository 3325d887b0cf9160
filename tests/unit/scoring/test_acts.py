"""What a run did, added up from its counted steps."""

from gnomon.model import Kind
from scoring.acts import acts_of
from tests.judging import SECOND, make_step


def test_calls_repeat_only_where_name_and_arguments_are_known_and_equal() -> None:
    found = acts_of(
        [
            make_step(1, "get", {"a": 1}),
            make_step(2, "get", {"a": 1}),
            make_step(3, "get", {"a": 2}),
            make_step(4, "get"),
            make_step(5, "get"),
            make_step(6, "get", {"a": 1}, counted=False),
        ]
    )
    assert (found.told_calls, found.repeats) == (3, 1)


def test_people_intervene_or_approve_and_rules_approve_apart() -> None:
    human = {"kind": Kind.HUMAN, "duration_ns": 2 * SECOND}
    found = acts_of(
        [
            make_step(1, **human, decision="Approved"),
            make_step(2, **human, decision="rejected"),
            make_step(3, **human),
            make_step(4, "pay", decision="accept", decision_source="config"),
            make_step(5, "pay", decision="reject", decision_source="user"),
        ]
    )
    assert (found.people_steps, found.interventions) == (5, 2)
    assert (found.approvals, found.auto_approvals) == (1, 1)
    assert (found.decisions, found.overrides) == (3, 2)
    assert (found.waiting_ns, found.decision_ns) == (6 * SECOND, [2 * SECOND] * 2)


def test_model_steps_that_tell_no_tokens_are_counted_apart() -> None:
    found = acts_of(
        [
            make_step(1, input_tokens=100, output_tokens=10),
            make_step(2, input_tokens=5),
            make_step(3),
            make_step(4, status="error"),
        ]
    )
    assert (found.model_steps, found.steps_without_usage) == (4, 1)
    assert found.call_tokens == [110, 5]
