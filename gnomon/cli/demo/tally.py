"""The books of the traffic: spans on their way, and what was sent and acknowledged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from opentelemetry.sdk.trace import ReadableSpan

from gnomon.cli.demo.truth import Truth

_REMEMBERED = 20_000
"""Truths that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the traffic has come."""

    phase: Literal["history", "live"]
    runs: int
    spans: int
    history_runs: int
    """How many runs the history has in the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What was sent and acknowledged."""

    runs: int
    """Runs all of whose spans were sent."""
    spans: int
    """Distinct spans of these and of unfinished runs."""
    batches: int
    """Requests; repeated ones included."""
    batches_repeated: int
    """Requests that were sent twice, byte for byte."""
    spans_repeated: int
    """Spans that came once more in another request."""
    spans_late: int
    """Spans that came long after the rest of their run."""
    truths: Mapping[str, Truth]
    """By run id, oldest first; the latest 20,000 of a demo that runs for days."""


@dataclass(frozen=True, slots=True, order=True)
class Parcel:
    """A span on its way. `due` is when its exporter would send it."""

    due: int
    number: int
    span: ReadableSpan = field(compare=False)
    run: "Pending" = field(compare=False)
    repeated: bool = field(compare=False, default=False)
    late: bool = field(compare=False, default=False)


@dataclass(slots=True)
class Pending:
    """A run some of whose spans are still on their way."""

    truth: Truth
    left: int


@dataclass(slots=True)
class Tally:
    """Adds up what the receiver acknowledged."""

    history_runs: int
    runs: int = 0
    spans: int = 0
    batches: int = 0
    batches_repeated: int = 0
    spans_repeated: int = 0
    spans_late: int = 0
    truths: dict[str, Truth] = field(default_factory=dict)
    on_truth: Callable[[Truth], None] = lambda _truth: None
    """Told of every run whose spans have all arrived."""

    def arrived(self, parcels: Sequence[Parcel]) -> None:
        """Count a batch that was acknowledged."""
        for parcel in parcels:
            if parcel.repeated:
                self.spans_repeated += 1
                continue
            self.spans += 1
            self.spans_late += parcel.late
            parcel.run.left -= 1
            if parcel.run.left == 0:
                self._finished(parcel.run.truth)

    def _finished(self, truth: Truth) -> None:
        self.runs += 1
        self.truths[truth.run_id] = truth
        self.on_truth(truth)
        if len(self.truths) > _REMEMBERED:
            del self.truths[next(iter(self.truths))]

    def progress(self) -> Progress:
        """Return how far we are."""
        return Progress(
            phase="history" if self.runs < self.history_runs else "live",
            runs=self.runs,
            spans=self.spans,
            history_runs=self.history_runs,
        )

    def totals(self) -> Totals:
        """Return the end result."""
        return Totals(
            runs=self.runs,
            spans=self.spans,
            batches=self.batches,
            batches_repeated=self.batches_repeated,
            spans_repeated=self.spans_repeated,
            spans_late=self.spans_late,
            truths=self.truths,
        )
