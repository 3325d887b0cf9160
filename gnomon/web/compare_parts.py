"""The two halves of a comparison, as they are shown: same tasks, and live runs of the same weeks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from markupsafe import Markup

from gnomon.web import forest
from gnomon.web.amounts import bounded, interval_words, points, span_words
from gnomon.web.filters import ALL, Query
from gnomon.web.forest import Effect
from gnomon.web.formats import count, percent, plural
from gnomon.web.scoped import Asked
from scoring.stats.gates import Verdict
from scoring.stats.results import Difference
from scoring.versions.answers import Live, OnTasks
from scoring.versions.ruling import Ruling
from scoring.versions.tasks import ChangedTask, TaskRuns

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSide:
    """The runs of one version at one task."""

    words: str
    runs: Sequence[tuple[str, str]]
    """A short name of the run and its address."""
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One changed task."""

    task: str
    href: str
    word: str
    look: str
    size: str
    base: TaskSide
    cand: TaskSide


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """An effect as a figure with its table."""

    title: str
    subtitle: str
    chart: Markup
    """Empty without anything to draw."""
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksPart:
    """Both versions on the same tasks."""

    chart: Chart
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
    verdict: Said
    text: str
    mix: str
    slices: Sequence[Sequence[str]]
    slice_name: str


def verdict(ruling: Ruling) -> Said:
    """Return the verdict of a rule as word, look and sentence."""
    word = ruling.decision.verdict
    looks = {Verdict.PASS: "ok", Verdict.FAIL: "error", Verdict.NOT_ENOUGH_DATA: "unknown"}
    reason = ruling.decision.reason
    missing = f", n = {count(ruling.n)}" if ruling.plan is not None else ""
    if ruling.decision.missing:
        missing = f"; {count(ruling.decision.missing)} more needed{missing}"
    return Said(
        look=looks[word],
        word=str(word),
        sentence=f"{reason}{missing}",
        decided=word is not Verdict.NOT_ENOUGH_DATA,
    )


def _words(found: Difference) -> str:
    """Return a difference with its interval, or its bounds."""
    if found.value is not None:
        return f"{points(found.value)} points, {interval_words(found)}"
    if bounded(found):
        ends = span_words(found.low or 0, found.high or 0, "difference")
        return f"{ends} between the worst and the best case of what is undecided"
    return "no data"


def _finding(found: Difference, base: str, cand: str, what: str) -> str:
    """Say what the interval shows, and no more."""
    if found.low is not None and found.low > 0:
        sense = f"{cand} is better than {base}"
    elif found.high is not None and found.high < 0:
        sense = f"{cand} is worse than {base}"
    elif found.low is None and found.value is None:
        return f"{what}: nothing to compare yet"
    else:
        sense = f"No difference between {base} and {cand} is shown"
    return f"{what}: {sense}, {_words(found)}"


def _chart(
    effects: Sequence[tuple[str, Difference, bool]], title: str, subtitle: str, margin: float | None
) -> Chart:
    rows = [
        Effect(
            name=name,
            value=one.value,
            low=one.low,
            high=one.high,
            reading=f"{name}\n{_words(one)}\nn = {count(one.n)} {one.unit}s",
            strong=strong,
        )
        for name, one, strong in effects
    ]
    return Chart(
        title=title,
        subtitle=subtitle,
        chart=forest.forest(rows, title=subtitle, finding=title, margin=margin)
        if any(row.low is not None or row.value is not None for row in rows)
        else Markup(),
        rows=[
            (name, *_cells(one), f"{count(one.n)} {one.unit}s", one.method, _left(one))
            for name, one, _ in effects
        ],
    )


def _cells(one: Difference) -> tuple[str, str, str]:
    value, low, high = (
        "–" if end is None else points(end) for end in (one.value, one.low, one.high)
    )
    return value, low, high


def _left(one: Difference) -> str:
    parts = [f"{count(n)} {why.replace('_', ' ')}" for why, n in one.excluded.items()]
    parts += [f"{count(one.open)} undecided"] if one.open else []
    return ", ".join(parts) or "nothing"


def _margin(ruling: Ruling) -> float | None:
    return ruling.plan.section.margin if ruling.plan is not None and ruling.governs else None


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
        chart=_chart(
            [("same tasks", difference, True)],
            _finding(difference, setting.base, setting.cand, "On the same tasks"),
            f"{setting.metric}, one difference a task, {difference.method},"
            f" n = {plural(difference.n, 'task')}; left out: {_left(difference)}",
            _margin(found.ruling),
        ),
        verdict=ruled,
        text=found.text,
        p_values=_p_values(difference) if ruled.decided else (),
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
        magnitudes=[_sized(size, tasks) for size, tasks in comparison.magnitudes.items()],
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
    return [
        (_METHODS.get(name, name), "undefined" if p is None else f"{p:.3f}")
        for name, p in difference.p_values.items()
    ]


def _sized(size: str, tasks: int) -> Sized:
    value = float(size)
    look = "ok" if value > 0 else "error" if value < 0 else "rest"
    return Sized(size=f"{points(value)} points", tasks=tasks, look=look)


def _task_line(one: ChangedTask, key: str, here: Asked) -> TaskLine:
    query = Query(period=ALL, keys={key: one.task})
    if here.agent:
        query = query.having(agent=here.agent)
    return TaskLine(
        task=one.task,
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
        runs=[
            (f"run {run[:8]}", f"/runs/{quote(run, safe='')}?{urlencode({'list': 'period=all'})}")
            for run in runs.run_ids[:5]
        ],
        more=max(0, runs.runs - 5),
    )


def live_part(found: Live) -> LivePart:
    """Return the comparison of live runs, with what other inputs did to it."""
    setting, difference = found.setting, found.difference
    effects = [("same weeks", difference, True)]
    mix, name = "", ""
    slices: Sequence[Sequence[str]] = ()
    if found.mix is not None:
        name = found.mix.name
        effects.append((f"inside {name}", found.mix.adjusted, False))
        parts = found.mix.effects
        mix = (
            f"Of {points(parts.total)} points, {points(parts.mix)} come from another mix of {name}"
            f" and {points(parts.rate)} from the behaviour inside the slices; at the mix of"
            f" {setting.base}, {setting.cand} would pass {percent(found.mix.standardised)}."
        )
        slices = [
            (
                row.slice or "none",
                count(row.base_runs),
                _share(row.base_passed, row.base_runs),
                count(row.cand_runs),
                _share(row.cand_passed, row.cand_runs),
            )
            for row in found.mix.rows
        ]
    return LivePart(
        chart=_chart(
            effects,
            _finding(difference, setting.base, setting.cand, "Live"),
            f"{setting.metric} in {plural(found.weeks, 'common week')}, {difference.method};"
            f" left out: {_left(difference)}",
            _margin(found.ruling),
        ),
        verdict=verdict(found.ruling),
        text=found.text,
        mix=mix,
        slices=slices,
        slice_name=name,
    )


def _share(passed: int, runs: int) -> str:
    return f"{count(passed)} of {count(runs)}" if runs else "–"
