"""What a check's program started is gone when the check is."""

import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from scoring.grading.command_check import ask
from scoring.grading.port import CheckFailed

LEAVES = """
import os, subprocess, sys, time
child = subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(600)"],
    start_new_session=True, stdin=subprocess.DEVNULL, stdout={out}, stderr=subprocess.DEVNULL,
)
open({file!r}, "w").write(str(child.pid))
print('{{"passed": true}}', flush=True)
{then}
"""


def run(file: Path, *, out: str, then: str = "", seconds: float = 10) -> object:
    code = LEAVES.format(file=str(file), out=out, then=then)
    env: Mapping[str, str] = {}
    words = [sys.executable, "-c", code]
    return ask(words, b"{}", timedelta(seconds=seconds), env=env, directory=None)


def gone(file: Path) -> bool:
    """Return whether the child ended (a zombie waits for whoever takes it up)."""
    pid = int(file.read_text())
    for _ in range(50):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def test_a_child_in_a_session_of_its_own_ends_with_a_check_that_answered(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    assert run(file, out="subprocess.DEVNULL") == {"passed": True}
    assert gone(file), "its parent was gone before anybody could ask it for its children"


@pytest.mark.parametrize(("out", "then"), [("None", ""), ("subprocess.DEVNULL", "time.sleep(600)")])
def test_a_child_in_a_session_of_its_own_ends_with_a_check_that_took_too_long(
    tmp_path: Path, out: str, then: str
) -> None:
    file = tmp_path / "pid"
    with pytest.raises(CheckFailed, match="did not end within"):
        run(file, out=out, then=then, seconds=2)
    assert gone(file)
