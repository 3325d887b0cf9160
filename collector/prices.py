"""What a model call costs by the dated price table; nothing known means no cost, never 0."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from collector.watched import Price
from gnomon.clock import Nanos, from_nanos
from gnomon.model import MODEL_CALLS, Kind, Step

_MILLION = 1_000_000
_WILDCARDS = "*?["


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
        day = _day(started_at)
        key = (model, provider, day)
        if key not in self._known:
            self._known[key] = self._find(model, provider, day)
        return self._known[key]

    def _find(self, model: str, provider: str | None, day: dt.date) -> Price | None:
        for _, price in self._prices:
            right_provider = price.provider is None or price.provider == provider
            if price.since <= day and right_provider and price.pattern.match(model):
                return price
        return None

    def priced(self, step: Step) -> Step:
        """Return the step with its cost, where model and tokens are known."""
        cost = self.cost(step) if self._prices and step.kind in MODEL_CALLS else None
        return step if cost is None else replace(step, cost_usd=cost)

    def cost(self, step: Step) -> float | None:
        """Return the cost of a model call in USD, or None when it cannot be known."""
        if step.input_tokens is None:
            return None
        if step.output_tokens is None and step.kind is not Kind.EMBEDDING:
            return None
        for model in (step.model, step.response_model, step.request_model):
            price = self.price(model, step.provider, step.started_at) if model else None
            if price is not None:
                return _cost(step, price)
        return None


def _specific(numbered: tuple[int, Price]) -> tuple[int, bool, dt.date, int]:
    position, price = numbered
    literal = sum(character not in _WILDCARDS for character in price.model)
    return literal, price.provider is not None, price.since, -position


def _day(moment: Nanos) -> dt.date:
    try:
        return from_nanos(moment).date()
    except (OverflowError, ValueError):
        return dt.date.max


def _cost(step: Step, price: Price) -> float:
    """Add up the four parts: uncached, cached, cache write, output (reasoning at its own price)."""
    cached = step.cached_tokens or 0
    written = step.cache_write_tokens or 0
    uncached = max(0, (step.input_tokens or 0) - cached - written)
    reasoning = min(step.reasoning_tokens or 0, step.output_tokens or 0)
    spoken = (step.output_tokens or 0) - reasoning
    parts = (
        (uncached, price.input),
        (cached, price.input if price.cached is None else price.cached),
        (written, price.input if price.cache_write is None else price.cache_write),
        (spoken, price.output),
        (reasoning, price.output if price.reasoning is None else price.reasoning),
    )
    return sum(tokens * rate for tokens, rate in parts) / _MILLION
