"""The calls of a run, found by tool, by what they are about and by time without looking at all."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import Protocol

from gnomon.clock import Nanos
from scoring.policies.actions import UNRESOLVED, Action, argument
from scoring.policies.sameness import likeness


class Sought(Protocol):
    """Which calls are looked for; equal ones are looked for once."""

    def holds(self, action: Action) -> bool:
        """Return whether a call is one of these."""

    def __hash__(self) -> int:
        """Return the hash of what is sought."""


class Standing(Enum):
    """How the calls that are looked for ended."""

    ANY = auto()
    RELIED = auto()
    """Those that succeeded."""
    UNKNOWN = auto()
    """Those of which nobody knows how they ended."""
    AFFIRMED = auto()
    """Those that succeeded and whose answer says yes to what they asked for."""
    UNSAID = auto()
    """Those of which nobody knows whether they were told yes."""

    def holds(self, action: Action) -> bool:
        """Return whether a call is one of these."""
        return _STANDS[self](action)


_STANDS: Mapping[Standing, Callable[[Action], bool]] = {
    Standing.ANY: lambda action: True,
    Standing.RELIED: lambda action: action.succeeded,
    Standing.UNKNOWN: lambda action: action.unknown,
    Standing.AFFIRMED: lambda action: action.succeeded and action.affirmed,
    Standing.UNSAID: lambda action: action.unknown or (action.succeeded and not action.affirmed),
}


class Row:
    """Calls that are alike, by start and by end."""

    def __init__(self, *, whole: bool) -> None:
        self.calls: list[Action] = []
        self.whole = whole
        """Whether all arguments that were asked for are known of them."""

    @cached_property
    def _starts(self) -> list[Nanos]:
        return [action.started for action in self.calls]

    @cached_property
    def _by_end(self) -> list[Action]:
        return sorted(self.calls, key=lambda action: action.ended)

    @cached_property
    def _ends(self) -> list[Nanos]:
        return [action.ended for action in self._by_end]

    def ended_by(self, moment: Nanos) -> Iterator[Action]:
        """Yield the calls that had ended by a moment, the latest first."""
        for place in range(bisect_right(self._ends, moment) - 1, -1, -1):
            yield self._by_end[place]

    def ended_after(self, moment: Nanos) -> Iterator[Action]:
        """Yield the calls that ended after a moment, the earliest first."""
        for place in range(bisect_right(self._ends, moment), len(self.calls)):
            yield self._by_end[place]

    def started_by(self, moment: Nanos) -> Iterator[Action]:
        """Yield the calls that had started by a moment, the latest first."""
        for place in range(bisect_right(self._starts, moment) - 1, -1, -1):
            yield self.calls[place]

    def started_after(self, moment: Nanos) -> Iterator[Action]:
        """Yield the calls that started after a moment, the earliest first."""
        for place in range(bisect_right(self._starts, moment), len(self.calls)):
            yield self.calls[place]

    def started_from(self, moment: Nanos) -> Iterator[Action]:
        """Yield the calls that started at a moment or later, the earliest first."""
        for place in range(bisect_left(self._starts, moment), len(self.calls)):
            yield self.calls[place]


_Known = tuple[bool, ...]
_Index = dict[_Known, dict[tuple[Hashable, ...], Row]]


class Trajectory:
    """The calls of a run in order of start."""

    def __init__(self, actions: Sequence[Action]) -> None:
        self._of: dict[str, list[Action]] = {}
        for action in actions:
            self._of.setdefault(action.tool, []).append(action)
        self._indexes: dict[tuple[str, tuple[str, ...], Sought], _Index] = {}

    @property
    def tools(self) -> Collection[str]:
        """The tools that were called."""
        return self._of.keys()

    def of(self, tool: str) -> Sequence[Action]:
        """Return the calls of a tool."""
        return self._of.get(tool, ())

    def about(
        self, tool: str, values: Mapping[str, object], sought: Sought = Standing.ANY
    ) -> list[Row]:
        """Return the calls that may be about these values: all but those that surely are not.

        A few that are not may be among them ("7" beside "007"): `bound` tells.
        """
        if tool not in self._of:
            return []
        known = {name: likeness(one) for name, one in values.items() if one is not UNRESOLVED}
        rows = []
        for pattern, found in self._index(tool, tuple(known), sought).items():
            key = tuple(like for like, on in zip(known.values(), pattern, strict=True) if on)
            if key in found:
                rows.append(found[key])
        return rows

    def _index(self, tool: str, names: tuple[str, ...], sought: Sought) -> _Index:
        """Return the calls by which of the arguments are known, and by what those are like."""
        found = self._indexes.get((tool, names, sought))
        if found is None:
            found = self._indexes[tool, names, sought] = {}
            for action in filter(sought.holds, self.of(tool)):
                own = [argument(action, name) for name in names]
                pattern = tuple(value is not UNRESOLVED for value in own)
                key = tuple(likeness(value) for value in own if value is not UNRESOLVED)
                found.setdefault(pattern, {}).setdefault(key, Row(whole=all(pattern))).calls.append(
                    action
                )
        return found
