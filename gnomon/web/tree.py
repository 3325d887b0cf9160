"""Who lies in whom among the steps of a run, and which of them decides; pure.

A step is named by its place: all steps of the run in order of start, counted from 0.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from collector.views import Shape
from gnomon.model import WORK, Kind

NOBODY = -1
"""The place of the parent that a root does not have."""


@dataclass(frozen=True, slots=True)
class Forest:
    """All steps of a run: who lies in whom."""

    shape: Shape
    keys: Sequence[str]
    """The name of each step in addresses: its span id; with the trace where there are several."""
    places: Mapping[str, int]
    above: Sequence[int]
    """The place of each step's parent; -1 at a root."""
    inside: Mapping[int, Sequence[int]]
    """What lies directly in a step; steps with nothing inside are left out."""
    roots: Sequence[int]

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.keys)

    def children(self, place: int) -> Sequence[int]:
        """Return what lies directly in a step; in NOBODY lie the roots."""
        return self.roots if place == NOBODY else self.inside.get(place, ())

    def path(self, place: int) -> Sequence[int]:
        """Return the steps around a step, outermost first, itself last."""
        found = [place]
        while (above := self.above[found[-1]]) != NOBODY:
            found.append(above)
        return found[::-1]

    def named(self, step: str) -> int | None:
        """Return the place of a step by its key, or by its span id alone, as judgments name it."""
        place = self.places.get(step)
        if place is None and step in self.shape.span_ids:
            place = self.shape.span_ids.index(step)
        return place


def forest(shape: Shape) -> Forest:
    """Put steps under their parents; a missing parent or a ring makes a root."""
    keys, parents = shape.span_ids, shape.parents
    if len(set(shape.trace_ids)) > 1:
        keys = _with_trace(shape.trace_ids, keys)
        parents = _with_trace(shape.trace_ids, parents)
    places = {key: place for place, key in enumerate(keys)}
    above = [places.get(parent, NOBODY) for parent in parents]
    # Lists for the steps that need one only: each is an object the garbage collector walks.
    inside: dict[int, list[int]] = {}
    for place, parent in enumerate(above):
        if parent == place:
            above[place] = NOBODY
        elif parent != NOBODY:
            inside.setdefault(parent, []).append(place)
    roots = [place for place, parent in enumerate(above) if parent == NOBODY]
    roots += _cut_rings(above, inside, roots)
    return Forest(shape, keys, places, above, inside, sorted(roots))


def _with_trace(trace_ids: Sequence[str], span_ids: Sequence[str]) -> Sequence[str]:
    return [f"{trace}-{span}" for trace, span in zip(trace_ids, span_ids, strict=True)]


def _cut_rings(
    above: list[int], inside: Mapping[int, list[int]], roots: Sequence[int]
) -> list[int]:
    """Return the earliest step of each ring of parents, made a root."""
    reached = [False] * len(above)
    _reach(roots, inside, reached)
    cut: list[int] = []
    for place, known in enumerate(reached):
        if not known and not reached[place]:
            inside[above[place]].remove(place)
            above[place] = NOBODY
            cut.append(place)
            _reach([place], inside, reached)
    return cut


def _reach(start: Iterable[int], inside: Mapping[int, Sequence[int]], reached: list[bool]) -> None:
    ahead = list(start)
    while ahead:
        place = ahead.pop()
        reached[place] = True
        ahead.extend(inside.get(place, ()))


def errors(of: Forest) -> Iterator[int]:
    """Yield the failed pieces of work in order; without any the innermost failed steps."""
    shape = of.shape
    failed = [place for place, bad in enumerate(shape.failed) if bad]
    if any(shape.counted[place] for place in failed):
        yield from (place for place in failed if shape.counted[place])
        return
    for place in failed:
        if not any(shape.failed[child] for child in of.inside.get(place, ())):
            yield place


def first_error(of: Forest) -> int | None:
    """Return the first failed piece of work; without one the innermost failed step."""
    return next(errors(of), None)


def decisive(of: Forest) -> int | None:
    """Return the step to open at: the first error, else the last decision, tool or model call."""
    error = first_error(of)
    if error is not None:
        return error
    last: dict[str, int] = {}
    for place, counted in enumerate(of.shape.counted):
        if counted:
            last[of.shape.kinds[place]] = place
    for kind in (Kind.HUMAN, Kind.TOOL, Kind.LLM):
        if kind in last:
            return last[kind]
    work = [place for kind, place in last.items() if kind in WORK]
    return max(work) if work else next(iter(of.roots), None)
