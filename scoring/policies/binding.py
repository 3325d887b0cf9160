"""Whether two calls speak of the same entity."""

from collections.abc import Mapping

from scoring.policies.actions import MISSING, Action, Trajectory, at
from scoring.policies.language import ResultOf
from scoring.policies.sameness import same

UNRESOLVED = object()
"""The value could not be found: nobody recorded it, or nobody asked for it."""


def argument(action: Action, name: str) -> object:
    """Return an argument at a dotted path, or UNRESOLVED."""
    if action.arguments is None:
        return UNRESOLVED
    value = at(dict(action.arguments), name)
    return UNRESOLVED if value is MISSING or value is None else value


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


def _answered(source: ResultOf, judged: Action, actions: Trajectory) -> object:
    """Return what the last successful call of another tool answered before the judged one."""
    for action in reversed(actions.before(source.result_of, judged.started)):
        if action.ended > judged.started or not action.succeeded:
            continue
        if not _matches(action, judged, source.match):
            continue
        value = at(action.result, source.path)
        if value is not MISSING and value is not None:
            return value
    return UNRESOLVED


def _matches(action: Action, judged: Action, match: Mapping[str, str]) -> bool:
    pairs = [(argument(action, theirs), argument(judged, ours)) for theirs, ours in match.items()]
    return all(
        one is not UNRESOLVED and other is not UNRESOLVED and same(one, other)
        for one, other in pairs
    )


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
