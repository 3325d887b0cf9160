"""`gnomon runs list` and `show`: a cost that is not whole says so, and nothing unknown is 0."""

import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from fastapi import FastAPI
from typer.testing import CliRunner, Result

from collector.router import build_router
from collector.store import Reader
from collector.watched import Watched
from gnomon.cli.records import runs
from gnomon.clock import Nanos
from gnomon.errors import InputError
from gnomon.http import install_problems
from gnomon.model import Kind, Run, RunId, RunState, RunStatus, SpanId, Step, TraceId
from gnomon.store.migrate import apply, shipped
from tests.books import MemoryBooks
from tests.row_writer import RowWriter
from tests.stores import fresh_store
from tests.touched import MemoryTouched

START = 490_000 * 3_600_000_000_000


def run_of(name: str, **values: object) -> Run:
    given: dict[str, object] = {
        "run_id": RunId(name),
        "trace_ids": (name,),
        "root_span_id": None,
        "started_at": Nanos(START),
        "ended_at": Nanos(START),
        "duration_ns": 0,
        "active_ns": 0,
        "last_received_at": Nanos(START),
        "state": RunState.SETTLED,
        "status": RunStatus.OK,
        "spans": 1,
        **values,
    }
    return Run(**given)  # type: ignore[arg-type]


def call(run: str) -> Step:
    return Step(
        run_id=RunId(run),
        trace_id=TraceId(run),
        span_id=SpanId("a" * 16),
        started_at=Nanos(START),
        ended_at=Nanos(START),
        duration_ns=0,
        kind=Kind.LLM,
        counted=True,
        scope_name="semantic_kernel.functions",
        input_tokens=5,
    )


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fresh_store("embedded", tmp_path_factory.mktemp("records")) as store:
        apply(store, shipped())
        writer = RowWriter(store)
        writer.runs(
            [
                run_of("whole", cost_usd=0.5),
                run_of("partial", cost_usd=0.25, unpriced_calls=2, spans=2_500),
                run_of("unknown", unpriced_calls=1),
                run_of("nothing"),
            ],
            reading="",
            folded_at=1,
        )
        writer.steps([call("whole"), call("partial"), call("unknown")], folded_at=1)
        app = FastAPI()
        install_problems(app)
        app.include_router(build_router(Reader(store), MemoryBooks(), MemoryTouched(), Watched()))
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


def said(*words: str) -> Result:
    found = CliRunner().invoke(runs, list(words))
    assert found.exit_code == 0, found.output
    return found


def lines(found: Result) -> dict[str, str]:
    rows = (line.split(maxsplit=1) for line in found.stdout.splitlines() if line.strip())
    return {row[0]: row[-1].strip() for row in rows}


def test_a_list_says_which_costs_are_partial_and_which_unknown(url: str) -> None:
    found = said("list", "--url", url)
    rows = lines(found)
    assert rows["whole"].endswith("$0.50")
    assert "≥" not in rows["whole"]
    assert rows["partial"].endswith("≥ $0.25")
    assert rows["unknown"].endswith("–")
    assert rows["nothing"].endswith("–")
    assert "in 2 of these runs some model calls have no price" in " ".join(found.stderr.split())


def test_a_run_says_that_its_cost_is_partial_and_how_to_mend_it(url: str) -> None:
    found = said("show", "partial", "--url", url)
    assert lines(found)["cost_usd"] == "≥ $0.25"
    notes = " ".join(found.stderr.split())
    assert "add the model to prices in gnomon.yaml" in notes
    assert "the first 1 of 2500 spans are listed" in notes
    assert lines(said("show", "unknown", "--url", url))["cost_usd"] == "unknown"
    whole = said("show", "whole", "--url", url)
    assert "no price" not in whole.stderr
    assert lines(whole)["cost_usd"] == "0.5"


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_id_is_told_in_words_of_the_command_line(url: str, name: str) -> None:
    found = CliRunner().invoke(runs, ["show", name, "--url", url])
    assert isinstance(found.exception, InputError)
    assert "`gnomon runs list` prints" in found.exception.detail
    assert "id_prefix" not in found.exception.detail


def test_limits_are_notes_for_runs_of_every_size(url: str) -> None:
    for run in ("partial", "whole"):
        found = said("show", run, "--url", url)
        assert "Semantic Kernel does not report them" in " ".join(found.stderr.split())
        assert "limits" not in lines(found)
    assert "note:" not in said("show", "nothing", "--url", url).stderr.replace(
        "note: the first 0 of 1 spans are listed", ""
    )


def test_an_older_server_may_say_that_it_did_not_look_for_limits(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnomon.cli.client import Api

    get = Api.get
    monkeypatch.setattr(
        Api,
        "get",
        lambda self, path, **more: (
            {**get(self, path, **more), "limits": None}
            if path.endswith("/whole")
            else get(self, path, **more)
        ),
    )
    assert "Semantic Kernel" not in said("show", "whole", "--url", url).stderr
