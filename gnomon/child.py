"""A process that works for this one: bytes in, bytes out, over two pipes, as long as this one lives.

It is a fresh interpreter that imports what its work needs and nothing else; no memory is shared, and
nothing is pickled. A message is a count, that many lengths, and that many pieces of bytes.
"""

import contextlib
import gc
import importlib
import os
import queue
import select
import signal
import struct
import subprocess  # noqa: TID251 - our own interpreter; programs of others are gnomon.sandbox's
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO

from gnomon.errors import Unavailable

Pieces = Sequence[bytes]

Answer = Callable[[Pieces], Pieces]
"""What a child does, again and again. It raises nothing: what went wrong is in the answer."""

START_SECONDS = 60.0
"""The longest a child may take before it says that it is ready."""

NICENESS = 10
"""Whoever answers a sender or a reader comes first."""

_COUNT = struct.Struct("!I")
_LENGTH = struct.Struct("!Q")
_LAST_WORDS = 400
_READY: Pieces = (b"ready",)

# The child sees the modules this process sees: not what lies in the working directory (-P).
_BEGIN = (
    "import sys; sys.path[:] = sys.argv[2:]; from gnomon.child import answer; answer(sys.argv[1])"
)


class ChildDied(Exception):
    """The child ended, or had to be ended, before it answered."""


class _Ended(Exception):
    """The other side of a pipe is gone."""


class _Late(Exception):
    """The other side of a pipe says nothing."""


class Child:
    """The process at the other end. Those who ask wait for each other; it is started when needed.

    `mend` ends the complaint that it cannot be started.
    """

    def __init__(self, work: str, hello: bytes, *, patience: float, mend: str) -> None:
        self._work = work
        self._hello = hello
        self._patience = patience
        self._mend = mend
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        self._closed = False
        self._asking = threading.RLock()

    @property
    def pid(self) -> int | None:
        """The process id of the child, if it lives."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def begin(self) -> None:
        """Start the process unless it runs; raises Unavailable when that is not possible."""
        with self._asking:
            if self._closed:
                raise Unavailable("this process is stopping")
            if self.pid is not None:
                return
            self._let_go()
            self._start()
            try:
                self._send((self._hello,))
                self._receive(START_SECONDS)
            except (_Ended, _Late) as error:
                raise self._missing(self._end()) from error

    def ask(self, pieces: Pieces) -> Pieces:
        """Return the answer; raises ChildDied when there will be none."""
        with self._asking:
            self.begin()
            try:
                self._send(pieces)
                return self._receive(self._patience)
            except _Ended as error:
                raise ChildDied(self._end()) from error
            except _Late as error:
                self._end()
                raise ChildDied(f"no answer for {self._patience:.0f} s") from error

    def close(self, timeout: float) -> None:
        """End the process for good: by the end of its pipe, or by force while it is at work."""
        self._closed = True
        if not self._asking.acquire(timeout=timeout):
            process = self._process
            if process is not None:
                process.kill()  # whoever asks it notices, and lets go of it
            return
        try:
            process = self._process
            if process is not None:
                _closed(process.stdin)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout)
                process.kill()
                self._let_go()
        finally:
            self._asking.release()

    def _start(self) -> None:
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process is let go
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-P", "-c", _BEGIN, self._work, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                bufsize=0,
                process_group=0,  # Ctrl+C is for this process, which then ends its child
            )
        except OSError as error:
            self._let_go()
            raise self._missing(str(error.strerror)) from error

    def _missing(self, why: str) -> Unavailable:
        return Unavailable(f"the process for {self._work} cannot be started ({why}). {self._mend}")

    def _send(self, pieces: Pieces) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            _write(process.stdin.fileno(), pieces)
        except (OSError, ValueError) as error:
            raise _Ended from error

    def _receive(self, patience: float) -> Pieces:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        try:
            return _read(process.stdout.fileno(), until=time.monotonic() + patience)
        except (OSError, ValueError) as error:
            raise _Ended from error

    def _end(self) -> str:
        """Make sure that the process is gone; return what is known about its end."""
        process = self._process
        assert process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)  # its pipe ends a moment before the process does
        process.kill()
        told = _how(process.wait()) + self._last_words()
        self._let_go()
        return told

    def _last_words(self) -> str:
        if self._words is None:
            return ""
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:_LAST_WORDS]}" if lines else ""

    def _let_go(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _closed(process.stdin)
            _closed(process.stdout)
            process.wait()
        _closed(self._words)
        self._words = None


def _closed(file: IO[bytes] | None) -> None:
    if file is not None:
        with contextlib.suppress(OSError):
            file.close()


def _how(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def answer(work: str) -> None:
    """Be a child: make the work `module:function` from the first message, then answer the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the end of the pipe is what counts
    os.nice(NICENESS)
    # Whatever prints must not speak into the pipe.
    out = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asked: queue.SimpleQueue[Pieces] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.fileno(), asked), daemon=True).start()
    module, _, name = work.partition(":")
    do: Answer = getattr(importlib.import_module(module), name)(asked.get()[0])
    # What a message leaves behind has no circles worth looking for while it is in work.
    gc.freeze()
    gc.disable()
    _write(out, _READY)
    while True:
        pieces = asked.get()
        answered = do(pieces)
        del pieces
        try:
            _write(out, answered)
        except OSError:
            os._exit(0)
        del answered
        gc.collect(1)


def _listen(descriptor: int, asked: "queue.SimpleQueue[Pieces]") -> None:
    """Take in messages; end this process when there will be none, in the midst of any work."""
    try:
        while True:
            asked.put(_read(descriptor))
    except (_Ended, OSError):
        os._exit(0)


def _write(descriptor: int, pieces: Pieces) -> None:
    head = _COUNT.pack(len(pieces)) + b"".join(_LENGTH.pack(len(piece)) for piece in pieces)
    for piece in (head, *pieces):
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def _read(descriptor: int, *, until: float | None = None) -> Pieces:
    (count,) = _COUNT.unpack(_exactly(descriptor, _COUNT.size, until))
    lengths = _exactly(descriptor, count * _LENGTH.size, until)
    return [_exactly(descriptor, length, until) for (length,) in _LENGTH.iter_unpack(lengths)]


def _exactly(descriptor: int, size: int, until: float | None) -> bytes:
    got: list[bytes] = []
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    while size:
        if until is not None and not waiting.poll(max(0.0, until - time.monotonic()) * 1000):
            raise _Late
        some = os.read(descriptor, size)
        if not some:
            raise _Ended
        got.append(some)
        size -= len(some)
    return got[0] if len(got) == 1 else b"".join(got)
