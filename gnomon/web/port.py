"""What the pages ask of the rest of the house; nothing here is SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from collector.spans import LogRecord, Span
from collector.views import (
    Deploy,
    Earlier,
    Facet,
    FacetCount,
    Outline,
    RunBucket,
    RunFigures,
    RunFilter,
    RunPosition,
    Shape,
)
from gnomon.model import Bodies, Run, RunId, Step
from scoring.backfill import Backfills
from scoring.grading.policy import PolicyGrader
from scoring.jobs import Jobs
from scoring.metrics.reader import MetricReader
from scoring.reading import Judgments
from scoring.versions.reader import CompareReader


class PageReader(Protocol):
    """The functions of `collector.store.Reader` that the pages call."""

    def runs(
        self,
        where: RunFilter,
        *,
        limit: int,
        after: RunPosition | None = None,
        newer: bool = False,
    ) -> Sequence[Run]:
        """List runs, newest first, behind `after`; with `newer` those just before it instead.

        `newer` also answers newest first: the `limit` rows nearest to `after`.
        """

    def beginning(self, prefix: str, *, limit: int) -> Sequence[RunPosition]:
        """Return the runs whose ids begin so."""

    def narrowed(self, where: RunFilter) -> RunFilter:
        """Return a filter that finds the same, for several questions with one text."""

    def count(self, where: RunFilter) -> int:
        """Return how many runs the filter finds."""

    def facets(self, where: RunFilter, *, limit: int) -> Mapping[Facet, Sequence[FacetCount]]:
        """Return the most frequent values of each facet, each without its own condition."""

    def positions(
        self,
        where: RunFilter,
        *,
        limit: int,
        after: RunPosition | None = None,
        newer: bool = False,
    ) -> Sequence[RunPosition]:
        """Return where the runs stand that `runs` would list: a fraction of the work."""

    def figures(self, where: RunFilter, *, width_ns: int, versions: int) -> RunFigures:
        """Return figures by time (multiples of the width since 1970), by version, and of all."""

    def counts(self, where: RunFilter, *, width_ns: int) -> Sequence[RunBucket]:
        """Return how many runs began per width of time, oldest first, and how they ended.

        Widths are multiples since 1970; those without a run are left out.
        """

    def totals(self, where: RunFilter) -> RunBucket:
        """Return the figures of the whole filter as one bucket that starts at `since`."""

    def deploys(self, where: RunFilter) -> Sequence[Deploy]:
        """Return the versions whose first run of all lies in the filter's time, oldest first."""

    def run(self, run_id: str) -> Run | None:
        """Return one run."""

    def outline(self, run: Run, only: Sequence[tuple[str, str]] | None = None) -> Sequence[Outline]:
        """Return the steps of a run as the tree draws them, in order of start, then span id.

        `only`: some of them, by trace and span.
        """

    def shape(self, run: Run) -> Shape:
        """Return where all steps of a run stand: a fraction of what their outline takes."""

    def call_before(self, run: Run, step: Step) -> Earlier | None:
        """Return the last counted step that a step is compared with, or None.

        Of a model call: the call of the same agent before. Of any other: the last that went well
        and called the same tool.
        """

    def step(self, trace_id: str, span_id: str) -> Step | None:
        """Return one step, whole."""

    def counted_steps(self, runs: Sequence[Run]) -> Mapping[RunId, Sequence[Step]]:
        """Return the counted steps of some runs in order of start, ties by span id."""

    def bodies_of(self, steps: Sequence[Step | Earlier]) -> list[Bodies]:
        """Return what some steps read and wrote, from their raw spans and logs."""

    def span(self, trace_id: str, span_id: str) -> Span | None:
        """Return one raw, de-duplicated span."""

    def span_logs(self, trace_id: str, span_id: str) -> Sequence[LogRecord]:
        """Return the log records that name this span."""

    def data_version(self) -> str:
        """Return a short text that changes when any run does; answered in a millisecond."""


class Explained(Protocol):
    """Which rule filled a field of a step."""

    @property
    def field(self) -> str:
        """Name of the field, as in Step."""

    @property
    def value(self) -> object:
        """What the step holds."""

    @property
    def rule(self) -> str:
        """The rule, with the attribute it read."""


class Explain(Protocol):
    """Reads a span again and says why each field has its value."""

    def __call__(self, span: Span, logs: Sequence[LogRecord], /) -> Sequence[Explained]:
        """Return one entry a field that is not empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What scoring lends to the pages; without it they show what happened, not how good it was."""

    configured: bool = True
    """Whether gnomon.yaml names any policy or grader."""
    judgments: Judgments
    metrics: MetricReader
    compare: CompareReader
    policies: Sequence[PolicyGrader]
    jobs: Jobs
    backfills: Backfills
