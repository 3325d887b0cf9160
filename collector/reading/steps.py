"""Steps read back from ClickHouse, and the bodies that their raw spans hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from collector.dialects.content import read_bodies
from collector.reading import rows
from collector.reading import statements as st
from collector.reading.lots import MANY_SPANS, MANY_TRACES, Key, ids, in_lots, lists
from collector.reading.spans import SpanReader
from collector.spans import LogRecord
from collector.views import Outline
from gnomon.clock import Nanos
from gnomon.model import Bodies, Run, Step
from gnomon.store import Store
from gnomon.store.sql import load

_ALL = 2**32 - 1


class StepPosition(NamedTuple):
    """Where a step stands in the list of its run."""

    started_at: Nanos
    span_id: str
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepKey:
    """A step and where it lies, as the roll-up compares them."""

    trace_id: str
    span_id: str
    run_id: str
    started_at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedStep:
    """A step of a list, and the names of the fields that were too long for it."""

    step: Step
    left_out: Sequence[str] = ()


class StepReader:
    """The steps of runs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("collector")
        self._spans = SpanReader(store)

    def steps(
        self,
        run: Run,
        *,
        limit: int,
        after: StepPosition | None = None,
        under: str | None = None,
        whole: bool = True,
    ) -> list[ListedStep]:
        """List the steps of a run by start, ties by span id and trace id, behind `after`.

        `under` keeps what lies below that span. Unless `whole`, long texts are left out and named.
        """
        started_at, span_id, trace_id = after or StepPosition(Nanos(-1), "", "")
        page = self._store.read(
            self._sql["step_page"], tag="collector.step_page",
            traces=list(run.trace_ids), run_id=run.run_id,
            limit=limit if under is None else _ALL, started_at=started_at, span_id=span_id, trace_id=trace_id,
        )  # fmt: skip
        keys = [(row["trace_id"], row["span_id"]) for row in page]
        if under is not None:
            below = self._below(run, under)
            keys = [key for key in keys if key in below][:limit]
        found = self._steps_at(keys, whole=whole)
        return [found[key] for key in keys if key in found]

    def step(self, trace_id: str, span_id: str) -> Step | None:
        """Return one step, whole."""
        listed = self._steps_at([(trace_id, span_id)], whole=True).get((trace_id, span_id))
        return None if listed is None else listed.step

    def outline(self, run: Run) -> list[Outline]:
        """Return all steps of a run as the tree draws them, in order of start, then span id."""
        sql = st.filled(self._sql["outline"], columns=st.columns(Outline))
        found = self._store.rows(
            sql, tag="collector.outline", traces=list(run.trace_ids), run_id=run.run_id
        )
        return [rows.outline(row) for row in found]

    def step_keys(self, traces: Iterable[str]) -> list[StepKey]:
        """Return the steps stored of some traces."""
        return [
            StepKey(**row)
            for some in lists(traces, MANY_TRACES)
            for row in self._store.read(
                self._sql["step_keys_of_traces"], tag="collector.step_keys_of_traces", traces=some
            )
        ]

    def bodies(self, step: Step) -> Bodies:
        """Return what the step read and wrote, from its raw span and logs."""
        return self.bodies_of([step])[0]

    def bodies_of(self, steps: Sequence[Step]) -> list[Bodies]:
        """Return the bodies of some steps, in their order; what duplicates know fills in."""
        twins = self._duplicates([(step.trace_id, step.span_id) for step in steps])
        wanted = {(s.trace_id, s.span_id) for s in steps} | {k for t in twins.values() for k in t}
        spans = self._spans.spans_at(wanted)
        logs: dict[str, list[LogRecord]] = {}
        for record in self._spans.logs({step.trace_id for step in steps}):
            logs.setdefault(record.trace_id, []).append(record)
        return [
            read_bodies(
                span,
                step.kind,
                logs.get(step.trace_id, ()),
                [
                    spans[key]
                    for key in twins.get((step.trace_id, step.span_id), ())
                    if key in spans
                ],
            )
            if (span := spans.get((step.trace_id, step.span_id))) is not None
            else Bodies()
            for step in steps
        ]

    def _steps_at(self, keys: Sequence[Key], *, whole: bool) -> dict[Key, ListedStep]:
        sql = st.filled(self._sql["steps_of_keys"], columns=st.step_columns(whole=whole))
        found: dict[Key, ListedStep] = {}
        for some in in_lots(keys, MANY_SPANS):
            for row in self._store.read(sql, tag="collector.steps_of_keys", bind=ids(some)):
                left_out = row.pop("left_out", ())
                step = rows.step(row)
                found[step.trace_id, step.span_id] = ListedStep(step=step, left_out=left_out)
        return found

    def _below(self, run: Run, span_id: str) -> set[Key]:
        """Return all steps under a span, at any depth."""
        family = self._store.read(
            self._sql["family"], tag="collector.family",
            traces=list(run.trace_ids), run_id=run.run_id,
        )  # fmt: skip
        children: dict[Key, list[Key]] = {}
        for row in family:
            parent = (row["trace_id"], row["parent_span_id"])
            children.setdefault(parent, []).append((row["trace_id"], row["span_id"]))
        found: set[Key] = set()
        ahead = [(trace_id, span_id) for trace_id in run.trace_ids]
        while ahead:
            fresh = [key for key in children.get(ahead.pop(), ()) if key not in found]
            found.update(fresh)
            ahead.extend(fresh)
        return found

    def _duplicates(self, keys: Sequence[Key]) -> dict[Key, list[Key]]:
        found: dict[Key, list[Key]] = {}
        for some in in_lots(keys, MANY_SPANS):
            for row in self._store.read(
                self._sql["duplicates_of"], tag="collector.duplicates_of", bind=ids(some)
            ):
                kept = (row["trace_id"], row["duplicate_of"])
                found.setdefault(kept, []).append((row["trace_id"], row["span_id"]))
        return found
