"""Compare: what changed between two versions? The rule first, then live runs, then same tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collector.views import FacetCount, RunFilter
from gnomon.clock import Nanos
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
from scoring.metrics.scope import Scope
from scoring.metrics.watched import Measured
from scoring.versions.answers import Live, OnTasks
from scoring.versions.manifests import Pin
from scoring.versions.rule import NO_RULE
from scoring.versions.ruling import Ruling, day

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
    registered: str
    """When the rule was first seen, and whether that was before the runs."""
    looks: Sequence[str]
    """Looks taken under it, and the one that is next."""
    verdict: Said | None
    """Of the comparison that the rule is about."""
    warnings: Sequence[str]
    sides: Sequence[Side]
    tasks: TasksPart | None
    live: LivePart | None
    pins: Sequence[tuple[str, str, str, str]]
    """Name, base, candidate, and what is known: changed, same, or not told."""
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
        live_scope, task_scope = (
            _scope(judging, asked, on, chosen, now) for on in ("live", "tasks")
        )
        tasks = reader_.on_tasks(task_scope, base=base, cand=cand, metric=chosen)
        live = reader_.live(live_scope, base=base, cand=cand, metric=chosen)
    leading = _leading(tasks, live)
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
        registered=_registered(leading),
        looks=_looks(leading),
        verdict=None if leading is None else verdict(leading),
        warnings=_warnings(tasks, live),
        sides=_sides(tasks),
        tasks=tasks_part(tasks, here, SHOWS.get(show)) if tasks else None,
        live=live_part(live) if live else None,
        pins=_pins(tasks),
        swap=here.url(base=cand, cand=base),
    )


def _scope(judging: Judging, asked: Asked, on: str, metric: Measured | None, now: Nanos) -> Scope:
    """Return the runs of the period, or where the rule is about them all there are."""
    scope = replace(asked.scope(now), origin=judging.compare.origin(on))
    ruled = judging.compare.governs(on, metric, asked.agent or None)
    return replace(scope, since=None) if ruled else scope


def _versions(reader: PageReader, asked: Asked) -> Sequence[str]:
    """Return the versions of an agent, the newest first."""
    deploys = reader.deploys(RunFilter(agent=asked.agent or None))
    return list(dict.fromkeys(one.version for one in reversed(deploys) if one.version))


def _leading(tasks: OnTasks | None, live: Live | None) -> Ruling | None:
    """Return the ruling on the comparison that the rule is about."""
    if tasks is None or live is None:
        return None
    return live.ruling if live.ruling.governs else tasks.ruling


def _registered(ruling: Ruling | None) -> str:
    if ruling is None or ruling.first_seen_at is None:
        return ""
    seen = f"first seen on {day(ruling.first_seen_at)}"
    if ruling.late:
        return f"{seen}, not in force when both versions had run"
    if not ruling.written_before:
        return seen
    return f"{seen}, before both versions had run; it counts all runs, whatever the period"


def _looks(ruling: Ruling | None) -> Sequence[str]:
    if ruling is None or ruling.plan is None or not ruling.governs or ruling.late:
        return ()
    sizes = ruling.plan.sizes
    told = [
        f"look {one.look} of {len(sizes)}, {day(one.seen_at)}: {one.decision.verdict} at n = {count(one.n)}"
        for one in ruling.looks
    ]
    decided = ruling.looks and ruling.looks[-1].decided
    if not decided and len(told) < len(sizes):
        comes = "comes at" if ruling.waits is None else "waits, with its"
        told.append(f"look {len(told) + 1} of {len(sizes)} {comes} n = {count(sizes[len(told)])}")
    return told


def _warnings(tasks: OnTasks | None, live: Live | None) -> Sequence[str]:
    if tasks is None or live is None:
        return ()
    return list(dict.fromkeys([*tasks.warnings, *live.warnings]))


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


def _pins(found: OnTasks | None) -> Sequence[tuple[str, str, str, str]]:
    if found is None:
        return ()
    return [
        (pin.name, _told(pin.base), _told(pin.cand), _known(pin, found.setting.manifests.changed))
        for pin in found.setting.manifests.pins
    ]


def _known(pin: Pin, changed: Sequence[str]) -> str:
    if not pin.known:
        return "not told by both"
    if pin.changed and pin.name not in changed:
        return "the version's own name"
    return "changed" if pin.changed else "same"


def _told(values: Mapping[str, int]) -> str:
    several = len(values) > 1
    return ", ".join(
        f"{value or 'not told'}{f' ({count(runs)})' if several else ''}"
        for value, runs in sorted(values.items(), key=lambda item: -item[1])
    )
