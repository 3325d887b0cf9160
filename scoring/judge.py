"""The job that judges settled runs: every run by every grader, once for each revision."""

import datetime as dt
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import structlog

from collector.reading.changes import lots_of_runs
from gnomon.clock import Clock, Nanos, Window, from_nanos, to_nanos
from gnomon.model import Run, RunId, RunState, Step
from scoring.grading.evidence import BodyReader, StoredEvidence
from scoring.grading.limit import Patience, Stopping
from scoring.grading.port import Grader, State
from scoring.grading.run import Judged, judge
from scoring.jobs import Job
from scoring.store import JudgedKey, Made
from scoring.verdicts import JudgedRun

log = structlog.get_logger(__name__)

JUDGE = "judge"
WIDTH = dt.timedelta(seconds=10)
VERDICTS = "verdicts"
RETRIES = "retries"
_HOUR = dt.timedelta(hours=1)
_BEFORE = dt.timedelta(hours=1)
"""How far before its window the second look begins: a clock that was set back writes there."""

_AT_ONCE = 8
"""Runs judged at the same time: graders that ask other systems wait most of the time."""


_LOT = 200
"""Runs read and judged together; writing every 50 takes two and a half times as long."""

_HELD = 2.0
"""Seconds that judgments are held at most before they are written, where graders are slow.

What is written is not judged again after a restart.
"""


class RunsRead(BodyReader, Protocol):
    """What the collector is asked for."""

    def settled_between(self, start: Nanos, end: Nanos) -> list[RunId]:
        """Return the runs that were written as settled in [start, end)."""

    def first_written(self, since: Nanos) -> Nanos | None:
        """Return when the first run was written from `since` on."""

    def many_runs(self, run_ids: Iterable[str]) -> dict[RunId, Run]:
        """Return many runs by id."""

    def counted_steps(self, runs: Sequence[Run]) -> dict[RunId, list[Step]]:
        """Return the counted steps of some runs."""


class Judgments(Protocol):
    """What was judged."""

    def judged(self, runs: Sequence[Run]) -> Mapping[JudgedKey, Made]:
        """Return which judgments of these runs were made."""

    def due(self, graders: Sequence[Grader], now: Nanos) -> Mapping[RunId, set[str]]:
        """Return the runs of which graders are to be asked again by now, with their names."""


class Written(Protocol):
    """Where judgments go."""

    def write(self, judged: Sequence[Judged]) -> None:
        """Write labels, violations and statuses."""


class Summed(Protocol):
    """Where the verdicts of runs are kept."""

    def lacking(self, runs: Sequence[Run], known: Mapping[JudgedKey, Made]) -> set[RunId]:
        """Return the runs whose verdict is missing, or older than a judgment of theirs."""

    def keep(self, judged: Sequence[JudgedRun], *, at: Nanos) -> None:
        """Write the verdicts of runs whose judgments are stored."""


class Meter(Protocol):
    """What judging tells about itself."""

    def judged(self, judged: Sequence[Judged]) -> None:
        """These judgments are stored."""


class Judging:
    """Judges runs that lack a judgment. Doing it twice changes nothing."""

    def __init__(
        self,
        graders: Sequence[Grader],
        reader: RunsRead,
        judgments: Judgments,
        writer: Written,
        verdicts: Summed,
        *,
        clock: Clock,
        meter: Meter,
        stop: Callable[[], bool] = lambda: False,
        patience: Patience | None = None,
    ) -> None:
        self.graders = graders
        self.patience = patience or Patience()
        self._reader = reader
        self._judgments = judgments
        self._writer = writer
        self._verdicts = verdicts
        self._clock = clock
        self._meter = meter
        self._stop = stop
        self._one_at_a_time = threading.Lock()

    def window(self, window: Window, token: str) -> int:
        """Judge the runs that were written as settled in a window; return the judgments made."""
        del token  # what is written names itself
        return self._settled_in(window)

    def sum_up(self, window: Window, token: str) -> int:
        """Make the verdicts that are missing, and judge runs that nobody looked at.

        Such runs were written in a window that was closed already: the clock had been set back.
        """
        del token
        return self._settled_in(Window(window.start - _BEFORE, window.end), unseen=True)

    def retry(self, window: Window, token: str) -> int:
        """Ask again what did not answer for now and is due, whenever that was."""
        del window, token
        now = to_nanos(self._clock())
        due = self._judgments.due(self.graders, now)
        runs = self._reader.many_runs(due)
        done = 0
        for grader in self.graders:
            waiting = [run for run_id, run in runs.items() if grader.name in due[run_id]]
            settled = [run for run in waiting if run.state is RunState.SETTLED]
            done += self.runs(
                settled,
                [grader],
                again=lambda made: made.again_at is not None and made.again_at <= now,
            )
        return done

    def due(self) -> bool:
        """Return whether anything is to be asked again by now."""
        return bool(self._judgments.due(self.graders, to_nanos(self._clock())))

    def _settled_in(self, window: Window, *, unseen: bool = False) -> int:
        ids = self._reader.settled_between(to_nanos(window.start), to_nanos(window.end))
        done = 0
        for start in range(0, len(ids), 500):
            runs = self._reader.many_runs(ids[start : start + 500]).values()
            settled = [run for run in runs if run.state is RunState.SETTLED]
            done += self.runs(settled, self.graders, unseen=unseen)
        return done

    def runs(
        self,
        runs: Sequence[Run],
        graders: Sequence[Grader],
        *,
        again: Callable[[Made], bool] = lambda made: made.state is State.WAITING,
        unseen: bool = False,
    ) -> int:
        """Judge settled runs by those graders that have not judged their present revision.

        With `unseen`, only runs whose present revision nobody has looked at are judged.
        """
        done = 0
        for lot in lots_of_runs(runs, _LOT):
            if self._stop():
                raise Stopping
            # Two threads that judge the same run would both do the work.
            with self._one_at_a_time:
                done += self._lot(lot, graders, again, unseen)
        return done

    def _lot(
        self,
        runs: Sequence[Run],
        graders: Sequence[Grader],
        again: Callable[[Made], bool],
        unseen: bool,
    ) -> int:
        known = self._judgments.judged(runs)
        seen = {(key.run_id, key.revision) for key in known}
        bare = self._verdicts.lacking(runs, known)
        asked = runs
        if unseen:
            lone = (run for run in runs if run.run_id in bare)
            asked = [run for run in lone if (run.run_id, run.revision) not in seen]
        open_ = _open(asked, graders, known, again)
        work = [run for run in runs if run.run_id in open_ or run.run_id in bare]
        if not work:
            return 0
        steps = self._reader.counted_steps(work)
        at = to_nanos(self._clock())

        def one(run: Run) -> JudgedRun:
            evidence = StoredEvidence(run, steps[run.run_id], self._reader)
            return JudgedRun(
                run=run,
                steps=steps[run.run_id],
                judged=[
                    judge(
                        grader,
                        evidence,
                        at=at,
                        ask=self.patience.ask,
                        tries=_tries(known.get(_key(run, grader))),
                    )
                    for grader in open_.get(run.run_id, ())
                ],
                first=(run.run_id, run.revision) not in seen,
            )

        done = 0
        held: list[JudgedRun] = []
        since = time.monotonic()
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="judge") as pool:
            for found in pool.map(one, work):
                held.append(found)
                if time.monotonic() - since >= _HELD:
                    done += self._keep(held, at)
                    held, since = [], time.monotonic()
                    if self._stop():
                        # Leaving the loop cancels the runs that nobody has begun to judge.
                        raise Stopping
        return done + self._keep(held, at)

    def _keep(self, runs: Sequence[JudgedRun], at: Nanos) -> int:
        """Write what was judged, then the verdicts made of it; return the judgments."""
        judged = [one for run in runs for one in run.judged]
        if judged:
            self._writer.write(judged)
            self._told(judged)
        if runs:
            self._verdicts.keep(runs, at=at)
        return len(judged)

    def _told(self, judged: Sequence[Judged]) -> None:
        self._meter.judged(judged)
        failed: dict[str, int] = {}
        for one in judged:
            if one.status.state is State.FAILED:
                failed[one.status.grader] = failed.get(one.status.grader, 0) + 1
        for grader, runs in failed.items():
            log.warning("grader_failed", grader=grader, runs=runs)


def _key(run: Run, grader: Grader) -> JudgedKey:
    return JudgedKey(run.run_id, run.revision, grader.name, grader.version)


def _tries(made: Made | None) -> int:
    """Return how often it was asked of late; a person who asks after the last try begins anew."""
    return made.tries if made is not None and made.again_at is not None else 0


def _open(
    runs: Sequence[Run],
    graders: Sequence[Grader],
    known: Mapping[JudgedKey, Made],
    again: Callable[[Made], bool],
) -> dict[RunId, list[Grader]]:
    """Return who looks at which run: who has not yet, and those that are to look again."""
    found: dict[RunId, list[Grader]] = {}
    for run in runs:
        for grader in graders:
            made = known.get(_key(run, grader))
            if made is None or again(made):
                found.setdefault(run.run_id, []).append(grader)
    return found


def judge_job(
    judging: Judging, reader: RunsRead, watermark: Callable[[], dt.datetime | None]
) -> Job:
    """Return the job; its windows are those of the writing of runs."""
    return _of_written_runs(
        JUDGE, WIDTH, judging.window, reader, watermark,
        "judges settled runs by every policy and grader, once for each revision",
    )  # fmt: skip


def verdicts_job(
    judging: Judging, reader: RunsRead, watermark: Callable[[], dt.datetime | None]
) -> Job:
    """Return the job that makes the verdicts which are missing: of old runs, and after a crash."""
    return _of_written_runs(
        VERDICTS, _HOUR, judging.sum_up, reader, watermark,
        "makes the verdicts that metrics add up where the judge left none, and judges runs it passed over",
    )  # fmt: skip


def retries_job(judging: Judging, clock: Clock) -> Job:
    """Return the job that asks again what did not answer; it looks whenever it is ticked."""

    def upcoming(moment: dt.datetime) -> dt.datetime | None:
        # What is due is done at once, whenever that was: windows that were missed are not made up for.
        return max(moment, clock() - 2 * WIDTH) if judging.due() else None

    return Job(
        name=RETRIES,
        width=WIDTH,
        run=judging.retry,
        watermark=clock,
        beginning=lambda: upcoming(clock() - WIDTH),
        upcoming=upcoming,
        purpose="asks systems of record again that were away, a few times within an hour",
    )


def _of_written_runs(
    name: str, width: dt.timedelta, run: Callable[[Window, str], int], reader: RunsRead,
    watermark: Callable[[], dt.datetime | None], purpose: str,
) -> Job:  # fmt: skip
    def upcoming(moment: dt.datetime) -> dt.datetime | None:
        found = reader.first_written(to_nanos(moment))
        return None if found is None else from_nanos(found)

    return Job(
        name=name,
        width=width,
        run=run,
        watermark=watermark,
        beginning=lambda: upcoming(from_nanos(Nanos(0))),
        upcoming=upcoming,
        purpose=purpose,
    )
