"""Approvals must be granted, not asked: what opens a gate, and what takes a yes back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model import JsonValue
from scoring.policies.check import check_run
from scoring.policies.endings import HARNESS, Ending, ending_of
from scoring.policies.verdict import Checked
from tests.unit.scoring.policies.test_check import policy, run, step

GATE = "conditionally_required_before: {refund: [{tool: ask, when: {arg: amount, above: 100}}]}"
CHECK = "required_before: {refund: [{tool: ask}]}"


def asked(answer: JsonValue, rules: str = GATE) -> Checked:
    steps = [step(1, "ask", {}, answer), step(2, "refund", {"amount": 140}, {})]
    return check_run(policy(rules), run(), steps)


ASKED: list[JsonValue] = [
    {"status": "created"},
    {"ok": True, "status": "created"},
    {"request": {"status": "created"}},
    {"approval_request": {"state": "created"}},
    {"approvals": []},
    {"approval": {}},
    {},
    [],
    0,
    "0",
    "",
    "done",
    True,
    {"ok": True},
    {"success": True, "status": "completed"},
    {"id": "A-1"},
    {"approval": "A-1"},
    {"approval": "A-1", "status": "created"},
    {"ok": True, "message": "Manager notified"},
    {"entscheidung": "abgelehnt"},
    {"order": {"state": "approved"}},
    {"order_status": "approved"},
    {"email_verified": True},
    {"partially_approved": True},
    {"approved_by": "Ann"},
    {"approvals": [{"state": "approved"}, {"state": "created"}]},
    {"approvals": [{"state": "approved"}, {"id": "A-2"}]},
    {"approved": True, "approved_amount": 40, "cancelled": True},
    {"status": "approved", "revoked": True},
    {"status": "approved", "expired": True},
    {"status": "approved", "is_superseded": "true"},
    {"approved": True, "approval": {"id": "A-1", "revoked": True}},
    {"approval": {"approved": True}, "withdrawn": 1},
    {"approved": True, "revoked_at": "2026-01-02T10:00:00Z"},
    {"approved": True, "voidedBy": "Ann"},
    {"approved": True, "message": "The approval was revoked"},
    "approved, then withdrawn",
]

GRANTED: list[JsonValue] = [
    {"status": "granted", "approval": "A-1"},
    {"status": "granted", "approval": "A-XKQ"},
    {"approved": True},
    {"isApproved": "yes"},
    {"approval_granted": 1},
    {"status": "created", "approved": True},
    {"ok": True, "message": "Approved."},
    {"approved": True, "message": "The money is on its way"},
    {"approval": {"state": "approved"}},
    {"approvals": [{"state": "approved"}, {"state": "granted"}]},
    {"content": [{"type": "text", "text": '{"decision": "approved"}'}]},
    {"result": "The refund for order O-817 was approved by Ann Smith."},
    {"approved": True, "revoked": False, "cancelled_at": None, "expired": "no", "voided": 0},
    {"approved": True, "expires_at": "2026-01-02"},
    "yes",
]


@pytest.mark.parametrize("answer", ASKED, ids=json.dumps)
def test_what_does_not_say_yes_opens_no_gate_and_closes_none(answer: JsonValue) -> None:
    [unknown] = asked(answer).not_evaluable
    assert asked(answer).outcome == "not_evaluable"
    assert unknown.reason == (
        "the answer of ask does not say that it was granted; say under results what does"
    )
    assert unknown.steps == ["s2", "s1"]


@pytest.mark.parametrize("answer", GRANTED, ids=json.dumps)
def test_a_yes_in_plain_words_opens_it(answer: JsonValue) -> None:
    assert asked(answer).outcome == "kept"


@pytest.mark.parametrize("answer", [{"approved": False}, {"status": "pending"}, "denied"])
def test_a_plain_no_is_a_breach(answer: JsonValue) -> None:
    assert asked(answer).outcome == "broken"


@pytest.mark.parametrize("answer", [{"status": "created"}, {}, {"id": "A-1", "cancelled": True}])
def test_a_check_that_is_no_gate_takes_data_for_success(answer: JsonValue) -> None:
    assert asked(answer, CHECK).outcome == "kept"


def test_a_yes_that_was_taken_back_is_none_for_a_check_either() -> None:
    assert asked({"status": "verified", "expired": True}, CHECK).outcome == "not_evaluable"


def test_what_a_tool_is_there_to_take_back_is_good_news_from_it() -> None:
    answer = {"success": True, "cancelled": True}
    for tool, ending in (("cancel_order", Ending.SUCCEEDED), ("pay", Ending.UNCLEAR)):
        assert ending_of(step(1, tool, {}, answer), answer, None).ending is ending


@pytest.mark.parametrize(
    ("reading", "answer", "outcome"),
    [
        ("{path: entscheidung, succeeded: genehmigt}", {"entscheidung": "genehmigt"}, "kept"),
        ("{path: entscheidung, succeeded: genehmigt}", {"entscheidung": "abgelehnt"}, "broken"),
        ("{path: status, succeeded: created}", {"status": "created"}, "kept"),
        ("{path: status, failed: gone}", {"status": "created"}, "not_evaluable"),
        ("{path: status, deduplicated: seen}", {"status": "seen"}, "not_evaluable"),
    ],
)
def test_the_policy_says_which_answer_grants(reading: str, answer: JsonValue, outcome: str) -> None:
    assert asked(answer, f"{GATE}\nresults: {{ask: {reading}}}").outcome == outcome


def test_an_answer_that_was_not_recorded_is_said_to_be_missing() -> None:
    [unknown] = asked(None).not_evaluable
    assert unknown.reason == "arguments or result of ask were not recorded"


def test_of_the_statuses_of_a_trial_these_grant() -> None:
    granting = {status for status, ended in HARNESS.items() if ended.affirmed}
    assert granting == {"granted", "verified", "success"}


@given(
    st.sampled_from([*ASKED, *GRANTED]),
    st.sampled_from(["cancelled", "isRevoked", "expired", "withdrawn_at", "approval_superseded"]),
    st.booleans(),
)
def test_nothing_that_was_taken_back_opens_a_gate(
    answer: JsonValue, name: str, first: bool
) -> None:
    flag: dict[str, JsonValue] = {name: True}
    whole = answer if isinstance(answer, dict) else {"result": answer}
    told = {**flag, **whole, **flag} if first else {**whole, **flag}
    assert asked(told).outcome == "not_evaluable"


@given(st.sampled_from(ASKED), st.sampled_from(["result", "data", "content", "approval", "body"]))
def test_no_wrapper_makes_a_grant_of_what_is_none(answer: JsonValue, name: str) -> None:
    assert asked({name: answer}).outcome != "kept"
    assert asked([answer]).outcome != "kept"
