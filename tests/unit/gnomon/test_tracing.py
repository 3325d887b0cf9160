"""Own traces: parts only below a piece of work, errors by their code, never about what carries them."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from gnomon.errors import DiskFull
from gnomon.tracing import own, say, span, step, tracing

EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter.OTLPSpanExporter"
OURS = b"gnomon".hex() + "0" * 20
THEIRS = "ab" * 16


class Kept:
    """Stands in for the exporter; only the way over the wire is missing."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Any) -> SpanExportResult:
        self.spans += spans
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None: ...

    def force_flush(self, timeout_millis: int = 0) -> bool:
        return True


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ReadableSpan]]:
    made: list[Kept] = []

    def exporter(**options: Any) -> Kept:
        made.append(Kept(**options))
        return made[-1]

    monkeypatch.setattr(EXPORTER, exporter)
    spans: list[ReadableSpan] = []
    yield spans
    for one in made:
        assert one.options["endpoint"] == "http://collector/v1/traces"
    assert made, "the test made no tracer"


def traced(kept: list[ReadableSpan], work: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(Kept, "export", lambda _self, spans: kept.extend(spans))
    with tracing("http://collector/v1/traces", "1"):
        work()
    return {one.name: one for one in kept}


def test_a_part_is_traced_below_a_piece_of_work_only(
    kept: list[ReadableSpan], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        with step("alone"):
            pass
        with span("GET", method="GET"), step("store.read", tag="runs"):
            pass
        with span("renamed"):
            say("GET /runs", status=200)

    found = traced(kept, work, monkeypatch)
    assert found.keys() == {"GET", "store.read", "GET /runs"}
    assert found["store.read"].parent == found["GET"].context
    assert dict(found["store.read"].attributes) == {"tag": "runs"}
    assert dict(found["GET /runs"].attributes) == {"status": 200}
    assert own(f"{found['GET'].context.trace_id:032x}")
    assert found["GET"].resource.attributes["service.name"] == "gnomon"


def test_what_carries_own_spans_is_not_traced(
    kept: list[ReadableSpan], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        with span("mixed", carries=[THEIRS, OURS]), step("inside"):
            pass
        with span("theirs", carries=[THEIRS]):
            pass

    assert traced(kept, work, monkeypatch).keys() == {"theirs"}


def test_an_error_is_told_by_its_code_and_never_by_its_text(
    kept: list[ReadableSpan], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        for error in (DiskFull("words of a customer"), ValueError("words of a customer")):
            with pytest.raises(type(error)), span(type(error).__name__):
                raise error

    found = traced(kept, work, monkeypatch)
    assert found["DiskFull"].attributes["error.type"] == "disk_full"
    assert found["ValueError"].attributes["error.type"] == "ValueError"
    assert not found["DiskFull"].status.is_ok
    assert all("customer" not in one.to_json() for one in kept)


def test_without_an_endpoint_nothing_is_opened() -> None:
    with tracing(None, "1"), span("work"), step("part"):
        say("nothing", at=1)
    assert (own(OURS), own(THEIRS)) == (True, False)
