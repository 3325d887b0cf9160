from collections.abc import Sequence
from dataclasses import dataclass

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import rows
from gnomon.clock import Nanos
from gnomon.errors import StoreRefused
from gnomon.model import Evaluation, Kind, Origin, RunId, SpanId, Step, TraceId


def test_a_moment_keeps_all_nine_digits() -> None:
    assert rows.moment(1_764_556_789_123_456_789) == "2025-12-01 02:39:49.123456789"
    assert rows.moment(5) == "1970-01-01 00:00:00.000000005"


def test_a_moment_past_what_the_column_holds_is_its_last() -> None:
    assert rows.moment(2**64 - 1) == rows.moment(2**63 - 1) == "2262-04-11 23:47:16.854775807"


@given(st.integers(0, 2**63 - 1))
def test_moments_sort_as_their_numbers_do(nanos: int) -> None:
    assert rows.moment(nanos) <= rows.moment(nanos + 1)


def test_steps_become_columns_with_their_nested_parts() -> None:
    step = Step(
        run_id=RunId("r"), trace_id=TraceId("t"), span_id=SpanId("s"), started_at=Nanos(1),
        ended_at=Nanos(2), duration_ns=1, kind=Kind.LLM, origin=Origin.SHADOW, input_tokens=0,
        evaluations=[Evaluation(name="good", score=0.5)], agent_path=("a", "b"),
    )  # fmt: skip
    (part,) = rows.parts([step, step], {"folded_at": 9})
    found = dict(zip(part.columns, orjson.loads(part.body), strict=True))
    assert found["kind"] == ["llm", "llm"]
    assert found["origin"] == ["shadow", "shadow"]
    assert found["evaluations"][0][0]["score"] == 0.5
    assert found["started_at"] == ["1970-01-01 00:00:00.000000001"] * 2
    assert found["folded_at"] == [9, 9]


def test_only_columns_that_say_nothing_are_left_out() -> None:
    @dataclass(frozen=True)
    class Row:
        name: str
        count: int | None = None
        words: Sequence[str] = ()
        true: bool = False

    def named(*given: Row) -> set[str]:
        (part,) = rows.parts(given, {})
        return set(part.columns)

    assert named(Row(""), Row("")) == {"name", "true"}
    assert named(Row(None)) == {"name", "true"}, "not for us to decide"  # type: ignore[arg-type]
    assert named(Row(""), Row("", count=0)) == {"name", "true", "count"}
    assert named(Row(""), Row("", words=("a",))) == {"name", "true", "words"}


def test_rows_are_cut_into_parts_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Word:
        text: str

    monkeypatch.setattr(rows, "PART_BYTES", 50)
    found = list(rows.parts([Word(str(n) + "x" * 19) for n in range(5)], {}))
    assert all(len(part.body) <= 50 for part in found)
    assert [word[0] for part in found for word in orjson.loads(part.body)[0]] == list("01234")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    word: str
    keys: dict[str, str]
    count: int = 0


def test_half_a_surrogate_pair_is_repaired_and_not_refused() -> None:
    (part,) = rows.parts([Worded(word="a\ud800b", keys={"\udfff": "\ud83d"})], {})
    assert orjson.loads(part.body) == [["a\ufffdb"], [{"\ufffd": "\ufffd"}], [0]]


def test_a_number_past_64_bits_is_refused_with_the_name_of_its_column() -> None:
    with pytest.raises(StoreRefused, match="count"):
        list(rows.parts([Worded(word="", keys={"a": "b"}, count=2**64)], {}))
