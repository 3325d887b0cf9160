"""The rows of the tree as they are written: names, bars, numbers, and the address of each."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from collector.views import Outline
from gnomon.model import Kind
from gnomon.web.detail import name_of
from gnomon.web.formats import duration, short_count, usd
from gnomon.web.tree import PAGE, Forest, Row
from gnomon.web.waterfall import Scale

_SHORT: Mapping[Kind, str] = {
    Kind.LLM: "llm",
    Kind.EMBEDDING: "emb",
    Kind.TOOL: "tool",
    Kind.RETRIEVAL: "ret",
    Kind.GUARDRAIL: "grd",
    Kind.HANDOFF: "hand",
    Kind.HUMAN: "hum",
    Kind.AGENT: "agent",
    Kind.WORKFLOW: "flow",
    Kind.CHAIN: "chain",
    Kind.EVALUATION: "eval",
    Kind.OTHER: "span",
}

Address = Callable[[str, Mapping[str, int]], str]
"""Of the page with a step chosen ('' = the one that is) and some steps opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of the tree, as it is written."""

    key: str
    href: str
    look: str
    """Classes: indent, kind, bad, dup, work."""
    level: int
    kind: str
    name: str
    around: str
    """Names of the wrappers folded into it."""
    expanded: bool | None
    selected: bool
    broke: bool
    """A rule was broken by this step."""
    x: str
    width: str
    """Per cent of the plot."""
    duration: str
    tokens: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """A line that asks for the steps not drawn."""

    level: int
    indent: int
    rest: int
    href: str
    page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What the rows of one tree are written with."""

    forest: Forest
    steps: Mapping[int, Outline]
    """The steps that are drawn, by place."""
    scale: Scale
    selected: int | None
    broken: Set[str]
    """Spans of the calls that broke a rule."""
    opened: Mapping[str, int]
    address: Address


def places_of(rows: Sequence[Row]) -> Sequence[int]:
    """Return the steps that the rows name."""
    return [place for row in rows for place in (row.place, *row.wrappers)]


def lines(rows: Sequence[Row], drawing: Drawing) -> Sequence[Line | More]:
    """Write the rows; what asks for more stands behind the last step inside its parent."""
    found: list[Line | More] = []
    waiting: list[tuple[int, Row]] = []
    keys = drawing.forest.keys

    def settle(level: int) -> None:
        while waiting and waiting[-1][0] >= level:
            above, row = waiting.pop()
            found.append(_more(above, row.rest, keys[row.place], drawing))

    for row in rows:
        settle(row.level)
        step = drawing.steps.get(row.place)
        if step is not None:  # else it was taken back since the run was read
            found.append(_line(row, step, drawing))
        if row.rest:
            waiting.append((row.level, row))
    settle(0)
    rest = len(drawing.forest.roots) - sum(row.level == 1 for row in rows) if rows else 0
    if rest:
        found.append(_more(0, rest, "", drawing))
    return found


def _more(above: int, rest: int, key: str, drawing: Drawing) -> More:
    opened = {**drawing.opened, key: drawing.opened.get(key, 1) + 1}
    return More(
        level=above + 1,
        indent=min(above, 9),
        rest=rest,
        href=drawing.address("", opened),
        page=min(PAGE, rest),
    )


def _line(row: Row, step: Outline, drawing: Drawing) -> Line:
    key = drawing.forest.keys[row.place]
    left = drawing.scale.place(step.started_at)
    right = drawing.scale.place(step.started_at + step.duration_ns)
    tokens = None
    if step.input_tokens is not None or step.output_tokens is not None:
        tokens = (step.input_tokens or 0) + (step.output_tokens or 0)
    looks = [f"i{min(row.level - 1, 9)}", f"k-{_SHORT[step.kind]}"]
    looks += ["bad"] if step.status == "error" else []
    looks += ["dup"] if step.duplicate_of else []
    looks += ["work"] if step.counted else []
    name = name_of(step)
    around = [drawing.steps[place] for place in row.wrappers if place in drawing.steps]
    return Line(
        key=key,
        href=drawing.address(key, _opening(row, key, drawing.opened)),
        look=" ".join(looks),
        level=row.level,
        kind=_SHORT[step.kind],
        name=name if row.level <= 10 else f"{name} (level {row.level})",
        around=" / ".join(name_of(wrapper) for wrapper in around),
        expanded=row.expanded,
        selected=row.place == drawing.selected,
        broke=step.span_id in drawing.broken,
        x=f"{left:.2f}".rstrip("0").rstrip("."),
        width=f"{max(0.1, right - left):.2f}".rstrip("0").rstrip("."),
        duration=duration(step.duration_ns),
        tokens="" if tokens is None else short_count(tokens),
        cost="" if step.cost_usd is None else usd(step.cost_usd),
    )


def _opening(row: Row, key: str, opened: Mapping[str, int]) -> Mapping[str, int]:
    """Return what stays open when this row is chosen; a closed row opens."""
    return opened if row.expanded is not False else {**opened, key: 1}
