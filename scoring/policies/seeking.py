"""Which calls stand in a relation to a judged one: surely, or as far as anybody knows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from gnomon.clock import Nanos
from scoring.policies.actions import Action
from scoring.policies.binding import bound
from scoring.policies.trajectory import Row, Standing, Trajectory

EVIDENCE = 20
"""Calls that a finding names beside the judged one, at most: those nearest to it."""

Values = Mapping[str, object]


def order(action: Action) -> tuple[Nanos, str]:
    """Return where a call stands in its run."""
    return action.started, action.step


def succeeded_before(
    actions: Trajectory, tool: str, judged: Action, values: Values, *, most: int = EVIDENCE
) -> list[Action]:
    """Return calls about these values that had surely succeeded when the judged one started."""
    rows = actions.about(tool, values, Standing.RELIED)
    found = (one for row in rows for one in row.ended_by(judged.started))
    return _sorted(islice(_others(found, judged, values, is_sure), most))


def doubtful_before(actions: Trajectory, tool: str, judged: Action, values: Values) -> list[Action]:
    """Return calls that may have: their answer or what they were about is not known."""
    relied = actions.about(tool, values, Standing.RELIED)
    unknown = actions.about(tool, values, Standing.UNKNOWN)
    perhaps = (one for row in relied for one in row.ended_by(judged.started))
    either = (one for row in unknown for one in row.ended_by(judged.started))
    return _sorted(
        [
            *islice(_others(perhaps, judged, values, is_open), EVIDENCE),
            *islice(_others(either, judged, values, is_possible), EVIDENCE),
        ][:EVIDENCE]
    )


def ended_later(
    actions: Trajectory, tool: str, judged: Action, values: Values
) -> tuple[list[Action], list[Action]]:
    """Return calls that had not ended when the judged one started: surely about it, perhaps."""
    rows = actions.about(tool, values)

    def found(known: Callable[[bool | None], bool]) -> list[Action]:
        later = (one for row in rows for one in row.ended_after(judged.started))
        return _sorted(islice(_others(later, judged, values, known), EVIDENCE))

    return found(is_sure), found(is_open)


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
    sure: list[Action] = []
    perhaps: list[Action] = []
    for tool in dict.fromkeys(tools):
        for row in actions.about(tool, values):
            sure += islice(_later(row, judged, values, is_sure), 1)
            perhaps += islice(_later(row, judged, values, is_open), 1)
    return min(sure, key=order, default=None), _sorted(perhaps)


def is_sure(about: bool | None) -> bool:
    """Return whether a call is known to be about the values."""
    return about is True


def is_open(about: bool | None) -> bool:
    """Return whether nobody knows."""
    return about is None


def is_possible(about: bool | None) -> bool:
    """Return whether it is not known to be about others."""
    return about is not False


def _later(
    row: Row, judged: Action, values: Values, known: Callable[[bool | None], bool]
) -> Iterator[Action]:
    return _others(row.started_from(judged.ended), judged, values, known)


def _some(calls: Iterable[Action], judged: Action, values: Values) -> Iterator[Action]:
    return islice(_others(calls, judged, values, is_possible), EVIDENCE)


def _others(
    calls: Iterable[Action],
    judged: Action,
    values: Values,
    known: Callable[[bool | None], bool],
) -> Iterator[Action]:
    """Yield the calls, but not the judged one itself, that are known or not known to be about it."""
    return (one for one in calls if one is not judged and known(bound(one, values)))


def _sorted(calls: Iterable[Action]) -> list[Action]:
    return sorted(calls, key=order)
