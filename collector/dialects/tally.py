"""The tokens of one span: what its keys leave open, what it says of others, and the one meaning."""

from collections.abc import Collection, Mapping, MutableMapping

from collector.dialects.belief import as_tokens
from collector.dialects.facts import Facts
from collector.dialects.meaning import LeftOut, bring, decide, drop_silent_zeros
from collector.dialects.read import Reason
from collector.dialects.spellings import total_in, usage_in
from collector.dialects.usage import OBJECTS, PROVIDER_METADATA, RESTATED, TOTAL_KEYS

AGGREGATES: Mapping[str, str] = {
    "gen_ai.aggregated_usage.input_tokens": "input_tokens",
    "gen_ai.aggregated_usage.output_tokens": "output_tokens",
    "gen_ai.aggregated_usage.cache_read.input_tokens": "cached_tokens",
    "gen_ai.aggregated_usage.cache_write.input_tokens": "cache_write_tokens",
    "gen_ai.aggregated_usage.cache_creation.input_tokens": "cache_write_tokens",
    "gen_ai.aggregated_usage.details.reasoning_tokens": "reasoning_tokens",
}
"""T7: what pydantic-ai 2 calls an aggregate."""

_CREW = "crewai.crew.usage_metrics"
_CREWAI: Mapping[str, str] = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_prompt_tokens": "cached_tokens",
    "cache_creation_tokens": "cache_write_tokens",
    "reasoning_tokens": "reasoning_tokens",
}

_WHOLES = ("input_tokens", "output_tokens")

_EXPECTED = "3.3 ({part} left out of {whole}: added)"
_GUARD = "T-guard 3.3 ({part} larger than {whole}: added)"
_TOTAL = "T6 3.3 ({part} beside {whole} in the total: added)"


def told_elsewhere(facts: Facts, own: Collection[str]) -> dict[str, tuple[str, str, int]]:
    """Return rule, key and count of what the token keys of a model call leave open.

    The provider's answer fills field by field (M8). An object that restates the usage fills input
    and output; what it says beyond them only where the span has neither under a key of its own.
    """
    found: dict[str, tuple[str, str, int]] = {}
    told = [] if facts.failed else [("M8", facts.answer_key, facts.answer.usage)]
    bare = not any(name in own for name in _WHOLES)
    for rule, key in RESTATED:
        if key in facts.attributes:
            restated = usage_in(facts.data(key))
            told.append((rule, key, {n: restated[n] for n in restated if bare or n in _WHOLES}))
    for rule, key, usage in told:
        for name, tokens in usage.items():
            if name not in own:
                found.setdefault(name, (rule, key, tokens))
    return found


def aggregated(facts: Facts) -> dict[str, int]:
    """Return what a span says about the calls below it under the keys made for that (T7)."""
    totals: dict[str, int] = {}
    for key in AGGREGATES.keys() & facts.attributes.keys():
        value = as_tokens(facts.attributes[key])
        if value is not None:
            totals[AGGREGATES[key]] = value
    if _CREW in facts.attributes:
        metrics = facts.data(_CREW)
        for name, field in _CREWAI.items():
            value = as_tokens(metrics.get(name)) if isinstance(metrics, dict) else None
            if value is not None:
                totals.setdefault(field, value)
    return totals


def settle(facts: Facts, usage: dict[str, int], reasons: MutableMapping[str, Reason]) -> bool:
    """Bring the tokens of a span into the inclusive meaning, in place; note why.

    True where they did not mean what is expected of their source (3.3).
    """
    if not usage:
        return False
    if not facts.failed:
        drop_silent_zeros(usage)
    expected = _leaves_out_cache(facts, usage, reasons.get("input_tokens"))
    said = LeftOut(cache=expected)
    left_out = decide(usage, said, _totals(facts), sure=expected)
    before = dict(usage)
    bring(usage, left_out)
    cache = before.get("cached_tokens", 0) + before.get("cache_write_tokens", 0)
    for whole, name, part, tokens in (
        ("input_tokens", "input", "cache", cache),
        ("output_tokens", "output", "reasoning", before.get("reasoning_tokens", 0)),
    ):
        if usage.get(whole) != before.get(whole) and whole in reasons:
            rule, key = reasons[whole]
            why = _GUARD if tokens > before[whole] else _TOTAL
            why = _EXPECTED if expected and name == "input" else why
            reasons[whole] = (f"{rule} + {why.format(part=part, whole=name)}", key)
    return left_out != said and before != usage


def _leaves_out_cache(facts: Facts, usage: Mapping[str, int], reason: Reason | None) -> bool:
    """Tell whether the input at this source is known to leave out cache reads and writes (3.3)."""
    if "input_tokens" not in usage or reason is None or reason[0] != "T1" or reason[1] in OBJECTS:
        return False
    if reason[1] == "input_tokens":
        return True
    if facts.dialect == "openllmetry" and facts.span.scope_name.endswith(".bedrock"):
        return True
    raw = facts.inside(PROVIDER_METADATA, ("anthropic", "usage", "input_tokens"))
    return as_tokens(raw) == usage["input_tokens"] and reason[1].startswith(_VERCEL)


_VERCEL = ("ai.usage.", "gen_ai.usage.")
"""Vercel up to 5 passes Anthropic's input on as it is, and the whole answer beside it."""


def _totals(facts: Facts) -> set[int]:
    """Return all totals a span tells: they only check what the other counts mean (T6)."""
    attributes = facts.attributes
    told = [as_tokens(attributes[key]) for key in TOTAL_KEYS if key in attributes]
    objects = (*OBJECTS, _CREW, *(key for _, key in RESTATED))
    told += [total_in(facts.data(key)) for key in objects if key in attributes]
    if facts.is_model_call and not facts.failed:
        told.append(facts.answer.total)
    return {total for total in told if total}
