"""Which steps of a run are drawn, in which order and how deep; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from collector.views import Outline
from gnomon.model import WORK, Kind

FULL = 1000
"""Up to so many steps the whole tree is drawn."""
PAGE = 200
"""So many children of one step are drawn at first in a larger run."""
_WRAPPERS = frozenset({Kind.CHAIN, Kind.OTHER, Kind.WORKFLOW})


@dataclass(slots=True)
class Node:
    """A step among its neighbours. `index` counts the steps of the run by start."""

    key: str
    index: int
    step: Outline
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the tree."""

    node: Node
    level: int
    """1 at a root."""
    wrappers: Sequence[Node] = ()
    """Steps with this one child only, folded into it; outermost first."""
    expanded: bool | None = None
    """None: nothing inside."""
    rest: int = 0
    """Steps directly inside that are not drawn; a line that asks for more follows them."""


@dataclass(frozen=True, slots=True)
class Forest:
    """All steps of a run by key, with their roots."""

    nodes: Mapping[str, Node]
    roots: Sequence[Node]

    def path(self, node: Node) -> Sequence[Node]:
        """Return the steps around a step, outermost first, itself last."""
        found = [node]
        while (above := found[-1].parent) is not None:
            found.append(above)
        return found[::-1]


def key_of(step: Outline, *, several: bool) -> str:
    """Return the name of a step in addresses; runs of several traces need the trace as well."""
    return f"{step.trace_id}-{step.span_id}" if several else step.span_id


def forest(steps: Sequence[Outline]) -> Forest:
    """Put steps under their parents; a missing parent or a ring makes a root."""
    several = len({step.trace_id for step in steps}) > 1
    ordered = sorted(steps, key=lambda step: (step.started_at, step.span_id))
    nodes = {
        key_of(step, several=several): Node(key_of(step, several=several), index, step)
        for index, step in enumerate(ordered)
    }
    by_id = {(node.step.trace_id, node.step.span_id): node for node in nodes.values()}
    for node in nodes.values():
        above = by_id.get((node.step.trace_id, node.step.parent_span_id))
        if above is not None and above is not node:
            node.parent = above
            above.children.append(node)
    roots = [node for node in nodes.values() if node.parent is None]
    return Forest(nodes, sorted(roots + _cut_rings(nodes.values(), roots), key=_by_start))


def _by_start(node: Node) -> int:
    return node.index


def _cut_rings(nodes: Iterable[Node], roots: Sequence[Node]) -> list[Node]:
    """Return the earliest step of each ring of parents, made a root."""
    cut: list[Node] = []
    reached: set[int] = set()
    _reach(roots, reached)
    for node in nodes:
        if id(node) not in reached:
            if node.parent is not None:
                node.parent.children.remove(node)
                node.parent = None
            cut.append(node)
            _reach([node], reached)
    return cut


def _reach(start: Iterable[Node], reached: set[int]) -> None:
    stack = list(start)
    while stack:
        node = stack.pop()
        reached.add(id(node))
        stack.extend(node.children)


def first_error(of: Forest) -> Node | None:
    """Return the first failed piece of work; without one the innermost failed step."""
    failed = [node for node in of.nodes.values() if node.step.status == "error"]
    work = [node for node in failed if node.step.counted]
    if work:
        return work[0]
    inner = [node for node in failed if not any(c.step.status == "error" for c in node.children)]
    return inner[0] if inner else None


def decisive(of: Forest) -> Node | None:
    """Return the step to open at: the first error, else the last decision, tool or model call."""
    error = first_error(of)
    if error is not None:
        return error
    counted = [node for node in of.nodes.values() if node.step.counted]
    for kinds in ((Kind.HUMAN,), (Kind.TOOL,), (Kind.LLM,), tuple(WORK)):
        found = [node for node in counted if node.step.kind in kinds]
        if found:
            return found[-1]
    return of.roots[0] if of.roots else None


def plan(
    of: Forest, *, selected: Node | None = None, opened: Mapping[str, int] | None = None
) -> Sequence[Row]:
    """Return the lines of the tree, in order.

    A large run shows three levels while they fit, the way to the first error and to the selected
    step, and what is opened: `opened` counts pages of children by key.
    """
    forced = {id(n) for goal in (first_error(of), selected) if goal for n in of.path(goal)}
    limits = None if len(of.nodes) <= FULL else _limits(of, opened or {}, selected)
    rows: list[Row] = []
    stack = [(node, 1) for node in reversed(of.roots)]
    while stack:
        node, level = stack.pop()
        node, wrappers = _unwrapped(node, selected)
        shown = _shown(node, limits, forced)
        rows.append(
            Row(
                node=node,
                level=level,
                wrappers=wrappers,
                expanded=bool(shown) if node.children else None,
                rest=len(node.children) - len(shown) if shown else 0,
            )
        )
        stack.extend((child, level + 1) for child in reversed(shown))
    return rows


def _unwrapped(node: Node, selected: Node | None) -> tuple[Node, Sequence[Node]]:
    """Return the first step that is no wrapper, and the wrappers around it."""
    wrappers = []
    while _wraps(node) and node is not selected:
        wrappers.append(node)
        node = node.children[0]
    return node, wrappers


def _wraps(node: Node) -> bool:
    if node.step.kind not in _WRAPPERS or len(node.children) != 1:
        return False
    inner = node.children[0].step
    return inner.duplicate_of is None and (node.step.status == "ok" or inner.status == "error")


def _shown(node: Node, limits: Mapping[int, int] | None, forced: set[int]) -> Sequence[Node]:
    if limits is None:
        return node.children
    most = limits.get(id(node), 0)
    if most >= len(node.children):
        return node.children
    return [
        child for index, child in enumerate(node.children) if index < most or id(child) in forced
    ]


def _limits(of: Forest, opened: Mapping[str, int], selected: Node | None) -> Mapping[int, int]:
    """Return how many children of which step are drawn in a large run."""
    limits: dict[int, int] = {}
    drawn = len(of.roots)
    level: Iterable[Node] = of.roots
    for _ in range(2):
        inner: list[Node] = []
        for node in level:
            most = min(PAGE, len(node.children))
            if drawn + most > FULL * 0.8:
                break
            limits[id(node)] = most
            drawn += most
            inner.extend(node.children[:most])
        level = inner
    for key, pages in opened.items():
        if key in of.nodes:
            limits[id(of.nodes[key])] = PAGE * pages
    if selected is not None:
        limits.setdefault(id(selected), PAGE)
    return limits
