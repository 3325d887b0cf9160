"""Who folds: processes of their own, so that the one that answers senders keeps its interpreter."""

from collections.abc import Sequence
from typing import Protocol

from collector.folding.messages import Pieces, hello
from collector.folding.work import Work
from collector.watched import Watched
from gnomon.child import Child

WORK = f"{Work.__module__}:{Work.__qualname__}"

PATIENCE = 300.0
"""Seconds a process may fold one lot; the largest needs a tenth of it."""

_MEND = (
    "Runs wait until it can. Free memory or raise the limit of processes; GNOMON_FOLD_PROCESSES=0"
    " folds in this process, more slowly for senders"
)


class Worker(Protocol):
    """Folds one lot after the other."""

    def begin(self) -> None:
        """Be ready; raises Unavailable when that is not possible."""

    def ask(self, pieces: Pieces) -> Pieces:
        """Return the outcome of a lot; raises ChildDied when there will be none."""

    def close(self, timeout: float) -> None:
        """End."""


class _Here:
    """The same work in this process."""

    def __init__(self, told: bytes) -> None:
        self._work = Work(told)

    def begin(self) -> None:
        """Be ready, as always."""

    def ask(self, pieces: Pieces) -> Pieces:
        """Return the outcome of a lot."""
        return self._work(pieces)

    def close(self, timeout: float) -> None:
        """Hold nothing."""


def workers(watched: Watched, reading: str, processes: int) -> Sequence[Worker]:
    """Return those who fold: so many processes, or this one for 0.

    Where gnomon.yaml names runs by an attribute, any two traces may turn out to be one run; then
    they are folded one after the other, and more than one process would have nothing to do.
    """
    told = hello(watched, reading)
    if processes == 0:
        return [_Here(told)]
    if watched.runs.run_id:
        processes = 1
    return [Child(WORK, told, patience=PATIENCE, mend=_MEND) for _ in range(processes)]


def worker_of(trace_id: str, count: int) -> int:
    """Return which of so many workers folds a trace; always the same one."""
    return int(trace_id[-8:], 16) % count
