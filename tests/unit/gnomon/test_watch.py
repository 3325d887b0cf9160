import datetime as dt

import pytest

from collector.watched import watched
from gnomon import watch
from gnomon.errors import ConfigError
from scoring.metrics.watched import watched as metrics_watched


def complaint(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        watched(watch.parse(text))
    return caught.value.detail


def test_an_unknown_field_is_named_with_its_line() -> None:
    text = "runs:\n  quiet_period: 5s\n  quite: 1\n"
    found = complaint(text)
    assert found.startswith("gnomon.yaml:3: runs.quite: there is no such field here; there are: ")
    assert "quiet_period" in found


def test_every_mistake_is_told_at_once() -> None:
    text = "prices:\n  - {model: a, input: 1, output: 2}\n  - model: b\n    input: -1\n"
    lines = complaint(text).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["gnomon.yaml:4", "prices.1.input"],
        ["gnomon.yaml:3", "prices.1.output"],
    ]


def test_two_equal_keys_are_refused_since_the_last_would_win_in_silence() -> None:
    assert complaint("runs: {}\nruns: {}\n") == "gnomon.yaml:2: runs: this key stands twice"


@pytest.mark.parametrize("key", ["no", "1.10", "on", "5"])
def test_a_key_that_yaml_reads_as_something_else_must_be_quoted(key: str) -> None:
    assert "quote it" in complaint(f"business_keys:\n  {key}: {{attributes: a}}\n")


def test_text_that_is_no_yaml_names_its_line() -> None:
    assert complaint("runs:\n  - a\n b: [").startswith("gnomon.yaml:3:")


def test_a_section_nobody_reads_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"gnomon.yaml:1: price: unknown section; known.*prices"):
        watch.parse("price: []").refuse_unknown(frozenset({"prices"}))


def test_the_hash_is_that_of_the_text() -> None:
    one, two = watch.parse("runs: {}\n"), watch.parse("runs: {}\n\n")
    assert one.digest != two.digest
    assert one.digest == watch.parse("runs: {}\n").digest


def test_durations_are_durations() -> None:
    read = watched(watch.parse("runs: {quiet_period: 1.5m}"))
    assert read.runs.quiet_period.total_seconds() == 90


@pytest.mark.parametrize("truth", ["no", "yes", "true", "off"])
def test_a_truth_value_is_no_number(truth: str) -> None:
    text = f"prices:\n  - model: gpt\n    input: {truth}\n    output: 2\n    cached: {truth}\n"
    with pytest.raises(ConfigError) as raised:
        watched(watch.parse(text))
    said = "YAML reads this as true or false; write a number"
    assert str(raised.value) == (
        f"gnomon.yaml:3: prices.0.input: {said}\ngnomon.yaml:5: prices.0.cached: {said}"
    )


def test_a_truth_value_is_no_number_in_the_sections_of_other_rooms() -> None:
    text = "metrics:\n  people_usd_per_minute: yes\n"
    with pytest.raises(ConfigError, match=r"yaml:2: metrics\.people_usd_per_minute: YAML"):
        metrics_watched(watch.parse(text))


def test_a_price_may_not_be_infinite() -> None:
    assert "write a finite number" in complaint("prices:\n  - {model: a, input: .inf, output: 1}\n")


@pytest.mark.parametrize(("value", "shown"), [("1.10", "1.10"), ("no", "no"), ("2026", "2026")])
def test_a_value_that_yaml_reads_as_something_else_is_shown_quoted(value: str, shown: str) -> None:
    assert complaint(f"runs:\n  agent: [{value}]\n") == (
        "gnomon.yaml:2: runs.agent.0: text is expected and YAML reads this as something else;"
        f' write "{shown}"'
    )


@pytest.mark.parametrize(
    ("value", "read"), [("1:30", "90"), ("0100", "64"), ("-012", "-10"), ("1:30.5", "90.5")]
)
def test_a_number_to_another_base_than_ten_is_refused(value: str, read: str) -> None:
    assert complaint(f"runs:\n  agent: [{value}]\n") == (
        f'gnomon.yaml:2: YAML reads {value} as {read}; write {read}, or "{value}" where text is'
        " meant"
    )


@pytest.mark.parametrize("value", ["0", "0.5", "10", "1_000", "1e3", '"0100"', "03:00", "08"])
def test_other_numbers_and_texts_are_read(value: str) -> None:
    assert watch.parse(f"a: {value}").data


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runs: {quiet_period: soon}", "runs.quiet_period: write a duration such as"),
        ("runs: {quiet_period: -5s}", "runs.quiet_period: write a duration such as"),
        ("business_keys: {order_id: order.id}", "business_keys.order_id: write a mapping"),
        ("prices:\n  - {model: a, input: 1, output: 1, since: 2026-13-01}", "write a date such as"),
        ("runs: 5", "runs: write a mapping"),
    ],
)
def test_a_complaint_names_the_mend(text: str, said: str) -> None:
    assert said in complaint(text)


def test_what_is_nested_too_deep_is_refused() -> None:
    assert "nested too deep" in complaint("runs: " + "[" * 5000 + "]" * 5000)


def test_a_date_is_a_date() -> None:
    text = "prices:\n  - {model: a, input: 1, output: 1, since: 2026-01-31}"
    assert watched(watch.parse(text)).prices[0].since == dt.date(2026, 1, 31)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB + "prices: *h\n", "6: its aliases multiply without end; write it out instead"),
        ("runs: &a\n  manifest: *a\n", "1: nested too deep to be meant"),
        ("runs: " + "[" * 5000, "1: nested too deep to be meant"),
        ("runs:\n  user: a\0b\n", "2: the character U+0000 cannot stand in YAML; remove it"),
        ("? [a, b]\n: c\n", "1: a key must be text; write `name: value`"),
        (
            "runs: {user: a\nprices: []\n",
            "2: while parsing a flow mapping that begins in line 1, expected ',' or '}',"
            " but got ':'",
        ),
        ("runs:\n\tuser: a\n", "2: while scanning for the next token, found character '\\t'"),
        ("runs: {}\n---\nruns: {}\n", "2: expected a single document in the stream"),
        (
            "runs:\n  quiet_period: 99999999d\n",
            "2: runs.quiet_period: write something from 0ms to 30d",
        ),
        ("business_keys:\n  order: {}\n", "2: business_keys.order: say where it is found"),
        (
            "prices:\n- {model: a, input: 1, output: 1}\n- {model: A, input: 2, output: 1}\n",
            "1: prices: A has two prices from 1970-01-01 on; give one a later `since`",
        ),
        (
            "prices:\n- {model: a, since: 2026-13-01, input: 1, output: 1}\n",
            "2: prices.0.since: write a date such as 2026-01-31",
        ),
    ],
    ids=lambda value: value[:24],
)
def test_what_nobody_can_mean_is_refused_with_line_and_mend(text: str, says: str) -> None:
    assert complaint(text).startswith(f"gnomon.yaml:{says}")


def test_an_alias_is_followed_where_it_stays_small() -> None:
    text = "runs:\n  user: &who [a.user]\n  conversation: *who\n"
    assert watched(watch.parse(text)).runs.conversation == ("a.user",)
