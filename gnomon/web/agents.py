"""Agents: how good is each, in every respect? Nine metrics beside their guards, surfaces apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from collector.views import FacetCount, RunFilter
from gnomon.clock import Nanos
from gnomon.errors import NotFound
from gnomon.web import figures
from gnomon.web.amounts import points
from gnomon.web.figures import Number
from gnomon.web.forest import whisker
from gnomon.web.formats import percent
from gnomon.web.port import Judging, PageReader
from gnomon.web.scoped import Asked, agents_of
from scoring.metrics.pulse import Pulse
from scoring.metrics.reader import MetricReport, SurfacesReport

VERSIONS = 4
"""So many versions stand beside each other, the newest ones."""

TITLES = {
    "completion": "Completion",
    "tool_use": "Tool-use efficiency",
    "correctness": "Correctness",
    "human_intervention": "Human intervention",
    "latency": "Latency",
    "cost": "Cost per solved run",
    "model_calls": "Model calls",
    "recovery": "Recovery",
    "robustness": "Robustness",
    "outcome": "Outcome",
    "policy": "Policy and safety",
    "trajectory": "Tool use and trajectory",
    "factuality": "Factuality and grounding",
    "conversation": "Conversation",
    "efficiency": "Efficiency",
    "operations": "Operations",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLine:
    """One agent of the list."""

    agent: FacetCount
    href: str
    runs_href: str
    numbers: Sequence[Number]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsView:
    """The list."""

    asked: Asked
    heads: Sequence[str]
    lines: Sequence[AgentLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One version of one metric."""

    version: str
    whisker: Markup
    numbers: Sequence[Number]
    """The metric, what stands beside it, then its guards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCard:
    """One metric by version."""

    name: str
    title: str
    definition: str
    heads: Sequence[str]
    guarded: int
    """How many of the heads, at the end, are guards."""
    rows: Sequence[MetricRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceCard:
    """One surface: a line for each of its figures, a column for each version."""

    name: str
    title: str
    authority: str
    rows: Sequence[tuple[str, Sequence[Number | None]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentView:
    """One agent."""

    asked: Asked
    agents: Sequence[FacetCount]
    versions: Sequence[str]
    hidden: int
    """Older versions that are not shown."""
    three: Sequence[tuple[str, Sequence[Number]]]
    """Version and its three numbers."""
    metrics: Sequence[MetricCard]
    surfaces: Sequence[SurfaceCard]
    compare: str
    mix: str
    """How much of the change between the newest two is other inputs; '' where nobody can say."""


def agents(reader: PageReader, judging: Judging, asked: Asked, now: Nanos) -> AgentsView:
    """Return all agents of a period."""
    lines = []
    for one in agents_of(reader, asked, now):
        (found,) = judging.metrics.pulse(
            Asked(path="", agent=one.value, period=asked.period, more={}).scope(now)
        )
        lines.append(
            AgentLine(
                agent=one,
                href=asked.url(f"/agents/{quote(one.value, safe='')}", agent=""),
                runs_href=asked.query.having(agent=one.value).url(),
                numbers=_pulsed(found),
            )
        )  # fmt: skip
    heads = ("Pass rate", "Verdict unknown", "Broke a rule", "Cost per solved", "Aborted")
    return AgentsView(asked=asked, heads=heads, lines=lines)


def _pulsed(found: Pulse) -> Sequence[Number]:
    return [
        figures.number(name, figure)
        for name, figure in (
            ("pass", found.pass_rate.measure),
            ("unknown", found.unknown_share),
            ("violations", found.violations),
            ("cost", found.three.cost_per_success),
            ("aborted", found.three.aborted),
        )
    ]


def agent(reader: PageReader, judging: Judging, asked: Asked, now: Nanos) -> AgentView:
    """Return one agent by version; raises NotFound for one that never ran."""
    scope = asked.scope(now)
    measured, seven = judging.metrics.reports(scope, by="version")
    reports = {one.group: one for one in measured}
    surfaces = {one.group: one for one in seven}
    deploys = reader.deploys(RunFilter(agent=asked.agent))
    if not reports and not deploys:
        raise NotFound(f"no agent {asked.agent}")
    first = {one.version: int(one.at) for one in deploys}
    order = sorted(reports, key=lambda name: (-first.get(name, 0), name))
    shown = order[:VERSIONS]
    newest = [reports[name] for name in shown]
    compare = ""
    if len(shown) > 1:
        compare = asked.url("/compare", base=shown[1], cand=shown[0])
    return AgentView(
        asked=asked,
        agents=agents_of(reader, Asked(path="", agent="", period=asked.period, more={}), now),
        versions=shown,
        hidden=len(order) - len(shown),
        three=[(one.group or "no version", _three(one)) for one in newest],
        metrics=[_metric(newest, place) for place in range(len(newest[0].metrics))] if newest else (),
        surfaces=_surfaces([surfaces[name] for name in shown if name in surfaces]),
        compare=compare,
        mix=_mix(judging, asked, now, shown),
    )  # fmt: skip


def _three(report: MetricReport) -> Sequence[Number]:
    three = report.three
    return [
        figures.number(name, figure)
        for name, figure in (
            ("solution rate", three.solution_rate),
            ("cost per success", three.cost_per_success),
            ("aborted", three.aborted),
        )
    ]


def _metric(reports: Sequence[MetricReport], place: int) -> MetricCard:
    metrics = [report.metrics[place] for report in reports]
    rows = [figures.numbers(metric) for metric in metrics]
    heads = list(dict.fromkeys(number.name for row in rows for number in row))
    guards = [name for name in heads if name in metrics[0].guard]
    heads = [name for name in heads if name not in guards] + guards
    ends = [
        end for row in rows for end in (row[0].low, row[0].value, row[0].high) if end is not None
    ]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return MetricCard(
        name=metrics[0].name,
        title=TITLES[metrics[0].name],
        definition=metrics[0].definition,
        heads=[_head(name) for name in heads],
        guarded=len(guards),
        rows=[
            MetricRow(
                version=report.group or "no version",
                whisker=whisker(row[0].low, row[0].value, row[0].high, least=low, most=high),
                numbers=_in_order(row, heads),
            )
            for report, row in zip(reports, rows, strict=True)
        ],
    )


def _in_order(row: Sequence[Number], heads: Sequence[str]) -> Sequence[Number]:
    known = {number.name: number for number in row}
    return [known[name] if name in known else _absent(name) for name in heads]


def _absent(name: str) -> Number:
    return Number(
        name=name,
        number=Markup('<span class="few">no data</span>'),
        beside=Markup("of this version"),
        told=Markup("of this version"),
        href="",
        low=None,
        value=None,
        high=None,
    )


def _head(name: str) -> str:
    return TITLES.get(name, name.replace("_", " "))


def _surfaces(reports: Sequence[SurfacesReport]) -> Sequence[SurfaceCard]:
    cards = []
    for place in range(len(reports[0].surfaces) if reports else 0):
        mine = [report.surfaces[place] for report in reports]
        names = list(dict.fromkeys(name for one in mine for name in one.figures))
        cards.append(
            SurfaceCard(
                name=mine[0].name,
                title=TITLES[mine[0].name],
                authority=mine[0].authority,
                rows=[
                    (
                        _head(name),
                        [
                            figures.number(name, one.figures[name]) if name in one.figures else None
                            for one in mine
                        ],
                    )
                    for name in names
                ],
            )
        )
    return cards


def _mix(judging: Judging, asked: Asked, now: Nanos, versions: Sequence[str]) -> str:
    """Say how much of a change is other inputs, before anybody calls it a drop."""
    if len(versions) < 2 or not all(versions[:2]) or judging.metrics.watched.mix_slice is None:
        return ""
    cand, base = versions[:2]
    found = judging.compare.live(asked.scope(now), base=base, cand=cand).mix
    if found is None:
        return ""
    effects = found.effects
    if effects is None:
        return f"From {base} to {cand}, in the weeks both ran: {found.why_nothing}."
    return (
        f"From {base} to {cand}, in the weeks both ran, verified runs changed by"
        f" {points(effects.total)} points: {points(effects.mix)} by another mix of {found.name},"
        f" {points(effects.rate)} inside the slices. At the old mix {cand} would verify"
        f" {percent(found.standardised)}."
    )
