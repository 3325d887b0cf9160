"""Charts as pure functions to Markup: classes and attributes only, no style, no script."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from gnomon.web.axes import Axis, Format, apart, width_of

WIDTH = 640
_TOP, _LANE, _BOTTOM, _GAP = 10, 20, 22, 14
_STRIP = 1320
_LETTER = 5.9
"""Pixels of a letter that is not bold."""
_BOLD = 1.2
"""Bold letters are so much wider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line or one layer of bars. `look` is a class of app.css: s1 … s4, ok, error, unknown."""

    name: str
    values: Sequence[float | None]
    look: str
    band: Sequence[tuple[float, float] | None] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened between two points: `place` counts points from the first."""

    place: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What all charts with axes share. One reading and link a point."""

    title: str
    finding: str
    readings: Sequence[str]
    ticks: Sequence[tuple[int, str]]
    """Labelled points and their labels; the last point is one of them."""
    links: Sequence[str] = ()
    axis: Axis
    format: Format = field(default=str)
    marks: Sequence[Mark] = ()
    partial: bool = False
    """The last point's time is not over."""
    height: int = 190


@dataclass(frozen=True, slots=True)
class _Plot:
    left: float
    right: float
    top: float
    bottom: float
    count: int
    slots: bool
    """Points stand in the middle of slots (bars) instead of on the edges (lines)."""

    def x(self, place: float) -> float:
        if self.slots:
            return self.left + (place + 0.5) * (self.right - self.left) / self.count
        return self.left + place * (self.right - self.left) / max(1, self.count - 1)

    def y(self, share: float) -> float:
        return self.bottom - share * (self.bottom - self.top)

    @property
    def slot(self) -> float:
        return (self.right - self.left) / max(1, self.count if self.slots else self.count - 1)


def number(value: float) -> str:
    """Return a coordinate with one digit and no trailing zero.

    >>> number(12.04), number(3.25), number(-0.01)
    ('12', '3.2', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def lines(frame: Frame, series: Sequence[Series]) -> Markup:
    """Draw lines with their bands; a gap in the data is a gap in the line."""
    plot = _plot(frame, [s.name for s in series], slots=False)
    parts = [_grid(frame, plot)]
    for one in series:
        parts.extend(_band(frame.axis, plot, one))
        for run in _runs([_at(frame.axis, plot, i, v) for i, v in enumerate(one.values)]):
            if len(run) == 1:
                x, y = run[0]
                parts.append(
                    Markup('<circle class="dot {}" cx="{}" cy="{}" r="2.5"/>').format(
                        one.look, number(x), number(y)
                    )
                )
            else:
                parts.append(Markup('<path class="line {}" d="{}"/>').format(one.look, _path(run)))
    parts.append(_end_labels(frame.axis, plot, [(s.name, s.look, _last(s.values)) for s in series]))
    return _svg(frame, plot, parts)


def bars(frame: Frame, layers: Sequence[Series]) -> Markup:
    """Draw stacked bars; the first layer sits on the baseline and can be compared."""
    plot = _plot(frame, [layer.name for layer in layers], slots=True)
    parts = [_grid(frame, plot)]
    wide = max(1.0, plot.slot - (2 if plot.slot > 6 else 0.6))
    below = [0.0] * plot.count
    middles: list[tuple[str, str, float | None]] = []
    for layer in layers:
        path = []
        for index, value in enumerate(layer.values):
            if not value:
                continue
            low, high = below[index], below[index] + value
            y = plot.y(frame.axis.place(high))
            tall = plot.y(frame.axis.place(low)) - y
            path.append(
                f"M{number(plot.x(index) - wide / 2)} {number(y)}"
                f"h{number(wide)}v{number(tall)}h{number(-wide)}z"
            )
            below[index] = high
        if path:
            parts.append(_area(layer.look, "".join(path)))
        seen = [index for index, value in enumerate(layer.values) if value]
        if seen:
            place = seen[-1]
            middles.append((layer.name, layer.look, below[place] - (layer.values[place] or 0) / 2))
    parts.append(_end_labels(frame.axis, plot, middles))
    return _svg(frame, plot, parts)


def spark(values: Sequence[float | None], *, title: str) -> Markup:
    """Draw the course of a number in 120 x 28 pixels, its last value as a dot.

    >>> spark([None], title="runs")
    Markup('')
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup()
    values = values[values.index(known[0]) :]
    low, high = min(known), max(known)
    step = 112 / max(1, len(values) - 1)
    places = [
        None
        if value is None
        else (4 + index * step, 14.0 if high == low else 24 - (value - low) / (high - low) * 20)
        for index, value in enumerate(values)
    ]
    runs = _runs(places)
    x, y = runs[-1][-1]
    return Markup(
        '<svg class="spark" viewBox="0 0 120 28" role="img" aria-label="{}">'
        '<path class="line s1" d="{}"/><circle class="dot s1" cx="{}" cy="{}" r="2.5"/></svg>'
    ).format(title, "".join(_path(run) for run in runs), number(x), number(y))


def strip(
    layers: Sequence[Series], *, title: str, readings: Sequence[str], links: Sequence[str]
) -> Markup:
    """Draw a low full-width strip of stacked bars that stretches to its box; no text inside."""
    count = len(readings)
    totals = [sum(layer.values[i] or 0 for layer in layers) for i in range(count)]
    most = max([1.0, *totals])
    slot = _STRIP / max(1, count)
    below = [0.0] * count
    parts = []
    for layer in layers:
        path = []
        for index, value in enumerate(layer.values):
            if value:
                high = below[index] + value
                path.append(
                    f"M{number(index * slot + 1)} {number(40 - high / most * 40)}"
                    f"h{number(slot - 2)}v{number(value / most * 40)}h{number(2 - slot)}z"
                )
                below[index] = high
        if path:
            parts.append(_area(layer.look, "".join(path)))
    return Markup(
        '<svg class="strip" viewBox="0 0 {} 40" preserveAspectRatio="none" role="img" tabindex="0"'
        ' aria-label="{}" data-chart data-strip data-read="{}" data-href="{}">{}</svg>'
    ).format(_STRIP, title, json.dumps(readings), json.dumps(links), Markup().join(parts))


def _plot(frame: Frame, names: Sequence[str], *, slots: bool) -> _Plot:
    left = width_of([frame.format(tick) for tick in frame.axis.ticks]) + 10
    right = WIDTH - min(118.0, width_of(names) * _BOLD) - 10
    top = _TOP + (_LANE if frame.marks else 0)
    return _Plot(left, right, top, frame.height - _BOTTOM, len(frame.readings), slots)


def _grid(frame: Frame, plot: _Plot) -> Markup:
    parts = [
        Markup(
            '<path class="rule" d="M{} {}H{}"/><text class="end" x="{}" y="{}">{}</text>'
        ).format(
            number(plot.left),
            number(plot.y(frame.axis.place(tick))),
            number(plot.right),
            number(plot.left - 8),
            number(plot.y(frame.axis.place(tick)) + 4),
            frame.format(tick),
        )
        for tick in frame.axis.ticks
    ]
    parts.extend(_tick_labels(frame.ticks, plot))
    if frame.partial and plot.count:
        left = plot.x(plot.count - 1) - plot.slot / 2
        parts.append(
            Markup(
                '<rect class="partial" fill="url(#still)" x="{}" y="{}" width="{}" height="{}"/>'
            ).format(
                number(left),
                number(plot.top),
                number(plot.right - left),
                number(plot.bottom - plot.top),
            )
        )
    return Markup().join([*parts, *_marks(frame.marks, plot)])


def _tick_labels(ticks: Sequence[tuple[int, str]], plot: _Plot) -> list[Markup]:
    """Write the labels of the last and the first point, then those that find room between."""
    taken: list[tuple[float, float]] = []
    parts = []
    for index, label in [*ticks[-1:], *ticks[:-1]]:
        wide = len(label) * _LETTER
        start = index == 0 and not plot.slots
        left = plot.x(index) if start else plot.x(index) - wide / 2
        if any(left < end + 10 and begin < left + wide + 10 for begin, end in taken):
            continue
        taken.append((left, left + wide))
        parts.append(
            Markup('<text class="{}" x="{}" y="{}">{}</text>').format(
                "start" if start else "middle",
                number(plot.x(index)),
                number(plot.bottom + 16),
                label,
            )
        )
    return parts


def _marks(marks: Sequence[Mark], plot: _Plot) -> list[Markup]:
    """Draw marks in their lane; a label stands right of its mark, else left, else not at all."""
    parts, free = [], plot.left - 8
    places = [plot.x(mark.place) for mark in marks]
    for index, (mark, x) in enumerate(zip(marks, places, strict=True)):
        parts.append(
            Markup('<path class="mark" d="M{} {}V{}"/>').format(
                number(x), number(_TOP + 6), number(plot.bottom)
            )
        )
        label = mark.label if len(mark.label) <= 18 else mark.label[:17] + "…"
        wide = len(label) * _LETTER + 6
        beyond = min([WIDTH, *(place - 2 for place in places[index + 1 :] if place > x)])
        if x + wide <= beyond and x >= free:
            side, place, free = "start", x + 4, x + wide
        elif x - wide >= free:
            side, place, free = "end", x - 4, x
        else:
            continue
        parts.append(
            Markup('<text class="marked {}" x="{}" y="{}">{}<title>{}</title></text>').format(
                side, number(place), number(_TOP + 5), label, mark.label
            )
        )
    return parts


def _area(look: str, path: str) -> Markup:
    hatch = Markup(' fill="url(#hatch)"') if look == "unknown" else Markup()
    return Markup('<path class="area {}"{} d="{}"/>').format(look, hatch, path)


def _band(axis: Axis, plot: _Plot, series: Series) -> list[Markup]:
    edges = [
        None
        if band is None
        else (plot.x(i), *(plot.y(axis.place(_within(axis, end))) for end in band))
        for i, band in enumerate(series.band)
    ]
    parts, run = [], []
    for edge in [*edges, None]:
        if edge is not None:
            run.append(edge)
            continue
        if len(run) == 1:
            x, low, high = run[0]
            parts.append(
                Markup('<path class="whisker {}" d="M{} {}V{}"/>').format(
                    series.look, number(x), number(low), number(high)
                )
            )
        elif run:
            there = [(x, high) for x, _, high in run]
            back = [(x, low) for x, low, _ in reversed(run)]
            parts.append(
                Markup('<path class="band {}" d="{}z"/>').format(series.look, _path(there + back))
            )
        run = []
    return parts


def _within(axis: Axis, value: float) -> float:
    """Return a value, or the end of the axis that it lies beyond."""
    return min(axis.high, max(axis.low, value))


def _end_labels(axis: Axis, plot: _Plot, named: Sequence[tuple[str, str, float | None]]) -> Markup:
    known = [(name, look, value) for name, look, value in named if value is not None]
    places = apart(
        [plot.y(axis.place(value)) for _, _, value in known],
        gap=_GAP,
        low=plot.top,
        high=plot.bottom,
    )
    return Markup().join(
        Markup('<text class="label {}" x="{}" y="{}">{}<title>{}</title></text>').format(
            look,
            number(plot.right + 8),
            number(y + 4),
            name if len(name) <= 16 else name[:15] + "…",
            name,
        )
        for (name, look, _), y in zip(known, places, strict=True)
    )


def _svg(frame: Frame, plot: _Plot, parts: Sequence[Markup]) -> Markup:
    places = [number(plot.x(index)) for index in range(plot.count)]
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" tabindex="0" aria-label="{}. {}"'
        ' data-chart data-x="{}" data-top="{}" data-bottom="{}" data-read="{}" data-href="{}">'
        "{}</svg>"
    ).format(
        WIDTH,
        frame.height,
        frame.title,
        frame.finding,
        " ".join(places),
        number(plot.top),
        number(plot.bottom),
        json.dumps(list(frame.readings), ensure_ascii=False),
        json.dumps(list(frame.links)),
        Markup().join(parts),
    )


def _at(axis: Axis, plot: _Plot, index: int, value: float | None) -> tuple[float, float] | None:
    return None if value is None else (plot.x(index), plot.y(axis.place(value)))


def _runs(places: Sequence[tuple[float, float] | None]) -> list[list[tuple[float, float]]]:
    """Return the stretches without a gap."""
    found: list[list[tuple[float, float]]] = [[]]
    for place in places:
        if place is not None:
            found[-1].append(place)
        elif found[-1]:
            found.append([])
    return [run for run in found if run]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)


def _last(values: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(values) if value is not None), None)
