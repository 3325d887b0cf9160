"""Steps read back from ClickHouse, and the bodies that their raw spans hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from collector.dialects.content import read_bodies
from collector.reading import rows, shapes
from collector.reading import statements as st
from collector.reading.lots import MANY_SPANS, Key, ids, in_lots
from collector.reading.spans import SpanReader
from collector.spans import LogRecord
from collector.views import Earlier, Outline, Shape, Told
from gnomon.clock import Nanos
from gnomon.model import Bodies, Kind, Step
from gnomon.store import Store
from gnomon.store.sql import load
from gnomon.store.statements import columns, filled


class StepPosition(NamedTuple):
    """Where a step stands in the list of its run."""

    started_at: Nanos
    span_id: str
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedStep:
    """A step of a list, and the names of the fields that were too long for it."""

    step: Step
    left_out: Sequence[str] = ()


class Placed(Protocol):
    """A run as far as its steps are found by it."""

    @property
    def run_id(self) -> str:
        """Its id."""

    @property
    def trace_ids(self) -> Sequence[str]:
        """The traces it lies in."""


class StepReader:
    """The steps of runs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("collector")
        self._spans = SpanReader(store)

    def steps(
        self,
        run: Placed,
        *,
        limit: int,
        after: StepPosition | None = None,
        under: str | None = None,
        whole: bool = True,
    ) -> list[ListedStep]:
        """List the steps of a run by start, ties by span id and trace id, behind `after`.

        `under` keeps what lies below that span. Unless `whole`, long texts are left out and named.
        """
        behind = after or StepPosition(Nanos(-1), "", "")
        if under is not None:
            keys = self._below(run, under, behind)[:limit]
            found = self._steps_at(keys, whole=whole)
            return [found[key] for key in keys if key in found]
        page = self._store.read(
            filled(self._sql["step_page"], columns=st.step_columns(whole=whole)),
            tag="collector.step_page",
            bind={**_of(run), **behind._asdict()},
            limit=limit,
        )
        return [_listed(row) for row in page]

    def step(self, trace_id: str, span_id: str) -> Step | None:
        """Return one step, whole."""
        listed = self._steps_at([(trace_id, span_id)], whole=True).get((trace_id, span_id))
        return None if listed is None else listed.step

    def outline(self, run: Placed, only: Sequence[Key] | None = None) -> list[Outline]:
        """Return the steps of a run as the tree draws them, in order of start, then span id.

        `only`: some of them.
        """
        if only is None:
            name, more = "outline", {}
        else:
            name, more = "outline_of_keys", {"spans": ids(only)["spans"]}
        sql = filled(self._sql[name], columns=columns(Outline))
        found = self._store.rows(sql, tag=f"collector.{name}", bind={**_of(run), **more})
        return [rows.outline(row) for row in found]

    def shape(self, run: Placed) -> Shape:
        """Return where all steps of a run stand: a fraction of what their outline takes."""
        sql = filled(self._sql["shape"], told=shapes.TOLD)
        (row,) = self._store.read(sql, tag="collector.shape", bind=_of(run))
        return shapes.shape(row, run.trace_ids)

    def told(self, run: Placed) -> list[Told]:
        """Return what the steps of a run tell, each difference once."""
        sql = filled(self._sql["told"], told=shapes.TOLD)
        found = self._store.rows(sql, tag="collector.told", bind=_of(run))
        return [shapes.told(row) for row in found]

    def call_before(self, run: Placed, step: Step) -> Earlier | None:
        """Return the last counted step that a step is compared with, or None.

        Of a model call: the call of the same agent before. Of any other: the last that went well
        and called the same tool.
        """
        same = st.SAME_AGENT if step.kind is Kind.LLM else st.SAME_TOOL
        found = self._store.read(
            filled(self._sql["call_before"], columns=columns(Earlier), same=same),
            tag="collector.call_before",
            bind=_of(run),
            kind=step.kind,
            agent_path=list(step.agent_path),
            tool_name=step.tool_name or "",
            started_at=step.started_at,
            span_id=step.span_id,
            trace_id=step.trace_id,
        )
        return Earlier(**{**found[0], "kind": step.kind}) if found else None

    def bodies(self, step: Step) -> Bodies:
        """Return what the step read and wrote, from its raw span and logs."""
        return self.bodies_of([step])[0]

    def bodies_of(self, steps: Sequence[Step | Earlier]) -> list[Bodies]:
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
        sql = filled(self._sql["steps_of_keys"], columns=st.step_columns(whole=whole))
        found: dict[Key, ListedStep] = {}
        for some in in_lots(keys, MANY_SPANS):
            for row in self._store.read(sql, tag="collector.steps_of_keys", bind=ids(some)):
                listed = _listed(row)
                found[listed.step.trace_id, listed.step.span_id] = listed
        return found

    def _below(self, run: Placed, span_id: str, behind: StepPosition) -> list[Key]:
        """Return all steps under a span, at any depth, that stand behind a position, in order."""
        family = self._store.read(self._sql["family"], tag="collector.family", bind=_of(run))
        children: dict[Key, list[Key]] = {}
        for row in family:
            parent = (row["trace_id"], row["parent_span_id"])
            children.setdefault(parent, []).append((row["trace_id"], row["span_id"]))
        below: set[Key] = set()
        ahead = [(trace_id, span_id) for trace_id in run.trace_ids]
        while ahead:
            fresh = [key for key in children.get(ahead.pop(), ()) if key not in below]
            below.update(fresh)
            ahead.extend(fresh)
        return [
            (row["trace_id"], row["span_id"])
            for row in family
            if (row["trace_id"], row["span_id"]) in below
            and (row["started_at"], row["span_id"], row["trace_id"]) > behind
        ]

    def _duplicates(self, keys: Sequence[Key]) -> dict[Key, list[Key]]:
        found: dict[Key, list[Key]] = {}
        for some in in_lots(keys, MANY_SPANS):
            for row in self._store.read(
                self._sql["duplicates_of"], tag="collector.duplicates_of", bind=ids(some)
            ):
                kept = (row["trace_id"], row["duplicate_of"])
                found.setdefault(kept, []).append((row["trace_id"], row["span_id"]))
        return found


def _of(run: Placed) -> dict[str, str | list[str]]:
    return {"traces": list(run.trace_ids), "run_id": run.run_id}


def _listed(row: dict[str, Any]) -> ListedStep:
    left_out = row.pop("left_out", ())
    return ListedStep(step=rows.step(row), left_out=left_out)
