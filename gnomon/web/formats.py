"""How numbers, times and texts look on a page. None is never a number."""

from decimal import Decimal

from gnomon.clock import Nanos, from_nanos

NO_DATA = "–"
_SECOND = 1_000_000_000
_UNITS = ((86_400 * _SECOND, "d"), (3_600 * _SECOND, "h"), (60 * _SECOND, "m"))


def count(number: int | None) -> str:
    """Return a whole number with separators.

    >>> count(1203), count(None)
    ('1,203', '–')
    """
    return NO_DATA if number is None else f"{number:,}"


def short_count(number: int | None) -> str:
    """Return a whole number in at most five characters.

    >>> [short_count(n) for n in (999, 12_345, 123_456, 1_234_567, None)]
    ['999', '12.3k', '123k', '1.23M', '–']
    """
    if number is None:
        return NO_DATA
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= size:
            scaled = number / (1e3 if letter == "k" else size)
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f}{letter}"
    return f"{number:,}"


def duration(nanos: int | None) -> str:
    """Return a length of time with the unit that suits it.

    >>> [duration(n) for n in (260_000, 12_000_000, 3_460_000_000, 75_000_000_000, None)]
    ['0.3 ms', '12 ms', '3.5 s', '1 m 15 s', '–']
    """
    if nanos is None:
        return NO_DATA
    if nanos == 0:
        return "0 ms"
    if nanos < _SECOND:
        millis = nanos / 1e6
        return f"{millis:.1f} ms" if millis < 9.95 else f"{millis:.0f} ms"
    if nanos < 60 * _SECOND:
        seconds = nanos / _SECOND
        return f"{seconds:.1f} s" if seconds < 59.95 else "60 s"
    parts = []
    rest = round(nanos / _SECOND) * _SECOND
    for size, letter in (*_UNITS, (_SECOND, "s")):
        whole, rest = divmod(rest, size)
        if whole:
            parts.append(f"{whole} {letter}")
    return " ".join(parts[:2])


def usd(amount: float | None) -> str:
    """Return dollars with as many digits as are worth reading; only nothing is $0.

    >>> [usd(x) for x in (0, 0.00042, 0.0312, 1.5, 165.4, 12_345.6, None)]
    ['$0', '$0.00042', '$0.0312', '$1.50', '$165', '$12,346', '–']
    >>> usd(8.4e-05), usd(2e-8), usd(1e-15)
    ('$0.000084', '$0.00000002', '<$0.000000000001')
    """
    if amount is None:
        return NO_DATA
    if amount == 0:
        return "$0"
    if amount >= 100:
        return f"${amount:,.0f}"
    if amount >= 0.1:
        return f"${amount:.2f}"
    return f"${Decimal(f'{amount:.3g}'):f}" if amount >= 1e-12 else "<$0.000000000001"


def cost(amount: float | None, unpriced: int) -> str:
    """Return the cost of some calls; calls without a price make it a lower bound.

    >>> cost(0.5, 0), cost(0.5, 2), cost(None, 2)
    ('$0.50', '≥ $0.50', '–')
    """
    return f"≥ {usd(amount)}" if amount is not None and unpriced else usd(amount)


def percent(share: float | None) -> str:
    """Return a share as per cent with one digit; only none is 0 % and only all is 100 %.

    >>> [percent(x) for x in (0.0, 0.0034, 0.876, 1.0, None)]
    ['0 %', '0.3 %', '87.6 %', '100 %', '–']
    >>> percent(1 / 2500), percent(2499 / 2500)
    ('<0.1 %', '>99.9 %')
    """
    if share is None:
        return NO_DATA
    if 0 < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    text = f"{share * 100:.1f}"
    return f"{text.removesuffix('.0')} %"


def size(number: int) -> str:
    """Return bytes in the unit that suits them.

    >>> [size(n) for n in (512, 20_480, 3_500_000)]
    ['512 B', '20 kB', '3.5 MB']
    """
    if number < 1_000:
        return f"{number} B"
    for unit, letter in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            scaled = number / unit
            return f"{scaled:.1f} {letter}" if scaled < 10 else f"{scaled:.0f} {letter}"
    raise AssertionError("unreachable: number is at least 1,000")


def moment(nanos: int, now: int) -> str:
    """Return a moment as people read it, UTC; with its year unless it is the present one.

    >>> moment(1_760_000_000_000_000_000, 1_761_000_000_000_000_000)
    '9 Oct 08:53:20'
    >>> moment(1_760_000_000_000_000_000, 1_801_000_000_000_000_000)
    '9 Oct 2025 08:53:20'
    """
    when = from_nanos(Nanos(nanos))
    year = "" if when.year == from_nanos(Nanos(now)).year else f" {when.year}"
    return f"{when.day} {when:%b}{year} {when:%H:%M:%S}"


def hour(nanos: int) -> str:
    """Return the hour a ledger row stands for.

    >>> hour(1_760_000_400_000_000_000)
    '9 Oct 09:00'
    """
    when = from_nanos(Nanos(nanos))
    return f"{when.day} {when:%b %H:%M}"


def machine_time(nanos: int) -> str:
    """Return a moment for the `datetime` attribute: RFC 3339 with milliseconds."""
    return f"{from_nanos(Nanos(nanos)):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def ago(nanos: int | None, now: int) -> str:
    """Return how long ago something was.

    >>> ago(0, 90_000_000_000), ago(5, 5), ago(None, 5)
    ('1 m 30 s ago', 'now', 'never')
    """
    if nanos is None:
        return "never"
    passed = max(0, now - nanos)
    return "now" if passed < _SECOND else f"{duration(passed // _SECOND * _SECOND)} ago"


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """Return a count with its noun.

    >>> plural(1, "run"), plural(2000, "run"), plural(2, "reply", "replies")
    ('1 run', '2,000 runs', '2 replies')
    """
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def cut(text: str, limit: int) -> str:
    """Return the text, shortened with an ellipsis when it is longer than `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def first_words(text: str, limit: int = 90) -> str:
    """Return the first line's words of what somebody wrote, on one line."""
    return cut(" ".join(text[: limit * 4].split()), limit)
