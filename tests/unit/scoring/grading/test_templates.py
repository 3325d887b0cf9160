"""Where business keys may stand: nowhere that anybody reads as code, and only those there are."""

import json
from typing import Any

import pytest

from gnomon.errors import ConfigError
from gnomon.watch import parse
from scoring.grading.redaction import without
from scoring.watched import watched


def check(source: dict[str, Any]) -> None:
    entry = {"type": "outcome_check", "name": "o", "expect": {"equals": 1}, **source}
    text = json.dumps(
        {"business_keys": {"order_id": {"attributes": "o"}}, "graders": [entry]}, indent=1
    )
    watched(parse(text))


def wrong(source: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as caught:
        check(source)
    return caught.value.detail


@pytest.mark.parametrize(
    "argv",
    [
        ["/bin/sh", "-c", "check # {order_id}"],
        ["/bin/sh", "-c", "{order_id}"],
        ["/bin/bash", "-lc", "check {order_id}"],
        ["/usr/bin/env", "sh", "-c", "{order_id}"],
        ["/usr/bin/env", "A=1", "dash", "-ec", "{order_id}"],
        ["/usr/bin/env", "-S", "{order_id}"],
        ["/usr/bin/env", "--split-string={order_id}"],
        ["/bin/zsh", "{order_id}"],
        ["/usr/bin/python3.11", "-c", "{order_id}"],
        ["/usr/bin/python3", "-I", "-c", "{order_id}"],
        ["/usr/bin/python3", "-m", "{order_id}"],
        ["/usr/bin/perl", "-e", "{order_id}"],
        ["/usr/bin/node", "--eval={order_id}"],
        ["/usr/bin/timeout", "5", "bash", "-c", "{order_id}"],
        ["/usr/bin/awk", "{order_id}", "file"],
    ],
)
def test_a_key_is_never_read_as_code(argv: list[str]) -> None:
    told = wrong({"command": {"argv": argv}})
    assert "a business key must not stand in code" in told
    assert "hand it over as an argument of its own" in told


@pytest.mark.parametrize(
    "argv",
    [
        ["/opt/check", "{order_id}"],
        ["/opt/check", "--order={order_id}", "{run_id}"],
        ["/bin/sh", "-c", 'check "$1"', "check", "{order_id}"],
        ["/usr/bin/python3", "-c", "print({'passed': True})", "{order_id}"],
        ["/usr/bin/python3", "/opt/check.py", "{order_id}"],
        ["/opt/check", "--shell", "sh", "{order_id}"],
    ],
)
def test_a_key_may_be_an_argument(argv: list[str]) -> None:
    check({"command": {"argv": argv}})


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"command": {"argv": ["/opt/check", "id={order_id}"]}}, "must be a whole argument"),
        ({"command": {"argv": ["/opt/check", "-x{order_id}"]}}, "must be a whole argument"),
        ({"command": {"argv": ["check", "{order_id}"]}}, "check is no whole path"),
        ({"command": {"argv": ["/opt/{order_id}"]}}, "the program must be fixed"),
        ({"command": {"argv": ["/opt/check", "{ordr_id}"]}}, "{ordr_id} is no key of a run"),
        ({"http": {"url": "http://shop/{ordr_id}"}}, "say under business_keys"),
        ({"sql": {"query": "SELECT {ordr_id:String}"}}, "{ordr_id} is no key of a run"),
        ({"sql": {"query": "SELECT {order_id}"}}, "write {order_id:String}"),
        ({"sql": {"query": "WITH x AS (SELECT 1) INSERT INTO t SELECT 1"}}, "without INSERT INTO"),
        ({"sql": {"query": "SELECT 1 INTO OUTFILE 'x'"}}, "without INTO OUTFILE"),
        ({"sql": {"query": "SELECT 1; DROP TABLE x"}}, "write one SELECT"),
        ({"http": {"url": "http://shop/", "headers": {"X": "a\nb"}}}, "not one line"),
        ({"http": {"url": "http://shop/", "headers": {"X y": "a"}}}, "no name of a header"),
        (
            {"http": {"url": "http://shop/", "secret_headers": {"X": "/nowhere/key"}}},
            "/nowhere/key: No such",
        ),
        ({"command": {"argv": ["/opt/check"], "directory": "/nowhere"}}, "no directory /nowhere"),
    ],
)
def test_what_can_not_work_is_named_with_line_and_mend(source: dict[str, Any], why: str) -> None:
    told = wrong(source)
    assert why in told
    place = told.split(": ")[0].partition(":")[2]
    assert int(place) > 5, "the line of the entry, not of the file"


def test_words_in_texts_and_comments_are_no_statements() -> None:
    check(
        {
            "sql": {
                "query": "SELECT count() AS n FROM t WHERE state = 'drop table; x' -- alter table"
            }
        }
    )


@pytest.mark.parametrize(
    ("text", "values", "told"),
    [
        ("Illegal header value b'sk-abc'", ["sk-abc"], "Illegal header value b'[hidden]'"),
        (r"b'sk-a\nxyzw'", ["sk-a\nxyzw"], "b'[hidden]'"),
        ("token abcdefgh12 refused", ["Bearer abcdefgh12"], "token [hidden] refused"),
        ("GET /a%20bcd", ["a bcd"], "GET /[hidden]"),
        ("order 7 of 77", ["7"], "order [hidden] of 77"),
        ("nothing", ["", " "], "nothing"),
    ],
)
def test_a_reason_holds_no_value_however_it_is_written(
    text: str, values: list[str], told: str
) -> None:
    assert without(text, values) == told
