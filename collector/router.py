"""The collector's API: runs, their steps, and the raw spans behind them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Response

from collector import router_upkeep
from collector.explain import explain
from collector.folding.set_aside import SetAside
from collector.limits import limits_of
from collector.outgoing import RunOut, SpanExplained, SpanOut, StepOut
from collector.queue.port import Books, TouchedTraces
from collector.reading.steps import ListedStep, StepPosition
from collector.store import Reader
from collector.views import RunFilter, RunPosition
from collector.watched import Watched
from gnomon.clock import Clock, to_nanos, utc_now
from gnomon.errors import InputError, NotFound
from gnomon.http import (
    LONGEST,
    PROBLEMS,
    Cursor,
    Json,
    Limit,
    Page,
    Text,
    When,
    known_parameters,
    pack,
    shown,
    unpack,
    window_of,
)
from gnomon.model import Bodies, JsonValue, Origin, Run, RunState, RunStatus, Step

T = TypeVar("T")

_EXPLAIN_UP_TO = 5_000
"""Spans of a trace that are read with the explained one; beyond, it is explained alone."""

_TRACE_ID = re.compile("[0-9a-fA-F]{32}")
"""A run id of this form is a trace id, which people also write in capitals."""

_BEGINNING = 500
"""Runs that the beginning of an id may name at most."""

_BODIES_AT_ONCE = 20
_PAGE_BYTES = 4 * 1024**2
"""A page with bodies ends when it is about so large; `next` goes on."""


def build_router(
    reader: Reader,
    books: Books,
    touched: TouchedTraces,
    watched: Watched,
    *,
    clock: Clock = utc_now,
    unread: Callable[[], Sequence[SetAside]] = tuple,
) -> APIRouter:
    """Build `/v1/…` of the collector."""
    router = APIRouter(prefix="/v1", responses=PROBLEMS, dependencies=[Depends(known_parameters)])
    _add_steps(router, reader)
    _add_runs(router, reader, clock)
    _add_spans(router, reader, watched)
    router_upkeep.add_ledger(router, books, clock, unread)
    router_upkeep.add_letters(router, books)
    router_upkeep.add_refold(router, reader, touched, clock)
    return router


def _add_runs(router: APIRouter, reader: Reader, clock: Clock) -> None:
    def asked(
        id_prefix: Annotated[
            str | None,
            Query(min_length=1, max_length=LONGEST, description="Beginning of the run id."),
        ] = None,
        since: When = None,
        until: When = None,
        agent: Text = None,
        version: Text = None,
        status: RunStatus | None = None,
        state: RunState | None = None,
        error_type: Text = None,
        environment: Text = None,
        model: Text = None,
        tool: Text = None,
        conversation: Text = None,
        key: Annotated[
            list[str] | None, Query(description="Business keys, each `name:value`.")
        ] = None,
        q: Annotated[
            str | None,
            Query(max_length=500, description="Text in ids, names, keys, errors, input, output."),
        ] = None,
        origin: Annotated[str, Query(pattern="^(production|shadow|replay|all)$")] = "production",
    ) -> RunFilter:
        start, end = window_of(since, until, to_nanos(clock()))
        return RunFilter(
            since=start,
            until=end,
            agent=agent,
            version=version,
            status=status,
            state=state,
            error_type=error_type,
            environment=environment,
            model=model,
            tool=tool,
            conversation_id=conversation,
            business_keys=_keys(key or []),
            text=q or None,
            origin=None if origin == "all" else Origin(origin),
            places=None if id_prefix is None else _beginning(reader, id_prefix),
        )

    @router.get(
        "/runs",
        operation_id="list_runs",
        tags=["runs"],
        response_model=Page[RunOut],  # type: ignore[valid-type] # a type made at run time
    )
    def list_runs(
        where: Annotated[RunFilter, Depends(asked)], limit: Limit = 50, cursor: Cursor = None
    ) -> Response:
        """List runs, newest first; ties by run id, descending."""
        after = None if cursor is None else RunPosition(*unpack("runs", cursor, int, str))
        found = reader.runs(where, limit=limit + 1, after=after)
        page = found[:limit]
        more = len(found) > limit
        return Json(
            {
                "items": [shown(run) for run in page],
                "next": pack("runs", page[-1].started_at, page[-1].run_id) if more else None,
            }
        )

    @router.get("/runs/{run_id:id}", operation_id="get_run", tags=["runs"], response_model=RunOut)
    def get_run(run_id: str) -> Response:
        """Return one run, and what its source does not tell."""
        run = _known(reader.run, run_id)
        return Json({**shown(run), "limits": _limits(reader, run)})


def _add_steps(router: APIRouter, reader: Reader) -> None:
    # Before the run itself: a run id may hold slashes.
    @router.get(
        "/runs/{run_id:id}/steps/{span_id}",
        operation_id="get_step",
        tags=["steps"],
        response_model=StepOut,
    )
    def get_step(run_id: str, span_id: str) -> Response:
        """Return one step with what it read and wrote."""
        run = _known(reader.standing, run_id)
        for trace_id in run.trace_ids:
            step = reader.step(trace_id, span_id.lower())
            if step is not None and step.run_id == run.run_id:
                return Json(_with_bodies(ListedStep(step=step), reader.bodies(step)))
        raise NotFound(f"run {run_id} has no step {span_id}")

    @router.get(
        "/runs/{run_id:id}/steps",
        operation_id="list_steps",
        tags=["steps"],
        response_model=Page[StepOut],  # type: ignore[valid-type] # as above
    )
    def list_steps(
        run_id: str,
        limit: Limit = 50,
        cursor: Cursor = None,
        bodies: Annotated[bool, Query(description="With what each step read and wrote.")] = False,
        parent: Annotated[
            str | None, Query(max_length=32, description="Only what lies under this span.")
        ] = None,
    ) -> Response:
        """List the steps of a run by start; ties by span id.

        Without bodies, texts over 16 KiB are null and named in `left_out`.
        """
        run = _known(reader.standing, run_id)
        after = None if cursor is None else StepPosition(*unpack("steps", cursor, int, str, str))
        under = None if parent is None else parent.lower()
        found = reader.steps(run, limit=limit + 1, after=after, under=under, whole=bodies)
        page = found[:limit]
        items = _items_with_bodies(reader, page) if bodies else [_listed(step) for step in page]
        last = page[len(items) - 1].step if items else None
        more = last is not None and len(found) > len(items)
        return Json(
            {
                "items": items,
                "next": _position(last) if more and last else None,
            }
        )


def _add_spans(router: APIRouter, reader: Reader, watched: Watched) -> None:
    @router.get(
        "/spans/{trace_id}/{span_id}",
        operation_id="get_span",
        tags=["spans"],
        response_model=SpanOut,
    )
    def get_span(trace_id: str, span_id: str) -> Response:
        """Return one span as it came, with the log records that name it."""
        trace_id, span_id = trace_id.lower(), span_id.lower()
        span = reader.span(trace_id, span_id)
        if span is None:
            raise NotFound(f"there is no span {span_id} in trace {trace_id}")
        logs = reader.span_logs(trace_id, span_id)
        return Json({**shown(span), "logs": [shown(record) for record in logs]})

    @router.get(
        "/spans/{trace_id}/{span_id}/explain",
        operation_id="explain_span",
        tags=["spans"],
        response_model=SpanExplained,
    )
    def explain_span(trace_id: str, span_id: str) -> Response:
        """Tell which rule fills which field of the step, read now by the code that stores it."""
        trace_id, span_id = trace_id.lower(), span_id.lower()
        span = reader.span(trace_id, span_id)
        if span is None:
            raise NotFound(f"there is no span {span_id} in trace {trace_id}")
        small = reader.span_counts([trace_id]).get(trace_id, 0) <= _EXPLAIN_UP_TO
        logs = reader.logs([trace_id]) if small else reader.span_logs(trace_id, span_id)
        told = explain(span, logs, watched, reader.spans([trace_id]) if small else ())
        filled = [
            {"field": one.field, "value": one.value, "rule": one.number, "key": one.key}
            for one in told.filled
        ]
        return Json({"items": filled, "unread": list(told.unread)})


def _beginning(reader: Reader, prefix: str) -> list[RunPosition]:
    found = reader.beginning(prefix, limit=_BEGINNING + 1)
    if len(found) > _BEGINNING:
        raise InputError(f"id_prefix: more than {_BEGINNING} ids begin so; write more of it")
    return found


def _known(read: Callable[[str], T | None], run_id: str) -> T:
    """Return what is read of a run; raises NotFound."""
    found = read(run_id)
    if found is None and _TRACE_ID.fullmatch(run_id):
        found = read(run_id.lower())
    if found is None:
        raise NotFound(f"there is no run {run_id}; a run appears a moment after its first span")
    return found


def _limits(reader: Reader, run: Run) -> list[str]:
    return [f"{limit.sentence} {limit.mend}".strip() for limit in limits_of(reader.told(run))]


def _position(step: Step) -> str:
    return pack("steps", step.started_at, step.span_id, step.trace_id)


def _keys(pairs: list[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, _, value = pair.partition(":")
        if not name or not value:
            raise InputError(f"key: write name:value, as in order_id:A-17; not {pair[:40]!r}")
        if found.get(name, value) != value:
            raise InputError(f"key: {name[:40]!r} has one value in a run; say it once")
        found[name] = value
    return found


def _listed(entry: ListedStep) -> dict[str, JsonValue]:
    return {**shown(entry.step), "left_out": list(entry.left_out)}


def _with_bodies(entry: ListedStep, bodies: Bodies) -> dict[str, JsonValue]:
    return {**_listed(entry), **shown(bodies)}


def _items_with_bodies(reader: Reader, page: list[ListedStep]) -> list[dict[str, JsonValue]]:
    """Return the first steps of a page with their bodies, as many as fit into an answer."""
    items: list[dict[str, JsonValue]] = []
    size = 0
    for start in range(0, len(page), _BODIES_AT_ONCE):
        some = page[start : start + _BODIES_AT_ONCE]
        for entry, bodies in zip(
            some, reader.bodies_of([entry.step for entry in some]), strict=True
        ):
            size += _size(entry.step) + _size(bodies)
            if items and size > _PAGE_BYTES:
                return items
            items.append(_with_bodies(entry, bodies))
    return items


def _size(noun: Any) -> int:
    texts = (getattr(noun, field.name) for field in fields(noun))
    return sum(len(text) for text in texts if isinstance(text, str))
