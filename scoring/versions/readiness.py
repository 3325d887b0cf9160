"""Whether the runs of a look are settled and judged for good, and else what is waited for."""

from collections.abc import Sequence

from gnomon.clock import Clock, to_nanos
from scoring.grading.port import Grader, Surface
from scoring.versions.asking import Asking, Pending, Sides
from scoring.versions.looks import Unit, Waiting
from scoring.versions.ruling import day

RULING = frozenset({Surface.POLICY, Surface.TRAJECTORY})
"""Surfaces whose graders say what breaks a rule."""


class Readiness:
    """Knows when nothing about some runs can change by itself any more."""

    def __init__(self, asking: Asking, graders: Sequence[Grader], *, clock: Clock) -> None:
        self._asking = asking
        self._graders = graders
        self._clock = clock

    def waits(
        self, asked: Sides, units: Sequence[Unit] = (), trials: int | None = None
    ) -> Waiting | None:
        """Return which of the runs to be looked at can still change, or None."""
        return self._waits(asked, units, trials, self._graders)

    def waits_for_rules(
        self, asked: Sides, units: Sequence[Unit], trials: int | None
    ) -> Waiting | None:
        """Return of which runs it is not known yet what they break, or None."""
        own = [grader for grader in self._graders if grader.surface in RULING]
        return self._waits(asked, units, trials, own)

    def _waits(
        self, asked: Sides, units: Sequence[Unit], trials: int | None, graders: Sequence[Grader]
    ) -> Waiting | None:
        now = to_nanos(self._clock())
        tasks = [unit.task for unit in units]
        pending = self._asking.pending(asked, tasks, trials=trials, graders=graders, now=now)
        unjudged = pending.unjudged
        if asked.metric == "finished" and unjudged == pending.settled:
            unjudged = 0
        if pending.open:
            return Waiting(text=f"{pending.open} {_RUNS} are not settled yet")
        if unjudged:
            return Waiting(text=f"{unjudged} {_RUNS} are not judged yet")
        if pending.again:
            return _asked_again(pending)
        if pending.behind:
            return Waiting(text=f"{pending.behind} {_RUNS} are being summed up", passing=True)
        return None


_RUNS = "of the runs to be looked at"


def _asked_again(pending: Pending) -> Waiting:
    them = ", ".join(pending.graders)
    last = (
        ""
        if pending.next_at == pending.until
        else f", for the last time about {day(pending.until)}"
    )
    return Waiting(
        text=(
            f"{pending.again} {_RUNS} can still be judged: {them} got no answer and"
            f" {'asks' if len(pending.graders) == 1 else 'ask'} again, next at"
            f" {day(pending.next_at)}{last}"
        ),
        passing=True,
        next_at=pending.next_at,
        until=pending.until,
    )
