"""The one thread that writes to the spool: all that waits is one transaction, one fsync for many."""

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from collector.queue.database import fault, give_back_space
from gnomon.errors import GnomonError, Unavailable

T = TypeVar("T")

Work = Callable[[sqlite3.Connection], T]
"""Changes to make. Raises an error of the house before it changes anything, or not at all."""

_MOST_TOGETHER = 500
"""Pieces of work in one transaction: bounds how long the first of them waits."""


@dataclass(frozen=True, slots=True)
class _Job:
    work: Work[Any]
    future: "Future[Any]"


class Committer:
    """Runs work in the order it came. A future is done when its work is on disk."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="spool-committer", daemon=True)
        self._failure: str | None = None
        self._thread.start()

    @property
    def failure(self) -> str | None:
        """Why the last transaction failed; None once one succeeded."""
        if not self._closed and not self._thread.is_alive():
            return "the thread that writes the queue has ended; restart this process"
        return self._failure

    def submit(self, work: Work[T]) -> "Future[T]":
        """Ask for work to be done; does not wait."""
        future: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise Unavailable("the queue is closed; this process is stopping")
            self._jobs.put(_Job(work, future))
        return future

    def close(self, timeout: float) -> None:
        """Finish what was submitted, then end the thread and close the connection."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join(timeout)
        if not self._thread.is_alive():
            self._db.close()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            jobs = [job]
            last = self._gather(jobs)
            self._commit([job for job in jobs if job.future.set_running_or_notify_cancel()])
            self._tidy()
            if last:
                return

    def _gather(self, jobs: list[_Job]) -> bool:
        """Add what came meanwhile; tell whether the end was among it."""
        while len(jobs) < _MOST_TOGETHER:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return False
            if job is None:
                return True
            jobs.append(job)
        return False

    def _commit(self, jobs: list[_Job]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            answers = [_attempt(job, self._db) for job in jobs]
            self._db.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - whatever broke, nobody may wait for ever
            self._give_up(jobs, error)
            return
        self._failure = None
        for job, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, GnomonError):
                job.future.set_exception(answer)
            else:
                job.future.set_result(answer)

    def _tidy(self) -> None:
        try:
            give_back_space(self._db)
        except sqlite3.Error as error:
            self._failure = str(fault(error, self._path))

    def _give_up(self, jobs: list[_Job], error: Exception) -> None:
        told = fault(error, self._path) if isinstance(error, sqlite3.Error) else error
        self._failure = str(told)
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error as again:
            self._failure = f"{told}; and rolling back failed: {again}"
        for job in jobs:
            job.future.set_exception(told)


def _attempt(job: _Job, db: sqlite3.Connection) -> object:
    """Do one piece of work; a refusal is its answer and no one else's."""
    try:
        return job.work(db)
    except GnomonError as refusal:
        return refusal
