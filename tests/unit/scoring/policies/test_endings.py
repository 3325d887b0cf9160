"""How answers of tools are read: nothing is granted but in words that say so."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import watch
from gnomon.model import JsonValue, Step
from scoring.policies.check import check_run
from scoring.policies.endings import Ending, ending_of
from scoring.policies.language import policy_of
from scoring.policies.recorded import read
from tests.unit.scoring.policies.test_check import run, step

YES, NO, WAITS = Ending.SUCCEEDED, Ending.FAILED, Ending.PENDING
LATE, AGAIN, EITHER = Ending.AMBIGUOUS, Ending.DEDUPLICATED, Ending.UNCLEAR


def ending(answer: JsonValue, tool: str = "ask") -> Ending:
    return ending_of(step(1, tool, {}, answer), answer, None).ending


PLAIN = [
    ("approved", YES),
    ("Approved.", YES),
    ("APPROVED", YES),
    ("Refund approved", YES),
    ("The refund for order O-817 was approved by Ann Smith.", YES),
    ("Refund of 40.00 EUR issued successfully.", YES),
    ("✅ done", YES),
    ("yes", YES),
    ("true", YES),
    ("not approved", NO),
    ("Not granted.", NO),
    ("unverified", NO),
    ("rejected_by_manager", NO),
    ("awaiting-manager", WAITS),
    ("pendingReview", WAITS),
    ("No approval was given", EITHER),
    ("approval was not granted", EITHER),
    ("Approved? Ask finance", EITHER),
    ("hardly approved", EITHER),
    ("approved: false", EITHER),
    ("approved=0", EITHER),
    ("un-approved", NO),
    ("disapproved", EITHER),
    ("to be approved", EITHER),
    ("will be approved tomorrow", EITHER),
    ("Approved for review", EITHER),
    ("Approval request created", EITHER),
    ("Request accepted for processing", EITHER),
    ("wasn't approved", EITHER),
    ("isn\u2019t granted", EITHER),
    ("Approved by nobody", EITHER),
    ("Manager is out of office", EITHER),
    ("The approval was not granted, because the manager says that the amount is more than the shop allows.", EITHER),
    ("nicht genehmigt", EITHER),
    ("отклонено", EITHER),
    ("❌", EITHER),
    ("👎 approved", EITHER),
    ("no", EITHER),
    ("?", EITHER),
    ("Refund once, and never on Fridays. Keep the receipt. It is pending until the bank has paid. What failed does not count.", YES),
    ("Your request was received. The manager has not approved it yet. Please wait until tomorrow, we call you.", EITHER),
    ("R-91", YES),
    ("refund-91", YES),
    ("2026-01-02", YES),
    ("None", YES),
    ("", YES),
]  # fmt: skip

FIELDS: list[tuple[JsonValue, Ending]] = [
    ({"decision": "reject"}, EITHER),
    ({"decision": "approved"}, YES),
    ({"decision": None}, EITHER),
    ({"decision": {"approved": False}}, NO),
    ({"outcome": "granted"}, YES),
    ({"verdict": "thumbs down"}, EITHER),
    ({"status": "PENDING_REVIEW"}, WAITS),
    ({"status": "queued"}, EITHER),
    ({"status": "in_progress"}, EITHER),
    ({"status": "processing"}, EITHER),
    ({"status": "on_hold"}, EITHER),
    ({"status": "needs_approval"}, EITHER),
    ({"status": "escalated"}, EITHER),
    ({"status": "cancelled"}, EITHER),
    ({"status": "expired"}, EITHER),
    ({"status": "blocked"}, EITHER),
    ({"status": "rejected_by_manager"}, NO),
    ({"status": "level2"}, EITHER),
    ({"status": False}, EITHER),
    ({"status": True}, YES),
    ({"status": 1}, EITHER),
    ({"status": 200}, YES),
    ({"status": "200"}, YES),
    ({"status": 202}, EITHER),
    ({"statusCode": 202}, EITHER),
    ({"httpStatus": 302}, EITHER),
    ({"status_code": 422}, NO),
    ({"status": "504"}, LATE),
    ({"status": ["denied"]}, NO),
    ({"approval_status": "pending"}, WAITS),
    ({"approval_status": "created"}, EITHER),
    ({"approvalState": "awaiting_manager"}, WAITS),
    ({"approval-status": "approved"}, YES),
    ({"kycStatus": "passed"}, YES),
    ({"order_status": "pending", "order_id": "O-1"}, EITHER),
    ({"order_id": "O-1", "status": "delivered", "amount": 40}, YES),
    ({"id": "c1", "status": "active"}, YES),
    ({"isApproved": False}, NO),
    ({"approval_granted": "no"}, NO),
    ({"approved": "by 2030"}, EITHER),
    ({"approved": []}, EITHER),
    ({"approved": "2026-01-02T10:00:00Z"}, YES),
    ({"approved_by": "Ann"}, YES),
    ({"id": "c1", "email_verified": False}, EITHER),
    ({"customer": "c1", "valid": False}, EITHER),
    ({"can_refund": False}, EITHER),
    ({"value": "denied"}, EITHER),
    ({"policy": "No refund without approval."}, YES),
    ({"gift": False, "order": "O-1"}, YES),
    ({"denied": True}, NO),
    ({"denied": False, "id": 1}, YES),
    ({"rejected": "amount too high"}, EITHER),
    ({"pending": True}, EITHER),
    ({"pending": 3, "done": 4}, YES),
    ({"requiresApproval": True}, EITHER),
    ({"pending_approval": True}, EITHER),
    ({"not_approved": True}, NO),
    ({"no_approval": "true"}, EITHER),
    ({"timed_out": True}, EITHER),
    ({"status": "committed", "message": "no timeout occurred"}, EITHER),
    ({"status": "committed", "message": "Your session will timeout in 30 minutes"}, EITHER),
    ({"success": True, "message": "upstream timeout"}, EITHER),
    ({"status": "error", "message": "upstream timeout"}, LATE),
    ({"approval": '"\\u043e\\u0442"'}, EITHER),
    ({"message": "Approval was not granted"}, EITHER),
    ({"success": True, "message": "Approval was not granted"}, EITHER),
    ({"success": True, "message": "The money is on its way"}, YES),
    ({"detail": "Not authenticated"}, EITHER),
    ({"status": "deduplicated", "approved": False}, NO),
    ({"ok": True, "deduplicated": True}, AGAIN),
    ({"approval": False}, EITHER),
    ({"approval": None}, EITHER),
    ({"approval_id": "A-1", "order_id": "O-1"}, YES),
    ({"request": "please pay me"}, YES),
    ({"order_id": "O-1", "amount": 40}, YES),
]  # fmt: skip

WRAPPED: list[tuple[JsonValue, Ending]] = [
    ([{"approved": False}], NO),
    ([{"approved": True}, {"approved": False}], NO),
    ([{"approved": True}], YES),
    ([[["denied"]]], NO),
    (["red", "blue"], YES),
    (["pending", "blue"], WAITS),
    ({"result": [{"status": "denied"}]}, NO),
    ({"results": []}, YES),
    ({"approvals": [{"status": "approved"}, {"status": "pending"}]}, WAITS),
    ({"result": "Manager is out"}, EITHER),
    ({"result": '{"approved": false}'}, NO),
    ('{"status": "on_hold"}', EITHER),
    ('"{\\"approved\\": false}"', NO),
    ("{'approved': False}", NO),
    ({"content": [{"type": "text", "text": "denied"}], "isError": False}, NO),
    ({"content": [{"type": "text", "text": '{"state": "pending"}'}]}, WAITS),
    ({"content": [{"type": "text", "text": "All fine"}], "structuredContent": {"approved": True}}, YES),
    ({"content": [{"type": "text", "text": "All fine"}], "structuredContent": {"approved": False}}, NO),
    ({"type": "function_call_output", "call_id": "c", "output": '{"decision": "reject"}'}, EITHER),
    ({"statusCode": 200, "body": '{"approved": false}'}, NO),
    ({"data": {"requestApproval": {"status": "PENDING"}}}, WAITS),
    ({"data": {"approveRefund": {"status": "ON_HOLD"}}}, EITHER),
    ({"data": {"order": {"status": "PROCESSING"}}}, YES),
    ({"data": {"type": "approval", "attributes": {"status": "on_hold"}}}, EITHER),
    ({"data": None, "errors": [{"message": "no rights"}]}, EITHER),
    ({"errorMessage": "no rights", "errorType": "Denied"}, NO),
    ({"errorMessage": "Task timed out after 3 s"}, LATE),
    ({"error": {"code": 504}}, LATE),
    ({"manager_approval": {"state": "on_hold"}, "order": {"id": 1}}, EITHER),
    ({"order": {"id": "O-1", "state": "processing"}}, YES),
    ({"order": {"id": "O-1", "state": "rejected"}}, EITHER),
    ({"orders": [{"id": "O-1", "state": "processing"}]}, YES),
    ({"refunds": [{"refund": "R-1", "amount": 140}]}, YES),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "expected"), [*PLAIN, *FIELDS, *WRAPPED])
def test_an_answer_is_read_by_the_words_that_are_understood(
    answer: JsonValue, expected: Ending
) -> None:
    heard = read(answer) if isinstance(answer, str) and answer else answer
    assert ending(heard) is expected


@pytest.mark.parametrize(
    ("tool", "answer", "expected"),
    [
        ("close_ticket", {"status": "closed"}, YES),
        ("mcp__desk__cancelOrder", {"status": "CANCELLED"}, YES),
        ("desk.notify", "Customer notified.", YES),
        ("close_ticket", {"status": "not closed"}, EITHER),
        ("request_approval", {"status": "requested"}, WAITS),
        ("deny_refund", {"status": "denied"}, NO),
        ("check_block", {"status": "blocked"}, EITHER),
    ],
)
def test_what_a_tool_is_there_to_do_is_good_news_from_it(
    tool: str, answer: JsonValue, expected: Ending
) -> None:
    assert ending(answer, tool) is expected


def rank(answer: JsonValue) -> int:
    """How good the news is: 0 nothing to rely on, 1 done before or succeeded."""
    return int(ending(answer) in (YES, AGAIN))


SOME = st.sampled_from([*PLAIN, *FIELDS, *WRAPPED]).map(lambda case: case[0])
SAID = st.sampled_from([text for text, _ in PLAIN if 0 < len(text) <= 60])
DENIALS = st.sampled_from(["not", "no", "never", "without", "denied:", "NOT", "Non-", "isn't"])


@given(SAID, DENIALS, st.data())
def test_a_denial_makes_no_remark_more_successful(
    text: str, denial: str, data: st.DataObject
) -> None:
    words = text.split()
    place = data.draw(st.integers(0, len(words)))
    denied = " ".join([*words[:place], denial, *words[place:]])
    assert rank(denied) <= rank(text) or not re.search(r"[^\W\d_]", text)
    assert not rank({"status": denied})


@given(
    SOME,
    st.sampled_from(
        [*["result", "results", "data", "content", "output", "body", "approval", "request"]]
    ),
)
def test_no_wrapper_and_no_list_of_one_makes_an_answer_more_successful(
    answer: JsonValue, name: str
) -> None:
    heard = read(answer) if isinstance(answer, str) and answer else answer
    assert rank([heard]) <= rank(heard)
    if not isinstance(heard, str | bool) or name != "request":  # it may be an echo of the question
        assert rank({name: heard}) <= rank(heard)
        assert rank({name: json.dumps(heard)}) <= rank({name: heard})


@given(st.text(max_size=60), st.sampled_from(["status", "decision", "reviewState", "verdict"]))
def test_a_status_is_good_news_only_in_words_of_the_table(text: str, name: str) -> None:
    known = {
        "ok",
        "done",
        "yes",
        "true",
        "paid",
        "valid",
        "found",
        "match",
        "added",
        "saved",
        "okay",
    }
    said = set(re.findall(r"[^\W\d_]+", text.lower()))
    if not said & known and not re.search(r"[2]\d\d|✅|✓|✔|👍|ed\b|success|complete", text.lower()):
        assert not rank({name: text})


@pytest.mark.parametrize(
    ("reading", "answer", "outcome"),
    [
        ("{succeeded: '*'}", "Refund once. Keep the receipt.", "kept"),
        ("{path: order_id, succeeded: ['*']}", {"order_id": "O-1", "status": "queued"}, "kept"),
        ("{path: order_id, succeeded: ['*']}", {"status": "queued"}, "not_evaluable"),
        ("{succeeded: 'Genehmigt von *'}", "Genehmigt von Ann", "kept"),
        ("{succeeded: 'Genehmigt*am * Mai'}", "Genehmigt von Ann am 2. Mai", "kept"),
        ("{succeeded: 'Genehmigt von *'}", "Nicht Genehmigt von Ann", "broken"),
        ("{succeeded: 'a*a'}", "a", "broken"),
        ("{path: status, pending: queued, succeeded: '*'}", {"status": "queued"}, "broken"),
    ],
)
def test_a_policy_settles_what_is_unclear(reading: str, answer: JsonValue, outcome: str) -> None:
    rules = f"required_before: {{refund: [{{tool: look}}]}}\nresults: {{look: {reading}}}"
    policy = policy_of(watch.parse(rules), default_name="p")
    steps: list[Step] = [step(1, "look", {}, answer), step(2, "refund", {}, {})]
    assert check_run(policy, run(), steps).outcome == outcome
