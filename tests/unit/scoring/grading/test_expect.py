import pytest
from pydantic import ValidationError

from gnomon.clock import Nanos
from gnomon.model import JsonValue, Run, RunId
from scoring.grading.expect import Expectation

RUN = Run(
    run_id=RunId("r"),
    trace_ids=["t"],
    root_span_id="root",
    started_at=Nanos(0),
    ended_at=Nanos(0),
    duration_ns=0,
    active_ns=0,
    last_received_at=Nanos(0),
)


@pytest.mark.parametrize(
    "said",
    [
        *({name: None} for name in ("equals", "one_of", "at_least", "at_most", "exists")),
        {"equals_key": None},
        {"equals_key": ""},
        {"one_of": []},
        {"one_of": [None]},
        {"at_least": True},
        {"at_most": 1, "exists": None},
        {"path": None, "equals": 1},
    ],
)
def test_an_expectation_that_every_answer_meets_or_misses_is_refused(said: JsonValue) -> None:
    with pytest.raises(ValidationError):
        Expectation.model_validate(said)


@pytest.mark.parametrize(
    ("said", "answer", "met"),
    [
        ({"at_most": 0.3}, 0.3, True),
        ({"at_least": 0.3}, "0.3", True),
        ({"at_most": 0.3}, 0.30000000000000004, False),
        ({"equals": ""}, "", True),
        ({"equals": "7"}, "007", False),
        ({"equals": "7"}, 7.0, True),
        ({"path": "", "exists": False}, None, True),
    ],
)
def test_an_answer_is_compared_digit_by_digit(
    said: JsonValue, answer: JsonValue, met: bool
) -> None:
    assert Expectation.model_validate(said).met(answer, RUN) is met
