"""Which calls stand in a relation to a judged one: surely, or as far as anybody knows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from gnomon.clock import Nanos
from scoring.policies.actions import UNRESOLVED, Action
from scoring.policies.binding import bound
from scoring.policies.trajectory import Row, Standing, Trajectory

EVIDENCE = 20
"""Calls that a finding names beside the judged one, at most: those nearest to it."""

Values = Mapping[str, object]

_DOUBT = {Standing.RELIED: Standing.UNKNOWN, Standing.AFFIRMED: Standing.UNSAID}
"""How calls ended of which nobody knows whether they ended as those that are looked for."""


def order(action: Action) -> tuple[Nanos, str]:
    """Return where a call stands in its run."""
    return action.started, action.step


def succeeded_before(
    actions: Trajectory,
    tool: str,
    judged: Action,
    values: Values,
    *,
    standing: Standing = Standing.RELIED,
    most: int = EVIDENCE,
) -> list[Action]:
    """Return calls about these values that had surely succeeded when the judged one started."""
    rows, _ = _told(actions.about(tool, values, standing), values)
    found = (one for row in rows for one in row.ended_by(judged.started))
    return _sorted(islice(_others(found, judged, values), most))


def doubtful_before(
    actions: Trajectory,
    tool: str,
    judged: Action,
    values: Values,
    *,
    standing: Standing = Standing.RELIED,
) -> list[Action]:
    """Return calls that may have: their answer or what they were about is not known."""
    _, relied = _told(actions.about(tool, values, standing), values)
    rows = [*relied, *actions.about(tool, values, _DOUBT[standing])]
    found = [one for row in rows for one in _some(row.ended_by(judged.started), judged, values)]
    return _sorted(found)[-EVIDENCE:]


def ended_later(
    actions: Trajectory, tool: str, judged: Action, values: Values
) -> tuple[list[Action], list[Action]]:
    """Return calls that had not ended when the judged one started: surely about it, perhaps."""

    def found(rows: Sequence[Row]) -> list[Action]:
        later = (one for row in rows for one in row.ended_after(judged.started))
        return _sorted(_some(later, judged, values))

    sure, perhaps = _told(actions.about(tool, values), values)
    return found(sure), found(perhaps)


def nearest(actions: Trajectory, tool: str, judged: Action, values: Values) -> list[Action]:
    """Return calls that may be about these values, however they ended: those before go first."""
    rows = actions.about(tool, values)
    before = [one for row in rows for one in _some(row.started_by(judged.started), judged, values)]
    before = _sorted(before)[-EVIDENCE:]
    after = [
        one for row in rows for one in _some(row.started_after(judged.started), judged, values)
    ]
    return before + _sorted(after)[: EVIDENCE - len(before)]


def reactions(
    actions: Trajectory, tools: Sequence[str], judged: Action, values: Values
) -> tuple[Action | None, list[Action]]:
    """Return the first call after the judged one about these values, and those that may be it."""
    told = [_told(actions.about(tool, values), values) for tool in dict.fromkeys(tools)]

    def first(rows: Iterable[Row]) -> list[Action]:
        each = (_others(row.started_from(judged.ended), judged, values) for row in rows)
        return _sorted(action for calls in each for action in islice(calls, 1))

    sure = first(row for rows, _ in told for row in rows)
    perhaps = first(row for _, rows in told for row in rows)
    return (sure[0] if sure else None), perhaps


def _told(rows: Sequence[Row], values: Values) -> tuple[Sequence[Row], Sequence[Row]]:
    """Return the rows of which it can be told whether they are about the values, and the others."""
    if UNRESOLVED in values.values():
        return (), rows
    return [row for row in rows if row.whole], [row for row in rows if not row.whole]


def _some(calls: Iterable[Action], judged: Action, values: Values) -> Iterator[Action]:
    return islice(_others(calls, judged, values), EVIDENCE)


def _others(calls: Iterable[Action], judged: Action, values: Values) -> Iterator[Action]:
    """Yield the calls, but not the judged one itself, that are not about other values."""
    return (one for one in calls if one is not judged and bound(one, values) is not False)


def _sorted(calls: Iterable[Action]) -> list[Action]:
    return sorted(calls, key=order)
