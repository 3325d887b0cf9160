"""Attribute text is read, never trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.dialects import values


@pytest.mark.parametrize(
    "text", ["", "[]", "unknown", "<synthetic>", "<not specified>", "None", "null", " ", None]
)
def test_placeholders_are_not_found(text):
    assert values.found(text) is None


def test_zero_and_false_are_found():
    assert values.found("0") == "0"
    assert values.found("false") == "false"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("25", 25),
        ('"25"', 25),
        ("25.0", 25),
        ("0", 0),
        (7, 7),
        ("25.5", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("many", None),
        ("1_0", None),
        (True, None),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", None),
        ("9" * 500, None),
        ("٣", None),
    ],
)
def test_counts_are_read_from_every_spelling_of_a_number(text, number):
    assert values.as_int(text) == number


@pytest.mark.parametrize(
    ("text", "truth"),
    [("true", True), ("False", False), ('"False"', False), ("1", True), ("maybe", None)],
)
def test_truth_values_come_in_several_spellings(text, truth):
    assert values.as_bool(text) is truth


def test_json_text_that_does_not_parse_is_nothing():
    assert values.as_json('{"a": ') is None
    assert values.as_json("plain") is None
    assert values.as_json("[" * 100_000) is None
    assert values.as_json('{"a": NaN, "b": 1}') == {"a": None, "b": 1}


def test_python_literals_are_read_and_never_evaluated():
    assert values.as_literal("{'city': 'Paris', 'n': None, 'yes': True}") == {
        "city": "Paris",
        "n": None,
        "yes": True,
    }
    assert values.as_literal("(1, {2})") == [1, [2]]
    assert values.as_literal("__import__('os').getcwd()") is None
    assert values.as_literal("'" + "x" * values.MAX_LITERAL + "'") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"usage":5,"text":"cut \\ud83d"}', {"usage": 5, "text": "cut \ufffd"}),
        ('["\\ud83d\\ude00","\\ude00 behind"]', ["\U0001f600", "\ufffd behind"]),
        ('["\\\\ud83d","\\\\\\ud83d"]', ["\\ud83d", "\\\ufffd"]),
        ('{"a":NaN,"text":"\\uDBFF"}', {"a": None, "text": "\ufffd"}),
        ("broken \\ud83d", None),
    ],
)
def test_json_with_half_a_character_is_read_with_the_replacement_sign(text, value):
    assert values.as_json(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('\ufeff {"a":1}', {"a": 1}),
        ('{"text":"two\nlines\tand a \x00"}', {"text": "two\nlines\tand a \x00"}),
        ('{"a":%s,"b":1}' % ("9" * 4_400), {"a": "9" * 4_400, "b": 1}),
        ('{"a":%s,"b":1}' % ("9" * 400), {"a": int("9" * 400), "b": 1}),
        ('{"a":1e999,"b":-1e999}', {"a": "1e999", "b": "-1e999"}),
        ('{"a":"\n\\ud83d"}', {"a": "\n\ufffd"}),
        ('{"a":"\n"', None),
    ],
)
def test_one_odd_value_makes_no_other_unread(text, value):
    assert values.as_json(text) == value


@pytest.mark.parametrize("text", ["(" * 30_000, "-" * 60_000 + "1", "[" * 50_000])
def test_literals_that_would_exhaust_the_parser_are_none(text):
    assert values.as_literal(text) is None


def test_an_escape_that_python_warns_of_is_read_in_silence():
    assert values.as_literal("{'\\d': 1}") == {"\\d": 1}


def test_flattened_lists_sort_as_numbers_and_tolerate_gaps():
    attributes = {
        "p.10.a": "ten",
        "p.9.a.b": "nine",
        "p.1": "one",
        "p.x.a": "no number",
        "px.1.a": "another list",
    }
    assert list(values.indexed(attributes, "p").items()) == [
        (1, {"": "one"}),
        (9, {"a.b": "nine"}),
        (10, {"a": "ten"}),
    ]


def test_at_most_ten_thousand_entries_of_a_list_are_read():
    attributes = {f"p.{n}.a": "x" for n in range(values.MAX_INDEXED + 1)}
    assert len(values.indexed(attributes, "p")) == values.MAX_INDEXED


@given(st.text() | st.from_regex(r"[\[\]{}()'\":,0-9a-zA-Z\- ]*"))
def test_no_text_makes_a_reader_raise(text):
    for read in (
        values.found,
        values.as_json,
        values.as_object,
        values.as_int,
        values.as_float,
        values.as_bool,
        values.as_literal,
        values.as_data,
        values.unquoted,
    ):
        read(text)
    values.dumps(values.as_data(text))
