"""The rows of the tree as they are written: names, bars, numbers, and the address of each."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from collector.views import Outline
from gnomon.model import Kind
from gnomon.web.detail import name_of
from gnomon.web.formats import count, duration, short_count, usd
from gnomon.web.plan import PAGE, Gap, Row, opening
from gnomon.web.tree import NOBODY, Forest
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

_OUTSIDE, _INSIDE = 3, 2
"""So many wrappers of one row are named, the outermost and the innermost."""

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
    between: bool
    """The next lines lie inside these steps."""
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


def places_of(rows: Sequence[Row | Gap]) -> Sequence[int]:
    """Return the steps that the rows name."""
    return [place for row in rows if isinstance(row, Row) for place in (row.place, *_named(row))]


def lines(rows: Sequence[Row | Gap], drawing: Drawing) -> Sequence[Line | More]:
    """Write the rows; a step that was taken back since the run was read is left out."""
    return [
        _more(row, drawing) if isinstance(row, Gap) else _line(row, drawing)
        for row in rows
        if isinstance(row, Gap) or row.place in drawing.steps
    ]


def _named(row: Row) -> Sequence[int]:
    """Return the wrappers whose names are written."""
    if len(row.wrappers) <= _OUTSIDE + _INSIDE:
        return row.wrappers
    return [*row.wrappers[:_OUTSIDE], *row.wrappers[-_INSIDE:]]


def _around(row: Row, drawing: Drawing) -> str:
    known = [drawing.steps[place] for place in _named(row) if place in drawing.steps]
    names = [name_of(wrapper) for wrapper in known]
    left = len(row.wrappers) - len(_named(row))
    return " / ".join(
        [*names[:_OUTSIDE], f"… {count(left)} more …", *names[_OUTSIDE:]] if left else names
    )


def _more(gap: Gap, drawing: Drawing) -> More:
    keys = drawing.forest.keys
    key = "" if gap.inside == NOBODY else keys[gap.inside]
    return More(
        level=gap.level,
        indent=min(gap.level - 1, 9),
        rest=gap.steps,
        between=gap.between,
        href=drawing.address("", opening(drawing.opened, key, gap.page)) + f"#{keys[gap.first]}",
        page=min(PAGE, gap.steps),
    )


def _line(row: Row, drawing: Drawing) -> Line:
    step = drawing.steps[row.place]
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
    return Line(
        key=key,
        href=drawing.address(key, _opening(row, key, drawing.opened)),
        look=" ".join(looks),
        level=row.level,
        kind=_SHORT[step.kind],
        name=name if row.level <= 10 else f"{name} (level {row.level})",
        around=_around(row, drawing),
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
    return opened if row.expanded is not False else opening(opened, key, 1)
