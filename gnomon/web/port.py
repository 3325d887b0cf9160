"""What the pages ask of the rest of the house; nothing here is SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from collector.spans import LogRecord, Span
from collector.views import Deploy, Facet, FacetCount, Outline, RunBucket, RunFilter, RunPosition
from gnomon.model import Bodies, Run, Step
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

    def count(self, where: RunFilter) -> int:
        """Return how many runs the filter finds."""

    def facets(self, where: RunFilter, *, limit: int) -> Mapping[Facet, Sequence[FacetCount]]:
        """Return the most frequent values of each facet, each without its own condition."""

    def buckets(
        self, where: RunFilter, *, width_ns: int, by_version: bool = False
    ) -> Sequence[RunBucket]:
        """Return figures per width of time (multiples of the width since 1970), oldest first.

        Widths without a run are left out.
        """

    def totals(self, where: RunFilter) -> RunBucket:
        """Return the figures of the whole filter as one bucket that starts at `since`."""

    def deploys(self, where: RunFilter) -> Sequence[Deploy]:
        """Return the versions whose first run of all lies in the filter's time, oldest first."""

    def run(self, run_id: str) -> Run | None:
        """Return one run."""

    def outline(self, run: Run) -> Sequence[Outline]:
        """Return all steps of a run as the tree draws them, in order of start, then span id."""

    def step(self, trace_id: str, span_id: str) -> Step | None:
        """Return one step, whole."""

    def bodies(self, step: Step) -> Bodies:
        """Return what the step read and wrote, from its raw span and logs."""

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

    judgments: Judgments
    metrics: MetricReader
    compare: CompareReader
    policies: Sequence[PolicyGrader]
    jobs: Jobs
    backfills: Backfills
