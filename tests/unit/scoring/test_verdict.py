"""One verdict from many labels: by code, else by people, never by a model or by a claim."""

from collections.abc import Sequence
from typing import Any

import pytest

from gnomon.clock import Nanos
from gnomon.model import RunId
from scoring.acts import acts_of
from scoring.grading.port import GraderKind, Severity, State, Surface
from scoring.policies.verdict import Held, Outcome, RuleKind
from scoring.reading import RunJudgments
from scoring.rows import LabelRow, StatusRow, VerdictRow, ViolationRow, held_columns
from scoring.verdict import deciding, verdict_row, verified
from tests.judging import make_run

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


def row_of(**graders: Sequence[Held]) -> VerdictRow:
    """Return the verdict of a run from what each grader held it against."""
    statuses = [
        StatusRow(
            started_at=Nanos(1), run_id=RunId("r"), revision=1, grader=name, grader_version="1",
            surface=Surface.EFFICIENCY, kind=GraderKind.CODE, state=State.GRADED, at=Nanos(1),
            **held_columns(held),
        )
        for name, held in graders.items()
    ]  # fmt: skip
    return verdict_row(make_run(), RunJudgments(statuses=statuses), acts_of(()), at=Nanos(2))


POLICY, GRADED, ABSTAINED = Surface.POLICY, State.GRADED, State.ABSTAINED


@pytest.mark.parametrize(
    ("states", "broken", "expected"),
    [
        ({}, {}, ("not_applicable", "not_applicable")),
        ({"a": GRADED}, {}, ("kept", "kept")),
        ({"a": State.NOT_APPLICABLE}, {}, ("not_applicable", "not_applicable")),
        ({"a": GRADED, "b": ABSTAINED}, {}, ("not_evaluable", "not_evaluable")),
        ({"a": GRADED, "b": State.FAILED}, {}, ("not_evaluable", "not_evaluable")),
        ({"a": GRADED, "b": ABSTAINED}, {"a": "hard"}, ("broken", "broken")),
        ({"a": GRADED, "b": ABSTAINED}, {"a": "soft"}, ("broken", "not_evaluable")),
        ({"a": GRADED}, {"a": "soft"}, ("broken", "kept")),
        ({"a": GRADED, "limit": ABSTAINED}, {}, ("kept", "kept")),
        ({"limit": GRADED}, {"limit": "hard"}, ("broken", "broken")),
        ({"limit": GRADED}, {"limit": "soft"}, ("not_applicable", "not_applicable")),
    ],
)
def test_a_run_of_which_one_policy_can_not_tell_is_not_clean(
    states: dict[str, State], broken: dict[str, Severity], expected: tuple[str, str]
) -> None:
    """Graders of surface policy, but for `limit`: what that one can not tell is about no rule."""
    of: Said = {"started_at": Nanos(1), "run_id": RunId("r"), "revision": 1, "at": Nanos(1)}
    found = RunJudgments(
        statuses=[
            StatusRow(
                **of, grader=name, grader_version="1", kind=GraderKind.CODE, state=state,
                surface=Surface.EFFICIENCY if name == "limit" else POLICY,
                violations=int(name in broken),
            )
            for name, state in states.items()
        ],
        violations=[
            ViolationRow(
                **of, policy=name, policy_version="1", place=0, rule="r", message="",
                severity=severity, steps=(),
            )
            for name, severity in broken.items()
        ],
    )  # fmt: skip
    row = verdict_row(make_run(), found, acts_of(()), at=Nanos(2))
    assert (row.conduct, row.hard_conduct) == expected


def test_a_run_that_no_budget_was_held_against_is_within_none() -> None:
    circles = Held(kind=RuleKind.CIRCLES, kept=1)
    assert row_of(convergence=[circles]).budget is Outcome.NOT_APPLICABLE
    kept, broken = Held(kind=RuleKind.BUDGET, kept=1), Held(kind=RuleKind.BUDGET, broken=1)
    assert row_of(budget=[kept], convergence=[circles]).budget is Outcome.KEPT
    assert row_of(budget=[kept], policy=[broken]).budget is Outcome.BROKEN
    unknown = Held(kind=RuleKind.BUDGET, unknown=1)
    assert row_of(budget=[kept], policy=[unknown]).budget is Outcome.NOT_EVALUABLE


def test_what_broke_an_order_did_nothing_twice() -> None:
    row = row_of(refunds=[Held(kind=RuleKind.ORDER, broken=1)])
    assert (row.effects, row.checks) == (Outcome.NOT_APPLICABLE, Outcome.NOT_APPLICABLE)
    row = row_of(refunds=[Held(kind=RuleKind.EFFECTS, broken=1)])
    assert row.effects is Outcome.BROKEN


def test_gated_actions_are_those_of_which_it_is_known_whether_they_were_approved() -> None:
    row = row_of(refunds=[Held(kind=RuleKind.GATE, kept=3, broken=2, unknown=1)])
    assert (row.gated_actions, row.unapproved_actions, row.unclear_actions) == (5, 2, 1)
    assert row.checks is Outcome.BROKEN
