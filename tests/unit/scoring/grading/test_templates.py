"""Where business keys may stand: nowhere that anybody reads as code, and only those there are."""

import json
from typing import Any

import pytest

from gnomon.errors import ConfigError
from gnomon.watch import parse
from scoring.grading.redaction import secrets_in, without
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


LAUNCHED = [
    ["/bin/sh", "-c", "{order_id}"],
    ["/bin/bash", "-euo", "pipefail", "-c", "{order_id}"],
    ["/bin/bash", "--rcfile", "/etc/rc", "-c", "check {order_id}"],
    ["/usr/bin/env", "-S", "{order_id}"],
    ["/usr/bin/python3", "-W", "ignore", "-c", "{order_id}"],
    ["/usr/bin/flock", "/tmp/lock", "-c", "{order_id}"],
    ["/usr/bin/find", "/srv", "-exec", "sh", "-c", "{order_id}", ";"],
    ["/usr/bin/sqlite3", "/srv/books.db", "{order_id}"],
    ["/opt/check", "{order_id}"],
    ["/opt/check", "--order={order_id}", "{run_id}"],
]


@pytest.mark.parametrize("argv", LAUNCHED)
def test_no_key_is_written_into_the_words_of_a_program(argv: list[str]) -> None:
    told = wrong({"command": {"argv": argv}})
    assert "{order_id} is not filled in here" in told
    assert "name order_id under keys" in told


@pytest.mark.parametrize(
    "argv",
    [
        ["/usr/bin/python3", "-c", "print({'passed': True})"],
        ["/bin/sh", "-c", "echo ${order_id}"],
        ["/usr/bin/awk", "{print}"],
    ],
)
def test_braces_of_a_language_are_its_own(argv: list[str]) -> None:
    check({"command": {"argv": argv, "keys": ["order_id", "run_id"]}})


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"command": {"argv": ["check"]}}, "check is no whole path"),
        ({"command": {"argv": ["/opt/{order_id}"]}}, "{order_id} is not filled in here"),
        ({"command": {"argv": ["/opt/check"], "keys": ["ordr"]}}, "{ordr} is no key of a run"),
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
        ("separate rate", ["rate"], "separate [hidden]"),
        ("xsk-abcx", ["sk-abc"], "x[hidden]x"),
        ("AbCdEfGhIjKlMnOp1", ["AbCdEfGhIjKlMnOp"], "[hidden]1"),
    ],
)
def test_a_reason_holds_no_value_however_it_is_written(
    text: str, values: list[str], told: str
) -> None:
    assert without(text, values) == told


@pytest.mark.parametrize(
    ("options", "hidden"),
    [
        ({"mode": "recursion", "strict": True, "n": 3}, []),
        ({"mode": "recursion2"}, ["recursion2"]),
        ({"password": "swordfish"}, ["swordfish"]),
        ({"auth": {"value": ["swordfish"]}}, ["swordfish"]),
        ({"API_TOKEN": "ab"}, ["ab"]),
        ({"headers": ["Bearer abc"]}, ["Bearer abc"]),
        ({"given": "abcdefghijklm"}, ["abcdefghijklm"]),
        ({"given": "aBcDeF"}, ["aBcDeF"]),
    ],
)
def test_all_texts_of_options_but_plain_words_may_be_secrets(
    options: dict[str, object], hidden: list[str]
) -> None:
    assert list(secrets_in(options)) == hidden
