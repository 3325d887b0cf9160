"""The two halves of a comparison, as they are shown: same tasks, and live runs of the same weeks."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from gnomon.web import forest
from gnomon.web.amounts import points
from gnomon.web.compare_chart import Chart, drawn, finding, left, margin, note
from gnomon.web.compare_guard import GuardPart, guard_part, run_address
from gnomon.web.filters import ALL, Query
from gnomon.web.formats import count, percent, plural
from gnomon.web.scoped import Asked
from scoring.stats.gates import Verdict
from scoring.stats.results import Difference
from scoring.versions.answers import WITHHELD, Live, OnTasks
from scoring.versions.mix import Mix
from scoring.versions.ruling import Ruling
from scoring.versions.tasks import FIRST_TRIALS, ChangedTask, TaskComparison, TaskRuns

Show = Literal["broke", "fixed", "all"]
SHOWS: Mapping[str, Show] = {"broke": "broke", "fixed": "fixed", "all": "all"}
_TASKS = 200
"""Changed tasks that one page lists."""
_METHODS = {
    "t": "t",
    "sign_flip": "sign-flip",
    "sign_test": "sign test",
    "mcnemar": "exact McNemar",
    "mcnemar_midp": "mid-p McNemar",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the rule says of one comparison, in a word and a sentence."""

    look: str
    word: str
    sentence: str
    decided: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """How many tasks changed by so much."""

    size: str
    tasks: int
    look: str
    links: Sequence[tuple[str, str]] = ()
    """Each of them, and the address at which it is read; none of those that did not change."""
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSide:
    """The runs of one version at one task."""

    words: str
    runs: Sequence[tuple[str, str]]
    """A short name of the run and its address."""
    more: int
    run_ids: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One changed task."""

    task: str
    read: str
    """Address at which both sides are read beside each other."""
    href: str
    """Address of all its runs."""
    word: str
    look: str
    size: str
    base: TaskSide
    cand: TaskSide
    seen: str
    """What the browser remembers once somebody has read it: a digest, no word of the task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksPart:
    """Both versions on the same tasks."""

    chart: Chart
    guard: GuardPart
    note: str
    """Which numbers these are: of a look, before one, or no test at all."""
    verdict: Said
    text: str
    p_values: Sequence[tuple[str, str]]
    """Method and p; none before the rule has decided."""
    strip: Markup
    counts: Sequence[tuple[str, str, int, str]]
    """Word, look, tasks, address."""
    magnitudes: Sequence[Sized]
    most: int
    lines: Sequence[TaskLine]
    hidden: int
    shows: Sequence[tuple[str, int, str, bool]]
    apart: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePart:
    """Both versions live, in the same weeks."""

    chart: Chart
    guard: GuardPart
    note: str
    verdict: Said
    text: str
    mix: str
    rests: str
    """Which of the two differences a verdict rests on; '' where there is one."""
    slices: Sequence[Sequence[str]]
    slice_name: str


def verdict(ruling: Ruling) -> Said:
    """Return the verdict of a rule as word, look and sentence."""
    word = ruling.decision.verdict
    looks = {Verdict.PASS: "ok", Verdict.FAIL: "error", Verdict.NOT_ENOUGH_DATA: "unknown"}
    reason = ruling.reason
    comma = ";" if ruling.late else ","
    missing = f"{comma} n = {count(ruling.n)}" if ruling.plan is not None else ""
    if ruling.decision.missing:
        missing = f"; {count(ruling.decision.missing)} more needed{missing}"
    return Said(
        look=looks[word],
        word=str(word),
        sentence=f"{reason}{missing}",
        decided=word is not Verdict.NOT_ENOUGH_DATA,
    )


def _effects(found: OnTasks) -> Sequence[tuple[str, Difference, bool]]:
    """Return the rows of the chart: what may be seen, and the running interval beside it."""
    fixed, running = found.comparison.difference, found.any_time
    if found.ruling.looks:
        return [("same tasks", fixed, True)]
    name = "at any time, first runs" if FIRST_TRIALS in running.flags else "at any time"
    if WITHHELD in fixed.flags:
        return [(name, running, True)]
    return [("same tasks", fixed, True), (name, running, False)]


def tasks_part(found: OnTasks, here: Asked, show: Show | None) -> TasksPart:
    """Return the comparison on the same tasks; p values only once the rule has decided."""
    comparison, setting = found.comparison, found.setting
    difference = comparison.difference
    ruled = verdict(found.ruling)
    chosen: Show = show or (
        "broke" if difference.worse else "fixed" if difference.better else "all"
    )
    kinds: Mapping[Show, int] = {
        "broke": difference.worse,
        "fixed": difference.better,
        "all": difference.worse + difference.better,
    }
    kept = [one for one in comparison.changed if chosen in ("all", one.word)]
    return TasksPart(
        chart=drawn(
            _effects(found),
            finding(found, difference, "On the same tasks"),
            f"{setting.metric}, one difference a task, {difference.method},"
            f" n = {plural(difference.n, 'task')}; left out: {left(difference)}",
            margin(found.ruling),
        ),
        guard=guard_part(found.guard),
        note=note(found, difference),
        verdict=ruled,
        text=found.text,
        p_values=_p_values(difference) if found.ruling.looks and ruled.decided else (),
        strip=forest.split(
            [
                ("broke", "error", difference.worse),
                ("same", "rest", difference.same),
                ("fixed", "ok", difference.better),
            ],
            title=f"{difference.worse} broke, {difference.same} same, {difference.better} fixed",
        ),
        counts=[
            ("broke", "error", difference.worse, here.url(show="broke") + "#tasks"),
            ("same", "none", difference.same, ""),
            ("fixed", "ok", difference.better, here.url(show="fixed") + "#tasks"),
        ],
        magnitudes=_magnitudes(comparison, here),
        most=max([1, *comparison.magnitudes.values()]),
        lines=[_task_line(one, found.task_key, here) for one in kept[:_TASKS]],
        hidden=max(0, len(kept) - _TASKS),
        shows=[
            (name, number, here.url(show=name) + "#tasks", name == chosen)
            for name, number in kinds.items()
        ],
        apart=len(comparison.apart),
    )


def _p_values(difference: Difference) -> Sequence[tuple[str, str]]:
    return [(_METHODS.get(name, name), _p_words(p)) for name, p in difference.p_values.items()]


def _p_words(p: float | None) -> str:
    if p is None:
        return "is undefined"
    return "< 0.001" if p < 0.0005 else f"= {p:.3f}"


def _magnitudes(comparison: TaskComparison, here: Asked) -> Sequence[Sized]:
    """Return every size with the tasks that changed by it, whatever the list below is filtered to."""
    links: dict[str, list[tuple[str, str]]] = {}
    for one in comparison.changed[:_TASKS]:
        links.setdefault(one.magnitude, []).append((one.task, _reading(one.task, here)))
    return [
        _sized(size, tasks, links.get(size, ())) for size, tasks in comparison.magnitudes.items()
    ]


def _sized(size: str, tasks: int, links: Sequence[tuple[str, str]]) -> Sized:
    value = float(size)
    look = "ok" if value > 0 else "error" if value < 0 else "rest"
    more = tasks - len(links) if value else 0
    return Sized(size=f"{points(value)} points", tasks=tasks, look=look, links=links, more=more)


def _reading(task: str, here: Asked) -> str:
    return here.url("/compare/task", task=task)


def _task_line(one: ChangedTask, key: str, here: Asked) -> TaskLine:
    query = Query(period=ALL, keys={key: one.task}, values={"origin": ALL})
    if here.agent:
        query = query.having(agent=here.agent)
    told = "\n".join([one.task, *one.base.run_ids, *one.cand.run_ids])
    return TaskLine(
        task=one.task,
        read=_reading(one.task, here),
        seen=hashlib.sha256(told.encode()).hexdigest()[:12],
        href=query.url(),
        word=one.word,
        look="ok" if one.size > 0 else "error",
        size=points(one.size),
        base=_task_side(one.base),
        cand=_task_side(one.cand),
    )


def _task_side(runs: TaskRuns) -> TaskSide:
    undecided = f", {count(runs.undecided)} undecided" if runs.undecided else ""
    return TaskSide(
        words=f"{count(runs.passed)} of {count(runs.runs)} passed{undecided}",
        runs=[(f"run {run[:8]}", run_address(run)) for run in runs.run_ids[:5]],
        more=max(0, runs.runs - 5),
        run_ids=tuple(runs.run_ids),
    )


def live_part(found: Live) -> LivePart:
    """Return the comparison of live runs, with what other inputs did to it."""
    setting, deciding = found.setting, found.deciding
    effects = [("same weeks", found.difference, True)]
    mix, name, what, rests = "", "", "Live", ""
    slices: Sequence[Sequence[str]] = ()
    if found.mix is not None:
        name = found.mix.name
        effects = [(f"inside {name}", deciding, True), ("same weeks", found.difference, False)]
        what, rests = f"Live, inside {name}", _RESTS.format(name=name)
        mix = _mix_words(found.mix, base=setting.base, cand=setting.cand)
        slices = [
            (
                row.slice or "none",
                count(row.base_runs),
                _share(row.base_passed, row.base_runs, row.base_open),
                count(row.cand_runs),
                _share(row.cand_passed, row.cand_runs, row.cand_open),
            )
            for row in found.mix.rows
        ]
    return LivePart(
        chart=drawn(
            effects,
            finding(found, deciding, what),
            f"{setting.metric} in {plural(found.weeks, 'common week')}, {deciding.method};"
            f" left out: {left(deciding)}",
            margin(found.ruling),
        ),
        guard=guard_part(found.guard),
        note=note(found, deciding),
        verdict=verdict(found.ruling),
        text=found.text,
        mix=mix,
        rests=rests,
        slices=slices,
        slice_name=name,
    )


_RESTS = (
    "A verdict rests on the difference inside {name}; in that of the same weeks another mix of"
    " inputs looks like another version."
)


def _mix_words(mix: Mix, *, base: str, cand: str) -> str:
    parts = mix.effects
    if parts is None:
        return f"{mix.why_nothing}."
    return (
        f"Of {points(parts.total)} points, {points(parts.mix)} come from another mix of {mix.name}"
        f" and {points(parts.rate)} from the behaviour inside the slices; at the mix of"
        f" {base}, {cand} would pass {percent(mix.standardised)}."
    )


def _share(passed: int, runs: int, undecided: int) -> str:
    if not runs:
        return "–"
    open_ = f", {count(undecided)} undecided" if undecided else ""
    return f"{count(passed)} of {count(runs)}{open_}"
