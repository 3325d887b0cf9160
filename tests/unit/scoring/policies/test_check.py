import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import watch
from gnomon.clock import Nanos
from gnomon.errors import ConfigError
from gnomon.model import Kind, Run, RunId, SpanId, Step, TraceId
from scoring.policies.actions import actions_of
from scoring.policies.check import applies, check_run
from scoring.policies.endings import Ending, ending_of
from scoring.policies.language import Policy, policy_of

SECOND = 1_000_000_000


def policy(text: str) -> Policy:
    return policy_of(watch.parse(text), default_name="p")


def step(
    number: int,
    tool: str,
    arguments: object = None,
    result: object = None,
    *,
    status: str = "ok",
    error_type: str | None = None,
) -> Step:
    return Step(
        run_id=RunId("r"),
        trace_id=TraceId("t"),
        span_id=SpanId(f"s{number}"),
        started_at=Nanos(number * SECOND),
        ended_at=Nanos(number * SECOND + SECOND // 2),
        duration_ns=SECOND // 2,
        kind=Kind.TOOL,
        counted=True,
        tool_name=tool,
        status=status,
        error_type=error_type,
        tool_arguments=None if arguments is None else json.dumps(arguments),
        tool_result=None if result is None else json.dumps(result),
    )


def run(**changes: object) -> Run:
    given = {
        "run_id": RunId("r"),
        "trace_ids": ["t"],
        "root_span_id": "root",
        "agent_name": "desk",
        "started_at": Nanos(0),
        "ended_at": Nanos(90 * SECOND),
        "duration_ns": 90 * SECOND,
        "active_ns": 90 * SECOND,
        "last_received_at": Nanos(0),
        **changes,
    }
    return Run(**given)  # type: ignore[arg-type]


BEFORE = "required_before: {refund: [{tool: check, bind: {order: order}}]}"


def test_a_duplicate_report_of_a_call_is_not_judged_twice() -> None:
    twin = step(1, "refund", {"order": "1"}, {"ok": True})
    uncounted = Step(**{**{f: getattr(twin, f) for f in twin.__slots__}, "counted": False})
    assert len(actions_of([twin, uncounted], {})) == 1


@pytest.mark.parametrize(
    ("result", "ending"),
    [
        ({"ok": True}, Ending.SUCCEEDED),
        ({"ok": False}, Ending.FAILED),
        ({"error": "no such order"}, Ending.FAILED),
        ({"error": "timeout"}, Ending.AMBIGUOUS),
        ({"status": "pending"}, Ending.PENDING),
        ({"status": "deduplicated"}, Ending.DEDUPLICATED),
        ({"error": None, "refunds": []}, Ending.SUCCEEDED),
        ("done", Ending.SUCCEEDED),
        ([], Ending.SUCCEEDED),
        (0, Ending.SUCCEEDED),
        (False, Ending.UNCLEAR),
        ({"content": [{"type": "text", "text": "no"}], "isError": True}, Ending.FAILED),
        ({"content": [{"type": "text", "text": "timed out"}], "isError": True}, Ending.AMBIGUOUS),
        ({"isError": False, "structuredContent": {"state": "pending"}}, Ending.PENDING),
        ({"structuredContent": {"approved": True}}, Ending.SUCCEEDED),
        ("pending", Ending.PENDING),
        (" Pending \n", Ending.PENDING),
        ("denied", Ending.FAILED),
        ("open", Ending.UNCLEAR),
        ("The refund was declined.", Ending.UNCLEAR),
        (
            "Refund once. A refund that is pending counts as well, and one that failed does not. "
            * 2,
            Ending.SUCCEEDED,
        ),
        ({"approval": {"state": "pending"}}, Ending.PENDING),
        ({"approval": "denied", "id": 7}, Ending.FAILED),
        ({"order": {"id": "O-1", "state": "delivered"}}, Ending.SUCCEEDED),
        ({"order": {"id": "O-1", "state": "pending"}}, Ending.UNCLEAR),
        ({"order": {"state": "pending"}, "customer": {"id": 1}}, Ending.SUCCEEDED),
        ({"approved": "false"}, Ending.FAILED),
        ({"approved": "No"}, Ending.FAILED),
        ({"approved": None}, Ending.UNCLEAR),
        ({"approved": "pending"}, Ending.PENDING),
        ({"approved": "true"}, Ending.SUCCEEDED),
        ({"verified": False}, Ending.FAILED),
        ("504 Gateway Time-out", Ending.AMBIGUOUS),
        ("HTTP/1.1 504 Gateway Timeout\n\n<html>", Ending.AMBIGUOUS),
        ("404 Not Found", Ending.FAILED),
        ("404 orders were found", Ending.SUCCEEDED),
        ("Error: request timed out", Ending.AMBIGUOUS),
        ("Error executing tool refund: no such order", Ending.FAILED),
        ("The request timed out.", Ending.AMBIGUOUS),
        ({"status": "error", "message": "timeout"}, Ending.AMBIGUOUS),
        ({"status": "error", "message": "no such order"}, Ending.FAILED),
        ({"status": 504}, Ending.AMBIGUOUS),
        ({"statusCode": 403}, Ending.FAILED),
        ({"status": 200}, Ending.SUCCEEDED),
        ({"error": {"code": 504, "message": "Gateway"}}, Ending.AMBIGUOUS),
        ({"error": "deadline exceeded"}, Ending.AMBIGUOUS),
        ({"error": False}, Ending.SUCCEEDED),
        ({"errors": ["one of two"], "data": {"id": 1}}, Ending.UNCLEAR),
    ],
)
def test_an_answer_is_read_for_what_it_says_of_itself(result: object, ending: Ending) -> None:
    assert ending_of(step(1, "x", {}, result), result, None).ending is ending


def test_an_answer_nested_without_end_is_unclear() -> None:
    deep: object = {"state": "pending"}
    for _ in range(300):
        deep = {"result": deep}
    assert ending_of(step(1, "x", {}, deep), deep, None).ending is Ending.UNCLEAR
    many: object = [{"error": {"message": ["x"] * 1000}}]
    assert ending_of(step(1, "x", {}, many), many, None).ending is Ending.FAILED


def test_a_call_whose_answer_was_not_recorded_is_no_success() -> None:
    assert ending_of(step(1, "x", {"order": 1}), None, None).ending is Ending.UNRECORDED
    gateway = step(1, "x", {}, "504 Gateway Time-out", status="error")
    assert ending_of(gateway, "504 Gateway Time-out", None).ending is Ending.AMBIGUOUS


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("granted", "kept"), ("ok", "broken"), ("wait", "broken"), (None, "not_evaluable")],
)
def test_a_plain_text_answer_is_read_without_a_path(answer: str | None, outcome: str) -> None:
    text = BEFORE + "\nresults: {check: {succeeded: [granted], pending: wait}}"
    steps = [step(1, "check", {"order": "1"}, answer), step(2, "refund", {"order": "1"}, {})]
    assert check_run(policy(text), run(), steps).outcome == outcome


ORDER = {"order": "1"}
AFTER = "prohibited: [{tool: refund, after: check, bind: {order: order}}]"
FIRST = "prohibited: [{tool: refund, before: check, bind: {order: order}}]"
ONCE = "prohibited: [{tool: refund, max_committed: 1}]"
KEYED = "prohibited: [{tool: refund, max_committed: 1, idempotency: key}]"
NEXT = "after_ambiguous_write: {refund: {related: [refund, look], next_must_be: look, bind: {order: order}}}"
FOLLOWED = NEXT.replace("next", "must_follow: true, next")
LATE = {"error": "timeout"}


@pytest.mark.parametrize(
    ("text", "calls", "outcome"),
    [
        (BEFORE, [("check", ORDER, None), ("refund", ORDER, {})], "not_evaluable"),
        (BEFORE, [("check", {"order": "2"}, None), ("refund", ORDER, {})], "broken"),
        (BEFORE, [("check", None, {}), ("refund", ORDER, {})], "not_evaluable"),
        (BEFORE, [("check", None, {"ok": False}), ("refund", ORDER, {})], "broken"),
        (BEFORE, [("check", ORDER, None), ("check", ORDER, {}), ("refund", ORDER, {})], "kept"),
        (AFTER, [("check", ORDER, None), ("refund", ORDER, {})], "not_evaluable"),
        (AFTER, [("check", ORDER, {}), ("refund", ORDER, {})], "broken"),
        (AFTER, [("check", None, {}), ("refund", ORDER, {})], "not_evaluable"),
        (AFTER, [("check", None, {"ok": False}), ("refund", ORDER, {})], "kept"),
        (AFTER, [("check", {"order": "2"}, None), ("refund", ORDER, {})], "kept"),
        (FIRST, [("check", ORDER, None), ("refund", ORDER, {}), ("check", ORDER, {})],
         "not_evaluable"),
        (FIRST, [("refund", ORDER, {}), ("check", ORDER, {})], "broken"),
        (FIRST, [("refund", ORDER, {}), ("check", None, {})], "not_evaluable"),
        (FIRST, [("check", ORDER, None), ("refund", ORDER, {})], "kept"),
        (ONCE, [("refund", ORDER, None)], "kept"),
        (ONCE, [("refund", ORDER, None), ("refund", ORDER, {})], "not_evaluable"),
        (ONCE, [("refund", ORDER, {}), ("refund", ORDER, LATE)], "not_evaluable"),
        (ONCE, [("refund", ORDER, LATE), ("look", ORDER, {"refunds": []}), ("refund", ORDER, {})],
         "not_evaluable"),
        (ONCE, [("refund", ORDER, LATE)], "kept"),
        (ONCE, [("refund", ORDER, {}), ("refund", ORDER, LATE), ("refund", ORDER, {})], "broken"),
        (ONCE, [("refund", ORDER, {}), ("refund", ORDER, {"ok": False})], "kept"),
        (KEYED, [("refund", {"key": 1}, LATE), ("refund", {"key": "1"}, {})], "kept"),
        (KEYED, [("refund", {"key": 1}, LATE), ("refund", {"key": 2}, {})], "not_evaluable"),
        (FIRST, [("refund", ORDER, {"error": "not allowed"}), ("check", ORDER, {})], "kept"),
        (FIRST, [("refund", ORDER, {"status": "pending"}), ("check", ORDER, {})], "kept"),
        (FIRST, [("refund", ORDER, None), ("check", ORDER, {})], "not_evaluable"),
        (FIRST, [("refund", ORDER, LATE), ("check", ORDER, {})], "not_evaluable"),
        (KEYED, [("refund", {"key": 1}, {}), ("refund", None, {})], "not_evaluable"),
        (KEYED, [("refund", {"key": 1}, {}), ("refund", {"key": "1"}, None)], "kept"),
        (NEXT, [("refund", ORDER, LATE), ("refund", None, {})], "not_evaluable"),
        (NEXT, [("refund", ORDER, LATE), ("look", None, {}), ("refund", ORDER, {})],
         "not_evaluable"),
        (NEXT, [("refund", ORDER, LATE), ("look", None, {}), ("look", ORDER, {})], "kept"),
        (NEXT, [("refund", ORDER, LATE), ("refund", ORDER, {})], "broken"),
        (NEXT, [("refund", ORDER, LATE)], "kept"),
        (FOLLOWED, [("refund", ORDER, LATE)], "broken"),
        (FOLLOWED, [("refund", ORDER, LATE), ("look", None, {})], "not_evaluable"),
        (FOLLOWED, [("refund", ORDER, None)], "not_evaluable"),
        (FOLLOWED, [("refund", ORDER, None), ("look", ORDER, {})], "kept"),
        (FOLLOWED, [("refund", ORDER, {})], "kept"),
    ],
)  # fmt: skip
def test_what_hangs_on_the_unrecorded_is_not_evaluable_and_nothing_else(
    text: str, calls: list[tuple[str, object, object]], outcome: str
) -> None:
    steps = [step(number, *call) for number, call in enumerate(calls)]
    assert check_run(policy(text), run(), steps).outcome == outcome


def model_call(number: int, kind: Kind = Kind.LLM, **tokens: int | None) -> Step:
    call = step(number, "")
    fields = {name: getattr(call, name) for name in call.__slots__}
    return Step(**{**fields, "kind": kind, "tool_name": None, **tokens})


@pytest.mark.parametrize(
    ("tokens", "calls", "outcome"),
    [
        ((6, 3), [(6, 3)], "kept"),
        ((6, 3), [(6, 3), (None, None)], "not_evaluable"),
        ((6, 3), [(6, 3), (0, None)], "not_evaluable"),
        ((6, None), [(6, None)], "not_evaluable"),
        ((None, 3), [(None, 3)], "not_evaluable"),
        ((11, None), [(11, None)], "broken"),
        ((6, 5), [(6, 5), (None, None)], "broken"),
    ],
)
def test_tokens_known_in_part_keep_no_budget(
    tokens: tuple[int | None, int | None],
    calls: list[tuple[int | None, int | None]],
    outcome: str,
) -> None:
    steps = [
        model_call(place, input_tokens=read, output_tokens=written)
        for place, (read, written) in enumerate(calls)
    ]
    spent = run(input_tokens=tokens[0], output_tokens=tokens[1], llm_calls=len(calls))
    assert check_run(policy("budgets: {tokens: 10}"), spent, steps).outcome == outcome


def test_embeddings_write_no_tokens_and_aggregates_hold_for_all_calls() -> None:
    limit = policy("budgets: {tokens: 10}")
    embedding = model_call(1, Kind.EMBEDDING, input_tokens=5)
    assert check_run(limit, run(input_tokens=5), [embedding]).outcome == "kept"
    whole = run(input_tokens=5, output_tokens=1, llm_calls=1, usage_source="aggregate")
    assert check_run(limit, whole, [model_call(1)]).outcome == "kept"


def test_a_finding_names_the_calls_nearest_to_the_judged_one_and_no_more_than_twenty() -> None:
    failed = [step(place, "check", ORDER, {"ok": False}) for place in range(50)]
    text = policy(BEFORE + "\nprohibited: [{tool: refund, max_committed: 1}]")
    refunds = [step(50 + place, "refund", ORDER, {}) for place in range(50)]
    violations = check_run(text, run(), [*failed, *refunds]).violations
    assert violations[0].steps == ["s50", *(f"s{place}" for place in range(30, 50))]
    assert violations[0].message == "refund without check before it (it ended as failed)"
    assert {len(found.steps) for found in violations} == {21}


def test_a_timeout_is_ambiguous_and_another_error_is_not() -> None:
    late = step(1, "x", {}, status="error", error_type="ReadTimeout")
    wrong = step(1, "x", {}, status="error", error_type="ValueError")
    assert ending_of(late, None, None).ending is Ending.AMBIGUOUS
    assert ending_of(wrong, None, None).ending is Ending.FAILED


def test_the_policy_may_say_how_an_answer_is_read() -> None:
    text = BEFORE + "\nresults: {check: {path: outcome.code, succeeded: [green], pending: [amber]}}"
    red = [
        step(1, "check", {"order": "1"}, {"outcome": {"code": "red"}}),
        step(2, "refund", {"order": "1"}),
    ]
    green = [
        step(1, "check", {"order": "1"}, {"outcome": {"code": "green"}}),
        step(2, "refund", {"order": "1"}),
    ]
    assert check_run(policy(text), run(), red).outcome == "broken"
    assert check_run(policy(text), run(), green).outcome == "kept"


def test_what_was_not_recorded_is_not_evaluable_in_production() -> None:
    steps = [step(1, "check"), step(2, "refund")]
    checked = check_run(policy(BEFORE), run(), steps)
    assert checked.outcome == "not_evaluable"
    assert checked.not_evaluable[0].steps == ["s2", "s1"]


def test_numbers_are_compared_as_numbers() -> None:
    steps = [step(1, "check", {"order": 25.0}, {"ok": True}), step(2, "refund", {"order": "25"})]
    assert check_run(policy(BEFORE), run(), steps).outcome == "kept"


def test_true_is_not_one() -> None:
    steps = [step(1, "check", {"order": True}, {"ok": True}), step(2, "refund", {"order": 1})]
    assert check_run(policy(BEFORE), run(), steps).outcome == "broken"


@pytest.mark.parametrize(
    ("said", "amount", "broken"),
    [
        ("above: 100", 100, False),
        ("above: 100", "100.01", True),
        ("at_least: 100", 100, True),
        ("below: 5", 4.99, True),
        ("at_most: 5", 5, True),
        ("equals: 7", 7.0, True),
        ("one_of: [1, 2]", 3, False),
    ],
)
def test_a_threshold_is_exact(said: str, amount: object, broken: bool) -> None:
    text = f"conditionally_required_before: {{refund: [{{tool: check, when: {{arg: amount, {said}}}}}]}}"
    checked = check_run(policy(text), run(), [step(1, "refund", {"amount": amount})])
    assert (checked.outcome == "broken") is broken


def test_effects_are_counted_per_entity() -> None:
    text = "prohibited: [{tool: refund, max_committed: 1, per: order}]"
    one_each = [step(1, "refund", {"order": "1"}, {}), step(2, "refund", {"order": "2"}, {})]
    twice = [step(1, "refund", {"order": "1"}, {}), step(2, "refund", {"order": "1"}, {})]
    failed = [
        step(1, "refund", {"order": "1"}, status="error", error_type="Refused"),
        step(2, "refund", {"order": "1"}, {}),
    ]
    assert check_run(policy(text), run(), one_each).outcome == "kept"
    assert check_run(policy(text), run(), twice).violations[0].steps == ["s1", "s2"]
    assert check_run(policy(text), run(), failed).outcome == "kept"


def test_calls_that_share_an_idempotency_key_take_effect_once() -> None:
    text = "prohibited: [{tool: refund, max_committed: 1, idempotency: key}]"
    retried = [step(1, "refund", {"key": "k"}, {}), step(2, "refund", {"key": "k"}, {})]
    twice = [step(1, "refund", {"key": "k"}, {}), step(2, "refund", {"key": "l"}, {})]
    unnamed = [step(1, "refund", {}, {}), step(2, "refund", {}, {})]
    assert check_run(policy(text), run(), retried).outcome == "kept"
    assert check_run(policy(text), run(), twice).outcome == "broken"
    assert check_run(policy(text), run(), unnamed).outcome == "broken"


@pytest.mark.parametrize(
    ("one", "other", "entities"),
    [
        ("007", "7", 2),
        ("1E2", "100", 2),
        ("9" * 34 + "1", "9" * 34 + "2", 2),
        (int("9" * 34 + "1"), int("9" * 34 + "2"), 2),
        (25, "25", 1),
        (25, 25.0, 1),
        ("25", 25.0, 1),
        (True, 1, 2),
        (None, None, 2),
        ("1e9999999", "1e9999999", 1),
        ("1e99999999999999999999", "1e99999999999999999999", 1),
        ([1, {"a": 1.0}], [1.0, {"a": 1}], 1),
    ],
)
def test_entities_and_keys_are_the_same_where_values_are(
    one: object, other: object, entities: int
) -> None:
    per_order = policy("prohibited: [{tool: refund, max_committed: 1, per: order}]")
    calls = [step(1, "refund", {"order": one}, {}), step(2, "refund", {"order": other}, {})]
    expected = "not_evaluable" if one is None else "broken" if entities == 1 else "kept"
    assert check_run(per_order, run(), calls).outcome == expected
    by_key = policy("prohibited: [{tool: refund, max_committed: 1, idempotency: order}]")
    expected = "broken" if entities == 2 else "kept"
    assert check_run(by_key, run(), calls).outcome == expected


def test_a_number_is_the_entity_of_the_text_it_equals_and_two_texts_stay_two() -> None:
    text = policy("prohibited: [{tool: refund, max_committed: 2, per: order}]")
    orders = ["7", 7, "007", "007"]
    calls = [step(place, "refund", {"order": one}, {}) for place, one in enumerate(orders)]
    [violation] = check_run(text, run(), calls).violations
    assert violation.steps == ["s1", "s2", "s3"]


NESTED = """
arguments:
  refund:
    $ref: "#/$defs/part"
    $defs: {part: {allOf: [{allOf: [{allOf: [{properties: {part: {$ref: "#/$defs/part"}}}]}]}]}}
"""


def nested(depth: int) -> object:
    found: object = {}
    for _ in range(depth):
        found = {"part": found}
    return found


def test_a_rule_that_can_not_cope_switches_no_other_rule_off() -> None:
    text = policy(NESTED + "prohibited: [{tool: refund, max_committed: 1}]")
    steps = [step(1, "refund", nested(400), {}), step(2, "refund", {"part": 1}, {})]
    checked = check_run(text, run(), steps)
    assert [found.rule for found in checked.violations] == ["prohibited.0"]
    [unknown] = checked.not_evaluable
    assert unknown.rule == "arguments.refund"
    assert unknown.reason == "what was recorded is nested too deep to be looked through"


@pytest.mark.parametrize("depth", [1, 400, 900, 20_000])
def test_no_answer_is_nested_too_deep_to_be_judged(depth: int) -> None:
    deep = '{"status": ' * depth + '"pending"' + "}" * depth
    check = step(1, "check", {"order": "1"})
    fields = {name: getattr(check, name) for name in check.__slots__}
    told = Step(
        **{**fields, "tool_result": deep, "tool_arguments": deep.replace("status", "order")}
    )
    text = policy(BEFORE + "\nprohibited: [{tool: refund, max_committed: 0}]")
    checked = check_run(text, run(), [told, step(2, "refund", {"order": "1"}, {})])
    assert "prohibited.0" in {found.rule for found in checked.violations}


def test_arguments_are_checked_against_their_schema() -> None:
    text = """
arguments:
  refund:
    type: object
    required: [order]
    properties: {amount: {type: integer, minimum: 1, maximum: 500}}
"""
    checked = check_run(policy(text), run(), [step(1, "refund", {"amount": 501})])
    assert checked.violations[0].message == (
        "arguments of refund: amount breaks maximum; arguments breaks required"
    )


def test_a_budget_that_can_not_be_measured_is_not_kept() -> None:
    text = "budgets: {usd: 1, tokens: 10, seconds: 100, steps: 5}"
    checked = check_run(policy(text), run(), [])
    assert checked.outcome == "not_evaluable"
    assert [item.rule for item in checked.not_evaluable] == ["budgets.tokens", "budgets.usd"]


def test_a_known_part_over_the_budget_is_over_the_budget() -> None:
    text = "budgets: {usd: 1}"
    over = run(cost_usd=2.0, unpriced_calls=3)
    under = run(cost_usd=0.5, unpriced_calls=3)
    assert check_run(policy(text), over, []).outcome == "broken"
    assert check_run(policy(text), under, []).outcome == "not_evaluable"
    assert check_run(policy(text), run(cost_usd=1.0), []).outcome == "kept"


def test_scope_decides_which_runs_are_meant() -> None:
    scoped = policy("scope: {agents: desk, versions: ['2']}\n" + BEFORE)
    assert not applies(scoped, run(agent_version="1"))
    assert applies(scoped, run(agent_version="2"))
    assert not applies(scoped, run(agent_version="2", agent_name="other"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version: '2'", "p:1: a policy without a rule"),
        (BEFORE + "\nprohibted: []", "p:2: prohibted: there is no such field"),
        (
            "prohibited:\n  - {tool: a, before: b, after: c}",
            "p:2: prohibited.0: before and after",
        ),
        ("arguments:\n  refund:\n    type: nothing", "p:3: arguments.refund.type: no JSON Schema"),
        (
            "conditionally_required_before:\n  a:\n    - {tool: b, when: {arg: x}}",
            "p:3: conditionally_required_before.a.0.when: say exactly one of",
        ),
        ("version: 1.10\n" + BEFORE, "p:1: version: text is expected"),
    ],
)
def test_a_mistake_names_its_line_and_the_mend(text: str, said: str) -> None:
    with pytest.raises(Exception, match="p:") as caught:
        policy_of(watch.parse(text, name="p"), default_name="p")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("required_before:\n  a: []", "2: required_before.a"),
        ("conditionally_required_before:\n  a: []", "2: conditionally_required_before.a"),
        ("arguments:\n  a: {}", "2: arguments.a"),
        (BEFORE + "\nscope:\n  agents: []", "3: scope.agents"),
        (
            "conditionally_required_before:\n  a:\n    - {tool: b, when: {arg: x, one_of: []}}",
            "3: conditionally_required_before.a.0.when.one_of",
        ),
        (BEFORE + "\nresults:\n  a: {path: x}", "3: results.a"),
    ],
)
def test_what_would_hold_for_everything_is_refused(text: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy_of(watch.parse(text, name="p"), default_name="p")
    assert caught.value.detail.startswith(f"p:{place}: say")


WHEN = "conditionally_required_before:\n  a:\n    - tool: b\n      when:\n        arg: x\n        "


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (WHEN + "above:", "6: conditionally_required_before.a.0.when.above"),
        (WHEN + "one_of:", "6: conditionally_required_before.a.0.when.one_of"),
        (WHEN + "equals: null", "6: conditionally_required_before.a.0.when.equals"),
        ("prohibited:\n  - {tool: refund, max_committed: }", "2: prohibited.0.max_committed"),
        ("prohibited:\n  - {tool: refund, before: }", "2: prohibited.0.before"),
        ("prohibited:\n  - {tool: refund, before: ''}", "2: prohibited.0.before"),
        ("prohibited:\n  - {tool: refund, after: ' '}", "2: prohibited.0.after"),
        ("prohibited:\n  - {tool: ''}", "2: prohibited.0.tool"),
        ("prohibited:\n  - {tool: a, max_committed: 1, per: }", "2: prohibited.0.per"),
        ("prohibited:\n  - {tool: a, max_committed: 1, per: ['']}", "2: prohibited.0.per.0"),
        ("prohibited:\n  - {tool: a, max_committed: 1, idempotency: }", "2: prohibited.0.idempotency"),
        ("budgets:\n  steps:", "2: budgets.steps"),
        ("budgets: {}", "1: budgets"),
        (BEFORE + "\nscope: {agents: }", "2: scope.agents"),
        (BEFORE + "\nseverity:", "2: severity"),
        (BEFORE + "\nprohibited: []", "2: prohibited"),
        ("required_before:\n  '': [{tool: a}]", "2: required_before..[key]"),
        ("required_before:\n  a: [{tool: b, bind: {order: }}]", "2: required_before.a.0.bind.order"),
        ("required_before:\n  a: [{tool: b, bind: {}}]", "2: required_before.a.0.bind"),
        (
            "after_ambiguous_write:\n  a: {related: [b], next_must_be: b, must_follow: }",
            "2: after_ambiguous_write.a.must_follow",
        ),
    ],
)  # fmt: skip
def test_what_is_written_says_something(text: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy_of(watch.parse(text, name="p"), default_name="p")
    assert caught.value.detail.startswith(f"p:{place}: says nothing when it is empty: write ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WHEN + "above: 1:30", "p:6: YAML reads 1:30 as 90; write 90"),
        (WHEN + "above: 0100", "p:6: YAML reads 0100 as 64; write 64"),
        (WHEN + "above: true", "p:6: conditionally_required_before.a.0.when.above: Decimal input"),
        (WHEN + "one_of: [1, null]", "p:6: conditionally_required_before.a.0.when.one_of: an arg"),
        ("prohibited: [{tool: a, max_committed: true}]", "p:1: prohibited.0.max_committed: YAML"),
        ("prohibited: [{tool: a, bind: {x: y}}]", "p:1: prohibited.0: bind needs before or after"),
    ],
)
def test_what_means_another_thing_than_it_looks_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy_of(watch.parse(text, name="p"), default_name="p")
    assert caught.value.detail.startswith(said)


def test_an_argument_may_be_asked_to_be_empty_text() -> None:
    empty = policy(WHEN + "equals: ''")
    assert check_run(empty, run(), [step(1, "a", {"x": ""})]).outcome == "broken"
    assert check_run(empty, run(), [step(1, "a", {"x": "y"})]).outcome == "kept"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.sampled_from(["check", "refund", "other"]), JSON, JSON), max_size=6))
def test_no_arguments_or_answers_can_break_the_check(
    calls: list[tuple[str, object, object]],
) -> None:
    text = BEFORE + "\nprohibited: [{tool: refund, max_committed: 1, per: order}]"
    steps = [step(number, *call) for number, call in enumerate(calls)]
    checked = check_run(policy(text), run(), steps)
    assert checked == check_run(policy(text), run(), steps[::-1])


def test_a_null_that_was_recorded_is_not_said_to_be_missing() -> None:
    steps = [step(1, "check", ORDER, {}), step(2, "refund", {"order": None}, {})]
    [unknown] = check_run(policy(BEFORE), run(), steps).not_evaluable
    assert unknown.reason == "order of refund was not recorded or is null"
