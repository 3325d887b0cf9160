"""One process owns an embedded directory: the lock, and who holds it."""

import errno
import fcntl
import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import psutil

from gnomon.errors import ConfigError, DiskFull, GnomonError, StoreHeld

LOCK = "store.lock"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Hold:
    """The exclusive right to a data directory. Ends with `release` or with the process."""

    def __init__(self, data: Path, lock: str = LOCK) -> None:
        self._file = _open(data / lock)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _noted(self._file)
            self._file.close()
            raise held(data, holder) from None
        except OSError as error:
            self._file.close()
            raise file_fault(error, data) from error
        try:
            _note(self._file)
        except OSError as error:
            self._file.close()
            raise file_fault(error, data) from error

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


_GONE = "put it back and restart Gnomon, or choose another directory with --data"
_RIGHTS = "mend its rights, or choose another directory with --data"
_MENDS: Mapping[int, str] = {
    errno.ENOENT: _GONE,
    errno.ESTALE: _GONE,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: "mount it writable again (`dmesg` says why it is not), or choose another with --data",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`, LimitNOFILE=) and restart Gnomon",
    errno.ENFILE: "raise the machine's limit of open files (fs.file-max)",
    errno.EIO: "the disk answers with errors (`dmesg`): replace it and restore a backup",
    errno.ENOLCK: "the file system grants no locks (NFS?); choose a local directory with --data",
}

REFUSALS = frozenset({*_MENDS, *_FULL})
"""Numbers with which the operating system refuses a file, whoever asks."""


def mend_of_file(number: int | None) -> str:
    """Return what to do when the operating system refuses a file with this number."""
    return _MENDS.get(number or 0, "choose a directory that can be written with --data")


def file_fault(error: OSError, where: Path) -> GnomonError:
    """Return the error of the house for a file that cannot be written."""
    if error.errno in _FULL:
        return DiskFull(f"{where}: {error.strerror}; free some, or move the data directory")
    return ConfigError(f"{where}: {error.strerror}; {mend_of_file(error.errno)}")


def _open(path: Path) -> BinaryIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("ab+", buffering=0)
    except OSError as error:
        raise file_fault(error, path.parent) from error


def _note(file: BinaryIO) -> None:
    text = json.dumps({"pid": os.getpid(), "command": command_of(os.getpid())})
    file.truncate(0)
    file.write(text.encode() + b"\n")


def _noted(file: BinaryIO) -> int | None:
    file.seek(0)
    try:
        pid = json.loads(file.read())["pid"]
    except (ValueError, KeyError, TypeError):
        return None
    return pid if isinstance(pid, int) else None
