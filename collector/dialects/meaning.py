"""The one meaning of the token fields: input holds the cache, output holds the reasoning (3.3)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What the counts of a source leave out, so that it has to be added."""

    cache: bool = False
    """Input leaves out what was read from the cache and written to it."""
    reasoning: bool = False
    """Output leaves out the reasoning."""


NOTHING = LeftOut()


def decide(
    usage: Mapping[str, int], said: LeftOut, totals: Collection[int], *, sure: bool = False
) -> LeftOut:
    """Return what the counts leave out, where `said` is what the source is expected to.

    A part is never larger than the whole: such a whole leaves it out. Of the readings that are
    left, one that adds up to a total of the source is the right one, and else what is said.
    `sure`: the source is known to leave the cache out, of its totals too.
    """
    cache, reasoning = _cache(usage), usage.get("reasoning_tokens", 0)
    tokens_in, tokens_out = usage.get("input_tokens"), usage.get("output_tokens")
    of_input = (True,) if sure else _readings(tokens_in, cache, said=said.cache)
    of_output = _readings(tokens_out, reasoning, said=said.reasoning)
    possible = [LeftOut(cache=one, reasoning=two) for one, two in product(of_input, of_output)]
    told = (tokens_in or 0) + (tokens_out or 0)
    for one in possible:
        if told + one.cache * cache + one.reasoning * reasoning in totals:
            return one
    return possible[0]


def _readings(whole: int | None, part: int, *, said: bool) -> tuple[bool, ...]:
    """Return whether a whole may leave a part out, the likelier answer first."""
    if not part or whole is None:
        return (said,)
    return (True,) if part > whole else (said, not said)


def bring(usage: dict[str, int], left_out: LeftOut) -> None:
    """Add what was left out, in place."""
    if left_out.cache and "input_tokens" in usage:
        usage["input_tokens"] += _cache(usage)
    if left_out.reasoning and "output_tokens" in usage:
        usage["output_tokens"] += usage.get("reasoning_tokens", 0)


def drop_silent_zeros(usage: dict[str, int]) -> None:
    """Drop the zeros of a successful call that neither read nor wrote: it reported nothing."""
    if usage.get("input_tokens") == 0 and usage.get("output_tokens") == 0:
        for name in [name for name, value in usage.items() if value == 0]:
            del usage[name]


def _cache(usage: Mapping[str, int]) -> int:
    return usage.get("cached_tokens", 0) + usage.get("cache_write_tokens", 0)
