"""Whether two calls speak of the same entity."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from scoring.policies.actions import UNRESOLVED, Action, argument
from scoring.policies.endings import MISSING, at
from scoring.policies.language import ResultOf
from scoring.policies.sameness import same
from scoring.policies.trajectory import Trajectory


def wanted(
    bind: Mapping[str, str | ResultOf], judged: Action, actions: Trajectory
) -> dict[str, object]:
    """Return the value each bound argument must have, UNRESOLVED where it can not be known."""
    return {
        name: argument(judged, source)
        if isinstance(source, str)
        else _answered(source, judged, actions)
        for name, source in bind.items()
    }


@dataclass(frozen=True, slots=True)
class _Telling:
    """Calls that succeeded and whose answer holds something at a path."""

    path: str

    def holds(self, action: Action) -> bool:
        return action.succeeded and at(action.result, self.path) not in (MISSING, None)


def _answered(source: ResultOf, judged: Action, actions: Trajectory) -> object:
    """Return what the last successful call of another tool answered before the judged one."""
    match = {theirs: argument(judged, ours) for theirs, ours in source.match.items()}
    if UNRESOLVED in match.values():
        return UNRESOLVED
    found = [
        action
        for row in actions.about(source.result_of, match, _Telling(source.path))
        for action in islice((a for a in row.ended_by(judged.started) if bound(a, match)), 1)
    ]
    if not found:
        return UNRESOLVED
    last = max(found, key=lambda action: (action.ended, action.started, action.step))
    return at(last.result, source.path)


def bound(action: Action, values: Mapping[str, object]) -> bool | None:
    """Return whether a call is about these values; None when that can not be known."""
    known: bool | None = True
    for name, value in values.items():
        own = argument(action, name)
        if own is UNRESOLVED or value is UNRESOLVED:
            known = None
        elif not same(own, value):
            return False
    return known
