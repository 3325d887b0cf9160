"""Which steps of a run are drawn, in which order and how deep; pure.

A step is named by its place: all steps of the run in order of start, counted from 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from collector.views import Shape
from gnomon.model import WORK, Kind

FULL = 1000
"""Up to so many steps the whole tree is drawn."""
PAGE = 200
"""So many children of one step are drawn at first in a larger run."""
_WRAPPERS = frozenset({Kind.CHAIN, Kind.OTHER, Kind.WORKFLOW})
_ROOM = 800
"""So many steps a larger run shows unasked, but for the ways to the error and the chosen step."""
NOBODY = -1
"""The place of the parent that a root does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the tree."""

    place: int
    level: int
    """1 at a root."""
    wrappers: Sequence[int] = ()
    """Steps with this one child only, folded into it; outermost first."""
    expanded: bool | None = None
    """None: nothing inside."""
    rest: int = 0
    """Steps directly inside that are not drawn; a line that asks for more follows them."""


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


def first_error(of: Forest) -> int | None:
    """Return the first failed piece of work; without one the innermost failed step."""
    failed = [place for place, bad in enumerate(of.shape.failed) if bad]
    work = (place for place in failed if of.shape.counted[place])
    inner = (
        place
        for place in failed
        if not any(of.shape.failed[child] for child in of.inside.get(place, ()))
    )
    return next(work, next(inner, None))


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


def plan(
    of: Forest, *, selected: int | None = None, opened: Mapping[str, int] | None = None
) -> Sequence[Row]:
    """Return the lines of the tree, in order.

    A large run shows three levels while they fit, the way to the first error and to the selected
    step, and what is opened: `opened` counts pages of children by key, of roots by ''.
    """
    goals = [goal for goal in (first_error(of), selected) if goal is not None]
    forced = {place for goal in goals for place in of.path(goal)}
    limits = None if len(of) <= FULL else _limits(of, opened or {}, selected)
    rows: list[Row] = []
    roots = _shown(of.roots, limits, limits.get(NOBODY, 0) if limits else 0, forced)
    stack = [(place, 1) for place in reversed(roots)]
    while stack:
        place, level = stack.pop()
        place, wrappers = _unwrapped(of, place, selected)
        children = of.inside.get(place, ())
        shown = _shown(children, limits, limits.get(place, 0) if limits else 0, forced)
        rows.append(
            Row(
                place=place,
                level=level,
                wrappers=wrappers,
                expanded=bool(shown) if children else None,
                rest=len(children) - len(shown) if shown else 0,
            )
        )
        stack.extend((child, level + 1) for child in reversed(shown))
    return rows


def _unwrapped(of: Forest, place: int, selected: int | None) -> tuple[int, Sequence[int]]:
    """Return the first step that is no wrapper, and the wrappers around it."""
    wrappers = []
    while _wraps(of, place) and place != selected:
        wrappers.append(place)
        place = of.inside[place][0]
    return place, wrappers


def _wraps(of: Forest, place: int) -> bool:
    shape = of.shape
    children = of.inside.get(place, ())
    if shape.kinds[place] not in _WRAPPERS or len(children) != 1:
        return False
    inner = children[0]
    return not shape.doubled[inner] and (not shape.failed[place] or shape.failed[inner])


def _shown(
    children: Sequence[int], limits: Mapping[int, int] | None, most: int, forced: set[int]
) -> Sequence[int]:
    if limits is None or most >= len(children):
        return children
    return [child for index, child in enumerate(children) if index < most or child in forced]


def _limits(of: Forest, opened: Mapping[str, int], selected: int | None) -> Mapping[int, int]:
    """Return how many children of which step are drawn in a large run."""
    most = len(of.roots) if len(of.roots) <= _ROOM else PAGE
    limits = {NOBODY: most * opened.get("", 1)}
    drawn = limits[NOBODY]
    level: Iterable[int] = of.roots[:drawn]
    for _ in range(2):
        inner: list[int] = []
        for place in level:
            children = of.inside.get(place, ())
            most = min(PAGE, len(children))
            if drawn + most > _ROOM:
                break
            limits[place] = most
            drawn += most
            inner.extend(children[:most])
        level = inner
    for key, pages in opened.items():
        if key in of.places:
            limits[of.places[key]] = PAGE * pages
    if selected is not None:
        limits.setdefault(selected, PAGE)
    return limits
