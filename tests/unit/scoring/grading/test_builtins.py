import json
from dataclasses import replace
from typing import Any

import pytest

from gnomon.model import Bodies, Document, Kind
from gnomon.watch import parse
from scoring.grading.port import Abstained, Answer, Label, NotApplicable
from scoring.grading.spec import Means
from scoring.watched import watched
from tests.judging import Seen, make_run, make_step


def ask(entry: dict[str, Any], evidence: Seen) -> Answer:
    text = json.dumps({"graders": [{"name": "g", **entry}]})
    (grader,) = watched(parse(text)).built(Means())
    return grader.grade(evidence)


def label(entry: dict[str, Any], evidence: Seen) -> Label:
    answer = ask(entry, evidence)
    assert isinstance(answer, Label), answer
    return answer


# Schema

SCHEMA = {"type": "object", "required": ["claimed_outcome"]}


@pytest.mark.parametrize(
    ("final", "passed"),
    [
        ('{"claimed_outcome": "refunded"}', True),
        ('Done.\n{"claimed_outcome": "refunded"}', True),
        ('Done.\n```json\n{"claimed_outcome": "refunded"}\n```\n', True),
        ('{"message": "done"}', False),
        ("Done.", False),
    ],
)
def test_the_final_message_must_end_with_json_of_the_shape(final: str, passed: bool) -> None:
    assert label({"type": "schema", "schema": SCHEMA}, Seen(final=final)).passed is passed


def test_a_final_message_nobody_recorded_is_no_failure() -> None:
    assert isinstance(ask({"type": "schema", "schema": SCHEMA}, Seen()), Abstained)


def test_a_tool_call_that_breaks_its_schema_is_named() -> None:
    entry = {
        "type": "schema",
        "tool": "refund",
        "schema": {"properties": {"amount": {"type": "integer", "maximum": 100}}},
    }
    steps = [make_step(1, "refund", {"amount": 40}), make_step(2, "refund", {"amount": 400})]
    found = label(entry, Seen(*steps))
    assert found.passed is False
    assert found.evidence == ("s2",)
    assert found.violations[0].message == "amount breaks maximum", "and never repeats the value"
    assert isinstance(ask(entry, Seen(make_step(1, "refund"))), Abstained)
    assert isinstance(ask(entry, Seen(make_step(1, "check", {}))), NotApplicable)


def test_an_odd_argument_keeps_no_schema_from_being_checked() -> None:
    entry = {
        "type": "schema",
        "tool": "refund",
        "schema": {"properties": {"amount": {"maximum": 9}}},
    }
    odd = '{"amount": 10, "note": %s}' % ("9" * 4_400)
    step = replace(make_step(1, "refund", {}), tool_arguments=odd)
    assert label(entry, Seen(step)).passed is False


# Budget


def test_a_limit_that_can_not_be_measured_is_not_kept() -> None:
    entry = {"type": "budget", "limits": {"steps": 5, "usd": 1.0}}
    within = make_run(steps=5, cost_usd=0.5)
    assert label(entry, Seen(run=within)).passed is True
    assert label(entry, Seen(run=make_run(steps=6, cost_usd=0.5))).passed is False
    unpriced = make_run(steps=5, cost_usd=0.5, unpriced_calls=1)
    assert isinstance(ask(entry, Seen(run=unpriced)), Abstained)
    dear = make_run(steps=5, cost_usd=1.5, unpriced_calls=1)
    assert label(entry, Seen(run=dear)).passed is False


# Convergence


def poll(number: int, result: object, **arguments: object) -> Any:
    return make_step(number, "status", {"order": "A", **arguments}, result)


def test_the_same_call_with_the_same_answer_is_a_cycle_and_with_another_is_none() -> None:
    entry = {"type": "convergence", "max_cycles": 1}
    moving = [poll(n, {"progress": n}) for n in range(5)]
    assert label(entry, Seen(*moving)).passed is True
    circling = [poll(n, {"progress": 0}) for n in range(5)]
    found = label(entry, Seen(*circling))
    assert found.passed is False
    assert found.score == 4
    assert found.evidence == ("s1", "s2", "s3", "s4")
    assert found.explanation == "5 tool calls, 4 repeated, 4 cyclic"


def test_repeats_are_calls_with_the_same_arguments_whatever_their_order() -> None:
    entry = {"type": "convergence", "max_repeats": 0, "max_cycles": 9}
    steps = [poll(1, {"a": 1}, deep=True), make_step(2, "status", {"deep": True, "order": "A"}, 7)]
    assert label(entry, Seen(*steps)).passed is False
    assert label(entry, Seen(poll(1, 1), poll(2, 1, deep=True))).passed is True


def test_the_distance_to_the_end_is_what_was_not_reached() -> None:
    entry = {
        "type": "convergence",
        "terminal": [
            {"tool": ["refund", "escalate"]},
            {"tool": "close", "path": "state", "equals": "closed"},
        ],
    }
    nothing = label(entry, Seen())
    assert (nothing.passed, nothing.score) == (False, 2.0)
    half = label(entry, Seen(make_step(1, "escalate", {}, {}), make_step(2, "close", {}, {})))
    assert (half.passed, half.score) == (False, 1.0)
    closed = make_step(2, "close", {}, {"state": "closed"})
    whole = label(entry, Seen(make_step(1, "refund", {}, {}), closed))
    assert (whole.passed, whole.score) == (True, 0.0)


def test_calls_whose_arguments_nobody_recorded_can_not_be_compared() -> None:
    blind = Seen(make_step(1, "status"), make_step(2, "status"))
    assert isinstance(ask({"type": "convergence"}, blind), Abstained)
    odd = replace(make_step(1, "status"), tool_arguments="[1]")
    answer = ask({"type": "convergence"}, Seen(odd))
    assert isinstance(answer, Abstained)
    assert answer.reason == "arguments of 1 calls can not be read as an object"


# Recovery

RECOVERY = {"type": "recovery", "writes": ["refund"], "idempotency": "key"}


def refund(number: int, key: str, **changes: Any) -> Any:
    return make_step(number, "refund", {"order": "A", "key": key}, {"ok": True}, **changes)


def timeout(number: int, key: str) -> Any:
    late = {"status": "error", "error_type": "timeout"}
    arguments = {"order": "A", "key": key}
    return make_step(number, "refund", arguments, {"error": "timeout"}, **late)


def test_without_an_error_there_is_nothing_to_recover_from() -> None:
    assert isinstance(ask(RECOVERY, Seen(refund(1, "k1"))), NotApplicable)
    refused = make_step(1, "verify", {"customer": "c9"}, {"ok": False})
    assert isinstance(ask(RECOVERY, Seen(refused)), NotApplicable), "an answer that says no"


def test_the_same_goal_reached_after_an_error_is_a_recovery() -> None:
    found = label(RECOVERY, Seen(timeout(1, "k1"), refund(2, "k1")))
    assert (found.passed, found.score) == (True, 1.0)


def test_a_write_repeated_under_another_key_may_have_taken_effect_twice() -> None:
    unknown = ask(RECOVERY, Seen(timeout(1, "k1"), refund(2, "k2")))
    assert isinstance(unknown, Abstained), "the timeout may have been before the effect"
    assert unknown.evidence == ("s1", "s2")
    assert [(held.broken, held.unknown) for held in unknown.held] == [(0, 1), (0, 0)]


def test_a_write_that_took_effect_twice_is_a_breach_whatever_was_said_between() -> None:
    seen = Seen(refund(1, "k1"), timeout(2, "k2"), refund(3, "k3"))
    found = label(RECOVERY, seen)
    assert found.passed is False
    assert found.violations[0].rule == "once"
    assert found.evidence == ("s1", "s3")


def test_an_error_whose_goal_was_never_reached_is_named() -> None:
    lookup = make_step(1, "get", {"order": "A"}, {"error": "gone"}, status="error")
    other = make_step(2, "get", {"order": "B"}, {"order": {}})
    found = label(RECOVERY, Seen(lookup, other))
    assert (found.passed, found.score, found.evidence) == (False, 0.0, ("s1",))
    elsewhere = {**RECOVERY, "goals": {"get": ["search"]}}
    hit = make_step(3, "search", {"q": "A"}, {"order": {}})
    assert label(elsewhere, Seen(lookup, other, hit)).passed is True


# Citations

CITES = {"type": "citations", "pattern": r"\[doc:([^\]]+)\]"}


def read(*documents: Document, captured: bool = True) -> tuple[Any, dict[str, Bodies]]:
    step = make_step(1, kind=Kind.RETRIEVAL, content_captured=captured)
    return step, {"s1": Bodies(documents=documents)}


def test_a_citation_of_what_was_never_retrieved_fails() -> None:
    step, bodies = read(
        Document(id="policy-7"), Document(metadata='{"source": "https://a.test/x/"}')
    )
    fine = Seen(step, final="As [doc:policy-7] and https://a.test/x#top say.", bodies=bodies)
    assert label(CITES, fine).passed is True
    made_up = Seen(step, final="See [doc:policy-7] and [doc:policy-9].", bodies=bodies)
    found = label(CITES, made_up)
    assert (found.passed, found.score) == (False, 0.5)
    assert found.explanation == "1 of 2 citations were retrieved"


def test_documents_nobody_recorded_refute_nothing() -> None:
    step, bodies = read(captured=False)
    assert isinstance(ask(CITES, Seen(step, final="[doc:x]", bodies=bodies)), Abstained)


def test_a_message_without_citations_fails_only_where_they_are_required() -> None:
    assert isinstance(ask(CITES, Seen(final="No.")), NotApplicable)
    assert label({**CITES, "required": True}, Seen(final="No.")).passed is False


def test_results_of_tools_and_lists_in_the_final_json_count_as_well() -> None:
    entry = {"type": "citations", "path": "cited", "sources": ["search"]}
    step = make_step(1, "search", {}, {"hits": [{"id": "d1"}, {"id": 2}]})
    assert label(entry, Seen(step, final='{"cited": ["d1", "2"]}')).passed is True
    assert label(entry, Seen(step, final='{"cited": ["d3"]}')).passed is False

    odd = replace(step, tool_result='{"hits": [{"id": "d1"}, {"id": 1e999}]}')
    assert label(entry, Seen(odd, final='{"cited": ["d1"]}')).passed is True


# Scope


def test_a_run_outside_of_the_scope_is_none_of_a_graders_business() -> None:
    entry = {"type": "budget", "limits": {"steps": 1}, "scope": {"agents": "other"}}
    assert isinstance(ask(entry, Seen(run=make_run(steps=9))), NotApplicable)
