"""What two versions are compared on, and what must be known of them before any number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon.model import JsonValue
from scoring.metrics.scope import Link, Scope
from scoring.metrics.watched import Measured
from scoring.versions.manifests import Manifests

SURFACE: Mapping[Measured, str] = {"completion": "outcome", "clean": "policy", "finished": ""}
"""Metric: the surface whose graders say what passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Two versions, and what they were made and judged with."""

    scope: Scope
    """The runs that are compared: those asked for, or those of the rule."""
    base: str
    cand: str
    metric: Measured
    manifests: Manifests
    runs: Mapping[str, int]
    """Settled runs in the scope, by version."""
    links: Mapping[str, Link]
    judges: Mapping[str, Sequence[str]]
    """Grader versions behind the labels, by version of the agent."""

    @property
    def absent(self) -> str:
        """Which of the versions has no settled run, in words; ''."""
        absent = [v for v in (self.base, self.cand) if not self.runs.get(v)]
        return f"no settled run of {' and '.join(absent)} in this scope" if absent else ""

    @property
    def warnings(self) -> list[str]:
        """What stands above the numbers as a banner."""
        told = [self.manifests.warning] if self.manifests.warning else []
        if not self.absent and self.judges[self.base] != self.judges[self.cand]:
            sides = " and ".join(
                ", ".join(self.judges[v]) or "none" for v in (self.base, self.cand)
            )
            told.append(
                f"the sides were judged by different graders ({sides}): run graders backfill"
            )
        return told

    def as_json(self) -> dict[str, JsonValue]:
        """Return the setting as the API writes it."""
        return {
            "base": self.base,
            "cand": self.cand,
            "metric": self.metric,
            "runs": dict(self.runs),
            "links": {version: link.as_json() for version, link in self.links.items()},
            "manifests": self.manifests.as_json(),
            "judges": {version: list(names) for version, names in self.judges.items()},
        }
