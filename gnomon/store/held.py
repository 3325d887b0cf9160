"""One process owns an embedded directory: the lock, and who holds it."""

import fcntl
import json
import os
import shlex
from pathlib import Path
from typing import IO

import psutil

from gnomon.errors import ConfigError, DiskFull, StoreHeld

LOCK = "store.lock"


class Hold:
    """The exclusive right to a data directory. Ends with `release` or with the process."""

    def __init__(self, data: Path) -> None:
        self._file = _open(data / LOCK)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _noted(self._file)
            self._file.close()
            raise held(data, holder) from None
        _note(self._file)

    def release(self) -> None:
        """Let another process have the directory."""
        self._file.close()


def held(data: Path, pid: int | None) -> StoreHeld:
    """Return the error that names the process holding a directory, and the mend."""
    where = f"{data} belongs to another process"
    if pid == os.getpid():
        where = f"{data} is already open in this process (pid {pid})"
    elif pid is not None:
        where = f"{data} belongs to process {pid} ({command_of(pid)})"
    return StoreHeld(
        f"{where}. Talk to that process (the other commands do, through its API; GNOMON_URL says "
        "where it is), stop it, or choose another directory with --data.",
        pid=pid,
    )


def command_of(pid: int) -> str:
    """Return the command line of a process, or what can be said instead."""
    try:
        return shlex.join(psutil.Process(pid).cmdline())[:200] or "a system process"
    except psutil.NoSuchProcess:
        return "a process that has just ended"
    except psutil.Error:
        return "a process of another user"


def engine_holder(directory: Path) -> int | None:
    """Return the pid the engine itself noted in its directory, if that process lives."""
    try:
        lines = (directory / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name == "PID" and value.strip().isdigit() and psutil.pid_exists(int(value)):
            return int(value)
    return None


def _open(path: Path) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a+", encoding="utf-8")
    except OSError as error:
        if error.errno in (28, 122):
            raise DiskFull(f"{path.parent}: no space left on the device") from error
        raise ConfigError(
            f"{path.parent}: {error.strerror}; choose a directory that can be written with --data"
        ) from error


def _note(file: IO[str]) -> None:
    file.truncate(0)
    file.write(json.dumps({"pid": os.getpid(), "command": command_of(os.getpid())}) + "\n")
    file.flush()


def _noted(file: IO[str]) -> int | None:
    file.seek(0)
    try:
        pid = json.loads(file.read())["pid"]
    except (ValueError, KeyError, TypeError):
        return None
    return pid if isinstance(pid, int) else None
