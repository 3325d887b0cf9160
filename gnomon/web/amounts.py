"""Numbers of the statistics in writing: each scale in its unit, limits beside, never bare."""

from gnomon.web.formats import count, duration, percent, short_count, usd
from scoring.metrics.figures import LOWER_BOUND
from scoring.stats.results import Shown

FEW = 30
"""Under so many units a share is greyed and says so."""
UPPER = "upper bound"
"""Methods that end so only bound from above what was never seen."""


def value_words(value: float, scale: str) -> str:
    """Return a value in the unit of its scale.

    >>> value_words(0.876, "rate"), value_words(-0.08, "difference"), value_words(75, "s")
    ('87.6 %', '\N{MINUS SIGN}8 points', '1 m 15 s')
    >>> value_words(4.25, "steps"), value_words(12345, "tokens"), value_words(3, "count")
    ('4.25', '12.3k', '3')
    """
    match scale:
        case "rate":
            return percent(value)
        case "difference":
            return f"{points(value)} points"
        case "usd":
            return usd(value)
        case "s":
            return duration(round(value * 1e9))
        case "count":
            return count(round(value))
        case _:
            return short_count(round(value)) if abs(value) >= 1_000 else f"{value:,.3g}"


def shown_words(shown: Shown) -> str:
    """Return the value of a number as it is written: an amount of which a part is not known with ≥."""
    words = value_words(shown.value or 0.0, shown.scale)
    return f"≥ {words}" if LOWER_BOUND in shown.flags else words


def points(value: float) -> str:
    """Return a difference of shares as signed points, those under one with two digits.

    >>> points(0.08), points(-0.0516), points(0.0095), points(0.0)
    ('+8', '\N{MINUS SIGN}5.2', '+0.95', '0')
    """
    size = abs(value) * 100
    text = f"{size:.1f}".removesuffix(".0") if size >= 1 else f"{size:.2f}".rstrip("0")
    if not text.strip("0."):
        return "0"
    return f"{'+' if value > 0 else chr(0x2212)}{text}"


def span_words(low: float, high: float, scale: str) -> str:
    """Return two limits with their unit once.

    >>> span_words(0.842, 0.91, "rate"), span_words(-0.03, 0.02, "difference")
    ('84.2–91 %', '\N{MINUS SIGN}3 to +2 points')
    >>> span_words(0.5, 2.25, "usd")
    '$0.50–$2.25'
    """
    if scale == "difference":
        return f"{points(low)} to {points(high)} points"
    first, second = value_words(low, scale), value_words(high, scale)
    if scale == "rate":
        first = first.removesuffix(" %")
    return f"{first}–{second}"


def bounded(shown: Shown) -> bool:
    """Return whether there are limits that say something, and no value."""
    informs = shown.low is not None and shown.high is not None and (shown.low, shown.high) != (0, 1)
    return shown.value is None and informs


def interval_words(shown: Shown) -> str:
    """Return the interval in words; says so when there is none."""
    level = f"{shown.confidence * 100:.4g} %"
    if shown.low is None and shown.high is None:
        return "no interval"
    if shown.method.endswith(UPPER) and shown.value == 0 and shown.high is not None:
        return f"at most {value_words(shown.high, shown.scale)} ({level} bound)"
    if shown.low is None or shown.high is None:
        end = shown.low if shown.high is None else shown.high
        word = "at least" if shown.high is None else "at most"
        return f"{level} CI {word} {value_words(end or 0.0, shown.scale)}"
    return f"{level} CI {span_words(shown.low, shown.high, shown.scale)}"
