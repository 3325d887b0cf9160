"""What the pages about judgments share: agent and period of the address, time, links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from collector.views import FacetCount, RunFilter
from gnomon.clock import Nanos
from gnomon.web.filters import Query
from gnomon.web.plots import Data
from gnomon.web.port import PageReader
from gnomon.web.timeline import PERIODS, Period, back_from
from scoring.metrics.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An agent (or all) over a period."""

    path: str
    agent: str
    period: Period
    more: Mapping[str, str]
    """Further conditions of the address."""

    def url(self, path: str = "", **changes: str) -> str:
        """Return the address with some conditions changed; '' drops one."""
        path = path or self.path
        named = "" if path.startswith("/agents") else self.agent  # there the path names it
        pairs = {"agent": named, "period": self.period.name, **self.more, **changes}
        text = urlencode({name: value for name, value in pairs.items() if value})
        return f"{path}?{text}" if text else path

    @property
    def periods(self) -> Sequence[tuple[Period, str]]:
        """Every period with the address that asks for it."""
        return [(one, self.url(period=name)) for name, one in PERIODS.items()]

    @property
    def query(self) -> Query:
        """The list of the runs this page is about."""
        values = {"agent": self.agent} if self.agent else {}
        return Query(period=self.period.name, values=values)

    def scope(self, now: Nanos) -> Scope:
        """Return the runs this page is about."""
        return Scope(agent=self.agent or None, since=back_from(now, self.period).since)


def data_of(reader: PageReader, asked: Asked, now: Nanos) -> Data:
    """Return what charts over time are drawn on: time, deploy marks, links.

    Where nothing ran before, time begins with the first run.
    """
    time = back_from(now, asked.period)
    if not reader.positions(RunFilter(until=time.since, agent=asked.agent or None), limit=1):
        where = asked.query.where(now)
        time = time.beginning(time.fill(reader.counts(where, width_ns=time.width)))
    return Data(
        time=time,
        points=(),
        deploys=reader.deploys(asked.query.where(now)),
        query=asked.query,
        now=now,
    )


def agents_of(reader: PageReader, asked: Asked, now: Nanos) -> Sequence[FacetCount]:
    """Return the agents of the period."""
    return reader.facets(asked.query.where(now), limit=40).get("agent", ())
