"""A list of runs as a file: every row that the filter finds, written while it is read."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

from fastapi.responses import StreamingResponse

from collector.views import RunFilter
from gnomon.clock import Nanos, rfc3339
from gnomon.model import Run
from gnomon.web.judgments import verdict_of
from gnomon.web.port import Judging, PageReader
from gnomon.web.titles import position_of
from scoring.reading import RunJudgments

MOST = 100_000
"""Rows of a file at most; whoever needs more asks the API or ClickHouse."""

_LOT = 500

HEADS = (
    *("run_id", "started_at", "agent", "version", "environment", "status", "state", "verdict"),
    *("error_type", "duration_ms", "steps", "input_tokens", "output_tokens", "cost_usd"),
    *("calls_without_price", "conversation_id", "business_keys"),
)


def guarded(text: str | None) -> str:
    r"""Return a text that no spreadsheet takes for a formula.

    >>> guarded("=HYPERLINK(1)"), guarded("refund"), guarded(None)
    ("'=HYPERLINK(1)", 'refund', '')
    """
    return f"'{text}" if text and text[0] in "=+-@\t\r\n" else text or ""


def runs_csv(
    reader: PageReader, where: RunFilter, now: Nanos, judging: Judging | None
) -> StreamingResponse:
    """Return the runs of a list as a file, newest first, at most `MOST`."""
    until = Nanos(now + 1) if where.until is None else where.until
    bounded = replace(where, until=until)  # what comes meanwhile does not move the rows
    return StreamingResponse(
        _written(reader, bounded, judging),
        media_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": 'attachment; filename="gnomon-runs.csv"',
            "Cache-Control": "no-store",
        },
    )


def _written(reader: PageReader, where: RunFilter, judging: Judging | None) -> Iterator[str]:
    yield _lines([HEADS])
    after, left = None, MOST
    while left > 0:
        lot = reader.runs(where, limit=min(_LOT, left), after=after)
        if not lot:
            return
        judged = judging.judgments.of_runs(lot) if judging else {}
        yield _lines([_row(run, judged.get(run.run_id)) for run in lot])
        after, left = position_of(lot[-1]), left - len(lot)


def _lines(rows: list[tuple[str, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _row(run: Run, judged: RunJudgments | None) -> tuple[str, ...]:
    keys = "; ".join(f"{name}={value}" for name, value in sorted(run.business_keys.items()))
    return (
        guarded(run.run_id),
        rfc3339(run.started_at),
        guarded(run.agent_name),
        guarded(run.agent_version),
        guarded(run.environment),
        str(run.status),
        str(run.state),
        "" if judged is None else verdict_of(judged),
        guarded(run.error_type),
        "" if run.duration_ns is None else f"{run.duration_ns / 1e6:.3f}",
        *(_number(n) for n in (run.steps, run.input_tokens, run.output_tokens, run.cost_usd)),
        _number(run.unpriced_calls),
        guarded(run.conversation_id),
        guarded(keys),
    )


def _number(value: float | None) -> str:
    return "" if value is None else str(value)
