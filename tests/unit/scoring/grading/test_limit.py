"""What is not ours is bounded in time, and set aside when it hangs again and again."""

import datetime as dt
import threading
from collections.abc import Iterator

import pytest

from gnomon.clock import Nanos
from scoring.grading.limit import Bounded, Patience, SetAside, Stopping, TookTooLong
from scoring.grading.port import Answer, CheckFailed, Evidence, GraderKind, Label, State, Surface
from scoring.grading.run import judge
from tests.judging import Seen


@pytest.fixture
def never() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def bounded(seconds: float = 0.05) -> Bounded:
    return Bounded(limit=dt.timedelta(seconds=seconds), name="g")


def test_a_call_in_time_returns_and_raises_what_the_work_does() -> None:
    call = bounded(30)
    assert call(lambda: 7) == 7
    with pytest.raises(KeyError, match="x"):
        call(lambda: {}["x"])
    with pytest.raises(SystemExit):
        call(lambda: exec("raise SystemExit(1)"))


def test_a_call_that_takes_too_long_is_left_to_a_daemon_and_told_to_give_up(
    never: threading.Event,
) -> None:
    told = []
    with pytest.raises(TookTooLong, match=r"took longer than 0\.05 s"):
        bounded()(never.wait, lambda: told.append(1))
    assert told == [1]
    left = [thread for thread in threading.enumerate() if thread.name == "grader-g"]
    assert left
    assert all(thread.daemon for thread in left), "it would keep the process"


def test_nobody_waits_for_a_call_once_the_process_stops(never: threading.Event) -> None:
    call = Bounded(limit=dt.timedelta(minutes=10), name="g", stop=lambda: True)
    with pytest.raises(Stopping):
        call(never.wait)


def test_sixteen_calls_that_never_end_are_the_last(never: threading.Event) -> None:
    call = bounded(0.001)
    for _ in range(16):
        with pytest.raises(TookTooLong):
            call(never.wait)
    with pytest.raises(SetAside, match="16 calls of it never ended"):
        call(never.wait)


class Slow:
    name, version = "slow", "1"
    surface, kind = Surface.OUTCOME, GraderKind.CODE

    def __init__(self) -> None:
        self.calls = 0
        self.hangs = True

    def grade(self, evidence: Evidence) -> Answer:
        self.calls += 1
        if self.hangs:
            raise TookTooLong("took longer than 30 s")
        return Label(passed=True)


def test_a_grader_that_hangs_three_times_is_left_alone_and_tried_again_by_one_run() -> None:
    now = [1000.0]
    patience, slow = Patience(lambda: now[0]), Slow()

    def why() -> str:
        told = judge(slow, Seen(), at=Nanos(1), ask=patience.ask).status.why
        return told.removesuffix(" (try 1 of 5)")

    for _ in range(3):
        assert why() == "took longer than 30 s"
    told = "set aside, 3 calls in a row failed: took longer than 30 s; tried again in 60 s"
    assert why() == f"not asked: {told}"
    assert patience.problems() == {"slow": told}
    assert slow.calls == 3
    now[0] += 60
    assert why() == "took longer than 30 s"
    assert slow.calls == 4
    assert patience.problems()["slow"].endswith("tried again in 120 s"), "twice as long"
    now[0] += 120
    slow.hangs = False
    assert judge(slow, Seen(), at=Nanos(1), ask=patience.ask).status.state is State.GRADED
    assert patience.problems() == {}


def test_an_error_in_time_is_no_hanging() -> None:
    patience, slow = Patience(), Slow()
    for _ in range(2):
        with pytest.raises(TookTooLong):
            patience.ask(slow, Seen())
    quick = Slow()
    quick.grade = lambda evidence: (_ for _ in ()).throw(CheckFailed("HTTP 500"))  # type: ignore[method-assign]
    with pytest.raises(CheckFailed, match="HTTP 500"):
        patience.ask(quick, Seen())
    with pytest.raises(TookTooLong):
        patience.ask(slow, Seen())
    assert patience.problems() == {}
