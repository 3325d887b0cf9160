"""Jobs: functions of one closed window each. The scheduler only ticks; a ledger remembers."""

import datetime as dt
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from gnomon.clock import Clock, Window
from gnomon.errors import GnomonError, NotFound

log = structlog.get_logger(__name__)

_AHEAD = dt.timedelta(seconds=2)
"""A ledger that ends this far in the future was written by a clock that was wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is done for every window, once."""

    name: str
    width: dt.timedelta
    run: Callable[[Window, str], int]
    """Takes a window and a token made of what is written; returns the rows it wrote."""
    watermark: Callable[[], dt.datetime | None]
    """Up to when its source is complete; a window is closed when it ends by then."""
    beginning: Callable[[], dt.datetime | None]
    """When the first thing to work on happened; None while there is nothing."""
    purpose: str = ""
    upcoming: Callable[[dt.datetime], dt.datetime | None] | None = None
    """When the next thing to work on happened, from a moment on; None while there is nothing.

    Windows before it are finished together, without being run.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One finished window."""

    job: str
    window: Window
    rows: int
    finished_at: dt.datetime


class Ledger(Protocol):
    """Which windows of which job are finished."""

    def last_end(self, job: str) -> dt.datetime | None:
        """Return the end of the last window without a gap before it, or None."""

    def finish(self, done: Done) -> None:
        """Note a window; doing it twice is harmless."""

    def last(self, job: str) -> Done | None:
        """Return the window that finished last."""

    def reopen(self, job: str, since: dt.datetime) -> None:
        """Forget the windows that end after a moment; they are worked on again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """How a job stands, as the status page and `gnomon jobs list` show it."""

    name: str
    purpose: str
    width: dt.timedelta
    last: Done | None
    due: int
    """Closed windows that wait."""
    failing: str | None
    """Why the oldest of them did not finish, when it was tried."""
    lag: dt.timedelta | None
    """From the end of the last finished window to now; None before the first."""


@dataclass(slots=True)
class Jobs:
    """The jobs of this process. Ticks may be missed, doubled or concurrent: nothing changes."""

    jobs: Sequence[Job]
    ledger: Ledger
    clock: Clock
    _locks: Mapping[str, threading.Lock] = field(init=False)
    _failures: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._locks = {job.name: threading.Lock() for job in self.jobs}

    def tick(self, job: Job, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Run every closed window that is not done, oldest first; return how many were.

        A window that fails stays open, is named by `state`, and is tried again at the next tick.
        """
        lock = self._locks[job.name]
        if not lock.acquire(blocking=False):
            return 0
        try:
            return self._catch_up(job, stop)
        except BaseException as error:
            # Whatever ends a tick is told: a job that stands still in silence is the worst one.
            code = error.code if isinstance(error, GnomonError) else type(error).__name__
            self._failed(job, told(error), code)
            raise
        finally:
            lock.release()

    def _catch_up(self, job: Job, stop: Callable[[], bool]) -> int:
        self._reopen(job)
        done = 0
        start, complete = self._span(job)
        while start is not None and start + job.width <= complete and not stop():
            busy = self._quiet_until(job, start, complete)
            if busy is None:
                break
            if busy > start:
                self._finish(job, Window(start, busy), 0)
                start = busy
                continue
            window = Window(start, start + job.width)
            rows = self._run(job, window)
            if rows is None:
                break
            self._finish(job, window, rows)
            start = window.end
            done += 1
        else:
            self._failures.pop(job.name, None)
        return done

    def _reopen(self, job: Job) -> None:
        """Open the windows again that a clock closed which ran ahead: what they hold comes yet."""
        end, now = self.ledger.last_end(job.name), self.clock()
        if end is not None and end > now + _AHEAD:
            log.warning("windows_opened_again", job=job.name, ahead_seconds=_seconds(end - now))
            self.ledger.reopen(job.name, now)

    def _run(self, job: Job, window: Window) -> int | None:
        """Run a window; None when it failed. It stays open and is named."""
        try:
            return job.run(window, f"{job.name}:{window}")
        except GnomonError as error:
            self._failed(job, f"{window}: {error.detail}", error.code)
        except (Exception, SystemExit) as error:
            log.error("window_broken", job=job.name, window=str(window), exc_info=error)
            self._failed(job, f"{window}: {told(error)}", type(error).__name__)
        return None

    def _quiet_until(
        self, job: Job, start: dt.datetime, complete: dt.datetime
    ) -> dt.datetime | None:
        """Return the start of the first window with something in it; None when nobody answers."""
        if job.upcoming is None:
            return start
        try:
            found = job.upcoming(start)
        except GnomonError as error:
            self._failed(job, error.detail, error.code)
            return None
        return floor(complete if found is None else min(found, complete), job.width)

    def _failed(self, job: Job, why: str, code: str) -> None:
        if self._failures.get(job.name) != why:
            log.warning("window_failed", job=job.name, why=why[:500], code=code)
        self._failures[job.name] = why

    def _finish(self, job: Job, window: Window, rows: int) -> None:
        self._failures.pop(job.name, None)
        self.ledger.finish(Done(job=job.name, window=window, rows=rows, finished_at=self.clock()))
        if rows:
            log.info("window_finished", job=job.name, window=str(window), rows=rows)

    def _span(self, job: Job) -> tuple[dt.datetime | None, dt.datetime]:
        """Return from where on windows are open, and up to when its source is complete.

        Source and clock must agree: a window that lies ahead of either is not closed.
        """
        complete = job.watermark()
        start = self.ledger.last_end(job.name)
        if start is None:
            first = job.beginning()
            start = None if first is None else floor(first, job.width)
        if complete is None or start is None:
            return None, self.clock()
        return start, min(complete, self.clock())

    @property
    def failures(self) -> Mapping[str, str]:
        """Why the oldest open window of a job did not finish, by job."""
        return dict(self._failures)

    def working(self, name: str) -> bool:
        """Return whether a tick of the job is in work."""
        return self._locks[name].locked()

    def named(self, name: str) -> Job:
        """Return a job; raises NotFound that names those there are."""
        for job in self.jobs:
            if job.name == name:
                return job
        raise NotFound(f"no job {name}; there are {', '.join(job.name for job in self.jobs)}")

    def state(self, job: Job) -> JobState:
        """Return how a job stands."""
        last = self.ledger.last(job.name)
        start, complete = self._span(job)
        return JobState(
            name=job.name,
            purpose=job.purpose,
            width=job.width,
            last=last,
            due=0 if start is None else max(0, (complete - start) // job.width),
            failing=self._failures.get(job.name) or self._ahead(last),
            lag=None if last is None else max(self.clock() - last.window.end, dt.timedelta(0)),
        )

    def _ahead(self, last: Done | None) -> str | None:
        ahead = dt.timedelta(0) if last is None else last.window.end - self.clock()
        if ahead <= _AHEAD:
            return None
        return (
            f"its ledger ends {_seconds(ahead)} s in the future: the clock of this machine went back;"
            " the next tick opens those windows again, and if this stays, set the clock right"
        )


def _seconds(span: dt.timedelta) -> int:
    return round(span.total_seconds())


def told(error: BaseException) -> str:
    """Return what an error says, of the known ones without their name."""
    return error.detail if isinstance(error, GnomonError) else f"{type(error).__name__}: {error}"


def floor(moment: dt.datetime, width: dt.timedelta) -> dt.datetime:
    """Return the start of the window of this width (counted from 1970) that holds a moment."""
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return epoch + (moment - epoch) // width * width
