"""Run: why did this fail?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.datastructures import QueryParams

from collector.views import Outline, Shape, in_order, shape_of
from gnomon.clock import Nanos
from gnomon.errors import InputError, NotFound
from gnomon.model import Kind, Run, RunState
from gnomon.segment import segment
from gnomon.web import waterfall
from gnomon.web.detail import SIDES, Detail, detail, name_of
from gnomon.web.filters import Query, parse
from gnomon.web.judgments import Judgment, StepLink, broken_steps, judgment, pointed_at
from gnomon.web.known import none_of, refuse_unknown, wrong
from gnomon.web.limits import limits
from gnomon.web.lines import Drawing, Line, More, lines, places_of
from gnomon.web.plan import FULL, Row, pages_of, plan
from gnomon.web.port import Explain, Judging, PageReader
from gnomon.web.run_facts import run_facts
from gnomon.web.titles import Title, address_of, position_of, title_of
from gnomon.web.tree import Forest, decisive, errors, forest

_MAP_FROM = 100
_ERRORS = 200
"""So many failed steps of a large run are reached by key, however few of them are drawn."""
_AT_ONCE = 2
"""Questions at once beside the chosen step: ClickHouse works on them while Python waits."""
_LOOKS: Mapping[str, str] = {Kind.LLM: "s1", Kind.TOOL: "s2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What stands around the chosen step: the rows with their axis, and what was judged."""

    judged: Judgment | None
    """None without graders."""
    lines: Sequence[Line | More]
    drawn: int
    total: int
    ruler: Markup
    rules: Markup
    minimap: Markup
    slowest: str
    errors: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """The page."""

    run: Run
    title: Title
    facts: Sequence[tuple[str, str, str]]
    """Label, value, address ('' when there is none)."""
    limits: Sequence[str]
    tree: Tree | None
    """None where only the chosen step is asked for."""
    empty: bool
    """The run has no steps yet."""
    detail: Detail | None
    sides: Sequence[tuple[str, str, str]]
    """Name, label, address."""
    back: str
    beside: tuple[str, str]
    """The newer and the older run of the list."""
    full: str
    """The same step with nothing cut."""
    news: str


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
    refuse_unknown(params.keys(), ("step", "view", "list", "open", "full"))
    side = params.get("view", "")
    if side not in SIDES:
        raise none_of("view", side, filter(None, SIDES))
    if params.get("full", "") not in ("", "1"):
        raise none_of("full", params["full"], ["1"])
    opened: dict[str, int] = {}
    for text in params.getlist("open"):
        key, mark, pages = text.partition("~")
        if mark and not (pages.isascii() and pages.isdecimal() and len(pages) < 8):
            raise wrong("open", text, "is none of STEP, STEP~PAGES")
        opened[key] = int(pages) if mark else 1
    return Asked(
        step=params.get("step", ""),
        side=side,
        came_from=params.get("list", ""),
        opened=opened,
        full=params.get("full") == "1",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """All steps of a run; they are read once while somebody walks through them."""

    forest: Forest
    scale: waterfall.Scale
    minimap: Markup
    limits: Sequence[str]
    slowest: str
    errors: str
    """Keys of the failed steps of a large run, where not all of them are drawn."""
    whole: Mapping[int, Outline] | None
    """Every step by place; None in a large run, of which only what is drawn is read."""

    def drawn(self, reader: PageReader, run: Run, places: Iterable[int]) -> Mapping[int, Outline]:
        """Return some of the steps by place."""
        if self.whole is not None:
            return self.whole
        wanted = {self.key(place): place for place in places}
        found = reader.outline(run, list(wanted)) if wanted else ()
        return {
            wanted[step.trace_id, step.span_id]: step
            for step in found
            if (step.trace_id, step.span_id) in wanted
        }

    def key(self, place: int) -> tuple[str, str]:
        """Return the trace and the span of a step."""
        shape = self.forest.shape
        return shape.trace_ids[place], shape.span_ids[place]


def steps_of(reader: PageReader, run: Run) -> Steps:
    """Read all steps of a run, and compute what looks at each of them."""
    small = sorted(reader.outline(run), key=in_order) if run.spans <= FULL else None
    shape = reader.shape(run) if small is None else shape_of(small)
    of = forest(shape)
    scale = _scale(run, shape)
    return Steps(
        forest=of,
        scale=scale,
        minimap=_minimap(scale, shape) if len(of) > _MAP_FROM else Markup(),
        limits=limits(run, shape.told),
        slowest=_slowest(of),
        errors=""
        if len(of) <= FULL
        else " ".join(of.keys[one] for one in islice(errors(of), _ERRORS)),
        whole=None if small is None else dict(enumerate(small)),
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
    place = of.named(ask.step) if ask.step else decisive(of)
    if ask.step and place is None:
        raise NotFound(f"no step {ask.step} in run {run_id}")
    key = "" if place is None else of.keys[place]
    _refuse_unopenable(of, ask.opened)
    query = _list(ask)
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="run") as pool:
        asked_tree = pool.submit(_tree, reader, run, steps, place, ask, judging) if whole else None
        asked_beside = pool.submit(_beside, reader, run, query, now) if whole else None
        chosen = None if place is None else steps.key(place)
        side = SIDES[ask.side]
        shown = chosen and detail(
            reader, run, chosen, key=key, side=side, explain=explain, full=ask.full
        )
        tree = asked_tree.result() if asked_tree else None
        beside = asked_beside.result() if asked_beside else ("", "")
    return RunView(
        run=run,
        title=title_of(run, order),
        facts=run_facts(run, order),
        limits=steps.limits,
        tree=tree,
        empty=not len(of),
        detail=shown,
        sides=_sides(run_id, ask, key, explain is not None),
        back=query.url(),
        beside=beside,
        full=_url(run_id, ask, step=key, view=ask.side, full="1"),
        news=_news(run) if run.state is RunState.OPEN else "",
    )


def _tree(
    reader: PageReader,
    run: Run,
    steps: Steps,
    selected: int | None,
    ask: Asked,
    judging: Judging | None,
) -> Tree:
    of = steps.forest
    rows = plan(of, selected=selected, opened=ask.opened)
    judged = judging.judgments.of(run) if judging is not None else None
    pointed = {span: place for span in pointed_at(judged) if (place := of.named(span)) is not None}
    drawn = steps.drawn(reader, run, [*places_of(rows), *pointed.values()])

    def address(key: str, opened: Mapping[str, int]) -> str:
        if not key:
            return _url(run.run_id, ask, step=ask.step, opened=opened)
        return _url(run.run_id, ask, step=key, view=ask.side, opened=opened)

    links = {
        span: StepLink(name=name_of(drawn[place]), href=address(of.keys[place], ask.opened))
        for span, place in pointed.items()
        if place in drawn
    }
    return Tree(
        judged=None if judged is None else judgment(judged, links),
        lines=lines(
            rows,
            Drawing(
                forest=of,
                steps=drawn,
                scale=steps.scale,
                selected=selected,
                broken=broken_steps(judged),
                opened=ask.opened,
                address=address,
            ),
        ),
        drawn=sum(1 + len(row.wrappers) for row in rows if isinstance(row, Row)),
        total=len(of),
        ruler=waterfall.ruler(steps.scale),
        rules=waterfall.rules(steps.scale),
        minimap=steps.minimap,
        slowest=steps.slowest,
        errors=steps.errors,
    )


def _scale(run: Run, shape: Shape) -> waterfall.Scale:
    ends = [start + length for start, length in zip(shape.starts, shape.durations, strict=True)]
    busy = (
        (start, end)
        for start, end, counted in zip(shape.starts, ends, shape.counted, strict=True)
        if counted
    )
    return waterfall.scale(run.started_at, max([run.ended_at, *ends]), busy)


def _slowest(of: Forest) -> str:
    counted = [place for place, work in enumerate(of.shape.counted) if work]
    if not counted:
        return ""
    return of.keys[max(counted, key=lambda place: (of.shape.durations[place], -place))]


def _minimap(scale: waterfall.Scale, shape: Shape) -> Markup:
    columns = (shape.starts, shape.durations, shape.kinds, shape.failed, shape.counted)
    every = len(shape.starts) < FULL
    return waterfall.minimap(
        scale,
        (
            (start, start + length, "error" if failed else _LOOKS.get(kind, "s0"))
            for start, length, kind, failed, counted in zip(*columns, strict=True)
            if counted or every
        ),
        len(shape.starts) if every else sum(shape.counted),
    )


def _refuse_unopenable(of: Forest, opened: Mapping[str, int]) -> None:
    for key, pages in opened.items():
        most = pages_of(of, key)
        if most is None:
            raise wrong("open", key, "is no step of this run")
        if not 1 <= pages <= max(1, most):
            raise wrong("open", f"{key}~{pages}", f"has no such page; it has {max(1, most)}")


def _list(ask: Asked) -> Query:
    try:
        return parse(QueryParams(ask.came_from))
    except InputError as error:
        raise wrong("list", ask.came_from, f"is no list of runs: {error.detail}") from error


def _beside(reader: PageReader, run: Run, query: Query, now: Nanos) -> tuple[str, str]:
    """Return the addresses of the newer and the older run of the list, '' at its ends."""
    where, place = query.where(now), position_of(run)
    newer = reader.positions(where, limit=1, after=place, newer=True)
    older = reader.positions(where, limit=1, after=place)
    return (
        address_of(newer[0].run_id, query) if newer else "",
        address_of(older[0].run_id, query) if older else "",
    )


def _sides(run_id: str, ask: Asked, key: str, explained: bool) -> Sequence[tuple[str, str, str]]:
    labels = {"": "Content", "facts": "Facts", "raw": "Raw", "explain": "Explain"}
    return [
        (name, label, _url(run_id, ask, step=key, view=name))
        for name, label in labels.items()
        if name != "explain" or explained
    ]


def _news(run: Run) -> str:
    return f"/news/run?{urlencode({'run_id': run.run_id, 'than': run.spans})}"


def _url(run_id: str, ask: Asked, *, opened: Mapping[str, int] | None = None, **more: str) -> str:
    pairs = [("list", ask.came_from)] if ask.came_from else []
    kept = ask.opened if opened is None else opened
    pairs += [("open", f"{key}~{pages}" if pages > 1 else key) for key, pages in kept.items()]
    pairs += [(name, value) for name, value in more.items() if value]
    text = urlencode(pairs)
    path = f"/runs/{segment(run_id)}"
    return f"{path}?{text}" if text else path
