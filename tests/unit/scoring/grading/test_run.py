import pytest

from gnomon.clock import Nanos
from gnomon.errors import StoreUnavailable
from scoring.grading.port import (
    Abstained,
    Answer,
    CheckFailed,
    Evidence,
    GraderFailed,
    GraderKind,
    Label,
    NotApplicable,
    State,
    Surface,
    TryAgain,
    reduced,
)
from scoring.grading.run import judge
from scoring.policies.verdict import Violation
from tests.judging import Seen, make_run


class Scripted:
    name = "scripted"
    version = "1"
    surface = Surface.OUTCOME
    kind = GraderKind.CODE

    def __init__(self, says: object) -> None:
        self._says = says

    def grade(self, evidence: Evidence) -> Answer:
        if isinstance(self._says, BaseException):
            raise self._says
        return self._says  # type: ignore[return-value]


def asked(says: object) -> tuple[State, str, object]:
    found = judge(Scripted(says), Seen(), at=Nanos(1))
    return found.status.state, found.status.why, found.label


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (KeyError("order"), "KeyError: 'order'"),
        (CheckFailed("HTTP 500 from shop"), "HTTP 500 from shop"),
        (RecursionError("deep"), "RecursionError: deep"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (GeneratorExit(), "GeneratorExit: "),
    ],
)
def test_a_grader_that_raises_is_failed_and_never_a_low_score(
    error: BaseException, why: str
) -> None:
    assert asked(error) == (State.FAILED, why, None)


def test_a_grader_that_answers_nonsense_is_failed() -> None:
    assert asked(0.0) == (State.FAILED, "it answered with a float", None)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Label(score=float("nan")), "its score is nan: no finite number"),
        (Label(score=float("-inf")), "its score is -inf: no finite number"),
        (Label(score="0.5"), "its score is a str, not a number"),  # type: ignore[arg-type]
        (Label(passed=1), "its passed is a int; True, False or None is expected"),  # type: ignore[arg-type]
        (Label(explanation=None), "its explanation is a NoneType, not text"),  # type: ignore[arg-type]
        (Label(evidence="s1"), "its evidence is no list of span ids"),
        (Label(violations=("x",)), "its violations are no list of Violation"),  # type: ignore[arg-type]
        (Label(severity="mild"), "its severity is neither hard nor soft"),  # type: ignore[arg-type]
        (Abstained(reason=7), "its reason is a int, not text"),  # type: ignore[arg-type]
    ],
)
def test_what_can_not_be_stored_is_a_failure_of_the_grader(answer: object, why: str) -> None:
    assert asked(answer) == (State.FAILED, why, None)


def test_a_store_that_went_away_is_no_answer_at_all() -> None:
    with pytest.raises(StoreUnavailable):
        judge(Scripted(StoreUnavailable()), Seen(), at=Nanos(1))


def test_each_answer_has_its_own_state() -> None:
    assert asked(Label(passed=True))[0] is State.GRADED
    assert asked(Abstained(reason="no"))[:2] == (State.ABSTAINED, "no")
    assert asked(NotApplicable(reason="none")) == (State.NOT_APPLICABLE, "none", None)


def test_a_claim_nobody_could_verify_is_kept_without_a_verdict() -> None:
    found = judge(Scripted(Abstained(reason="no", claimed=True)), Seen(), at=Nanos(1))
    assert found.status.state is State.ABSTAINED
    assert found.label is not None
    assert (found.label.passed, found.label.claimed) == (None, True)


def test_only_a_label_adds_to_a_pass_rate() -> None:
    assert reduced(Label(passed=False)) is False
    assert reduced(Abstained(reason="")) is None
    assert reduced(NotApplicable(reason="")) is None
    assert reduced(GraderFailed(reason="")) is None


def test_breaches_are_numbered_and_carry_the_facts_of_their_run() -> None:
    breach = Violation(rule="x", message="m", steps=("s1",))
    run = make_run(agent_version="8", revision=2)
    found = judge(
        Scripted(Label(passed=False, violations=(breach, breach))), Seen(run=run), at=Nanos(1)
    )
    assert [row.place for row in found.violations] == [0, 1]
    assert found.status.violations == 2
    assert {(row.agent_version, row.revision) for row in found.violations} == {("8", 2)}


def test_what_a_grader_says_is_bounded_and_marked() -> None:
    breach = Violation(rule="x" * 9_000, message="m" * 9_000, steps=("s" * 9_000,) * 300)
    said = Label(
        passed=False,
        explanation="e" * 1_000_000,
        evidence=("s1",) * 300,
        violations=(breach,) * 5_000,
    )
    found = judge(Scripted(said), Seen(), at=Nanos(1))
    assert found.label is not None
    assert len(found.label.explanation) == 2_000
    assert found.label.explanation.endswith("(truncated, 1000000 characters)")
    assert found.label.evidence == ("s1",) * 100
    assert len(found.violations) == found.status.violations == 1_000
    assert {
        (len(v.rule), len(v.message), len(v.steps), len(v.steps[0])) for v in found.violations
    } == {(2_000, 2_000, 100, 128)}
    assert found.status.why == (
        "truncated: 1000 of 5000 breaches are kept; at most 100 span ids of each list are kept;"
        " what is longer than 128 characters is no span id and is cut"
    )
    whole = judge(Scripted(Label(passed=True, evidence=("s1",) * 100)), Seen(), at=Nanos(1))
    assert whole.status.why == ""


def test_only_what_may_pass_is_asked_again_and_each_try_waits_longer() -> None:
    def tried(error: Exception, tries: int) -> tuple[int, int | None]:
        status = judge(Scripted(error), Seen(), at=Nanos(0), tries=tries).status
        return status.tries, status.again_at

    minute = 60_000_000_000
    away = TryAgain("HTTP 503")
    waits = [tried(away, n) for n in range(5)]
    assert waits == [(1, minute), (2, 5 * minute), (3, 15 * minute), (4, 40 * minute), (5, None)]
    assert tried(CheckFailed("no JSON"), 0) == (0, None)
    assert tried(KeyError("x"), 0) == (0, None)
