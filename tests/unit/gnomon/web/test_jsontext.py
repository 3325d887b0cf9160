"""JSON text as pages show it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model import Bodies
from gnomon.web.blocks import block
from gnomon.web.conversation import conversation
from gnomon.web.jsontext import indented, parsed, written

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=20,
)
DEEP = [
    "[" * 3_000,
    "[" * 3_000 + "]" * 3_000,
    '{"a":' * 3_000 + "1" + "}" * 3_000,
    "[" * 900 + "]" * 900,
    "[" * 300 + "]" * 300,
]


@given(VALUES)
def test_indents_change_nothing_that_is_said(value: object) -> None:
    text = json.dumps(value)
    shown = indented(text)
    assert (shown if isinstance(value, str) else json.loads(shown)) == value


@given(VALUES)
def test_the_layout_is_that_of_json(value: object) -> None:
    if isinstance(value, list | dict) and json.dumps(value, ensure_ascii=False).isprintable():
        assert indented(json.dumps(value)) == json.dumps(value, indent=2, ensure_ascii=False)


def test_numbers_and_repeated_names_stay_as_they_came() -> None:
    text = '{"amount": 12345678901234567.123, "big": 1e400, "a": 1, "a": 2, "z": 10.00}'
    lines = [line.strip().rstrip(",") for line in indented(text).splitlines()]
    assert lines[1:-1] == [
        '"amount": 12345678901234567.123', '"big": 1e400', '"a": 1', '"a": 2', '"z": 10.00',
    ]  # fmt: skip


def test_letters_are_shown_and_what_no_page_can_hold_is_not() -> None:
    assert indented('["\\u00e9"]') == '[\n  "é"\n]'
    assert indented('["\\ud83d"]') == '[\n  "\\ud83d"\n]'


@pytest.mark.parametrize("text", DEEP)
def test_no_depth_ends_a_page(text: str) -> None:
    assert block(text).text == text
    assert "".join(written(parsed(text)))
    for body in (Bodies(input=text), Bodies(output=text), Bodies(system=text)):
        assert conversation(body, body, full=True) is not None
