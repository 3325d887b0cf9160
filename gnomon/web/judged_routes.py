"""Routes of the pages that need graders: Agents, Compare, Policies."""

import csv
import io
from collections.abc import Sequence

from fastapi import FastAPI, Request, Response

from gnomon.errors import NotFound
from gnomon.web import agents, compare, compare_task, policies
from gnomon.web.cache import Cache, Rested
from gnomon.web.compare_parts import SHOWS
from gnomon.web.frame import Pages
from gnomon.web.judged_board import JudgedBoard, judged_board
from gnomon.web.known import none_of
from gnomon.web.overview import Judges, chosen_period
from gnomon.web.plots import Data, Figure
from gnomon.web.port import Judging, PageReader
from gnomon.web.scoped import Asked
from gnomon.web.timeline import Period


class Judged:
    """Answers of the judged pages, kept while neither runs nor judgments change."""

    def __init__(self, pages: Pages, reader: PageReader, judging: Judging) -> None:
        self.pages = pages
        self.reader = reader
        self.judging = judging
        self.policies: Cache[policies.PoliciesView] = Cache()
        self.rules: Cache[policies.RuleView] = Cache()
        self.agents: Cache[agents.AgentsView] = Cache()
        self.agent: Cache[agents.AgentView] = Cache(size=16)
        self.compared: Cache[compare.CompareView] = Cache(size=16)

    def asked(self, path: str, agent: str, period: str, **more: str) -> Asked:
        """Return what an address asks for."""
        chosen = chosen_period(self.reader, self.pages.now(), period)
        return Asked(path=path, agent=agent, period=chosen, more=more)

    def version(self, asked: Asked) -> tuple[object, ...]:
        """Return what an answer depends on: the data, the judgments, the address, the time."""
        now = self.pages.now() // (asked.period.width * 1_000_000_000)
        data = (self.reader.data_version(), judged_version(self.judging))
        return (asked.path, asked.agent, asked.period.name, *sorted(asked.more.items()), *data, now)


def judged_version(judging: Judging) -> str:
    """Return a short text that changes when any judgment is made."""
    done = sum(one.judged for one in judging.backfills.progress().values())
    return f"{judging.judgments.judged_until()}.{done}"


def judges(reader: PageReader, judging: Judging) -> Judges:
    """Return what says how good runs were; dear answers rest before they are asked for again."""
    answers: Rested[JudgedBoard] = Rested()

    def kept(data: Data, period: Period, agent: str) -> JudgedBoard:
        key = (agent, period.name, data.time.since, data.time.until)
        version = (reader.data_version(), judged_version(judging))
        return answers.get(key, version, lambda: judged_board(judging, data, period, agent=agent))

    return kept


def add_judged(app: FastAPI, pages: Pages, reader: PageReader, judging: Judging) -> None:
    """Add the pages."""
    kept = Judged(pages, reader, judging)
    _add_policies(app, kept)
    _add_agents(app, kept)
    _add_compare(app, kept)


def _add_policies(app: FastAPI, kept: Judged) -> None:
    def listed(agent: str, period: str) -> policies.PoliciesView:
        asked = kept.asked("/policies", agent, period)
        return kept.policies.get(
            kept.version(asked),
            lambda: policies.policies(kept.reader, kept.judging, asked, kept.pages.now()),
        )

    def one_rule(name: str, agent: str, period: str, after: str) -> policies.RuleView:
        asked = kept.asked(f"/policies/{name}", agent, period)
        return kept.rules.get(
            (*kept.version(asked), after),
            lambda: policies.rule(kept.reader, kept.judging, asked, name, kept.pages.now(), after),
        )

    @app.get("/policies")
    def policies_page(request: Request, agent: str = "", period: str = "") -> Response:
        """Which rules are broken, where?"""
        return kept.pages.show(request, "policies.html", listed(agent, period))

    @app.get("/policies.csv")
    def policies_csv(agent: str = "", period: str = "") -> Response:
        """The table of the chart over all rules."""
        figure = listed(agent, period).figure
        return csv_of([figure] if figure else [], "rules")

    @app.get("/policies/{policy}/{rule:path}")
    def rule_page(
        request: Request,
        policy: str,
        rule: str,
        agent: str = "",
        period: str = "",
        after: str = "",
    ) -> Response:
        """One rule: its text, and who broke it."""
        if rule.endswith(".csv"):
            name = f"{policy}/{rule.removesuffix('.csv')}"
            return csv_of([one_rule(name, agent, period, "").figure], "rule")
        view = one_rule(f"{policy}/{rule}", agent, period, after)
        return kept.pages.show(request, "rule.html", view)


def _add_agents(app: FastAPI, kept: Judged) -> None:
    @app.get("/agents")
    def agents_page(request: Request, period: str = "") -> Response:
        """How good is each agent?"""
        asked = kept.asked("/agents", "", period)
        view = kept.agents.get(
            kept.version(asked),
            lambda: agents.agents(kept.reader, kept.judging, asked, kept.pages.now()),
        )
        return kept.pages.show(request, "agents.html", view)

    @app.get("/agents/{agent:path}")
    def agent_page(request: Request, agent: str, period: str = "") -> Response:
        """How good is one agent, in every respect?"""
        asked = kept.asked(f"/agents/{agent}", agent, period)
        view = kept.agent.get(
            kept.version(asked),
            lambda: agents.agent(kept.reader, kept.judging, asked, kept.pages.now()),
        )
        return kept.pages.show(request, "agent.html", view)


def _add_compare(app: FastAPI, kept: Judged) -> None:
    def viewed(
        base: str, cand: str, agent: str, period: str, metric: str, show: str
    ) -> compare.CompareView:
        for name, given, known in (
            ("metric", metric, compare.METRICS),
            ("show", show, SHOWS),
        ):
            if given and given not in known:
                raise none_of(name, given, known)
        more = {"base": base, "cand": cand, "metric": metric, "show": show}
        asked = kept.asked("/compare", agent, period, **more)
        return kept.compared.get(
            kept.version(asked),
            lambda: compare.compare(kept.reader, kept.judging, asked, kept.pages.now(), **more),
        )

    @app.get("/compare")
    def compare_page(
        request: Request,
        base: str = "",
        cand: str = "",
        agent: str = "",
        period: str = "",
        metric: str = "",
        show: str = "",
    ) -> Response:
        """What changed between two versions?"""
        view = viewed(base, cand, agent, period, metric, show)
        return kept.pages.show(request, "compare.html", view)

    @app.get("/compare/task")
    def compare_task_page(
        request: Request,
        task: str,
        base: str,
        cand: str,
        agent: str = "",
        period: str = "",
        metric: str = "",
        old: str = "",
        new: str = "",
    ) -> Response:
        """What did both versions do at one changed task?"""
        view = viewed(base, cand, agent, period, metric, "all")
        found = compare_task.task_view(kept.reader, view, task=task, old=old, new=new)
        return kept.pages.show(request, "compare_task.html", found)


def csv_of(figures: Sequence[Figure], name: str) -> Response:
    """Return the table of a figure as a file; raises NotFound without it."""
    for figure in figures:
        if figure.name == name:
            text = io.StringIO()
            csv.writer(text).writerows([figure.heads, *figure.rows])
            disposition = f'attachment; filename="gnomon-{name}.csv"'
            return Response(
                text.getvalue(),
                media_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": disposition, "Cache-Control": "no-store"},
            )
    raise NotFound(f"no figure {name}")
