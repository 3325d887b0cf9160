"""Which runs a number is about, and the address at which exactly those runs are listed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from collector.views import RunFilter
from gnomon.clock import LAST_MOMENT, Nanos, rfc3339
from gnomon.errors import InputError
from gnomon.model import JsonValue, Origin

RUNS_PATH = "/v1/runs"
BEHIND_PATH = "/v1/metrics/runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where the runs behind a number are listed, and how many there are."""

    path: str
    query: Mapping[str, str | list[str]]
    """A list stands for a parameter given several times."""
    runs: int

    def as_json(self) -> JsonValue:
        """Return path, query and number of runs."""
        return {"path": self.path, "query": dict(self.query), "runs": self.runs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Agent, version, slice, environment and window; None asks nothing."""

    agent: str | None = None
    version: str | None = None
    environment: str | None = None
    slices: Mapping[str, str] = field(default_factory=dict)
    """Name of a slice: the value asked for."""
    since: Nanos | None = None
    until: Nanos | None = None
    origin: Origin | None = Origin.PRODUCTION

    def where(self, keys: Mapping[str, str]) -> RunFilter:
        """Return the filter; `keys` names the business key of each slice.

        A version or slice of '' (runs that name none) is no filter's business: see `bare`.
        """
        for name in self.slices:
            if name not in keys:
                known = ", ".join(sorted(keys)) or "none; write `slices: {topic: topic}`"
                raise InputError(f"{name} is no slice of gnomon.yaml; known: {known}")
        return RunFilter(
            since=self.since,
            until=self.until,
            agent=self.agent,
            version=self.version or None,
            environment=self.environment,
            business_keys={keys[name]: value for name, value in self.slices.items() if value},
            origin=self.origin,
        )

    @property
    def bare(self) -> Sequence[str]:
        """Slices of which only the runs are asked for that name no value."""
        return [name for name, value in self.slices.items() if not value]

    def of_version(self, version: str) -> "Scope":
        """Return the same runs of one version."""
        return replace(self, version=version)

    def within(self, since: Nanos, until: Nanos) -> "Scope":
        """Return the part of this scope that lies in [since, until); past the last moment is no end."""
        ends = [end for end in (until, self.until) if end is not None and end <= LAST_MOMENT]
        return replace(
            self,
            since=Nanos(max(since, self.since or 0)),
            until=min(ends, default=None),
        )

    def query(self) -> dict[str, str | list[str]]:
        """Return the conditions as an address of the metrics API carries them."""
        given = {
            "agent": self.agent,
            "version": self.version,
            "environment": self.environment,
            "since": None if self.since is None else rfc3339(self.since),
            "until": None if self.until is None else rfc3339(self.until),
        }
        query: dict[str, str | list[str]] = {
            name: value for name, value in given.items() if value is not None
        }
        query["origin"] = "all" if self.origin is None else self.origin.value
        if self.slices:
            query["slice"] = [f"{name}:{value}" for name, value in self.slices.items()]
        return query

    def link(self, part: str, runs: int, *, keys: Mapping[str, str], plain: bool) -> Link:
        """Return the address of the runs of one part.

        `plain`: whether the part is every settled run of the scope, so that the list of runs
        itself can show it; else the list behind metrics does.
        """
        query = self.query()
        told = plain and "" not in {self.version, self.environment, *self.slices.values()}
        if not told:
            return Link(path=BEHIND_PATH, query={**query, "part": part}, runs=runs)
        if query.pop("slice", None) is not None:
            query["key"] = [f"{keys[name]}:{value}" for name, value in self.slices.items()]
        return Link(path=RUNS_PATH, query={**query, "state": "settled"}, runs=runs)
