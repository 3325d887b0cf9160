"""Run: why did this fail?"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.datastructures import QueryParams

from collector.views import Outline
from gnomon.clock import Nanos
from gnomon.errors import InputError, NotFound
from gnomon.model import Kind, Run, RunState
from gnomon.web import waterfall
from gnomon.web.detail import SIDES, Detail, detail, name_of
from gnomon.web.filters import Query, parse
from gnomon.web.formats import duration, short_count, usd
from gnomon.web.judgments import Judgment, broken_steps, judgment
from gnomon.web.limits import limits
from gnomon.web.port import Explain, Judging, PageReader
from gnomon.web.run_facts import run_facts
from gnomon.web.runs import Title, address_of, position_of, title_of
from gnomon.web.tree import FULL, PAGE, Forest, Node, Row, decisive, forest, plan

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
_MAP_FROM = 100
_LOOKS = {Kind.LLM: "s1", Kind.TOOL: "s2"}


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
    slow_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """A line that asks for the steps not drawn."""

    level: int
    indent: int
    rest: int
    href: str
    page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """The page."""

    run: Run
    title: Title
    facts: Sequence[tuple[str, str, str]]
    """Label, value, address ('' when there is none)."""
    limits: Sequence[str]
    judged: Judgment | None
    """None without graders."""
    lines: Sequence[Line | More]
    drawn: int
    total: int
    ruler: Markup
    rules: Markup
    minimap: Markup
    detail: Detail | None
    sides: Sequence[tuple[str, str, str]]
    """Name, label, address."""
    address: str
    """Of this run with its list; without step."""
    back: str
    newer: str
    older: str
    full: str
    """The same step with nothing cut."""
    news: str
    slowest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the address of a run asks for."""

    step: str = ""
    side: str = ""
    came_from: str = ""
    """Query string of the list."""
    opened: Mapping[str, int]
    full: bool = False


def asked(params: QueryParams) -> Asked:
    """Read the address of a run page."""
    side = params.get("view", "")
    if side not in SIDES:
        raise InputError(f"view: {side!r} is none of {', '.join(name for name in SIDES if name)}")
    opened: dict[str, int] = {}
    for text in params.getlist("open"):
        key, _, pages = text.partition("~")
        opened[key] = min(50, int(pages)) if pages.isdecimal() and len(pages) < 4 else 1
    return Asked(
        step=params.get("step", ""),
        side=side,
        came_from=params.get("list", ""),
        opened=opened,
        full=params.get("full") == "1",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """All steps of a run; large runs are read once while somebody walks through them."""

    forest: Forest
    scale: waterfall.Scale
    minimap: Markup
    limits: Sequence[str]
    slowest: str


def steps_of(reader: PageReader, run: Run) -> Steps:
    """Read all steps of a run, and compute what looks at each of them."""
    outline = reader.outline(run)
    of = forest(outline)
    scale = _scale(run, outline)
    return Steps(
        forest=of,
        scale=scale,
        minimap=_minimap(scale, of) if len(outline) > _MAP_FROM else Markup(),
        limits=limits(run, outline),
        slowest=_slowest(of),
    )


def run_page(
    reader: PageReader,
    run_id: str,
    ask: Asked,
    *,
    now: Nanos,
    explain: Explain | None,
    kept: Callable[[Run], Steps],
    order: Sequence[str] = (),
    judging: Judging | None = None,
    whole: bool = True,
) -> RunView:
    """Return the page; raises NotFound. `kept` answers with the steps of a run.

    Without `whole` only what belongs to the chosen step.
    """
    run = reader.run(run_id)
    if run is None:
        raise NotFound(f"no run {run_id}")
    steps = kept(run)
    of = steps.forest
    node = _asked_for(of, ask.step) if ask.step else decisive(of)
    if ask.step and node is None:
        raise NotFound(f"no step {ask.step} in run {run_id}")
    rows = plan(of, selected=node, opened=ask.opened) if whole else ()
    judged = judging.judgments.of(run) if judging is not None and whole else None
    query = _list(ask)
    newer, older = _neighbours(reader, run, query, now)
    return RunView(
        run=run,
        title=title_of(run, order),
        facts=run_facts(run, order),
        limits=steps.limits,
        judged=None if judged is None else judgment(judged, of, _url(run_id, ask)),
        lines=_lines(rows, node, steps.scale, run_id, ask, broken_steps(judged)),
        drawn=len(rows) + sum(len(row.wrappers) for row in rows),
        total=len(of.nodes),
        ruler=waterfall.ruler(steps.scale),
        rules=waterfall.rules(steps.scale),
        minimap=steps.minimap,
        detail=None
        if node is None
        else detail(
            reader,
            of,
            node,
            side=SIDES[ask.side],
            started_at=run.started_at,
            explain=explain,
            full=ask.full,
        ),
        sides=_sides(run_id, ask, node, explain is not None),
        address=_url(run_id, ask),
        back=query.url(),
        newer=newer,
        older=older,
        full=_url(run_id, ask, step=node.key if node else "", view=ask.side, full="1"),
        news=f"/runs/{run_id}/news?than={run.spans}" if run.state is RunState.OPEN else "",
        slowest=steps.slowest,
    )


def _asked_for(of: Forest, step: str) -> Node | None:
    """Return a step by its key, or by its span id alone, as judgments name it."""
    same = (node for node in of.nodes.values() if node.step.span_id == step)
    return of.nodes.get(step) or next(same, None)


def _scale(run: Run, steps: Sequence[Outline]) -> waterfall.Scale:
    busy = [(s.started_at, s.started_at + s.duration_ns) for s in steps if s.counted]
    ends = [s.started_at + s.duration_ns for s in steps]
    return waterfall.scale(run.started_at, max([run.ended_at, *ends]), busy)


def _slowest(of: Forest) -> str:
    counted = [node for node in of.nodes.values() if node.step.counted]
    return (
        max(counted, key=lambda node: (node.step.duration_ns, -node.index)).key if counted else ""
    )


def _minimap(scale: waterfall.Scale, of: Forest) -> Markup:
    return waterfall.minimap(
        scale,
        [
            (
                step.started_at,
                step.started_at + step.duration_ns,
                "error" if step.status == "error" else _LOOKS.get(step.kind, "s0"),
            )
            for step in (node.step for node in of.nodes.values())
            if step.counted or len(of.nodes) < FULL
        ],
    )


def _lines(
    rows: Sequence[Row],
    selected: Node | None,
    scale: waterfall.Scale,
    run_id: str,
    ask: Asked,
    broken: Set[str],
) -> Sequence[Line | More]:
    """Write the rows; what asks for more stands behind the last step inside its parent."""
    found: list[Line | More] = []
    waiting: list[tuple[int, Row]] = []

    def settle(level: int) -> None:
        while waiting and waiting[-1][0] >= level:
            found.append(_more(waiting.pop()[1], run_id, ask))

    for row in rows:
        settle(row.level)
        found.append(_line(row, selected, scale, run_id, ask, broken))
        if row.rest:
            waiting.append((row.level, row))
    settle(0)
    return found


def _more(row: Row, run_id: str, ask: Asked) -> More:
    pages = ask.opened.get(row.node.key, 1) + 1
    opened = {**ask.opened, row.node.key: pages}
    return More(
        level=row.level + 1,
        indent=min(row.level, 9),
        rest=row.rest,
        href=_url(run_id, ask, step=ask.step, opened=opened),
        page=min(PAGE, row.rest),
    )


def _line(
    row: Row,
    selected: Node | None,
    scale: waterfall.Scale,
    run_id: str,
    ask: Asked,
    broken: Set[str],
) -> Line:
    step = row.node.step
    left = scale.place(step.started_at)
    right = scale.place(step.started_at + step.duration_ns)
    tokens = None
    if step.input_tokens is not None or step.output_tokens is not None:
        tokens = (step.input_tokens or 0) + (step.output_tokens or 0)
    looks = [f"i{min(row.level - 1, 9)}", f"k-{_SHORT[step.kind]}"]
    looks += ["bad"] if step.status == "error" else []
    looks += ["dup"] if step.duplicate_of else []
    looks += ["work"] if step.counted else []
    name = name_of(step)
    if row.level > 10:
        name = f"{name} (level {row.level})"
    return Line(
        key=row.node.key,
        href=_url(run_id, ask, step=row.node.key, view=ask.side, opened=_opening(row, ask)),
        look=" ".join(looks),
        level=row.level,
        kind=_SHORT[step.kind],
        name=name,
        around=" / ".join(name_of(wrapper.step) for wrapper in row.wrappers),
        expanded=row.expanded,
        selected=row.node is selected,
        broke=step.span_id in broken,
        x=f"{left:.2f}".rstrip("0").rstrip("."),
        width=f"{max(0.1, right - left):.2f}".rstrip("0").rstrip("."),
        duration=duration(step.duration_ns),
        tokens="" if tokens is None else short_count(tokens),
        cost="" if step.cost_usd is None else usd(step.cost_usd),
        slow_ns=step.duration_ns if step.counted else 0,
    )


def _opening(row: Row, ask: Asked) -> Mapping[str, int]:
    """Return what stays open when this row is chosen; a closed row opens."""
    return ask.opened if row.expanded is not False else {**ask.opened, row.node.key: 1}


def _list(ask: Asked) -> Query:
    try:
        return parse(QueryParams(ask.came_from))
    except InputError:
        return Query(period="7d")


def _neighbours(reader: PageReader, run: Run, query: Query, now: Nanos) -> tuple[str, str]:
    """Return the addresses of the newer and the older run of the list, '' at its ends."""
    where, place = query.where(now), position_of(run)
    newer = reader.runs(where, limit=1, after=place, newer=True)
    older = reader.runs(where, limit=1, after=place)
    return (
        address_of(newer[0], query) if newer else "",
        address_of(older[0], query) if older else "",
    )


def _sides(
    run_id: str, ask: Asked, node: Node | None, explained: bool
) -> Sequence[tuple[str, str, str]]:
    labels = {"": "Content", "facts": "Facts", "raw": "Raw", "explain": "Explain"}
    return [
        (name, label, _url(run_id, ask, step=node.key if node else "", view=name))
        for name, label in labels.items()
        if name != "explain" or explained
    ]


def _url(run_id: str, ask: Asked, *, opened: Mapping[str, int] | None = None, **more: str) -> str:
    pairs = [("list", ask.came_from)] if ask.came_from else []
    kept = ask.opened if opened is None else opened
    pairs += [("open", f"{key}~{pages}" if pages > 1 else key) for key, pages in kept.items()]
    pairs += [(name, value) for name, value in more.items() if value]
    text = urlencode(pairs)
    return f"/runs/{run_id}?{text}" if text else f"/runs/{run_id}"
