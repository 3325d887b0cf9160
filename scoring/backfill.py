"""History judged by a new grader or version: asked for by a person, resumable, one at a time."""

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import structlog

from collector.views import RunFilter, RunPosition
from gnomon.clock import Clock, Nanos, to_nanos
from gnomon.errors import Conflict, GnomonError, NotFound
from gnomon.model import Run, RunState
from scoring.backfill_log import Progress as Progress
from scoring.backfill_log import Which as Which
from scoring.grading.port import Grader, State
from scoring.judge import Judging
from scoring.store import Made

log = structlog.get_logger(__name__)

_PAGE = 500


class Log(Protocol):
    """Where it is kept what was asked."""

    def note(self, progress: Progress) -> None:
        """Write how far it is; the last word counts."""

    def last(self) -> Sequence[Progress]:
        """Return what was asked last of each grader and version."""


class Listed(Protocol):
    """What lists runs."""

    def runs(
        self, where: RunFilter, *, limit: int, after: RunPosition | None = None
    ) -> Sequence[Run]:
        """List runs, newest first, behind `after`."""

    def count(self, where: RunFilter) -> int:
        """Return how many runs the filter finds."""


class Backfills:
    """One thread that works off what was asked for."""

    name = "backfills"

    def __init__(self, judging: Judging, listed: Listed, log: Log, *, clock: Clock) -> None:
        self._judging = judging
        self._listed = listed
        self._log = log
        self._clock = clock
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._progress: dict[str, Progress] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to work, first on what the process before this one left unfinished."""
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """End after the runs in work."""
        self._stopping.set()
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(timeout)

    def problem(self) -> str | None:
        """Return why nothing is worked off, or None."""
        if self._thread is not None and not self._thread.is_alive() and not self._stopping.is_set():
            return "the thread has ended; restart this process"
        return None

    def ask(self, name: str, *, since: Nanos | None, which: Which = "missing") -> Progress:
        """Queue a backfill, or join the same one in work.

        Raises NotFound for a grader nobody set up, Conflict while another one of it is in work.
        """
        grader = self._grader(name)
        with self._lock:
            known = self._progress.get(name)
            if known is not None and known.finished_at is None:
                if (known.since, known.which) == (since, which):
                    return known
                raise Conflict(
                    f"another backfill of {name} is in work (--which {known.which});"
                    " `gnomon graders list` shows it: ask again when it is done"
                )
            before = self._left_of(grader, which)
            asked = Progress(
                grader=name,
                grader_version=grader.version,
                which=which,
                since=since,
                # What was judged since it was asked for first is not judged again.
                asked_at=to_nanos(self._clock()) if before is None else before.asked_at,
            )
            self._log.note(asked)
            self._progress[name] = asked
        self._queue.put(name)
        return asked

    def _left_of(self, grader: Grader, which: Which) -> Progress | None:
        """Return the same backfill where it was asked for last and did not come to its end."""
        for one in self._log.last():
            if (one.grader, one.grader_version) == (grader.name, grader.version):
                ended = one.finished_at is not None and one.failing is None
                return None if ended or one.which != which else one
        return None

    def take_up(self) -> Sequence[str]:
        """Queue what a process that ended left unfinished; return the graders."""
        here = {(grader.name, grader.version) for grader in self._judging.graders}
        with self._lock:
            left = [
                one
                for one in self._log.last()
                if one.finished_at is None
                and (one.grader, one.grader_version) in here
                and one.grader not in self._progress
            ]
            for one in left:
                self._progress[one.grader] = replace(one, runs=0, judged=0, left_ns=None)
        for one in left:
            self._queue.put(one.grader)
        return [one.grader for one in left]

    def progress(self) -> Mapping[str, Progress]:
        """Return the last backfill of each grader, of this process or taken up by it."""
        with self._lock:
            return dict(self._progress)

    def work(self, name: str) -> Progress:
        """Do one backfill to its end; what is judged already is left alone."""
        grader, asked = self._grader(name), self._progress[name]
        where = RunFilter(since=asked.since, state=RunState.SETTLED, origin=None)
        try:
            total = self._listed.count(where)
            self._note(name, total=total, begun_at=to_nanos(self._clock()))
            self._walk(name, grader, where, _chosen(asked))
        except GnomonError as error:
            self._note(name, failing=error.detail)
            log.warning("backfill_ended", grader=name, code=error.code)
        if self._stopping.is_set():
            return self._progress[name]  # unfinished, as the log has it: the next process goes on
        self._note(name, finished_at=to_nanos(self._clock()), left_ns=None)
        self._keep(name)
        return self._progress[name]

    def _keep(self, name: str) -> None:
        try:
            self._log.note(self._progress[name])
        except GnomonError as error:
            log.warning("backfill_not_noted", grader=name, code=error.code)

    def _walk(
        self, name: str, grader: Grader, where: RunFilter, again: Callable[[Made], bool]
    ) -> None:
        after: RunPosition | None = None
        while not self._stopping.is_set():
            page = self._listed.runs(where, limit=_PAGE, after=after)
            if not page:
                return
            done = self._judging.runs(page, [grader], again=again)
            now = self._progress[name]
            runs = now.runs + len(page)
            self._note(name, runs=runs, judged=now.judged + done, left_ns=self._left(now, runs))
            after = RunPosition(page[-1].started_at, page[-1].run_id)
            self._keep(name)
        self._note(name, failing="the process stops; the next one goes on")

    def _left(self, now: Progress, runs: int) -> int | None:
        if now.total is None or now.begun_at is None:
            return None
        spent = to_nanos(self._clock()) - now.begun_at
        return max(0, now.total - runs) * spent // runs

    def _run(self) -> None:
        try:
            self.take_up()
        except GnomonError as error:
            log.warning("backfill_not_taken_up", code=error.code)
        while (name := self._queue.get()) is not None:
            if self._stopping.is_set():
                return
            try:
                self.work(name)
            except Exception as error:
                log.error("backfill_broken", grader=name, exc_info=error)
                why = f"{type(error).__name__}: {error}"
                self._note(name, failing=why, finished_at=to_nanos(self._clock()))

    def _grader(self, name: str) -> Grader:
        for grader in self._judging.graders:
            if grader.name == name:
                return grader
        there = ", ".join(grader.name for grader in self._judging.graders) or "none"
        raise NotFound(f"no grader {name} in gnomon.yaml; there are: {there}")

    def _note(self, name: str, **changes: object) -> None:
        with self._lock:
            self._progress[name] = replace(self._progress[name], **changes)  # type: ignore[arg-type]


def _chosen(asked: Progress) -> Callable[[Made], bool]:
    """Return which judgments that were made are made again."""
    match asked.which:
        case "missing":
            return lambda made: made.state is State.WAITING
        case "failed":
            return lambda made: made.state in (State.WAITING, State.FAILED)
        case "all":
            return lambda made: made.at < asked.asked_at
