"""A check that is a program: no shell, a time limit for it and all it starts, bounded output.

At its end its process group is killed, and every process that descends from it or carries the mark
that its environment holds, whatever session it moved to. What remains: a process that left the
group, whose parents had ended before, and that emptied its own environment; and one that runs as
another user. Only a container for the program holds those.
"""

import os
import selectors
import signal
import subprocess  # noqa: TID251 - the operator's own program, named in gnomon.yaml
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import IO

import psutil

from gnomon.model import JsonValue
from scoring.grading import sources
from scoring.grading.answers import json_of
from scoring.grading.limit import Stopping, TookTooLong
from scoring.grading.port import CheckFailed

_CHUNK = 64 * 1024
_MARK = "GNOMON_CHECK"
"""Variable by which what the program started is known."""

_LOOK = 0.1
"""Seconds between two looks at whether the process stops."""

_LAST = 0.05
"""Seconds that a program is given to end which has closed its output."""

_ROUNDS = 5
"""Times the family is looked for again after a kill."""

_GONE_WITHIN = 0.5
"""Seconds a killed process is given to be gone."""


def ask(
    argv: Sequence[str],
    said: bytes,
    timeout: timedelta,
    *,
    env: Mapping[str, str],
    directory: Path | None,
    stop: Callable[[], bool] = lambda: False,
) -> "JsonValue | sources.Unknown":
    """Return the JSON a program answers with; raises CheckFailed for everything else.

    It must end with exit code 0: an interpreter that crashes also ends with 1, and that is no
    verdict on the agent.
    """
    seconds = timeout.total_seconds()
    mark = uuid.uuid4().hex
    with tempfile.TemporaryFile() as given:
        given.write(said)
        given.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell; the program is fixed in gnomon.yaml
                list(argv),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath, **env, _MARK: mark},
                cwd=directory,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise CheckFailed(f"{argv[0]} does not start: {error}") from error
    assert process.stdout is not None
    try:
        ends = time.monotonic() + seconds
        body = _read(process.stdout, ends, stop)
        code = _waited(process, ends, stop)
    except TimeoutError as error:
        raise TookTooLong(f"the command did not end within {seconds:g} s") from error
    finally:
        _end(process, mark)
    if code != 0:
        raise CheckFailed(f"the command ended with exit code {code}")
    return json_of(body, "the command wrote no JSON")


def _read(pipe: IO[bytes], ends: float, stop: Callable[[], bool]) -> bytes:
    body = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while True:
            if not ready.select(_left(ends, stop)):
                continue
            part = os.read(pipe.fileno(), _CHUNK)
            if not part:
                return bytes(body)
            body += part
            if len(body) > sources.LARGEST:
                raise CheckFailed(f"the command wrote more than {sources.LARGEST} bytes")


def _waited(process: "subprocess.Popen[bytes]", ends: float, stop: Callable[[], bool]) -> int:
    ends = max(ends, time.monotonic() + _LAST)
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_left(ends, stop))


def _left(ends: float, stop: Callable[[], bool]) -> float:
    """Return how long to wait before the next look; raises when nothing is waited for any more."""
    if stop():
        raise Stopping
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return min(left, _LOOK)


def _end(process: "subprocess.Popen[bytes]", mark: str) -> None:
    """Kill what is left of the program and of what it started."""
    # Before the kill: a parent that is gone can not be asked for its children.
    family = [] if process.poll() is not None else _descendants(psutil.Process(process.pid))
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        process.kill()
    for _ in range(_ROUNDS):
        family = [one for one in {*family, *_marked(mark)} if _runs(one)]
        if not family:
            break
        family += [child for one in family for child in _descendants(one)]
        for one in family:
            # psutil compares the time of start: a number that was given anew is not killed.
            with suppress(psutil.Error):
                one.kill()
        psutil.wait_procs(family, timeout=_GONE_WITHIN)
    if process.stdout is not None:
        process.stdout.close()
    process.wait()


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _marked(mark: str) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for one in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if one.environ().get(_MARK) == mark:
                found.append(one)
    return found


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
