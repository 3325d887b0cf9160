"""Runs for which another version of a grader speaks than the one in gnomon.yaml, and what they touch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.grading.port import Surface
from scoring.metrics.figures import Figure

FLAG = "other_grader_version"

OBSERVED = frozenset({"aborted", "finished", "trace_completeness", "errors", "intervention"})
"""Ratios that no grader has a part in."""

OF_OUTCOME = frozenset(
    {"completion", "passed", "not_failed", "unverified", "examined", "steps_solved", "tool_calls_solved"}
)  # fmt: skip
"""Ratios that graders of outcome alone have a part in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """Runs of a group that a grader has judged by other versions alone."""

    grader: str
    version: str
    """The one that is set up; it has not looked at them."""
    surface: str
    runs: int

    @property
    def text(self) -> str:
        """What a reader is told, with the mend."""
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        return (
            f"of {runs} another version of {self.grader} speaks than {self.version},"
            f" which is set up and has judged none of them: gnomon graders backfill {self.grader}"
        )


def told_of(
    figure: Figure, others: Sequence[Others], *, ratio: str = "", grader: str = ""
) -> Figure:
    """Return a figure, flagged where labels of other versions have a part in its ratio.

    grader: the figure is about this one alone.
    """
    touching = [
        one
        for one in others
        if ratio not in OBSERVED
        and (ratio not in OF_OUTCOME or one.surface == Surface.OUTCOME)
        and grader in ("", one.grader)
    ]
    return figure.flagged(FLAG, "; ".join(one.text for one in touching)) if touching else figure


def others_of(row: Mapping[str, Any], versions: Mapping[str, str]) -> Others:
    """Return one row of the statement `others`."""
    return Others(
        grader=row["grader"],
        version=versions[row["grader"]],
        surface=row["surface"],
        runs=int(row["runs"]),
    )
