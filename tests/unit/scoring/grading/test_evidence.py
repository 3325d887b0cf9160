import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model import Bodies, Step
from scoring.grading.evidence import StoredEvidence, json_in
from tests.judging import make_run, make_step


class Stored:
    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.asked: list[str] = []

    def bodies_of(self, steps: list[Step]) -> list[Bodies]:
        self.asked += [step.span_id for step in steps]
        return [Bodies(output=_said(self.texts.get(step.span_id, ""))) for step in steps]


def _said(text: str) -> str:
    parts = [{"type": "text", "text": text}]
    return json.dumps([{"role": "assistant", "parts": parts}])


def test_a_short_last_message_is_that_of_the_run_and_reads_nothing() -> None:
    stored = Stored({})
    evidence = StoredEvidence(make_run(output="Done."), [make_step(1)], stored)  # type: ignore[arg-type]
    assert evidence.final_message == "Done."
    assert stored.asked == []


def test_a_long_last_message_is_read_whole_from_its_step_once() -> None:
    whole = "x" * 3_000 + '\n{"claimed_outcome": "refunded"}'
    stored = Stored({"s1": "before", "s2": whole})
    run = make_run(output=whole[:2_000])
    evidence = StoredEvidence(run, [make_step(1), make_step(2)], stored)  # type: ignore[arg-type]
    assert evidence.final_message == whole
    assert evidence.final_json == {"claimed_outcome": "refunded"}
    evidence.bodies([make_step(2)])
    assert stored.asked == ["s1", "s2"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('say {"a": {"b": 2}}', {"a": {"b": 2}}),
        ('first {"a": 1} then {"b": 2}', {"b": 2}),
        ('{"a": 1, "n": %s}' % ("9" * 4_400), {"a": 1, "n": "9" * 4_400}),
        ('say {"a": 1, "n": %s}' % ("9" * 4_400), {"a": 1, "n": "9" * 4_400}),
        ('say {"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": 1} and more', None),
        ("{ not json", None),
        ("", None),
        ("{" * 100_000, None),
    ],
)
def test_json_is_found_at_the_end_of_a_message(text: str, value: object) -> None:
    assert json_in(text) == value


@given(st.text())
def test_no_text_breaks_the_search_for_json(text: str) -> None:
    json_in(text)
