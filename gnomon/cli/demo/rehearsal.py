"""The rehearsal before the rollout: both releases try the same tasks, under the same faults."""

from collections.abc import Iterator

from gnomon.cli.demo.desk import Desk, Handled
from gnomon.cli.demo.releases import RELEASES, ROLLOUT_BEGINS
from gnomon.cli.demo.schedule import HISTORY, SECOND
from gnomon.clock import Nanos

TASKS = 80
_BEFORE = 3_600 * SECOND
"""So long before the rollout the rehearsal begins."""
_GAP = 20 * SECOND


def rehearsal(seed: int, salt: str, start: Nanos) -> Iterator[Handled]:
    """Yield the runs of every release at every task, the releases in turn.

    start: when the live traffic begins; the rehearsal lies before the rollout, a day back.
    """
    desk = Desk(seed, salt=salt, rehearsal=True)
    begin = start - HISTORY + int(HISTORY * ROLLOUT_BEGINS) - _BEFORE
    for task in range(TASKS):
        for place, release in enumerate(RELEASES):
            at = Nanos(begin + (task * len(RELEASES) + place) * _GAP)
            yield desk.rehearse(task, release, at)
