"""Compare: what changed between two versions? The rule first, then live runs, then same tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collector.views import FacetCount, RunFilter
from gnomon.clock import Nanos
from gnomon.errors import InputError
from gnomon.web.behind import address_of
from gnomon.web.compare_parts import (
    SHOWS,
    LivePart,
    Said,
    TasksPart,
    live_part,
    tasks_part,
    verdict,
)
from gnomon.web.formats import count, plural
from gnomon.web.port import Judging, PageReader
from gnomon.web.scoped import Asked, agents_of
from scoring.metrics.watched import Measured
from scoring.versions.answers import Live, OnTasks
from scoring.versions.rule import NO_RULE

METRICS: Mapping[str, Measured] = {
    "completion": "completion",
    "clean": "clean",
    "finished": "finished",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One version and its settled runs."""

    version: str
    runs: int
    href: str
    judges: str
    """Graders behind its labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareView:
    """The page."""

    asked: Asked
    agents: Sequence[FacetCount]
    versions: Sequence[str]
    metric: str
    base: str
    cand: str
    why: str
    """Why there is nothing to compare; ''."""
    rule: str
    digest: str
    verdict: Said | None
    """Of the comparison that the rule is about."""
    warnings: Sequence[str]
    sides: Sequence[Side]
    tasks: TasksPart | None
    live: LivePart | None
    pins: Sequence[tuple[str, str, str, bool]]
    """Name, base, candidate, changed."""
    swap: str


def compare(
    reader: PageReader,
    judging: Judging,
    asked: Asked,
    now: Nanos,
    *,
    base: str,
    cand: str,
    metric: str,
    show: str,
) -> CompareView:
    """Return the page; without versions the newest two, newest as candidate."""
    if metric and metric not in METRICS:
        raise InputError(f"metric: {metric!r} is none of {', '.join(METRICS)}")
    if show and show not in SHOWS:
        raise InputError(f"show: {show!r} is none of {', '.join(SHOWS)}")
    versions = _versions(reader, asked)
    cand = cand or next((v for v in versions if v != base), "")
    base = base or next((v for v in versions if v != cand), "")
    plan = judging.compare.plan
    if not base or not cand or base == cand:
        why = "Two different versions are needed"
        if len(versions) < 2:
            why = f"{plural(len(versions), 'version')} of {asked.agent or 'all agents'} ran so far"
        tasks, live = None, None
    else:
        why = ""
        chosen = METRICS.get(metric)
        reader_ = judging.compare
        live_scope, task_scope = asked.scope(now), replace(asked.scope(now), origin=None)
        if reader_.governs("live", chosen):
            live_scope = replace(live_scope, since=None)
        if reader_.governs("tasks", chosen):
            task_scope = replace(task_scope, since=None)
        tasks = reader_.on_tasks(task_scope, base=base, cand=cand, metric=chosen)
        live = reader_.live(live_scope, base=base, cand=cand, metric=chosen)
    both = {"base": base, "cand": cand}
    here = Asked(
        path="/compare",
        agent=asked.agent,
        period=asked.period,
        more={**both, "metric": metric},
    )
    return CompareView(
        asked=here,
        agents=agents_of(reader, Asked(path="", agent="", period=asked.period, more={}), now),
        versions=versions,
        metric=metric,
        base=base,
        cand=cand,
        why=why,
        rule=NO_RULE if plan is None else plan.text,
        digest="" if plan is None else plan.digest,
        verdict=_leading(tasks, live),
        warnings=tasks.setting.warnings if tasks else (),
        sides=_sides(tasks),
        tasks=tasks_part(tasks, here, SHOWS.get(show)) if tasks else None,
        live=live_part(live) if live else None,
        pins=_pins(tasks),
        swap=here.url(base=cand, cand=base),
    )


def _versions(reader: PageReader, asked: Asked) -> Sequence[str]:
    """Return the versions of an agent, the newest first."""
    deploys = reader.deploys(RunFilter(agent=asked.agent or None))
    return list(dict.fromkeys(one.version for one in reversed(deploys) if one.version))


def _leading(tasks: OnTasks | None, live: Live | None) -> Said | None:
    if tasks is None or live is None:
        return None
    return verdict(live.ruling if live.ruling.governs else tasks.ruling)


def _sides(found: OnTasks | None) -> Sequence[Side]:
    if found is None:
        return ()
    setting = found.setting
    return [
        Side(
            version=version,
            runs=setting.runs.get(version, 0),
            href=address_of(setting.links[version]),
            judges=", ".join(setting.judges[version]) or "no grader",
        )
        for version in (setting.base, setting.cand)
    ]


def _pins(found: OnTasks | None) -> Sequence[tuple[str, str, str, bool]]:
    if found is None:
        return ()
    return [
        (pin.name, _told(pin.base), _told(pin.cand), pin.changed)
        for pin in found.setting.manifests.pins
    ]


def _told(values: Mapping[str, int]) -> str:
    several = len(values) > 1
    return ", ".join(
        f"{value or 'not told'}{f' ({count(runs)})' if several else ''}"
        for value, runs in sorted(values.items(), key=lambda item: -item[1])
    )
