"""Where ticks and labels stand on an axis. Numbers only; nothing is drawn here."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

LETTER = 6.4
"""Pixels a letter of chart text (11 px) takes, rounded up."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values with its ticks; the ends are ticks and the range covers the data."""

    low: float
    high: float
    ticks: Sequence[float]
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value lies, 0 at the low end and 1 at the high end."""
        if self.log:
            span = math.log(self.high) - math.log(self.low)
            return (math.log(value) - math.log(self.low)) / span
        return (value - self.low) / (self.high - self.low)

    @property
    def cut(self) -> bool:
        """Whether the axis does not start at zero and must say so."""
        return not self.log and self.low > 0


def axis(
    values: Sequence[float], *, zero: bool = True, top: float = math.inf, least: float = 0
) -> Axis:
    """Return a linear axis that covers the values with two to five even steps.

    `zero`: counts start at zero. `top`: the largest value there can be (1 for a share).
    `least`: the smallest step that can be written (1 for counts).

    >>> axis([3, 380]).ticks
    (0.0, 100.0, 200.0, 300.0, 400.0)
    >>> axis([5.1, 6.3], zero=False).ticks
    (5.0, 5.5, 6.0, 6.5)
    >>> axis([]).ticks, axis([0]).ticks
    ((0.0, 1.0), (0.0, 1.0))
    """
    if not values:
        return Axis(0.0, 1.0, (0.0, 1.0))
    most = max(values)
    low = 0.0 if zero else min(values)
    if most - low < 1e-9:
        if most < 1e-9:
            return Axis(0.0, 1.0, (0.0, 1.0))
        low = 0.0
    step = max(least, _step(most - low))
    first, last = math.floor(low / step + 1e-9), math.ceil(most / step - 1e-9)
    ticks = tuple(round(step * index, 12) for index in range(first, last + 1))
    if ticks[-1] > top:
        ticks = (*(tick for tick in ticks if tick < top), top)
    return Axis(ticks[0], ticks[-1], ticks)


def _step(span: float) -> float:
    raw = span / 4
    size = 10.0 ** math.floor(math.log10(raw))
    return next(size * nice for nice in (1, 2, 2.5, 5, 10) if raw <= size * nice * (1 + 1e-9))


_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)


def time_axis(seconds: Sequence[float]) -> Axis:
    """Return an axis of lengths of time from zero, with steps people know.

    >>> time_axis([75.0]).ticks, time_axis([0.18]).ticks
    ((0.0, 30.0, 60.0, 90.0), (0.0, 0.05, 0.1, 0.15, 0.2))
    """
    most = max(seconds, default=0.0)
    if most < 4:
        return axis(list(seconds))
    step = next(
        (known for known in _SECONDS if most / known <= 4), 86400 * math.ceil(most / 345600)
    )
    ticks = tuple(float(step * index) for index in range(math.ceil(most / step - 1e-9) + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def apart(places: Sequence[float], *, gap: float, low: float, high: float) -> Sequence[float]:
    """Push places at least `gap` apart, keeping their order and staying inside the range.

    >>> apart([50, 52, 90], gap=14, low=0, high=100)
    [44.0, 58.0, 90.0]
    >>> apart([99, 100], gap=14, low=0, high=100)
    [86.0, 100.0]
    """
    order = sorted(range(len(places)), key=lambda index: places[index])
    groups: list[tuple[float, int]] = []
    for index in order:
        groups.append((_inside(places[index], 1, gap, low, high), 1))
        while len(groups) > 1 and _touch(groups[-2], groups[-1], gap):
            (a, na), (b, nb) = groups[-2:]
            middle = (a * na + b * nb) / (na + nb)
            groups[-2:] = [(_inside(middle, na + nb, gap, low, high), na + nb)]
    pushed = [
        middle + (place - (size - 1) / 2) * gap for middle, size in groups for place in range(size)
    ]
    result = [0.0] * len(places)
    for index, place in zip(order, pushed, strict=True):
        result[index] = round(place, 1)
    return result


def _touch(above: tuple[float, int], below: tuple[float, int], gap: float) -> bool:
    return below[0] - above[0] < gap * (above[1] + below[1]) / 2


def _inside(middle: float, size: int, gap: float, low: float, high: float) -> float:
    half = (size - 1) * gap / 2
    return max(low + half, min(high - half, middle))


def width_of(labels: Sequence[str], *, least: float = 0) -> float:
    """Return the pixels the longest label takes."""
    return max([least, *(len(label) * LETTER for label in labels)])


_LONG = (10, 30, 60, 180, 600, 1800, 3600, 10_800, 43_200, 86_400, 259_200, 864_000, 2_592_000)
_KNOWN = (*(m * 10.0**power for power in range(-6, 1) for m in (1, 3)), *map(float, _LONG))


def log_time_axis(seconds: Sequence[float]) -> Axis:
    """Return a logarithmic axis of lengths of time, with steps people know.

    >>> log_time_axis([0.4, 500]).ticks
    (0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 180.0, 600.0)
    """
    low = max((step for step in _KNOWN if step <= min(seconds)), default=_KNOWN[0])
    high = min((step for step in _KNOWN if step >= max(seconds)), default=_KNOWN[-1])
    high = max(high, _KNOWN[_KNOWN.index(low) + 1])
    ticks = [round(step, 9) for step in _KNOWN if low <= step <= high]
    if len(ticks) > 8:
        ticks = [*ticks[:-1:3], ticks[-1]]
    return Axis(ticks[0], ticks[-1], tuple(ticks), log=True)


Format = Callable[[float], str]
