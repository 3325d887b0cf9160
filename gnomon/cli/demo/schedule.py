"""When requests come in, and which of their spans go astray on the way."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gnomon.cli.demo.chance import Chance
from gnomon.clock import Nanos

SECOND = 1_000_000_000
HISTORY_RUNS = 400
HISTORY = 24 * 3_600 * SECOND
_HISTORY_ENDS_BEFORE = 180 * SECOND
"""So that the last run of the history has ended when the live traffic begins."""
LIVE_GAP = 6 * SECOND
"""Time between two live requests at speed 1."""


class Fate(StrEnum):
    """What happens to the spans of a run between agent and receiver."""

    USUAL = "usual"
    LATE = "late"
    """One span comes long after the others."""
    BACKWARDS = "backwards"
    """The root comes first."""
    AGAIN = "again"
    """All spans come twice."""


FATES: Mapping[Fate, float] = {Fate.LATE: 0.03, Fate.BACKWARDS: 0.03, Fate.AGAIN: 0.04}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """How much later than the end of its run a span comes, in nanoseconds."""

    history: int
    live: int


LATE = Delay(history=1_800 * SECOND, live=20 * SECOND)
AGAIN = Delay(history=2_400 * SECOND, live=10 * SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A request comes in. Positions below 1 are shares of the history; from 1 on it is live."""

    index: int
    at: Nanos
    position: float


def arrivals(chance: Chance, start: Nanos, *, runs: int | None, speed: float) -> Iterator[Arrival]:
    """Yield when each request comes in: the history up to `start`, then live ones."""
    history = HISTORY_RUNS if runs is None else min(runs, HISTORY_RUNS)
    for index in range(history):
        share = (index + chance.share(f"history {index}")) / history
        at = start - HISTORY + int((HISTORY - _HISTORY_ENDS_BEFORE) * share)
        yield Arrival(index=index, at=Nanos(at), position=share)
    index = history
    while runs is None or index < runs:
        place = index - history + chance.share(f"live {index}")
        yield Arrival(index=index, at=Nanos(start + int(place * LIVE_GAP / speed)), position=1.0)
        index += 1


def fate_of(chance: Chance, index: int) -> Fate:
    """Return what happens to the spans of a run."""
    left = chance.share(f"fate {index}")
    for fate, share in FATES.items():
        if left < share:
            return fate
        left -= share
    return Fate.USUAL


def later(end: Nanos, delay: Delay, start: Nanos) -> int:
    """Return a moment after the end of a run; what belongs to the history stays in it."""
    if end < start:
        return min(end + delay.history, start)
    return end + delay.live
