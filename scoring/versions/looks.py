"""Planned looks: when one is due, on which units, and what was seen. None is ever taken twice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.clock import Nanos, rfc3339
from gnomon.model import JsonValue
from scoring.stats.gates import Decision, Verdict
from scoring.versions.guard import Guard
from scoring.versions.live import LiveFound
from scoring.versions.tasks import TaskComparison, TaskRuns


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a look is about: two versions of the same runs."""

    agent: str | None
    environment: str | None
    origin: str | None
    base: str
    cand: str

    @property
    def pair(self) -> frozenset[str]:
        """Both versions, whichever is the baseline: one series of looks for either order."""
        return frozenset((self.base, self.cand))


TakenBy = Literal["job", "request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Why a look whose units are there is not taken yet."""

    text: str
    passing: bool = False
    """Whether it ends by itself, at the latest when nobody asks any more."""
    next_at: Nanos | None = None
    """When the first of its graders is asked again."""
    until: Nanos | None = None
    """When the last of them is asked for the last time."""

    def as_json(self) -> JsonValue:
        """Return the reason, and by when it is over where that is known."""
        moments = {"next_at": self.next_at, "until": self.until}
        return {
            "text": self.text,
            **{name: None if at is None else rfc3339(at) for name, at in moments.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Runs of a look of which nobody could tell, and nobody would be asked again."""

    runs: int
    run_ids: Sequence[str]
    """At most 1,000."""
    first: Nanos
    """The earliest start among them."""
    why: Mapping[str, int]
    """What became of which grader: in how many of them."""

    @property
    def text(self) -> str:
        """How many, why, and what that does to the limits."""
        them = "1 run" if self.runs == 1 else f"{self.runs} runs"
        why = ", ".join(f"{word} in {one}" for word, one in self.why.items()) or "no grader judged"
        return f"{them} could not be told ({why}), so the limits are of the worst and the best case"

    def as_json(self) -> JsonValue:
        """Return how many, why, and the runs to read."""
        return {
            "runs": self.runs,
            "text": self.text,
            "why": dict(self.why),
            "run_ids": list(self.run_ids[:20]),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenLook:
    """What was seen at one planned look."""

    look: int
    n: int
    """Units looked at: the first so many."""
    seen_at: Nanos
    until: Nanos
    """The latest start among the runs that were looked at."""
    decision: Decision
    guard: Guard
    by: TakenBy = "request"
    """Who took it: the job when it was due, or whoever asked before the job could."""
    tasks: TaskComparison | None = None
    live: LiveFound | None = None
    undecided: Undecided | None = None
    """What was missing for good when it was taken; None: nothing."""

    @property
    def decided(self) -> bool:
        """Whether there is nothing left to look for."""
        return self.decision.verdict is not Verdict.NOT_ENOUGH_DATA

    def as_json(self) -> JsonValue:
        """Return when, on what, and what the rule said."""
        return {
            "look": self.look,
            "n": self.n,
            "seen_at": rfc3339(self.seen_at),
            "until": rfc3339(self.until),
            "taken_by": self.by,
            "verdict": self.decision.verdict.value,
            "reason": self.decision.reason,
            "undecided": None if self.undecided is None else self.undecided.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One task that both versions have tried."""

    task: str
    at: Nanos
    """When the pair was complete: the later side's start."""


def units_in_time(
    new: Mapping[str, TaskRuns], old: Mapping[str, TaskRuns], *, trials: int | None
) -> list[Unit]:
    """Return the tasks with enough runs on both sides, in the order in which they had them."""
    least = trials or 1
    found = []
    for task in new.keys() & old.keys():
        sides = (new[task], old[task])
        if min(side.runs for side in sides) >= least:
            at = max(s.first_start if trials is None else s.last_start for s in sides)
            found.append(Unit(task=task, at=at))
    return sorted(found, key=lambda unit: (unit.at, unit.task))


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The first run of a version in a week, slice and cluster."""

    week: int
    slice: str
    """'' where the rule takes out no mix."""
    version: str
    cluster: str
    first: Nanos


def reached(starts: Iterable[Start], *, base: str, cand: str) -> list[tuple[Nanos, int]]:
    """Return the moments at which the smaller side grew, with its units in what both have.

    starts: in time order. A slice of a week counts from the moment on at which both have it.
    """
    strata: dict[str, dict[tuple[int, str], set[str]]] = {base: {}, cand: {}}
    units: dict[str, set[str]] = {base: set(), cand: set()}
    grown: list[tuple[Nanos, int]] = []
    for start in starts:
        own, other = (start.version, base if start.version == cand else cand)
        stratum = (start.week, start.slice)
        known = strata[own].setdefault(stratum, set())
        known.add(start.cluster)
        if stratum not in strata[other]:
            continue
        if len(known) == 1:
            units[other] |= strata[other][stratum]
        units[own].add(start.cluster)
        smaller = min(len(units[base]), len(units[cand]))
        if not grown or smaller > grown[-1][1]:
            grown.append((start.first, smaller))
    return grown


Look = Callable[[int, int], TakenLook | Waiting]
"""Given the number of a look and its n: what is seen, or why it has to wait."""


def until_decided(taken: Iterable[TakenLook]) -> list[TakenLook]:
    """Return looks up to the first that decides: what the other order went on to see is not ours."""
    kept = []
    for one in taken:
        kept.append(one)
        if one.decided:
            break
    return kept


def take(
    sizes: Sequence[int], units: int, taken: Sequence[TakenLook], look: Look
) -> tuple[list[TakenLook], Waiting | None]:
    """Return the looks taken so far and those that are due now, and what the next waits for."""
    done = list(taken)
    while len(done) < len(sizes) and not (done and done[-1].decided):
        n = sizes[len(done)]
        if units < n:
            break
        found = look(len(done) + 1, n)
        if isinstance(found, Waiting):
            return done, found
        done.append(found)
    return done, None
