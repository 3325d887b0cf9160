import datetime as dt
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from collector.folding.lot import TraceFolding
from collector.folding.rollup import RollUp
from collector.folding.set_aside import SetAside
from collector.queue.port import DeadLetter, LedgerRow, Rereading
from collector.router import build_router
from collector.store import Reader
from collector.watched import Watched
from gnomon.clock import Nanos, rfc3339, to_nanos
from gnomon.http import install_problems
from gnomon.model import Bodies, Document, Run, RunId, SpanId, Step, TraceId
from gnomon.segment import segment
from gnomon.store import Store
from tests import samples
from tests.books import MemoryBooks
from tests.odd_ids import ODD_IDS
from tests.row_writer import RowWriter
from tests.spans import fold, make_span
from tests.stores import put
from tests.touched import MemoryTouched

NOW = dt.datetime(2026, 12, 2, 12, 30, tzinfo=dt.UTC)
HOUR = 3_600_000_000_000
THIS_HOUR = Nanos(to_nanos(NOW) // HOUR * HOUR)
SAMPLE = "openinference-google-adk-1.0.5-tool"

LETTER = DeadLetter(
    id=7, source="traces/http/loopback", signal="traces", reason="refused_by_store", detail="no",
    items=3, size=10, received_at=Nanos(5), buried_at=Nanos(6),
)  # fmt: skip


@pytest.fixture
def books() -> MemoryBooks:
    rows = [
        LedgerRow(source="traces/http/loopback", hour=THIS_HOUR, received=10, stored=7,
                  rejected={"invalid_span_id": 1}, pending=2),
        LedgerRow(source="logs/grpc/loopback", hour=Nanos(THIS_HOUR - HOUR), received=4, stored=4,
                  rejected={}, pending=0),
        LedgerRow(source="logs/grpc/loopback", hour=Nanos(THIS_HOUR - 48 * HOUR), received=9,
                  stored=9, rejected={}, pending=0),
    ]  # fmt: skip
    letters = [(LETTER, b"\x0a\xff"), *[(_letter(n), _payload()) for n in (8, 9)]]
    return MemoryBooks(rows, letters)


def _letter(number: int) -> DeadLetter:
    return DeadLetter(
        id=number, source="traces/grpc/loopback", signal="traces", reason="refused_by_store",
        detail="", items=1, size=1, received_at=Nanos(5), buried_at=Nanos(6),
    )  # fmt: skip


def _payload() -> bytes:
    return samples.trace_request(SAMPLE).SerializeToString() if samples.names() else b""


@pytest.fixture
def touched() -> MemoryTouched:
    return MemoryTouched()


@pytest.fixture
def client(store: Store, books: MemoryBooks, touched: MemoryTouched) -> Iterator[TestClient]:
    app = FastAPI()
    install_problems(app)
    aside = [SetAside(trace_id=f"{n:032x}", error="internal", since=Nanos(n)) for n in range(101)]
    app.include_router(
        build_router(
            Reader(store), books, touched, Watched(), clock=lambda: NOW, unread=lambda: aside
        )
    )
    with TestClient(app, raise_server_exceptions=False) as opened:
        yield opened


@pytest.fixture
def sample(client: TestClient, store: Store) -> dict[str, Any]:
    """Send one recorded trace through the whole way; return its run."""
    if SAMPLE not in samples.names():
        pytest.skip(samples.WHY_SKIPPED)
    put(store, "traces", samples.trace_request(SAMPLE).SerializeToString())
    waiting = MemoryTouched()
    waiting.touch({span.trace_id: Nanos(1) for span in samples.spans(SAMPLE)}, Nanos(1))
    reader = Reader(store)
    RollUp(
        TraceFolding(reader, RowWriter(store), Watched()), waiting, clock=lambda: NOW
    ).pass_once()
    (run,) = client.get("/v1/runs", params={"since": "2000-01-01T00:00:00Z"}).json()["items"]
    return dict(run)


def run(number: int, **values: Any) -> Run:
    at = Nanos(to_nanos(NOW) - number * HOUR)
    given: dict[str, Any] = {
        "run_id": RunId(f"run-{number}"), "trace_ids": (f"{number:032x}",), "root_span_id": None,
        "started_at": at, "ended_at": at, "duration_ns": 0, "active_ns": 0, "last_received_at": at,
        **values,
    }  # fmt: skip
    return Run(**given)


def problem(answer: Any, status: int, code: str) -> str:
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert set(body) == {"type", "title", "status", "detail", "instance"}
    assert (body["type"], body["status"]) == (f"urn:gnomon:problem:{code}", status)
    return str(body["detail"])


# Runs


def test_a_run_has_exactly_the_fields_of_the_specification(
    client: TestClient, store: Store
) -> None:
    RowWriter(store).runs([run(1, cost_usd=0.5)], reading="", folded_at=1)
    (item,) = client.get("/v1/runs").json()["items"]
    assert set(item) == set(Run.__dataclass_fields__)
    assert item["started_at"] == "2026-12-02T11:30:00.000000000Z"
    assert (item["settled_at"], item["cost_usd"], item["input_tokens"]) == (None, 0.5, None)
    assert item["state"] == "open"
    one = client.get("/v1/runs/run-1").json()
    assert one == {**item, "limits": []}


def test_pages_of_runs_join_by_their_cursor(client: TestClient, store: Store) -> None:
    RowWriter(store).runs([run(n) for n in range(7)], reading="", folded_at=1)
    seen: list[str] = []
    cursor = None
    while True:
        page = client.get(
            "/v1/runs", params={"limit": 3, "cursor": cursor or ""} if cursor else {"limit": 3}
        ).json()
        seen += [item["run_id"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [f"run-{n}" for n in range(7)]


def test_filters_of_the_address_are_filters_of_the_list(client: TestClient, store: Store) -> None:
    RowWriter(store).runs(
        [
            run(1, agent_name="desk", business_keys={"order_id": "A:1", "ticket": "9"}),
            run(5, agent_name="desk", input="refund please"),
        ],
        reading="",
        folded_at=1,
    )

    def found(**params: Any) -> list[str]:
        return [item["run_id"] for item in client.get("/v1/runs", params=params).json()["items"]]

    assert found(agent="desk") == ["run-1", "run-5"]
    assert found(since="2h") == ["run-1"]
    assert found(until="2026-12-02T10:00:00+00:00") == ["run-5"]
    assert found(key="order_id:A:1") == ["run-1"]
    assert found(key=["order_id:A:1", "ticket:8"]) == []
    assert found(q="REFUND") == ["run-5"]
    assert found(state="settled") == []
    assert found(origin="shadow") == []
    assert found(origin="all") == ["run-1", "run-5"]


@pytest.mark.parametrize(
    "params",
    [
        {"limit": "0"}, {"limit": "501"}, {"limit": "x"}, {"status": "fine"}, {"since": "yesterday"},
        {"since": "2026-13-01T00:00:00Z"}, {"key": "order_id"}, {"key": "order_id:"}, {"key": ":A"},
        {"key": ["order_id:A", "order_id:B"]}, {"cursor": "x"}, {"cursor": "é"},
        {"origin": "mars"}, {"cursor": "AAAAAFsicnVucyIsMSwiYSJd"}, {"since": "1h", "until": "2h"},
    ],
)  # fmt: skip
def test_an_unusable_question_is_refused_and_not_repeated(
    client: TestClient, params: dict[str, str]
) -> None:
    assert problem(client.get("/v1/runs", params=params), 400, "bad_input")


def test_a_cursor_of_another_list_is_refused(client: TestClient, store: Store) -> None:
    RowWriter(store).runs([run(1), run(2)], reading="", folded_at=1)
    cursor = client.get("/v1/runs", params={"limit": 1}).json()["next"]
    answer = client.get("/v1/dead-letters", params={"cursor": cursor})
    assert "cursor" in problem(answer, 400, "bad_input")


def test_what_does_not_exist_is_a_problem_that_says_so(client: TestClient) -> None:
    for path in (
        "/v1/runs/nobody", "/v1/runs/nobody/steps", "/v1/runs/nobody/steps/1",
        f"/v1/spans/{'0' * 32}/{'0' * 16}", f"/v1/spans/{'0' * 32}/{'0' * 16}/explain",
        "/v1/dead-letters/99",
        "/v1/nothing",
    ):  # fmt: skip
        problem(client.get(path), 404, "not_found")


def test_another_method_is_a_problem_that_names_the_right_one(client: TestClient) -> None:
    answer = client.post("/v1/runs")
    assert "GET" in problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET"


def test_an_absent_store_is_a_problem_with_a_time_to_come_back(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnomon.errors import StoreUnavailable

    def fail(*_args: object, **_kwargs: object) -> None:
        raise StoreUnavailable("collector.folding.runs: no answer")

    monkeypatch.setattr(Store, "read", fail)
    answer = client.get("/v1/runs")
    problem(answer, 503, "store_unavailable")
    assert int(answer.headers["retry-after"]) > 0


def test_a_defect_is_a_problem_without_its_inside(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Reader, "runs", fail)
    assert "secret" not in problem(client.get("/v1/runs"), 500, "internal")


def test_a_run_id_may_hold_slashes(client: TestClient, store: Store) -> None:
    RowWriter(store).runs([run(1, run_id=RunId("a/b c"))], reading="", folded_at=1)
    assert client.get("/v1/runs/a%2Fb%20c").json()["run_id"] == "a/b c"
    assert client.get("/v1/runs/a%2Fb%20c/steps").json() == {"items": [], "next": None}


def test_every_run_id_has_an_address_of_its_own(client: TestClient, store: Store) -> None:
    rows = [run(number, run_id=RunId(odd)) for number, odd in enumerate(ODD_IDS, start=1)]
    RowWriter(store).runs(rows, reading="", folded_at=1)
    for odd in ODD_IDS:
        assert client.get(f"/v1/runs/{segment(odd)}").json()["run_id"] == odd
        assert client.get(f"/v1/runs/{segment(odd)}/steps").json() == {"items": [], "next": None}
    for odd in ("order/17", "acme/api#17", "line\nbreak", "a?b=c#d"):
        assert client.get(f"/v1/runs/{quote(odd, safe='')}").json()["run_id"] == odd


def test_a_run_is_found_by_all_of_an_id_that_is_kept_short(
    client: TestClient, store: Store
) -> None:
    ids = [f"{'run' * 300}{number}" for number in (1, 2)]
    spans = [
        make_span(number, attributes={"run": one, "session.id": one, "order": one})
        for number, one in enumerate(ids)
    ]
    watched = {"runs": {"run_id": "run"}, "business_keys": {"order": {"attributes": ["order"]}}}
    folded = fold(spans, watched=watched)
    RowWriter(store).runs(folded.runs, reading="", folded_at=1)
    kept = {}
    for one in ids:
        found = client.get(f"/v1/runs/{one}").json()
        kept[one] = found["run_id"]
        assert client.get(f"/v1/runs/{found['run_id']}").json() == found
        assert client.get(f"/v1/runs/{one}/steps").json() == {"items": [], "next": None}
        for asked in ({"conversation": one}, {"key": f"order:{one}"}):
            listed = client.get("/v1/runs", params=asked).json()
            assert [run["run_id"] for run in listed["items"]] == [kept[one]]
    assert len(set(kept.values())) == 2
    assert client.get(f"/v1/runs/{ids[0]}0").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/v1/runs", "GET"),
        ("DELETE", "/v1/runs/a/steps", "GET"),
        ("PUT", "/v1/dead-letters/7", "GET, DELETE"),
        ("PUT", "/v1/refold", "GET, POST"),
    ],
)
def test_another_method_is_refused_with_all_that_are_answered(
    client: TestClient, method: str, path: str, allow: str
) -> None:
    answer = client.request(method, path)
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == allow


# Steps and spans

BODIES = set(Bodies.__dataclass_fields__)


def test_a_list_of_steps_has_the_fields_of_the_specification_and_no_bodies(
    client: TestClient, sample: dict[str, Any]
) -> None:
    steps = client.get(f"/v1/runs/{sample['run_id']}/steps", params={"limit": 500}).json()
    assert steps["next"] is None
    for step in steps["items"]:
        assert set(step) == set(Step.__dataclass_fields__) | {"left_out"}
        assert step["started_at"].endswith("Z")
        assert len(step["started_at"]) == len("2026-12-02T11:30:00.000000000Z")
    assert {step["span_id"] for step in steps["items"]} == {
        span.span_id for span in samples.spans(SAMPLE)
    }


def test_bodies_come_when_asked_for(client: TestClient, sample: dict[str, Any]) -> None:
    path = f"/v1/runs/{sample['run_id']}/steps"
    steps = client.get(path, params={"bodies": "1", "limit": 500}).json()["items"]
    for step in steps:
        assert set(step) == set(Step.__dataclass_fields__) | {"left_out"} | BODIES
    model_call = next(step for step in steps if step["kind"] == "llm")
    assert json.loads(model_call["input"])[0]["role"] in ("system", "user")
    assert client.get(f"{path}/{model_call['span_id']}").json() == model_call


def test_pages_of_steps_join_by_their_cursor(client: TestClient, sample: dict[str, Any]) -> None:
    path = f"/v1/runs/{sample['run_id']}/steps"
    whole = client.get(path, params={"limit": 500}).json()["items"]
    for bodies in ("0", "1"):
        seen: list[str] = []
        params = {"limit": "2", "bodies": bodies}
        while True:
            page = client.get(path, params=params).json()
            seen += [item["span_id"] for item in page["items"]]
            if page["next"] is None:
                break
            params["cursor"] = page["next"]
        assert seen == [item["span_id"] for item in whole]


def test_only_what_lies_under_a_span(client: TestClient, sample: dict[str, Any]) -> None:
    path = f"/v1/runs/{sample['run_id']}/steps"
    whole = client.get(path, params={"limit": 500}).json()["items"]
    below = client.get(path, params={"limit": 500, "parent": sample["root_span_id"]}).json()
    assert len(below["items"]) == len(whole) - 1


def test_a_span_is_shown_as_it_came(client: TestClient, sample: dict[str, Any]) -> None:
    span = samples.spans(SAMPLE)[0]
    shown = client.get(f"/v1/spans/{span.trace_id.upper()}/{span.span_id.upper()}").json()
    assert shown["attributes"] == span.attributes
    assert shown["resource"] == span.resource
    assert (shown["name"], shown["start"]) == (span.name, rfc3339(span.start))
    assert shown["logs"] == []
    assert sample["run_id"] == span.trace_id


def test_a_span_is_explained_by_rule_and_key(client: TestClient, sample: dict[str, Any]) -> None:
    path = f"/v1/runs/{sample['run_id']}/steps"
    steps = client.get(path, params={"limit": 500}).json()["items"]
    call = next(step for step in steps if step["kind"] == "llm")
    told = client.get(f"/v1/spans/{call['trace_id']}/{call['span_id']}/explain").json()
    by_field = {item["field"]: item for item in told["items"]}
    assert by_field["kind"] == {
        "field": "kind", "value": "llm", "rule": "K4", "key": "openinference.span.kind",
    }  # fmt: skip
    assert by_field["input_tokens"]["value"] == call["input_tokens"]
    assert by_field["input_tokens"]["rule"] == "T1"


def test_a_page_with_large_bodies_ends_early_and_goes_on(
    client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.router._PAGE_BYTES", 50_000)
    RowWriter(store).runs([run(1)], reading="", folded_at=1)
    steps = [
        Step(
            run_id=RunId("run-1"), trace_id=TraceId(f"{1:032x}"), span_id=SpanId(f"{n:016x}"),
            started_at=Nanos(n), ended_at=Nanos(n), duration_ns=0, tool_result="x" * 30_000,
        )
        for n in range(4)
    ]  # fmt: skip
    RowWriter(store).steps(steps, folded_at=1)
    page = client.get("/v1/runs/run-1/steps", params={"bodies": "1"}).json()
    assert len(page["items"]) == 1
    rest = client.get("/v1/runs/run-1/steps", params={"bodies": "1", "cursor": page["next"]}).json()
    assert rest["items"][0]["span_id"] == f"{1:016x}"
    listed = client.get("/v1/runs/run-1/steps").json()["items"]
    assert [(step["tool_result"], step["left_out"]) for step in listed] == [
        (None, ["tool_result"])
    ] * 4


# Ledger, dead letters, refold


def test_a_trace_id_in_capitals_names_the_run_and_another_run_id_does_not(
    client: TestClient, store: Store
) -> None:
    own, other = "ab" * 16, "desk-a"
    RowWriter(store).runs(
        [run(1, run_id=RunId(own)), run(2, run_id=RunId(other))], reading="", folded_at=1
    )
    assert client.get(f"/v1/runs/{own.upper()}").json()["run_id"] == own
    assert client.get(f"/v1/runs/{own.upper()}/steps").status_code == 200
    assert client.get(f"/v1/runs/{other.upper()}").status_code == 404


@pytest.mark.parametrize(
    ("path", "query", "told"),
    [
        ("/v1/runs", "text=refund", "since, until, agent"),
        ("/v1/runs", "agent=a&agent=b", "agent: say it once"),
        ("/v1/runs", "limit=1&limit=2", "limit: say it once"),
        ("/v1/runs/r", "bodies=1", "there are: none"),
        ("/v1/runs/r/steps", "page=2", "limit, cursor, bodies, parent"),
        ("/v1/ledger", "from=1h", "since, until"),
        ("/v1/dead-letters", "since=1h", "limit, cursor"),
        ("/v1/spans/a/b", "x=", "there are: none"),
    ],
)
def test_a_parameter_that_is_unknown_or_repeated_is_refused(
    client: TestClient, path: str, query: str, told: str
) -> None:
    answer = client.get(f"{path}?{query}")
    assert answer.status_code == 400
    assert told in answer.json()["detail"]


def test_the_ledger_names_traces_that_cannot_be_read(client: TestClient) -> None:
    told = client.get("/v1/ledger").json()
    assert told["unread"][1] == {
        "trace_id": "0" * 31 + "1",
        "error": "internal",
        "since": "1970-01-01T00:00:00.000000001Z",
    }
    assert (len(told["unread"]), told["unread_traces"]) == (100, 101)


def test_the_ledger_balances_and_says_so(client: TestClient, books: MemoryBooks) -> None:
    told = client.get("/v1/ledger").json()
    assert [row["source"] for row in told["items"]] == [
        "traces/http/loopback",
        "logs/grpc/loopback",
    ]
    assert told["items"][0]["hour"] == "2026-12-02T12:00:00.000000000Z"
    assert told["totals"] == {
        "received": 14, "stored": 11, "rejected": {"invalid_span_id": 1}, "pending": 2,
    }  # fmt: skip
    assert told["balanced"] is True
    assert len(client.get("/v1/ledger", params={"since": "7d"}).json()["items"]) == 3
    assert problem(client.get("/v1/ledger", params={"until": "2d"}), 400, "bad_input")
    books.rows[0] = LedgerRow(
        source="x", hour=THIS_HOUR, received=1, stored=0, rejected={}, pending=0
    )
    assert client.get("/v1/ledger").json()["balanced"] is False


def test_dead_letters_are_listed_shown_resent_and_dropped(
    client: TestClient, books: MemoryBooks
) -> None:
    page = client.get("/v1/dead-letters", params={"limit": 2}).json()
    assert [letter["id"] for letter in page["items"]] == [7, 8]
    rest = client.get("/v1/dead-letters", params={"cursor": page["next"]}).json()
    assert [letter["id"] for letter in rest["items"]] == [9]
    broken = client.get("/v1/dead-letters/7").json()
    assert broken["summary"]["error"].startswith("not OTLP protobuf")
    assert broken["summary"]["head"] == "0aff"
    if samples.names():
        inside = client.get("/v1/dead-letters/8").json()["summary"]
        assert inside["items"][0]["trace_id"] == samples.spans(SAMPLE)[0].trace_id
    answer = client.post("/v1/dead-letters/7/resend")
    assert (answer.status_code, books.resent) == (202, [7])
    answer = client.delete("/v1/dead-letters/8")
    assert (answer.status_code, answer.content, sorted(books.letters)) == (204, b"", [7, 9])


def test_history_is_read_again_from_a_time_on(
    client: TestClient, touched: MemoryTouched, sample: dict[str, Any]
) -> None:
    assert client.post("/v1/refold").json() == {"traces": 1}
    assert set(touched.waiting) == set(sample["trace_ids"])
    assert client.post("/v1/refold", params={"since": "2030-01-01T00:00:00Z"}).json() == {
        "traces": 0
    }


def test_what_is_left_of_history_is_told(client: TestClient, touched: MemoryTouched) -> None:
    assert client.get("/v1/refold").json() == {"traces": 0, "until": None}
    touched.history = Rereading(traces=7, until=Nanos(1_792_584_000_000_000_000))
    assert client.get("/v1/refold").json() == {
        "traces": 7,
        "until": "2026-10-21T12:00:00.000000000Z",
    }


# The description


def test_every_route_has_a_name_and_describes_its_errors(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    names = [op["operationId"] for path in described["paths"].values() for op in path.values()]
    assert len(names) == len(set(names)) == 13
    for path in described["paths"].values():
        for operation in path.values():
            assert operation["responses"]["default"]["content"].keys() == {
                "application/problem+json"
            }
            assert "422" not in operation["responses"]
            assert operation["description"]


def test_the_description_has_the_fields_of_the_answers(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert set(schemas["Step"]["properties"]) == {
        *Step.__dataclass_fields__, "left_out", *BODIES,
    }  # fmt: skip
    assert set(schemas["Run"]["properties"]) == {*Run.__dataclass_fields__, "limits"}
    assert set(schemas["Document"]["properties"]) == set(Document.__dataclass_fields__)
