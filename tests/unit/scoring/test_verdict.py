"""One verdict from many labels: by code, else by people, never by a model or by a claim."""

from typing import Any

import pytest

from gnomon.clock import Nanos
from gnomon.model import RunId
from scoring.grading.port import GraderKind, State, Surface
from scoring.reading import RunJudgments
from scoring.rows import LabelRow, StatusRow
from scoring.verdict import deciding, verified

Said = dict[str, Any]


def said(grader: str, passed: bool | None, **more: Any) -> Said:
    return {"grader": grader, "passed": passed, **more}


def judged(*labels: Said) -> RunJudgments:
    statuses, rows = [], []
    for place, label in enumerate(labels):
        of: Said = {
            "started_at": Nanos(1), "run_id": RunId("r"), "revision": 1, "grader": label["grader"],
            "grader_version": label.get("version", "1"),
            "surface": label.get("surface", Surface.OUTCOME),
            "kind": label.get("kind", GraderKind.CODE), "at": Nanos(label.get("at", place)),
        }  # fmt: skip
        state = label.get("state", State.GRADED)
        statuses.append(StatusRow(**of, state=state))
        if state is State.GRADED:
            rows.append(LabelRow(**of, passed=label["passed"], claimed=label.get("claimed")))
    return RunJudgments(statuses=statuses, labels=rows)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], None),
        ([said("a", True)], True),
        ([said("a", True), said("b", False)], False),
        ([said("a", True, surface=Surface.POLICY)], None),
        ([said("a", True, kind=GraderKind.MODEL)], None),
        ([said("a", True, claimed=True)], None),
        ([said("a", False, kind=GraderKind.HUMAN)], False),
        ([said("a", True), said("b", False, kind=GraderKind.HUMAN)], True),
        ([said("a", None, state=State.FAILED), said("b", True, kind=GraderKind.HUMAN)], True),
        ([said("a", False, at=1), said("a", True, version="2", at=2)], True),
        ([said("a", True, at=1), said("a", None, version="2", at=2, state=State.ABSTAINED)], None),
        ([said("a", True, at=1), said("a", None, version="2", at=2, state=State.WAITING)], True),
        ([said("a", None)], None),
    ],
)
def test_the_verdict_of_a_run(labels: list[Said], expected: bool | None) -> None:
    assert verified(judged(*labels)) is expected


def test_only_the_graders_that_decided_are_named() -> None:
    people, model = GraderKind.HUMAN, GraderKind.MODEL
    found = judged(
        said("state", True),
        said("claim", True, claimed=True),
        said("judge", False, kind=model),
        said("ann", False, kind=people),
    )
    assert [label.grader for label in deciding(found)] == ["state"]
    found = judged(said("judge", False, kind=model), said("ann", False, kind=people))
    assert [label.grader for label in deciding(found)] == ["ann"]
