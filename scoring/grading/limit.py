"""Calls of what is not ours, bounded in time; who takes too long again and again is left alone."""

import datetime as dt
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gnomon.errors import Unavailable
from scoring.grading.port import Answer, Evidence, Grader, TryAgain

T = TypeVar("T")

_HANGING = 16
"""Calls that never ended, from which on nobody is asked any more: each keeps a thread."""

_LOOK = 0.1
"""Seconds between two looks at whether the process stops."""

_IN_A_ROW = 3
"""Calls that took too long, one after the other, after which a grader is set aside."""

_ASIDE_FIRST, _ASIDE_LONGEST = 60.0, 1800.0
"""Seconds that it is set aside: doubled each time it takes too long again."""


class Stopping(Unavailable):
    """The process stops; what is left is judged after the next start."""

    code = "stopping"


class TookTooLong(TryAgain):
    """There was no answer within the limit."""


class SetAside(TryAgain):
    """The grader was not asked: it took too long several times in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """Calls something in threads that are left behind when they take too long."""

    limit: dt.timedelta
    name: str
    stop: Callable[[], bool] = lambda: False
    _left: list[threading.Thread] = field(default_factory=list)

    def __call__(self, work: Callable[[], T], give_up: Callable[[], None] = lambda: None) -> T:
        """Return what `work` returns; raises what it raises, TookTooLong, or Stopping.

        `give_up` is called when nobody waits any more, so that the work ends soon.
        """
        self._refuse_too_many()
        call = _Call(work)
        # A daemon: a thread that never ends must not keep the process.
        thread = threading.Thread(target=call.run, name=f"grader-{self.name}", daemon=True)
        thread.start()
        seconds = self.limit.total_seconds()
        ends = time.monotonic() + seconds
        while not call.over.wait(max(0.0, min(_LOOK, ends - time.monotonic()))):
            stopping = self.stop()
            if stopping or time.monotonic() >= ends:
                self._left.append(thread)
                give_up()
                raise Stopping if stopping else TookTooLong(f"took longer than {seconds:g} s")
        return call.result()

    def _refuse_too_many(self) -> None:
        self._left[:] = [thread for thread in self._left if thread.is_alive()]
        if len(self._left) >= _HANGING:
            raise SetAside(
                f"{len(self._left)} calls of it never ended, so it is not asked any more;"
                " mend it and restart this process"
            )


class _Call(Generic[T]):
    """One call, in a thread that may be left behind."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._error: BaseException | None = None
        self.over = threading.Event()

    def run(self) -> None:
        """Work."""
        try:
            self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised by result(), where somebody waits
            self._error = error
        finally:
            self.over.set()

    def result(self) -> T:
        """Return what the work returned, or raise what it raised."""
        if self._error is not None:
            raise self._error
        return self._found[0]


@dataclass(slots=True)
class _Record:
    """How a grader kept its limit of late."""

    in_a_row: int = 0
    seconds: float = 0.0
    until: float = 0.0
    trying: bool = False
    """Its while is over, and one run is tried."""
    why: str = ""


class Patience:
    """Asks graders; one that takes too long several times in a row is set aside for a while.

    Else a grader that hangs would hold every run of every other grader for its limit. When the
    while is over one run is tried, and the others wait for what comes of it.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._records: dict[str, _Record] = {}

    def ask(self, grader: Grader, evidence: Evidence) -> Answer:
        """Return what a grader answers; raises what it raises, or SetAside."""
        self._refuse(grader.name)
        try:
            answer = grader.grade(evidence)
        except TookTooLong as error:
            self._late(grader.name, str(error))
            raise
        except SetAside:
            raise
        except BaseException:
            self._in_time(grader.name)
            raise
        self._in_time(grader.name)
        return answer

    def problems(self) -> Mapping[str, str]:
        """Return why graders are set aside, by name."""
        now = self._now()
        with self._lock:
            return {
                name: _told(record, now)
                for name, record in self._records.items()
                if record.in_a_row >= _IN_A_ROW
            }

    def _refuse(self, name: str) -> None:
        now = self._now()
        with self._lock:
            record = self._records.get(name)
            if record is None or record.in_a_row < _IN_A_ROW:
                return
            if now < record.until:
                raise SetAside(f"not asked: {_told(record, now)}")
            record.until, record.trying = now + record.seconds, True

    def _late(self, name: str, why: str) -> None:
        with self._lock:
            record = self._records.setdefault(name, _Record())
            record.in_a_row += 1
            record.why = why
            if record.in_a_row < _IN_A_ROW:
                return
            # Calls that were under way together are late together, and count once.
            if record.trying or not record.seconds:
                record.seconds = min(max(_ASIDE_FIRST, 2 * record.seconds), _ASIDE_LONGEST)
            record.until, record.trying = self._now() + record.seconds, False

    def _in_time(self, name: str) -> None:
        with self._lock:
            self._records.pop(name, None)


def _told(record: _Record, now: float) -> str:
    return (
        f"set aside, {record.in_a_row} calls in a row failed: {record.why};"
        f" tried again in {max(0, round(record.until - now))} s"
    )
