"""Effects with their intervals, drawn in rows: classes and attributes only."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from gnomon.web.amounts import points
from gnomon.web.axes import axis, width_of
from gnomon.web.svg import WIDTH, number

_ROW, _TOP, _BOTTOM = 30, 22, 24
_WIDE, _TALL = 120, 16

Scale = Callable[[float], float]
"""Where a difference stands, in pixels from the left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One row: a difference with its limits."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    reading: str
    strong: bool = False
    """The row that the rule is about."""


def forest(effects: Sequence[Effect], *, title: str, finding: str, margin: float | None) -> Markup:
    """Draw differences below each other around zero; `margin` is the loss that the rule allows."""
    known = [end for one in effects for end in (one.value, one.low, one.high) if end is not None]
    most = max([0.02, *(abs(end) for end in known), *([margin * 1.25] if margin else [])])
    scale = axis([most])
    reach = scale.high
    left = width_of([one.name for one in effects], least=60) + 16
    right = WIDTH - 18
    middle = (left + right) / 2
    half = (right - left) / 2
    height = _TOP + _ROW * len(effects) + _BOTTOM
    floor = height - _BOTTOM

    def x(value: float) -> float:
        return middle + value / reach * half

    parts = [_ticks(scale.ticks, x, floor), _words(left, right, margin, x, floor)]
    for place, one in enumerate(effects):
        parts.append(_row(one, _TOP + _ROW * place + _ROW / 2, x))
    ys = [number(_TOP + _ROW * place + _ROW / 2) for place in range(len(effects))]
    return Markup(
        '<svg class="chart forest" viewBox="0 0 {} {}" role="img" tabindex="0" aria-label="{}. {}"'
        ' data-chart data-x="{}" data-top="{}" data-bottom="{}" data-read="{}" data-href="[]"'
        ' data-y="{}">{}</svg>'
    ).format(
        WIDTH,
        number(height),
        title,
        finding,
        " ".join(number(x(one.value if one.value is not None else 0.0)) for one in effects),
        _TOP,
        number(floor),
        json.dumps([one.reading for one in effects], ensure_ascii=False),
        " ".join(ys),
        Markup().join(parts),
    )


def _ticks(ticks: Sequence[float], x: Scale, floor: float) -> Markup:
    every = sorted({*ticks, *(-tick for tick in ticks)})
    return Markup().join(
        Markup(
            '<path class="{}" d="M{} {}V{}"/><text class="middle" x="{}" y="{}">{}</text>'
        ).format(
            "rule zero" if tick == 0 else "rule",
            number(x(tick)),
            _TOP,
            number(floor),
            number(x(tick)),
            number(floor + 16),
            points(tick),
        )
        for tick in every
    )


def _words(left: float, right: float, margin: float | None, x: Scale, floor: float) -> Markup:
    parts = [
        Markup('<text class="start" x="{}" y="12">← base better</text>').format(number(left)),
        Markup('<text class="end" x="{}" y="12">candidate better →</text>').format(number(right)),
    ]
    if margin:
        parts.append(
            Markup(
                '<path class="mark" d="M{} {}V{}"/><text class="middle marked" x="{}" y="12">'
                "margin</text>"
            ).format(number(x(-margin)), _TOP - 6, number(floor), number(x(-margin)))
        )
    return Markup().join(parts)


def _row(one: Effect, y: float, x: Scale) -> Markup:
    parts = [
        Markup('<text class="{}" x="0" y="{}">{}</text>').format(
            "start strongly" if one.strong else "start", number(y + 4), one.name
        )
    ]
    look = "s1" if one.strong else "s0"
    if one.low is not None and one.high is not None:
        parts.append(
            Markup('<path class="interval {}" d="M{} {}H{}M{} {}v8M{} {}v8"/>').format(
                look,
                *(number(v) for v in (x(one.low), y, x(one.high))),
                *(number(v) for v in (x(one.low), y - 4, x(one.high), y - 4)),
            )
        )
    if one.value is not None:
        parts.append(
            Markup('<circle class="dot {}" cx="{}" cy="{}" r="4"/>').format(
                look, number(x(one.value)), number(y)
            )
        )
    return Markup().join(parts)


def whisker(
    low: float | None, value: float | None, high: float | None, *, least: float, most: float
) -> Markup:
    """Draw a value with its interval in 120 x 16 pixels, on the scale its neighbours share.

    >>> whisker(None, None, None, least=0, most=1)
    Markup('')
    """
    if most <= least or (value is None and (low is None or high is None)):
        return Markup()

    def x(at: float) -> str:
        return number(6 + (min(max(at, least), most) - least) / (most - least) * (_WIDE - 12))

    line = Markup()
    if low is not None and high is not None:
        look = "s1" if value is not None else "s0"  # limits without a value: worst to best case
        line = Markup('<path class="interval {}" d="M{} 8H{}M{} 5v6M{} 5v6"/>').format(
            look, x(low), x(high), x(low), x(high)
        )
    dot = Markup()
    if value is not None:
        dot = Markup('<circle class="dot s1" cx="{}" cy="8" r="3.5"/>').format(x(value))
    return Markup(
        '<svg class="whisk" viewBox="0 0 {} {}" aria-hidden="true"><path class="rule" d="M0 8H{}"/>'
        "{}{}</svg>"
    ).format(_WIDE, _TALL, _WIDE, line, dot)


def split(parts: Sequence[tuple[str, str, int]], *, title: str) -> Markup:
    """Draw a whole as one bar: name, look and count of each part, in order."""
    total = sum(count for _, _, count in parts)
    if not total:
        return Markup()
    at = 0.0
    drawn = []
    for _, look, count in parts:
        wide = count / total * 100
        drawn.append(
            Markup('<rect class="area {}" x="{}%" width="{}%" height="20"/>').format(
                look, number(at), number(max(0.0, wide - 0.2))
            )
        )
        at += wide
    return Markup('<svg class="split" role="img" aria-label="{}">{}</svg>').format(
        title, Markup().join(drawn)
    )
