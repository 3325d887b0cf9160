"""What a model call costs by the dated price table; nothing known means no cost, never 0."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from collector.dialects.providers import provider_of
from collector.dialects.usage import TOKEN_FIELDS
from collector.folding.steps import Draft
from collector.watched import Price
from gnomon.clock import Nanos, from_nanos
from gnomon.model import Kind

_MILLION = 1_000_000
_DAY = 86_400 * 1_000_000_000
_DATED = re.compile(
    r"[-@:](20\d\d(-?)(0[1-9]|1[0-2])\2[0-3]\d|2\d(0[1-9]|1[0-2])|(0[1-9]|1[0-2])[0-3]\d|latest)",
    re.IGNORECASE,
)
"""What the answer adds to the name that was asked for when it is the same model: a whole date, year
and month (`-2411`) or month and day (`-0613`). Other digits are versions: `claude-opus-4-1`."""


class PriceList:
    """The prices of gnomon.yaml, looked up by model, provider and day."""

    def __init__(self, prices: Sequence[Price]) -> None:
        self._prices = sorted(enumerate(prices), key=_specific, reverse=True)
        self._known: dict[tuple[str, str | None, dt.date], Price | None] = {}

    def price(self, model: str, provider: str | None, started_at: Nanos) -> Price | None:
        """Return the price of a model on the day a call started.

        The most specific pattern wins (most literal characters, then one that names the
        provider), then the latest `since` that is not after the start.
        """
        day = _day(started_at // _DAY)
        key = (model, provider, day)
        if key not in self._known:
            self._known[key] = self._find(model, provider, day)
        return self._known[key]

    def _find(self, model: str, provider: str | None, day: dt.date) -> Price | None:
        for _, price in self._prices:
            right_provider = price.provider is None or provider_of(price.provider) == provider
            if price.since <= day and right_provider and price.pattern.match(model):
                return price
        return None

    def cost(self, draft: Draft) -> float | None:
        """Return the cost of a model call in USD, or None when it cannot be known."""
        price = self.price_of(draft)
        if price is None:
            return None
        tokens = {name: draft.values.get(name) or 0 for name in TOKEN_FIELDS}
        if draft.values.get("output_tokens") is None:
            tokens["reasoning_tokens"] = 0
        return cost_at(price, **tokens)

    def price_of(self, draft: Draft) -> Price | None:
        """Return the row of the table a model call is priced by."""
        if not self._prices or draft.values.get("input_tokens") is None:
            return None
        if draft.values.get("output_tokens") is None and draft.kind is not Kind.EMBEDDING:
            return None
        for model in _names(draft):
            price = self.price(model, draft.text("provider"), draft.span.start)
            if price is not None:
                return price
        return None


def _names(draft: Draft) -> Iterator[str]:
    """Yield the names a call may be priced by: never one that another model answered to.

    A gateway that falls back answers with another model than it was asked for; the price of the
    one that did not answer is not the price of the call.
    """
    model, asked = draft.text("model"), draft.text("request_model")
    if model:
        yield model
        if asked and model.startswith(asked) and _DATED.fullmatch(model, len(asked)):
            yield asked


def _specific(numbered: tuple[int, Price]) -> tuple[int, bool, dt.date, int]:
    position, price = numbered
    return price.literal, price.provider is not None, price.since, -position


@lru_cache(maxsize=4096)
def _day(number: int) -> dt.date:
    try:
        return from_nanos(Nanos(number * _DAY)).date()
    except (OverflowError, ValueError):
        return dt.date.max


def cost_at(
    price: Price,
    *,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int,
    cache_write_tokens: int,
    reasoning_tokens: int,
) -> float:
    """Add up the four parts: uncached, cached, cache write, output (reasoning at its own price).

    In the inclusive meaning input and output are never smaller than their parts.
    """
    parts = (
        (input_tokens - cached_tokens - cache_write_tokens, price.input),
        (cached_tokens, price.input if price.cached is None else price.cached),
        (cache_write_tokens, price.input if price.cache_write is None else price.cache_write),
        (output_tokens - reasoning_tokens, price.output),
        (reasoning_tokens, price.output if price.reasoning is None else price.reasoning),
    )
    return sum(tokens * rate for tokens, rate in parts) / _MILLION
