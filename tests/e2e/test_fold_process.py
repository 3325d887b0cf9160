"""The process that folds, beside a real `gnomon serve`: it comes and goes with it."""

import signal
import time
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.serving import Serving, serving, start


def child_of(house: Serving) -> psutil.Process:
    """Return the one process of its own, once it is there."""

    def found() -> psutil.Process | None:
        children = psutil.Process(house.process.pid).children()
        return children[0] if len(children) == 1 else None

    child = house.wait_for("a process that folds", found)
    assert isinstance(child, psutil.Process)
    return child


def ended(process: psutil.Process) -> bool:
    for _ in range(200):
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


def test_a_killed_server_leaves_no_process_behind(tmp_path: Path) -> None:
    with serving(tmp_path / "data", FOLD_PROCESSES="1") as house:
        child = child_of(house)
        house.kill()
        assert ended(child)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_whole_group_ends_both_without_a_stack_trace(
    tmp_path: Path, number: signal.Signals
) -> None:
    house = start(tmp_path / "data", FOLD_PROCESSES="1")
    try:
        child = child_of(house)
        for process in (child, psutil.Process(house.process.pid)):
            process.send_signal(number)
        assert house.process.wait(60) == 0
        assert ended(child)
        assert "Traceback" not in house.log.read_text()
    finally:
        house.kill()
        house.close()


def test_a_killed_child_is_replaced_while_nothing_is_to_do(tmp_path: Path) -> None:
    with serving(tmp_path / "data", FOLD_PROCESSES="1") as house:
        first = child_of(house)
        first.kill()
        house.wait_for("another process", lambda: child_of(house).pid != first.pid)
        ready = f"{house.addresses['web']}/readyz"
        house.wait_for("readiness", lambda: httpx2.get(ready, timeout=30).status_code == 200)


def test_without_a_process_of_its_own_the_server_folds_itself(tmp_path: Path) -> None:
    with serving(tmp_path / "data", FOLD_PROCESSES="0") as house:
        assert house.get("/readyz") == {}
        assert psutil.Process(house.process.pid).children() == []
