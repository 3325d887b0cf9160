"""What goes between the process of the store and those that fold."""

import datetime as dt
import subprocess
import sys
from pathlib import Path

import pytest

from collector.encoded import Rows
from collector.folding.messages import FoldFailed, Lot, Outcome, Quiet, hello, understood
from collector.folding.work import Work
from collector.reading.rows import Place
from collector.watched import KeySource, Price, RunNaming, Watched
from gnomon.clock import Nanos
from gnomon.model import RunId, RunState

ROOT = Path(__file__).parents[3]
HEAVY = {"clickhouse_connect", "chdb", "fastapi", "grpc", "sqlite3", "structlog", "scipy"}

WATCHED = Watched(
    runs=RunNaming(
        run_id=("request",), quiet_period=dt.timedelta(milliseconds=1500), manifest={"x": ("y",)}
    ),
    business_keys={"order": KeySource(tool_arguments=("pay:order",))},
    prices=(Price(model="gpt-*", since=dt.date(2026, 1, 2), input=0.1, output=1 / 3),),
)


def lot(**changes: object) -> Lot:
    given = {
        "now": Nanos(5), "folded_at": Nanos(6), "received": {"a" * 32: Nanos(4)},
        "traces": ["a" * 32], "places": [], "spans": b"", "logs": b"", "step_keys": b"",
    }  # fmt: skip
    return Lot(**{**given, **changes})  # type: ignore[arg-type]


def test_what_is_watched_arrives_as_it_was_read() -> None:
    assert understood(hello(WATCHED, "reading")) == (WATCHED, "reading")


def test_a_lot_arrives_as_it_was_sent() -> None:
    place = Place(
        run_id=RunId("r"), started_at=Nanos(1), trace_ids=("t",), state=RunState.SETTLED,
        settled_at=Nanos(2), revision=3, last_received_at=Nanos(4), content_digest="d",
        reading="x", folded_at=9,
    )  # fmt: skip
    sent = lot(places=[place], spans=b"[1]\n", logs=b"[2]\n", step_keys=b"[3]\n")
    assert Lot.read(sent.pieces()) == sent


def test_an_outcome_arrives_as_it_was_sent() -> None:
    rows = Rows(table="runs", columns=["a"], format="JSONCompactEachRow", body=b"[1]", count=1)
    quiet = [
        Quiet(trace_id="t", due=Nanos(7), row=b"[1,"),
        Quiet(trace_id="u", due=Nanos(8), row=b"["),
    ]
    sent = Outcome(run_ids=["r"], again={"t": Nanos(7)}, rows=[rows], quiet=quiet)
    assert Outcome.read(sent.pieces()) == sent


def test_what_cannot_be_folded_is_told_by_its_class_and_with_its_trace() -> None:
    answered = Work(hello(Watched(), "x"))(lot(spans=b"no JSON\n").pieces())
    with pytest.raises(FoldFailed) as caught:
        Outcome.read(answered)
    assert caught.value.kind == "JSONDecodeError"
    assert "work.py" in caught.value.trace


def test_text_that_is_no_unicode_is_told_too() -> None:
    error = ValueError("half a pair: \ud800")
    from collector.folding.messages import failure

    with pytest.raises(FoldFailed, match="half a pair"):
        Outcome.read(failure("ValueError", error, "trace \udfff"))


def test_a_process_that_folds_imports_no_store_and_no_server() -> None:
    script = f"import sys, collector.folding.work; print(sorted({HEAVY!r} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert out.stdout.strip() == "[]", out.stdout + out.stderr
