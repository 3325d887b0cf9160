from dataclasses import dataclass

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.clock import Nanos
from gnomon.model import Evaluation, Kind, Origin, RunId, SpanId, Step, TraceId
from gnomon.store import rows


def test_a_moment_keeps_all_nine_digits() -> None:
    assert rows.moment(1_764_556_789_123_456_789) == "2025-12-01 02:39:49.123456789"
    assert rows.moment(5) == "1970-01-01 00:00:00.000000005"


def test_a_moment_past_what_the_column_holds_is_its_last() -> None:
    assert rows.moment(2**64 - 1) == rows.moment(2**63 - 1) == "2262-04-11 23:47:16.854775807"


@given(st.integers(0, 2**63 - 1))
def test_moments_sort_as_their_numbers_do(nanos: int) -> None:
    assert rows.moment(nanos) <= rows.moment(nanos + 1)


def test_a_step_becomes_one_line_with_its_nested_parts() -> None:
    step = Step(
        run_id=RunId("r"), trace_id=TraceId("t"), span_id=SpanId("s"), started_at=Nanos(1),
        ended_at=Nanos(2), duration_ns=1, kind=Kind.LLM, origin=Origin.SHADOW, input_tokens=0,
        evaluations=[Evaluation(name="good", score=0.5)], agent_path=("a", "b"),
    )  # fmt: skip
    (part,) = rows.parts([step], {"folded_at": 9})
    line = dict(zip([*rows.columns(Step), "folded_at"], orjson.loads(part), strict=True))
    assert (line["kind"], line["origin"], line["input_tokens"]) == ("llm", "shadow", 0)
    assert line["evaluations"][0]["score"] == 0.5
    assert line["folded_at"] == 9


def test_rows_are_cut_into_parts_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Word:
        text: str

    monkeypatch.setattr(rows, "PART_BYTES", 50)
    found = list(rows.parts([Word("x" * 20) for _ in range(5)], {}))
    assert [part.count(b"\n") + 1 for part in found] == [2, 2, 1]
