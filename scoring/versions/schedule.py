"""The job that takes looks as soon as their units are there, so that nobody looks by mood."""

import datetime as dt
from collections.abc import Callable

from gnomon.clock import Window, from_nanos, to_nanos
from scoring.jobs import Job
from scoring.versions.looks import Waiting
from scoring.versions.reader import CompareReader

LOOKS = "looks"
WIDTH = dt.timedelta(minutes=1)
"""Only looks that are not taken cost a query; so much later a planned one is taken at most."""

Watermark = Callable[[], dt.datetime | None]


class Schedule:
    """Takes what is due. What is seen depends on the runs alone, so that doing it twice is harmless."""

    def __init__(self, compare: CompareReader, watermark: Watermark) -> None:
        self._compare = compare
        self._watermark = watermark
        self._known: dt.datetime | None = None
        """Up to here all verdicts were there when somebody looked last; None after a start."""
        self._passing = False
        """Whether a look waited then for what ends by itself, be it without a verdict."""

    def window(self, window: Window, token: str) -> int:
        """Take the looks that are due; return how many were."""
        del token  # a look is named by rule, versions and number
        if self._known is not None and window.end <= self._known:
            return 0
        complete = self._watermark()
        waiting: list[Waiting] = []
        taken = self._compare.take_due(waiting.append)
        self._known = complete
        self._passing = any(one.passing for one in waiting)
        return taken

    def upcoming(self, moment: dt.datetime) -> dt.datetime | None:
        """Return when the next verdict came; after a start now, since nobody knows what was missed.

        Now as well while a grader is asked again: a verdict that comes of that bears the time at
        which it was asked, and from the last try there may come none.
        """
        if self._known is None or self._passing:
            return moment
        found = self._compare.judged_since(to_nanos(moment))
        return None if found is None else from_nanos(found)


def looks_job(compare: CompareReader, watermark: Watermark) -> Job:
    """Return the job; watermark: up to when all verdicts are written.

    Its windows are those of the writing of verdicts: after one a look can be due.
    """
    schedule = Schedule(compare, watermark)

    def beginning() -> dt.datetime | None:
        # One window back: what begins at the watermark itself is never closed, since both move on.
        complete = watermark()
        return None if complete is None else complete - WIDTH

    return Job(
        name=LOOKS,
        width=WIDTH,
        run=schedule.window,
        watermark=watermark,
        beginning=beginning,
        upcoming=schedule.upcoming,
        purpose="takes the planned looks of the comparison rule within a minute of their verdicts",
    )
