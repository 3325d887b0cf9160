"""No argument of a call keeps the others from being read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import watch
from gnomon.model import JsonValue, Step
from scoring.policies.actions import actions_of, untold
from scoring.policies.check import check_run
from scoring.policies.language import policy_of
from scoring.policies.recorded import DEEPEST, LEFT_OUT, read, read_object
from tests.unit.scoring.policies.test_check import run, step

RULES = """
conditionally_required_before: {refund: [{tool: approve, when: {arg: amount, above: 100}}]}
prohibited: [{tool: refund, max_committed: 1, per: order}]
"""

ODD = {
    "a number of 4,400 digits": '"note": ' + "9" * 4_400,
    "a number without bounds": '"note": 1e999',
    "three thousand lists": '"note": ' + "[" * 3_000 + "]" * 3_000,
    "six hundred objects": '"note": ' + '{"a":' * 600 + "1" + "}" * 600,
    "a line end in a text": '"note": "two\nlines"',
    "a byte that says nothing": '"note": "\x00"',
    "half a character": '"note": "\\ud83d"',
    "no number": '"note": NaN',
}


def told(arguments: str | None, number: int = 1) -> Step:
    call = step(number, "refund", None, {"ok": True})
    fields = {name: getattr(call, name) for name in call.__slots__}
    return Step(**{**fields, "tool_arguments": arguments})


def broken(*arguments: str) -> list[str]:
    policy = policy_of(watch.parse(RULES), default_name="p")
    steps = [told(text, number) for number, text in enumerate(arguments)]
    return [found.rule for found in check_run(policy, run(), steps).violations]


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_one_odd_argument_switches_no_rule_off(odd: str) -> None:
    text = f'{{"order": "O-1", {odd}, "amount": 140}}'
    rules = ["conditionally_required_before.refund.0"] * 2 + ["prohibited.0"]
    assert broken(text, text) == rules


@pytest.mark.parametrize("deep", ["[" * 600 + "]" * 600, "[" * 3_000 + "]" * 3_000])
def test_an_entity_that_is_nested_without_end_is_an_entity_all_the_same(deep: str) -> None:
    text = f'{{"order": {deep}, "amount": 1}}'
    assert broken(text, text) == ["prohibited.0"]


@pytest.mark.parametrize("amount", ["9" * 4_400, "1e999", '"' + "9" * 5_000 + '"'])
def test_an_amount_beyond_all_bounds_is_above_every_threshold(amount: str) -> None:
    assert broken(f'{{"amount": {amount}}}') == ["conditionally_required_before.refund.0"]


ORDER = {"order": "O-1"}


@pytest.mark.parametrize(
    "text",
    [
        '\ufeff{"order": "O-1"}',
        '[{"order": "O-1"}]',
        json.dumps(json.dumps(ORDER)),
        "{'order': 'O-1'}",
        ' \n{"order": "O-1"}\n',
    ],
)
def test_arguments_are_read_in_every_spelling_of_an_object(text: str) -> None:
    assert read_object(text) == ORDER


@pytest.mark.parametrize("text", ["O-1", "[1]", "[]", "7", "null", "[{}, {}]", '{"order": ', ""])
def test_what_is_no_object_is_said_to_be_none_and_not_to_be_missing(text: str) -> None:
    [action] = actions_of([told(text)], {})
    assert action.arguments is None
    assert untold([action]) == "can not be read as an object"
    missing = actions_of([told(None)], {})
    assert untold(missing) == "were not recorded"
    assert untold([action, *missing]) == "were not recorded or can not be read as an object"


def test_what_is_nested_too_deep_is_left_out_and_nothing_else() -> None:
    inner: JsonValue = LEFT_OUT
    for _ in range(DEEPEST - 1):
        inner = [inner]
    brackets = "[" * 5_000 + '"]", {"a": "[["}' + "]" * 5_000
    assert read(f'{{"a": {brackets}, "b": "[{{\\"", "c": [[1]]}}') == {
        "a": inner, "b": '[{"', "c": [[1]],
    }  # fmt: skip


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=200,
    ).filter(lambda value: value is not None)
)
def test_what_is_not_nested_too_deep_is_read_as_it_is(value: JsonValue) -> None:
    assert read(json.dumps(value)) == value


@pytest.mark.parametrize(
    "number", [-(2**63) - 1, -(10**19) + 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(10**40)]
)
def test_a_whole_number_keeps_all_its_digits(number: int) -> None:
    assert read(str(number)) == number
    assert read(json.dumps({"n": [number]})) == {"n": [number]}
    assert type(read(str(number))) is int


@given(st.text() | st.from_regex(r"[\[\]{}\'\":,0-9a-z\\\\ ]*"))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    read(text)
    read_object("[" * (DEEPEST + 1) + text)


@pytest.mark.parametrize(("depth", "innermost"), [(DEEPEST, 1), (DEEPEST + 1, LEFT_OUT)])
def test_the_deepest_level_that_is_read_is_the_one_that_is_told(
    depth: int, innermost: JsonValue
) -> None:
    value = read("[" * depth + "1" + "]" * depth)
    for _ in range(DEEPEST):
        assert isinstance(value, list)
        value = value[0]
    assert value == innermost
