"""How good the runs were: the judged half of the Overview."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import quote

from gnomon.clock import Nanos
from gnomon.web import figures, verdict_charts
from gnomon.web.amounts import bounded, shown_words, span_words
from gnomon.web.formats import NO_DATA, count
from gnomon.web.plots import Data, Figure
from gnomon.web.port import Judging
from gnomon.web.tiles import Tile, tile
from gnomon.web.timeline import Period, back_from
from scoring.metrics.figures import Figure as Measured
from scoring.metrics.pulse import Beat, Pulse
from scoring.metrics.ruled import RuleCount
from scoring.metrics.scope import Scope
from scoring.metrics.statements import RELEASE

_RULES = 5
_AT_ONCE = 3
"""Questions at once; each is mostly the planning of its statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One rule that was broken."""

    name: str
    href: str
    """Its page."""
    runs: int
    runs_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBoard:
    """What the graders say of the period."""

    at: Nanos
    """When it was asked for."""
    judged: bool
    """Whether any run of it has a verdict or was checked by a policy."""
    three: Sequence[Tile]
    """Only ever together."""
    tiles: Sequence[Tile]
    figures: Sequence[Figure]
    versions: Mapping[tuple[str, str], Pulse]
    """By agent and version."""
    rules: Sequence[Broken]
    """Those that most runs broke."""


def judged_board(judging: Judging, data: Data, period: Period, *, agent: str) -> JudgedBoard:
    """Ask for everything the graders say of the period."""
    whole = back_from(data.now, period)
    since, span = whole.since, whole.until - whole.since
    scope = Scope(agent=agent or None, since=since)
    earlier = Scope(agent=agent or None, since=Nanos(since - span), until=since)
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="overview") as pool:
        asked_beats = pool.submit(judging.metrics.beats, scope, width_ns=data.time.width)
        asked_versions = pool.submit(judging.metrics.pulse, scope, by=RELEASE)
        asked_was = pool.submit(judging.metrics.pulse, earlier)
        asked_broken = pool.submit(judging.metrics.ruled, scope)
        (now,) = judging.metrics.pulse(scope)
        (was,), versions = asked_was.result(), asked_versions.result()
        by_time = {one.start: one for one in asked_beats.result()}
        broken = asked_broken.result().broken
    points = [by_time.get(start) for start in data.time.starts]
    return JudgedBoard(
        at=data.now,
        judged=now.unknown < now.runs or now.violations.shown.n > 0,
        three=_three(data, period, now, was, points),
        tiles=_tiles(data, period, now, was, points),
        figures=[
            verdict_charts.pass_figure(data, points, now),
            verdict_charts.verdict_figure(data, points, now, period.words),
        ],
        versions={release_of(one): one for one in versions},
        rules=_rules(broken, data, period, agent),
    )


def release_of(pulse: Pulse) -> tuple[str, str]:
    """Return agent and version of a group by `RELEASE`."""
    agent, version = json.loads(pulse.group)
    return agent, version


Points = Sequence[Beat | None]


def _course(points: Points, name: str) -> Sequence[float | None]:
    return [None if point is None else point.course[name] for point in points]


def _tile(
    data: Data,
    period: Period,
    label: str,
    now: Measured,
    was: Measured,
    course: Sequence[float | None],
) -> Tile:
    number = figures.number(label, now)
    return tile(
        data,
        period,
        label,
        number=number.number,
        beside=number.beside,
        was=said(was),
        course=course,
        href=number.href or data.query.url(),
    )


def said(figure: Measured) -> str:
    """Return a number in a few words: value or bounds, and n."""
    shown = figure.shown
    if shown.value is not None:
        return f"{shown_words(shown)}, n = {count(shown.n)}"
    if bounded(shown):
        words = span_words(shown.low or 0, shown.high or 0, shown.scale)
        return f"{words}, n = {count(shown.n)}"
    return NO_DATA


def _three(data: Data, period: Period, now: Pulse, was: Pulse, points: Points) -> Sequence[Tile]:
    rate = figures.number("Pass rate", now.pass_rate.measure)
    pieces = figures.written(figures.metric_of(now.pass_rate), now.pass_rate.measure.text)
    return [
        tile(
            data,
            period,
            "Pass rate",
            number=pieces.number,
            beside=pieces.beside,
            was=said(was.pass_rate.measure),
            course=_course(points, "completion"),
            href=rate.href or data.query.url(),
        ),
        _tile(
            data,
            period,
            "Cost per solved",
            now.three.cost_per_success,
            was.three.cost_per_success,
            _course(points, "cost_per_success"),
        ),
        _tile(
            data,
            period,
            "Aborted",
            now.three.aborted,
            was.three.aborted,
            _course(points, "aborted"),
        ),
    ]


def _tiles(data: Data, period: Period, now: Pulse, was: Pulse, points: Points) -> Sequence[Tile]:
    named: Sequence[tuple[str, str, Callable[[Pulse], Measured]]] = (
        ("Verdict unknown", "unverified", lambda p: p.unknown_share),
        ("Broke a rule", "violations", lambda p: p.violations),
        ("False claims", "false_claims", lambda p: p.false_claims),
    )
    return [
        _tile(data, period, label, read(now), read(was), _course(points, name))
        for label, name, read in named
    ]


def _rules(broken: Sequence[RuleCount], data: Data, period: Period, agent: str) -> Sequence[Broken]:
    ordered = sorted(broken, key=lambda one: (-one.runs, one.policy, one.rule))
    tail = f"?period={period.name}" + (f"&agent={quote(agent)}" if agent else "")
    return [
        Broken(
            name=f"{one.policy}/{one.rule}",
            href=f"/policies/{quote(one.policy)}/{quote(one.rule)}{tail}",
            runs=one.runs,
            runs_href=data.query.having(rule=f"{one.policy}/{one.rule}").url(),
        )
        for one in ordered[:_RULES]
    ]
