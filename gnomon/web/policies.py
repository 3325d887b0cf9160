"""Policies: which rules are broken, where? One rule: its text, its violations over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import yaml
from markupsafe import Markup

from collector.views import FacetCount
from gnomon.clock import Nanos
from gnomon.errors import InputError, NotFound
from gnomon.http import pack, unpack
from gnomon.segment import segment
from gnomon.web import figures, svg
from gnomon.web.axes import axis
from gnomon.web.figures import Number
from gnomon.web.formats import count, plural, short_count
from gnomon.web.judged_board import release_of
from gnomon.web.known import wrong
from gnomon.web.plots import Data, Figure, frame_of
from gnomon.web.port import Judging, PageReader
from gnomon.web.scoped import Asked, agents_of, data_of
from gnomon.web.svg import Series
from gnomon.web.timeline import back_from
from scoring.metrics.rules import RuleReport
from scoring.metrics.statements import RELEASE
from scoring.reading import position
from scoring.rows import ViolationRow
from scoring.statements import ViolationFilter, ViolationPosition

PAGE = 50
_LINES = 3
"""So many rules are drawn by name; the others share a layer."""
_LOOKS = ("s1", "s2", "s4")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLine:
    """One row of the list."""

    name: str
    href: str
    state: str
    """`broken`, `kept` or `not judged`."""
    severity: str
    version: str
    share: Number
    runs: int
    """Runs that broke it."""
    runs_href: str
    spark: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliciesView:
    """The list."""

    asked: Asked
    agents: Sequence[FacetCount]
    configured: int
    """Policies that are set up."""
    title: str
    figure: Figure | None
    versions: Sequence[tuple[str, str, Number]]
    """Agent, version, and its runs that broke any rule."""
    lines: Sequence[RuleLine]
    csv: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationLine:
    """One violation."""

    row: ViolationRow
    href: str
    steps: Sequence[tuple[str, str]]
    """Span and the address of that step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleView:
    """One rule."""

    asked: Asked
    agents: Sequence[FacetCount]
    report: RuleReport
    title: str
    share: Number
    text: str
    """The rule as the policy file says it, in YAML; '' when no file holds it."""
    figure: Figure
    lines: Sequence[ViolationLine]
    older: str
    csv: str


def policies(reader: PageReader, judging: Judging, asked: Asked, now: Nanos) -> PoliciesView:
    """Return every rule with the runs that broke it, and violations over time."""
    data = data_of(reader, asked, now)
    reports = judging.metrics.rules(asked.scope(now), judging.policies)
    by_rule = _by_rule(judging, asked, data)
    return PoliciesView(
        asked=asked,
        agents=agents_of(reader, asked, now),
        configured=len(judging.policies),
        title=_headline(reports, asked),
        figure=_rules_figure(data, by_rule, _headline(reports, asked)) if reports else None,
        versions=[
            (*release_of(one), figures.number("violations", one.violations))
            for one in judging.metrics.pulse(asked.scope(now), by=RELEASE)
        ],
        lines=[_line(one, asked, data, by_rule.get(one.name, {})) for one in _ordered(reports)],
        csv=asked.url(path="").partition("?")[2],
    )


def rule(
    reader: PageReader, judging: Judging, asked: Asked, name: str, now: Nanos, after: str
) -> RuleView:
    """Return one rule; raises NotFound for one that no policy has and nobody broke."""
    reports = judging.metrics.rules(asked.scope(now), judging.policies)
    report = next((one for one in reports if one.name == name), None)
    if report is None:
        raise NotFound(f"no rule {name} in this time; look at the list of policies")
    data = data_of(reader, asked, now)
    where = _filter(judging, asked, data, policy=report.policy, rule=report.rule)
    counts = _by_rule(judging, asked, data).get(name, {})
    place = _place(after) if after else None
    found = judging.judgments.violations(where, limit=PAGE + 1, after=place)
    shown = found[:PAGE]
    title = _sentence(report, asked)
    return RuleView(
        asked=asked,
        agents=agents_of(reader, asked, now),
        report=report,
        title=title,
        share=figures.number("broken", report.share),
        text=""
        if report.text is None
        else yaml.safe_dump(report.text, sort_keys=False, allow_unicode=True).strip(),
        figure=_rule_figure(data, counts, report, title),
        lines=[_violation(one) for one in shown],
        older=asked.url(after=pack("violations", *position(shown[-1])))
        if len(found) > PAGE
        else "",
        csv=asked.url(path="").partition("?")[2],
    )


def _place(after: str) -> ViolationPosition:
    try:
        return ViolationPosition(*unpack("violations", after, int, str, str, str, int, int))
    except InputError as error:
        raise wrong("after", after, "is no position in the list; go to its first page") from error


Counts = Mapping[int, int]
"""Runs that broke a rule, by the start of the point."""


def _filter(
    judging: Judging,
    asked: Asked,
    data: Data,
    *,
    policy: str,
    rule: str,
) -> ViolationFilter:
    return ViolationFilter(
        since=back_from(data.now, asked.period).since,
        agent=asked.agent or None,
        policy=policy,
        rule=rule,
        graders=judging.judgments.present_versions(),
    )


def _by_rule(judging: Judging, asked: Asked, data: Data) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    broken = judging.metrics.broken_by_time(asked.scope(data.now), width_ns=data.time.width)
    for start, counts in broken.items():
        for one in counts:
            points = found.setdefault(f"{one.policy}/{one.rule}", {})
            points[int(start)] = points.get(int(start), 0) + one.runs
    return found


def _broken(report: RuleReport) -> int:
    return 0 if report.share.hits is None else report.share.hits.runs


def _ordered(reports: Sequence[RuleReport]) -> Sequence[RuleReport]:
    """Return what is broken most first, hard before soft; the rest as the files say it."""
    return sorted(reports, key=lambda one: (-_broken(one), one.severity != "hard"))


def _headline(reports: Sequence[RuleReport], asked: Asked) -> str:
    checked = [one for one in _ordered(reports) if one.state != "not judged"]
    if not checked:
        return "No rule was checked in this time"
    broken = [one for one in checked if one.state == "broken"]
    if not broken:
        return f"None of {plural(len(checked), 'rule')} was broken in {asked.period.words}"
    top = broken[0]
    return (
        f"{len(broken)} of {plural(len(checked), 'rule')} were broken in {asked.period.words};"
        f" most often {top.name}, by {plural(_broken(top), 'run')}"
    )


def _sentence(report: RuleReport, asked: Asked) -> str:
    runs = _broken(report)
    if runs:
        return f"{plural(runs, 'run')} broke it in {asked.period.words}"
    judged = "broke" if report.state == "kept" else "was judged by"
    return f"No run {judged} it in {asked.period.words}"


def _line(report: RuleReport, asked: Asked, data: Data, counts: Counts) -> RuleLine:
    share = figures.number(report.name, report.share)
    course = [float(counts.get(start, 0)) for start in data.time.starts]
    return RuleLine(
        name=report.name,
        href=asked.url(f"/policies/{quote(report.policy)}/{quote(report.rule)}"),
        state=report.state,
        severity=report.severity,
        version=report.version,
        share=share,
        runs=_broken(report),
        runs_href=share.href,
        spark=svg.spark(course, title=f"runs that broke {report.name} over time")
        if any(course)
        else Markup(),
    )


def _rules_figure(data: Data, by_rule: Mapping[str, Counts], title: str) -> Figure:
    order = sorted(by_rule, key=lambda name: (-sum(by_rule[name].values()), name))
    named, rest = order[:_LINES], order[_LINES:]
    starts = data.time.starts
    layers = [
        Series(
            name=name.partition("/")[2] or name,
            look=look,
            values=[by_rule[name].get(start, 0) for start in starts],
        )
        for name, look in zip(named, _LOOKS, strict=False)
    ]
    if rest:
        others = [sum(by_rule[name].get(start, 0) for name in rest) for start in starts]
        layers.append(Series(name=f"{len(rest)} others", look="rest", values=others))
    return _figure(
        data,
        layers,
        title=title,
        name="rules",
        subtitle=f"runs that broke a rule, per {data.each}; a run can break several",
        part="violated",
    )


def _rule_figure(data: Data, counts: Counts, report: RuleReport, title: str) -> Figure:
    look = "error" if report.severity == "hard" else "s2"
    layer = Series(
        name="broken", look=look, values=[counts.get(start, 0) for start in data.time.starts]
    )
    return _figure(
        data,
        [layer],
        title=title,
        name="rule",
        subtitle=f"runs that broke {report.name}, per {data.each}",
        rule=report.name,
    )


def _figure(
    data: Data, layers: Sequence[Series], *, title: str, name: str, subtitle: str, **more: str
) -> Figure:
    names = data.names()
    columns = [[int(value or 0) for value in layer.values] for layer in layers]
    totals = [sum(column[i] for column in columns) for i in range(len(names))]
    query = data.query.having(**more)
    links = [query.within(start, start + data.time.width).url() for start in data.time.starts]
    readings = [
        f"{when}\n"
        + (", ".join(f"{layer.name} {count(c[i])}" for layer, c in zip(layers, columns, strict=True) if c[i]) or "none")
        for i, when in enumerate(names)
    ]  # fmt: skip
    frame = frame_of(
        data,
        title=subtitle,
        finding=title,
        readings=readings,
        scale=axis(totals, least=1),
        shape=lambda tick: short_count(round(tick)),
        slots=True,
    )
    kept = [i for i, total in enumerate(totals) if total]
    return Figure(
        name=name,
        title=title,
        subtitle=subtitle,
        chart=svg.bars(frame, layers),
        heads=("Time (UTC)", *(layer.name for layer in layers)),
        rows=[(names[i], *(count(column[i]) for column in columns)) for i in kept],
        links=[links[i] for i in kept],
    )


def _violation(row: ViolationRow) -> ViolationLine:
    href = f"/runs/{segment(row.run_id)}"
    first = f"?step={quote(row.steps[0])}" if row.steps else ""
    return ViolationLine(
        row=row,
        href=href + first,
        steps=[(span, f"{href}?step={quote(span)}") for span in row.steps[:6]],
    )
