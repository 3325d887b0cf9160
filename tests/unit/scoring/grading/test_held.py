"""What graders held a run against is told beside what they found, and stored with the judgment."""

from typing import Any

import pytest

from gnomon.clock import Nanos
from scoring.grading.port import Abstained, Answer, Label, NotApplicable
from scoring.grading.run import judge
from scoring.policies.verdict import Held, RuleKind, Violation
from tests.judging import Seen, make_run, make_step
from tests.unit.scoring.grading.test_builtins import RECOVERY, ask, poll, refund, timeout
from tests.unit.scoring.grading.test_run import Scripted

EFFECTS, GOAL, BUDGET = RuleKind.EFFECTS, RuleKind.GOAL, RuleKind.BUDGET
TWO = [refund(1, "k1"), refund(2, "k2")]


@pytest.mark.parametrize(
    ("entry", "seen", "held"),
    [
        (RECOVERY, Seen(refund(1, "k1")), [Held(kind=EFFECTS, kept=1)]),
        (RECOVERY, Seen(*TWO), [Held(kind=EFFECTS, broken=1), Held(kind=GOAL)]),
        (RECOVERY, Seen(timeout(1, "k1"), refund(2, "k1")), [Held(kind=EFFECTS, kept=1), Held(kind=GOAL, kept=1)]),
        (RECOVERY, Seen(make_step(1, "refund", None, {"ok": True})), [Held(kind=EFFECTS, unknown=1)]),
        ({"type": "recovery"}, Seen(*TWO), []),
        ({"type": "budget", "limits": {"steps": 5}}, Seen(run=make_run(steps=6)), [Held(kind=BUDGET, broken=1)]),
        ({"type": "budget", "limits": {"steps": 5}}, Seen(run=make_run(steps=5)), [Held(kind=BUDGET, kept=1)]),
        ({"type": "convergence"}, Seen(poll(1, 0)), [Held(kind=RuleKind.CIRCLES, kept=1)]),
        ({"type": "convergence"}, Seen(make_step(1, "status")), [Held(kind=RuleKind.CIRCLES, unknown=1)]),
        (
            {"type": "convergence", "terminal": [{"tool": ["close"]}]},
            Seen(poll(1, 0)),
            [Held(kind=RuleKind.CIRCLES, kept=1), Held(kind=GOAL, broken=1)],
        ),
        (
            {"type": "schema", "tool": "status", "schema": {"required": ["order"]}},
            Seen(poll(1, 0), make_step(2, "status", {}), make_step(3, "status")),
            [Held(kind=RuleKind.ARGUMENTS, kept=1, broken=1, unknown=1)],
        ),
    ],
)  # fmt: skip
def test_a_grader_tells_against_how_many_calls_its_rules_were_held(
    entry: dict[str, Any], seen: Seen, held: list[Held]
) -> None:
    answer = ask(entry, seen)
    assert list(answer.held) == held
    assert judge(Scripted(answer), seen, at=Nanos(1)).status.held == held


def test_of_a_kind_that_a_plug_in_only_breaks_nobody_knows_how_often_it_was_kept() -> None:
    twice = Violation(rule="paid-twice", kind=EFFECTS, message="m", steps=())
    said = judge(Scripted(Label(passed=False, violations=(twice,))), Seen(), at=Nanos(1))
    assert said.status.held == [Held(kind=EFFECTS, unknown=1)]
    told = Label(passed=False, violations=(twice,), held=(Held(kind=EFFECTS, broken=1, kept=2),))
    assert judge(Scripted(told), Seen(), at=Nanos(1)).status.held == list(told.held)


@pytest.mark.parametrize(
    "answer",
    [
        Label(violations=(Violation(rule="r", kind="effects", message="m", steps=()),)),  # type: ignore[arg-type]
        Label(held=("effects",)),  # type: ignore[arg-type]
        Label(held=(Held(kind="effects"),)),  # type: ignore[arg-type]
        Abstained(reason="", held=(Held(kind=EFFECTS, unknown=-1),)),
        NotApplicable(reason="", held=(Held(kind=EFFECTS, kept=2**32),)),
        NotApplicable(reason="", held=(Held(kind=EFFECTS, kept=True),)),
    ],
)
def test_what_can_not_be_stored_of_it_is_a_failure_of_the_grader(answer: Answer) -> None:
    assert judge(Scripted(answer), Seen(), at=Nanos(1)).status.state == "failed"
