"""Whatever a vendor writes, a part of the tokens is never larger than the whole, nor charged twice."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.dialects.spellings import SPELLINGS, usage_in
from collector.dialects.usage import OBJECTS, PROVIDER_METADATA, TOKENS, TOTAL_KEYS
from gnomon.model import Step
from tests.spans import fold, make_span

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "m"}
PRICE = {"model": "m", "input": 1, "cached": 0.25, "cache_write": 2, "output": 8, "reasoning": 16}
"""Powers of two: sums are exact, so that a token counted twice cannot hide in a rounding."""

KEYS = sorted({source.key for field in TOKENS for source in field.sources} | {*TOTAL_KEYS})
PLAIN = [key for key in KEYS if key not in (*OBJECTS, PROVIDER_METADATA)]
PATHS = sorted(".".join(path) for paths in SPELLINGS.values() for path in paths)
TOTALS = ["total", "total_tokens", "totalTokens"]

COUNTS = st.integers(0, 200)
WRITTEN = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(PLAIN, COUNTS),
        **dict.fromkeys(
            (*OBJECTS, PROVIDER_METADATA, "output.value", "gen_ai.usage.raw"),
            st.dictionaries(st.sampled_from([*PATHS, *TOTALS]), COUNTS, max_size=6),
        ),
        "mlflow.message.format": st.sampled_from(["anthropic", "openai"]),
    },
)
"""Any of the known keys side by side."""

FEW = st.dictionaries(st.sampled_from(PLAIN), COUNTS, max_size=5)
SCOPES = st.sampled_from(["", "opentelemetry.instrumentation.bedrock", "ai", "openinference.x"])


def nested(flat: Mapping[str, int]) -> dict[str, Any]:
    """Return `a.b` as objects in objects."""
    found: dict[str, Any] = {}
    for path, count in flat.items():
        outer, _, inner = path.rpartition(".")
        (found.setdefault(outer, {}) if outer else found)[inner] = count
    return found


def attributes(written: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in written.items():
        told = nested(value) if isinstance(value, dict) else value
        if key == "output.value":
            told = {"usage": told}
        if key == PROVIDER_METADATA:
            told = {"anthropic": {"usage": told}}
        found[key] = json.dumps(told) if isinstance(told, dict) else told
    return found


def step(written: Mapping[str, Any], scope: str, **more: Any) -> Step:
    span = make_span(attributes={**CHAT, **attributes(written), **more}, scope_name=scope)
    return fold([span], watched={"prices": [PRICE]}).steps[0]


def parts(found: Mapping[str, int | None]) -> dict[str, int]:
    return {name: found.get(name) or 0 for name in SPELLINGS}


@given(st.one_of(WRITTEN, FEW), SCOPES)
def test_a_part_is_never_larger_than_the_whole(written: Mapping[str, Any], scope: str) -> None:
    one = step(written, scope)
    told = parts({name: getattr(one, name) for name in SPELLINGS})
    if one.input_tokens is not None:
        assert told["cached_tokens"] + told["cache_write_tokens"] <= one.input_tokens
    if one.output_tokens is not None:
        assert told["reasoning_tokens"] <= one.output_tokens


@given(st.one_of(WRITTEN, FEW), SCOPES)
def test_each_token_is_charged_once(written: Mapping[str, Any], scope: str) -> None:
    one = step(written, scope)
    told = parts({name: getattr(one, name) for name in SPELLINGS})
    if one.input_tokens is None or (one.output_tokens is None and one.kind != "embedding"):
        assert one.cost_usd is None
        return
    reasoning = told["reasoning_tokens"] if one.output_tokens is not None else 0
    fresh = one.input_tokens - told["cached_tokens"] - told["cache_write_tokens"]
    plain = told["output_tokens"] - reasoning
    assert min(fresh, plain) >= 0
    assert one.cost_usd is not None
    assert one.cost_usd * 1_000_000 == pytest.approx(
        fresh
        + 0.25 * told["cached_tokens"]
        + 2 * told["cache_write_tokens"]
        + 8 * plain
        + 16 * reasoning
    )


@given(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS), st.booleans(), st.booleans())
def test_a_total_tells_what_the_wholes_leave_out(
    counts: tuple[int, int, int, int, int], cache_beside: bool, reasoning_beside: bool
) -> None:
    fresh, cached, written, plain, reasoning = counts
    whole = fresh + cached + written, plain + reasoning
    told = {
        "gen_ai.usage.input_tokens": fresh if cache_beside else whole[0],
        "gen_ai.usage.output_tokens": plain if reasoning_beside else whole[1],
        "gen_ai.usage.cache_read.input_tokens": cached,
        "gen_ai.usage.cache_write.input_tokens": written,
        "gen_ai.usage.reasoning.output_tokens": reasoning,
    }
    left_out = (cached + written) * cache_beside, reasoning * reasoning_beside
    if left_out[0] == reasoning != 0 or left_out[1] == cached + written != 0:
        return  # the total would be the same with the other one left out
    if not told["gen_ai.usage.input_tokens"] and not told["gen_ai.usage.output_tokens"]:
        return  # nothing was reported
    one = step(told, "", **{"gen_ai.usage.total_tokens": sum(whole)})
    assert (one.input_tokens, one.output_tokens) == whole


@given(st.dictionaries(st.sampled_from(PATHS), COUNTS, max_size=8))
def test_a_usage_object_is_read_the_same_in_any_order(flat: Mapping[str, int]) -> None:
    turned = dict(reversed(flat.items()))
    assert usage_in(nested(flat)) == usage_in(nested(turned))
