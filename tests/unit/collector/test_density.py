"""Large bodies are weighed before they are decoded."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.receiving import density
from collector.receiving.density import Scales
from collector.receiving.refusals import Refused
from tests import otlp, samples

LARGE = 64 * 1024
SCALES = Scales()


@pytest.fixture(autouse=True)
def _smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the proportions, not the sizes."""
    monkeypatch.setattr(density, "LARGE", LARGE)
    monkeypatch.setattr(density, "MAX_OVERHEAD", {"traces": 6 * 1024, "logs": 12 * 1024})
    monkeypatch.setattr(density, "MAX_JSON_ENTRIES", 2_000)
    monkeypatch.setattr(density, "MAX_JSON_COMMAS", 8_000)


def inside_span(content: bytes) -> bytes:
    extra = otlp.span().SerializeToString() + content
    return otlp.field(1, otlp.field(2, otlp.field(2, extra)))


def inside_value(content: bytes) -> bytes:
    return otlp.with_raw_value(otlp.traces(), content)


def attribute(value: bytes) -> bytes:
    return otlp.field(9, otlp.field(2, value))


DENSE = {
    "blocks": b"\x0a\x00" * LARGE,
    "scopes": otlp.field(1, b"\x12\x00" * LARGE),
    "spans": otlp.field(1, otlp.field(2, b"\x12\x00" * LARGE)),
    "spans of four bytes": otlp.field(1, otlp.field(2, b"\x12\x02\x30\x01" * LARGE)),
    "events": inside_span(b"\x5a\x00" * LARGE),
    "links": inside_span(b"\x6a\x00" * LARGE),
    "attributes": inside_span(b"\x4a\x00" * LARGE),
    "list": inside_value(otlp.field(5, b"\x0a\x00" * LARGE)),
    "map": inside_value(otlp.field(6, b"\x0a\x00" * LARGE)),
    "small lists": inside_span(attribute(otlp.field(5, b"\x0a\x00" * 4)) * LARGE),
    "large and small": inside_span(
        (b"\x5a\x00" * 10 + otlp.field(11, b"\x12\x10" + b"x" * 16)) * LARGE
    ),
}


@pytest.mark.parametrize("kind", DENSE)
def test_a_body_full_of_tiny_entries_is_too_large(kind: str) -> None:
    with pytest.raises(Refused) as refused:
        SCALES.refuse_dense("traces", DENSE[kind], is_json=False)
    assert refused.value.reason == "too_large"


@pytest.mark.parametrize("body", [b"[{}" + b",{}" * LARGE, b"[" * LARGE, b"[1" + b",1" * LARGE])
def test_json_full_of_tiny_entries_is_too_large(body: bytes) -> None:
    with pytest.raises(Refused) as refused:
        SCALES.refuse_dense("traces", body, is_json=True)
    assert refused.value.reason == "too_large"


def test_a_large_body_that_ends_in_garbage_is_undecodable() -> None:
    with pytest.raises(Refused) as refused:
        SCALES.refuse_dense("traces", DENSE["spans"] + b"\xff", is_json=False)
    assert refused.value.reason == "undecodable"


def test_a_small_body_is_not_weighed() -> None:
    SCALES.refuse_dense("traces", b"\x0a\x00" * (LARGE // 2 - 1), is_json=False)
    SCALES.refuse_dense("traces", b"{" * (LARGE - 1), is_json=True)


def test_large_values_and_deep_values_are_not_dense() -> None:
    request = otlp.traces(otlp.span(attributes=otlp.pairs(long="x" * LARGE)))
    SCALES.refuse_dense("traces", request.SerializeToString(), is_json=False)
    deep = otlp.with_raw_value(request, otlp.nested_wire(500))
    SCALES.refuse_dense("traces", deep, is_json=False)


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
@pytest.mark.parametrize(("signal", "limit"), [("traces", 6), ("logs", 12)])
def test_64_mib_of_real_requests_stay_below_two_thirds_of_the_limit(
    signal: Any, limit: int
) -> None:
    ending = ".binpb" if signal == "traces" else ".logs.binpb"
    files = [samples.OTLP / f"{name}{ending}" for name in samples.names()]
    whole = b"".join(file.read_bytes() for file in files if file.exists())
    assert SCALES.overhead(signal, whole) / len(whole) * 64 < limit * 2 / 3


@given(st.binary(max_size=300))
def test_any_bytes_can_be_weighed(body: bytes) -> None:
    try:
        assert 0 <= SCALES.overhead("traces", body) <= len(body)
    except Refused:
        return
