"""A check that is a program: no shell, a time limit for it and all it starts, bounded output."""

import json
import os
import selectors
import signal
import subprocess  # noqa: TID251 - the operator's own program, named in gnomon.yaml
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import IO

from gnomon.model import JsonValue
from scoring.grading import sources
from scoring.grading.port import CheckFailed

_CHUNK = 64 * 1024


def ask(
    argv: Sequence[str],
    said: bytes,
    timeout: timedelta,
    *,
    env: Mapping[str, str],
    directory: Path | None,
) -> "JsonValue | sources.Unknown":
    """Return the JSON a program answers with; raises CheckFailed for everything else.

    It must end with exit code 0: an interpreter that crashes also ends with 1, and that is no
    verdict on the agent.
    """
    seconds = timeout.total_seconds()
    with tempfile.TemporaryFile() as given:
        given.write(said)
        given.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell; the program is fixed in gnomon.yaml
                list(argv),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath, **env},
                cwd=directory,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise CheckFailed(f"{argv[0]} does not start: {error}") from error
    assert process.stdout is not None
    try:
        ends = time.monotonic() + seconds
        body = _read(process.stdout, ends, seconds)
        code = process.wait(max(0.05, ends - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise CheckFailed(f"the command did not end within {seconds:g} s") from error
    finally:
        _end(process)
    if code != 0:
        raise CheckFailed(f"the command ended with exit code {code}")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise CheckFailed("the command wrote no JSON") from error


def _read(pipe: IO[bytes], ends: float, seconds: float) -> bytes:
    body = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while True:
            left = ends - time.monotonic()
            if left <= 0 or not ready.select(left):
                raise CheckFailed(f"the command did not end within {seconds:g} s")
            part = os.read(pipe.fileno(), _CHUNK)
            if not part:
                return bytes(body)
            body += part
            if len(body) > sources.LARGEST:
                raise CheckFailed(f"the command wrote more than {sources.LARGEST} bytes")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of the program and of what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        process.kill()
    if process.stdout is not None:
        process.stdout.close()
    process.wait()
