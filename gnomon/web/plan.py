"""Which steps of a run are drawn, in which order and how deep; pure.

A run of up to `FULL` steps is drawn whole. Of a larger one at most `ROOM` rows are drawn, whatever
its shape: the ways to the chosen step and to the first error, what was opened, and then as much of
the first levels as fits. Wherever steps are left out stands a gap that says how many and opens them.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gnomon.model import Kind
from gnomon.web.tree import NOBODY, Forest, first_error

FULL = 1000
"""Up to so many steps the whole tree is drawn."""
ROOM = 800
"""So many rows of a larger run are drawn at most."""
PAGE = 200
"""So many steps open at once."""
OPENS = 5
"""So many opened steps an address remembers; more never fit."""
_PAGES = 3
"""Of the children of an opened step so many pages stay, those up to the newest."""
_LEVELS = 3
"""So many levels of a larger run are drawn unasked."""
_OUTER, _INNER = 6, 10
"""Of a long way to a step so many levels are drawn, from outside and from the step outwards."""
_BESIDE = 12
"""Up to so many steps that lie side by side are drawn where one of them is."""
_WRAPPERS = frozenset({Kind.CHAIN, Kind.OTHER, Kind.WORKFLOW})


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A line for steps that are not drawn; it opens them."""

    inside: int
    """The step that they lie in; NOBODY among roots."""
    level: int
    steps: int
    page: int
    """The page of children of `inside` that begins the gap."""
    first: int
    """The step whose row comes first when it is opened."""
    between: bool
    """Whether the next lines lie inside the steps that are left out."""


def plan(
    of: Forest, *, selected: int | None = None, opened: Mapping[str, int] | None = None
) -> Sequence[Row | Gap]:
    """Return the lines of the tree, in order.

    `opened` counts pages of children by key, of roots by '', the newest last.
    """
    choice = _Choice(of, selected)
    if len(of) <= FULL:
        choice.spread(of.roots, 1, room=len(of), levels=len(of))
    else:
        choice.choose(opened or {})
    return list(_written(choice))


def opening(opened: Mapping[str, int], key: str, pages: int) -> Mapping[str, int]:
    """Return what is open when one more step is, the newest last."""
    others = [one for one in opened.items() if one[0] != key]
    return dict([*others[1 - OPENS :], (key, pages)])


def pages_of(of: Forest, key: str) -> int | None:
    """Return how many pages of children a step ('' = all roots) has; None if there is no such."""
    if key and key not in of.places:
        return None
    return -(-len(of.children(of.places[key] if key else NOBODY)) // PAGE)


class _Choice:
    """The rows to be drawn, each by its outermost step, the first wrapper where some fold."""

    def __init__(self, of: Forest, selected: int | None) -> None:
        self.of = of
        self.selected = selected
        self.levels: dict[int, int] = {}
        whole = len(of) <= FULL
        self._most = len(of) if whole else ROOM
        self._page = len(of) if whole else PAGE

    def choose(self, opened: Mapping[str, int]) -> None:
        """Choose the rows of a large run; what comes first gets the room."""
        of = self.of
        for goal in (self.selected, first_error(of)):
            if goal is not None:
                self._lead_to(goal)
        # Roots that are drawn for what lies in them count into the page of roots.
        chosen = sum(level == 1 for level in self.levels.values())
        for key, pages in list(opened.items())[: -OPENS - 1 : -1]:
            self._open(of.places[key] if key else NOBODY, pages)
        if self.selected is not None:
            inside = of.children(self.selected)[:PAGE]
            self.spread(inside, self._below(self.selected), room=PAGE, levels=1)
        for head, level in list(self.levels.items()):
            beside = of.children(of.above[head])
            if len(beside) <= _BESIDE and level > 1:
                self.spread(beside, level, room=len(beside), levels=1)
        roots = of.roots if len(of.roots) <= ROOM else of.roots[: PAGE - chosen]
        self.spread(roots, 1, room=ROOM, levels=_LEVELS)

    def spread(self, heads: Sequence[int], level: int, *, room: int, levels: int) -> None:
        """Draw some rows side by side and then, level after level, what is in them while it fits."""
        most = min(len(self.levels) + room, self._most)
        line: Iterable[int] = heads[: max(0, most - len(self.levels))]
        self._draw(line, level)
        for deeper in range(1, levels):
            inner: list[int] = []
            for head in line:
                children = self.of.children(self.unwrapped(head)[0])[: self._page]
                if len(self.levels) + len(children) > most:
                    break
                self._draw(children, level + deeper)
                inner.extend(children)
            if not inner:
                break
            line = inner

    def unwrapped(self, place: int) -> tuple[int, Sequence[int]]:
        """Return the first step that is no wrapper, and the wrappers around it."""
        wrappers = []
        while place != self.selected and _wraps(self.of, place):
            wrappers.append(place)
            place = self.of.inside[place][0]
        return place, wrappers

    def _draw(self, heads: Iterable[int], level: int) -> None:
        for head in heads:
            self.levels.setdefault(head, level)

    def _open(self, place: int, pages: int) -> None:
        if len(self.levels) + _OUTER + _INNER >= self._most:
            return
        if place != NOBODY:
            self._lead_to(place)
            place = self.unwrapped(place)[0]
        children = self.of.children(place)[max(0, pages - _PAGES) * PAGE : pages * PAGE]
        room = max(PAGE, len(children))
        self.spread(children, self._below(place), room=room, levels=len(self.of))

    def _lead_to(self, place: int) -> None:
        """Draw the way to a step: its first levels and those around the step."""
        way = self._way(place)
        for level, head in enumerate(way, 1):
            if not _OUTER < level <= len(way) - _INNER:
                self.levels.setdefault(head, level)

    def _below(self, place: int) -> int:
        return 1 if place == NOBODY else len(self._way(place)) + 1

    def _way(self, place: int) -> Sequence[int]:
        """Return the rows around a step, outermost first, its own last."""
        found, folds = [], False
        for step in self.of.path(place):
            if not folds:
                found.append(step)
            folds = step != self.selected and _wraps(self.of, step)
        return found


def _wraps(of: Forest, place: int) -> bool:
    shape = of.shape
    children = of.inside.get(place, ())
    if shape.kinds[place] not in _WRAPPERS or len(children) != 1:
        return False
    inner = children[0]
    return not shape.doubled[inner] and (not shape.failed[place] or shape.failed[inner])


def _written(choice: _Choice) -> Iterator[Row | Gap]:
    """Yield the chosen rows in order, with a gap wherever steps are left out."""
    of, levels = choice.of, choice.levels
    rows = {head: choice.unwrapped(head) for head in levels}
    lying = _lying(of, {inner for inner, _ in rows.values()}, levels)
    stack = list(_between(choice, NOBODY, lying.get(NOBODY, ()), 1))[::-1]
    while stack:
        one = stack.pop()
        if isinstance(one, Gap):
            yield one
            continue
        place, wrappers = rows[one]
        below = lying.get(place, ())
        expanded = bool(below) if of.children(place) else None
        yield Row(place=place, level=levels[one], wrappers=wrappers, expanded=expanded)
        if below:
            stack.extend(list(_between(choice, place, below, levels[one] + 1))[::-1])


def _lying(
    of: Forest, inners: set[int], heads: Iterable[int]
) -> Mapping[int, Sequence[tuple[int, int]]]:
    """Return the rows by the nearest drawn step around them, each with the child it lies in."""
    found: dict[int, list[tuple[int, int]]] = {}
    for head in heads:
        child = head
        while (above := of.above[child]) != NOBODY and above not in inners:
            child = above
        found.setdefault(above, []).append((child, head))
    return found


def _between(
    choice: _Choice, inside: int, rows: Iterable[tuple[int, int]], level: int
) -> Iterator[int | Gap]:
    """Yield the rows in a step, and gaps before, between and after them."""
    levels, children = choice.levels, choice.of.children(inside)
    first = 0
    deeper: dict[int, list[int]] = {}

    def gap(end: int) -> Iterator[int | Gap]:
        if first < end:
            yield Gap(
                inside=inside,
                level=level,
                steps=end
                - first
                + sum(max(levels[head] for head in each) - level - 1 for each in deeper.values()),
                page=(first + 1) // PAGE + 1,
                first=choice.unwrapped(children[first])[0],
                between=bool(deeper),
            )
            for each in deeper.values():
                yield from each

    for child, head in sorted(rows):
        if levels[head] > level:
            deeper.setdefault(child, []).append(head)
            continue
        place = bisect_left(children, child)
        yield from gap(place)
        yield head
        first = place + 1
        deeper = {}
    yield from gap(len(children))
