import datetime as dt
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.clock import Nanos, rfc3339, to_nanos
from gnomon.errors import InputError
from gnomon.http import Json, described, moment_of, pack, shown, unpack, window_of
from gnomon.model import Evaluation, Kind, RunId, SpanId, Step, TraceId

NOW = to_nanos(dt.datetime(2026, 12, 2, 12, tzinfo=dt.UTC))
HOUR = 3_600_000_000_000


@given(st.text(), st.integers(-(2**63), 2**63 - 1))
def test_a_cursor_survives_the_trip(text: str, number: int) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return
    assert unpack("runs", pack("runs", text, number), str, int) == (text, number)


@given(st.text(max_size=100))
def test_any_other_text_is_a_damaged_cursor(text: str) -> None:
    with pytest.raises(InputError):
        unpack("runs", text, int, str)


@given(st.data())
def test_a_cursor_with_one_letter_changed_is_damaged(data: st.DataObject) -> None:
    cursor = pack("runs", NOW, "a" * 32)
    place = data.draw(st.integers(0, len(cursor) - 2))
    letter = data.draw(st.sampled_from("ABCabc012-_").filter(lambda c: c != cursor[place]))
    with pytest.raises(InputError):
        unpack("runs", cursor[:place] + letter + cursor[place + 1 :], int, str)


def test_a_cursor_of_another_list_or_shape_is_refused() -> None:
    cursor = pack("runs", 1, "x")
    for kind, types in (("steps", (int, str)), ("runs", (str, int)), ("runs", (int,))):
        with pytest.raises(InputError, match="another list"):
            unpack(kind, cursor, *types)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2h", NOW - 2 * HOUR),
        ("7d", NOW - 7 * 24 * HOUR),
        ("250ms", NOW - 250_000_000),
        ("2026-12-02T12:00:00Z", NOW),
        ("2026-12-02t13:00:00+01:00", NOW),
        ("2026-12-02T12:00:00.123456789Z", NOW + 123_456_789),
        ("2026-12-02T12:00:00.5Z", NOW + 500_000_000),
    ],
)
def test_a_moment_is_rfc_3339_or_an_age(text: str, expected: int) -> None:
    assert moment_of(text, NOW) == expected


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-12-02", "2026-12-02T12:00:00", "2026-02-30T00:00:00Z", "5", "-1h"],
)
def test_any_other_text_is_no_moment_and_the_answer_shows_how(text: str) -> None:
    with pytest.raises(InputError, match="24h or 7d"):
        moment_of(text, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "2262-04-12T00:00:00Z",
        "2262-04-11T23:47:16.854775808Z",
        "9999-12-31T23:59:59+00:00",
        "1969-12-31T23:59:59.999999999Z",
        "1970-01-01T00:00:00+01:00",
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_a_moment_that_the_store_cannot_hold_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(InputError, match="1970 to 2262"):
        moment_of(text, NOW)


@pytest.mark.parametrize("text", ["1000000d", "999999999999d", "99999999999999999999d"])
def test_an_age_before_1970_means_everything(text: str) -> None:
    assert moment_of(text, NOW) == 0


@given(st.integers(0, 2**63 - 1))
def test_what_the_api_writes_as_a_moment_it_reads_back(nanos: int) -> None:
    assert moment_of(rfc3339(Nanos(nanos)), NOW) == nanos


def test_a_noun_is_shown_with_its_own_names_and_all_nine_digits() -> None:
    step = Step(
        run_id=RunId("r"), trace_id=TraceId("t"), span_id=SpanId("s"), started_at=Nanos(1),
        ended_at=Nanos(NOW), duration_ns=5, kind=Kind.LLM, evaluations=(Evaluation(name="e"),),
    )  # fmt: skip
    told = shown(step)
    assert list(told) == list(Step.__dataclass_fields__)
    assert told["started_at"] == "1970-01-01T00:00:00.000000001Z"
    assert told["evaluations"][0]["score"] is None
    assert b'"kind":"llm"' in Json(told).body


@dataclass(frozen=True, kw_only=True)
class Inner:
    at: Nanos


@dataclass(frozen=True, kw_only=True)
class Outer:
    """A noun."""

    at: Nanos | None
    inner: tuple[Inner, ...] = ()


def test_moments_inside_nouns_inside_are_shown_too() -> None:
    assert shown(Outer(at=None, inner=(Inner(at=Nanos(0)),))) == {
        "at": None,
        "inner": [{"at": "1970-01-01T00:00:00.000000000Z"}],
    }


def test_the_description_of_a_noun_follows_its_fields() -> None:
    schema = described(Outer, more=int | None).model_json_schema()
    assert set(schema["properties"]) == {"at", "inner", "more"}
    assert schema["required"] == ["at", "inner"]
    assert schema["description"] == "A noun."
    assert schema["$defs"]["Inner"]["properties"]["at"]["format"] == "date-time"


def test_a_window_ends_after_its_start() -> None:
    assert window_of("2h", "1h", NOW) == (NOW - 7_200 * 10**9, NOW - 3_600 * 10**9)
    assert window_of(None, "1h", NOW) == (None, NOW - 3_600 * 10**9)
    assert window_of("1h", None, NOW) == (NOW - 3_600 * 10**9, None)
    for since, until in (
        ("1h", "2h"),
        ("1h", "1h"),
        ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"),
    ):
        with pytest.raises(InputError, match=f"until={until} must lie after since={since}"):
            window_of(since, until, NOW)
