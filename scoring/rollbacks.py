"""The job that makes verdicts anew whose graders were set back to a version that judged before.

What the other version said stays stored, and speaks no more.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from gnomon.clock import Clock, Nanos, Window
from gnomon.model import Run, RunId, RunState
from scoring.jobs import Job
from scoring.store import Outdated

ROLLBACKS = "rollbacks"
_WIDTH = dt.timedelta(seconds=10)
_MANY = 500
"""Runs read together."""

_START = (Nanos(0), RunId(""))


class Stored(Protocol):
    """What verdicts were made of."""

    def outdated(
        self, versions: Mapping[str, str], after: tuple[Nanos, RunId], *, limit: int = ...
    ) -> Outdated:
        """Return a page of verdicts for which another version spoke than the one that is set up."""


class Runs(Protocol):
    """What finds runs by id."""

    def many_runs(self, run_ids: Iterable[str]) -> dict[RunId, Run]:
        """Return many runs by id; those that do not exist are left out."""


class Rollbacks:
    """Walks once through the verdicts of others: versions change only with the process."""

    def __init__(
        self, versions: Mapping[str, str], stored: Stored, runs: Runs,
        sum_up: Callable[[Sequence[Run]], object],
    ) -> None:  # fmt: skip
        self._versions = versions
        self._stored = stored
        self._runs = runs
        self._sum_up = sum_up
        self._done = not versions

    def due(self) -> bool:
        """Return whether verdicts of others may be left."""
        if not self._done:
            self._done = self._stored.outdated(self._versions, _START, limit=1).after is None
        return not self._done

    def window(self, window: Window, token: str) -> int:
        """Make all of them anew; return how many. What a crash leaves, the next start finds."""
        del window, token  # what is written names itself
        made, after = 0, _START
        while True:
            page = self._stored.outdated(self._versions, after)
            made += self._made(page.heard)
            if page.after is None:
                self._done = True
                return made
            after = page.after

    def _made(self, ids: Sequence[RunId]) -> int:
        for start in range(0, len(ids), _MANY):
            runs = self._runs.many_runs(ids[start : start + _MANY]).values()
            self._sum_up([run for run in runs if run.state is RunState.SETTLED])
        return len(ids)


def rollbacks_job(rollbacks: Rollbacks, clock: Clock) -> Job:
    """Return the job; it has one window after a start, and none where nothing was set back."""

    def upcoming(moment: dt.datetime) -> dt.datetime | None:
        return max(moment, clock() - 2 * _WIDTH) if rollbacks.due() else None

    return Job(
        name=ROLLBACKS,
        width=_WIDTH,
        run=rollbacks.window,
        watermark=clock,
        beginning=lambda: upcoming(clock() - _WIDTH),
        upcoming=upcoming,
        purpose="makes verdicts anew by the labels of the versions that are set up, after one was set back",
    )
