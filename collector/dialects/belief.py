"""How large a figure may be before nobody believes it, so that no sum of them can overflow."""

from typing import Final

from collector.dialects.values import as_float, as_int
from gnomon.model import JsonValue

MOST_TOKENS: Final = 10**12
"""Tokens of one field of one call."""

MOST_USD: Final = 10**9
"""Cost of one call."""

LONGEST_NS: Final = 366 * 86_400 * 10**9
"""Wait for a first token."""

BEYOND: Final = 2**64
"""Stands for a figure that is negative, too large or part of a token. Larger than every sum of believed ones, so
that what it was added to is not believed either."""


def as_tokens(value: JsonValue) -> int | None:
    """Return a count of tokens, or `BEYOND`; None where it is no count."""
    count = as_int(value)
    if count is None:
        broken = as_float(value) is not None
        return BEYOND if broken or _is_beyond(value, MOST_TOKENS) else None
    return count if count <= MOST_TOKENS else BEYOND


def as_usd(value: JsonValue) -> float | None:
    """Return a cost in USD, or `BEYOND`; None where it is no number."""
    cost = as_float(value)
    if cost is not None and 0 <= cost <= MOST_USD:
        return cost
    return BEYOND if _is_beyond(value, MOST_USD) else None


def as_wait(value: JsonValue, unit: float) -> int | None:
    """Return a wait given in units of so many nanoseconds, or `BEYOND`; None for no number."""
    number = as_float(value)
    if number is not None and 0 <= number * unit <= LONGEST_NS:
        return round(number * unit)
    return BEYOND if _is_beyond(value, LONGEST_NS / unit) else None


def _is_beyond(value: JsonValue, most: float) -> bool:
    if value is None or isinstance(value, bool):
        return False
    try:
        number = float(value.strip().strip('"') if isinstance(value, str) else value)
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False
    return number < 0 or number > most


def drop_beyond(usage: dict[str, int]) -> bool:
    """Drop what is not believed, in place; tell whether there was any."""
    beyond = [name for name, value in usage.items() if value >= BEYOND]
    for name in beyond:
        del usage[name]
    return bool(beyond)
