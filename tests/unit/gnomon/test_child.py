import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gnomon.child import Child, ChildDied
from gnomon.errors import Unavailable
from tests.child_work import MEND

ROOT = Path(__file__).parents[3]


def child_for(work: str = "tests.child_work:echo", patience: float = 60.0) -> Child:
    return Child(work, b"hello", patience=patience, mend=MEND)


@pytest.fixture
def child() -> Iterator[Child]:
    made = child_for()
    yield made
    made.close(10)


def pid_of(child: Child) -> int:
    pid = child.pid
    assert pid is not None
    return pid


def gone(pid: int) -> bool:
    """Wait until all threads of a child have ended: its first one is a zombie before that."""
    for _ in range(200):
        try:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
        except ChildProcessError:  # waited for already
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("pieces", [[b""], [b"a", b"", b"b\n\0"], [os.urandom(3_000_000), b"x"]])
def test_what_is_asked_comes_whole_and_the_answer_does_too(
    child: Child, pieces: list[bytes]
) -> None:
    hello, pid, *told = child.ask(pieces)
    assert (hello, told) == (b"hello", pieces)
    assert int(pid) == child.pid != os.getpid()


def test_it_gives_way_to_this_process(child: Child) -> None:
    child.begin()
    assert os.getpriority(os.PRIO_PROCESS, pid_of(child)) > os.getpriority(os.PRIO_PROCESS, 0)


def test_what_it_prints_is_no_part_of_its_answer(child: Child) -> None:
    assert child.ask([b"print"])[2:] == [b"print"]


def test_one_that_ended_while_nobody_asked_is_started_anew(child: Child) -> None:
    child.begin()
    first = pid_of(child)
    os.kill(first, signal.SIGKILL)
    assert gone(first)
    assert int(child.ask([b"x"])[1]) != first


def test_one_that_dies_at_work_is_told_and_the_next_question_finds_another(child: Child) -> None:
    with pytest.raises(ChildDied, match="SIGKILL"):
        child.ask([b"die"])
    assert child.ask([b"x"])[2] == b"x"


def test_one_that_is_killed_at_work_by_somebody_else_is_told(child: Child) -> None:
    child.begin()
    threading.Timer(0.2, os.kill, (pid_of(child), signal.SIGKILL)).start()
    with pytest.raises(ChildDied, match="SIGKILL"):
        child.ask([b"sleep"])


def test_one_that_works_for_too_long_is_ended() -> None:
    child = child_for(patience=0.2)
    with pytest.raises(ChildDied, match="no answer for"):
        child.ask([b"sleep"])
    assert child.pid is None
    child.close(10)


@pytest.mark.parametrize("work", ["tests.no_such_module:work", "tests.child_work:nothing"])
def test_one_that_cannot_start_is_a_fault_that_names_its_last_words_and_the_mend(work: str) -> None:
    child = child_for(work)
    with pytest.raises(Unavailable, match=r"exit code 1: (Module|Attribute).*Error: .*Mend it\."):
        child.begin()
    child.close(10)


def test_an_interpreter_that_is_not_there_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(Unavailable, match=r"No such file or directory.*Mend it\."):
        child_for().begin()


def test_closing_ends_it_and_nothing_starts_again(child: Child) -> None:
    child.begin()
    pid = pid_of(child)
    child.close(10)
    assert gone(pid)
    with pytest.raises(Unavailable):
        child.ask([b"x"])


def test_closing_while_it_works_ends_it_by_force(child: Child) -> None:
    child.begin()
    pid = pid_of(child)
    failures: list[type[BaseException]] = []

    def ask() -> None:
        try:
            child.ask([b"sleep"])
        except ChildDied as error:
            failures.append(type(error))

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.2)
    child.close(0.1)
    asking.join(10)
    assert failures == [ChildDied]
    assert gone(pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_whole_group_is_for_the_parent(child: Child, number: int) -> None:
    child.begin()
    os.kill(pid_of(child), number)
    assert child.ask([b"x"])[2] == b"x"


def test_a_killed_parent_leaves_no_child_although_it_is_at_work() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.child_work"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert psutil.pid_exists(pid)
    parent.kill()
    parent.communicate()
    assert gone(pid)
