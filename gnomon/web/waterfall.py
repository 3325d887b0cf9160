"""Where bars stand: time onto 0 to 100 per cent of the plot, long idle gaps pressed together."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from gnomon.web.axes import axis
from gnomon.web.formats import duration
from gnomon.web.svg import number

_IDLE = 0.2
"""A gap longer than this share of the run becomes a break mark."""
_BREAK = 3.0
"""Per cent of the plot that a break takes."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of time and the part of the plot it fills."""

    start: int
    end: int
    left: float
    right: float
    idle: bool


@dataclass(frozen=True, slots=True)
class Scale:
    """Nanoseconds to per cent; monotonic, the whole run fits 0 to 100."""

    pieces: Sequence[_Piece]
    ends: Sequence[int]
    """Where each piece ends, but the last."""

    @property
    def start(self) -> int:
        """Where the run begins."""
        return self.pieces[0].start

    @property
    def end(self) -> int:
        """Where the run ends."""
        return self.pieces[-1].end

    @property
    def breaks(self) -> Sequence[tuple[float, float, int]]:
        """Left and right in per cent and the length in nanoseconds of each pressed gap."""
        return [(p.left, p.right, p.end - p.start) for p in self.pieces if p.idle]

    def place(self, moment: int) -> float:
        """Return the place of a moment; outside the run it is the nearer end."""
        piece = self.pieces[bisect_left(self.ends, moment)]
        if moment >= piece.end:
            return piece.right
        if moment <= piece.start:
            return piece.left
        inside = (moment - piece.start) / (piece.end - piece.start)
        return piece.left + inside * (piece.right - piece.left)

    def ticks(self) -> Sequence[tuple[float, str]]:
        """Return grid lines: their place, and the time since the start."""
        total = self.end - self.start
        seconds = total / 1e9
        found: list[tuple[float, str]] = []
        for tick in axis([seconds]).ticks:
            moment = self.start + int(tick * 1e9)
            if moment > self.end or self._pressed(moment):
                continue
            place = self.place(moment)
            if not found or place - found[-1][0] >= 12:
                found.append((place, duration(int(tick * 1e9)).replace(".0 ", " ")))
        return found

    def _pressed(self, moment: int) -> bool:
        return any(piece.idle and piece.start < moment < piece.end for piece in self.pieces)


def scale(start: int, end: int, busy: Iterable[tuple[int, int]]) -> Scale:
    """Return the scale of a run; `busy`: when something worked, in order of start."""
    end = max(end, start + 1)
    least = (end - start) * _IDLE
    idle, last = [], start
    for begin, stop in busy:
        if begin - last > least:
            idle.append((last, begin))
        last = max(last, stop)
    if end - last > least and last > start:
        idle.append((last, end))
    worked = end - start - sum(stop - begin for begin, stop in idle)
    if not worked:
        idle, worked = [], end - start
    room = 100.0 - _BREAK * len(idle)
    pieces: list[_Piece] = []
    place, moment = 0.0, start
    for begin, stop in idle:
        if begin > moment:
            right = place + (begin - moment) / worked * room
            pieces.append(_Piece(moment, begin, place, right, idle=False))
            place = right
        pieces.append(_Piece(begin, stop, place, place + _BREAK, idle=True))
        place, moment = place + _BREAK, stop
    if moment < end or not pieces:
        pieces.append(_Piece(moment, end, place, 100.0, idle=False))
    return Scale(pieces, [piece.end for piece in pieces[:-1]])


def ruler(of: Scale) -> Markup:
    """Draw the axis: labels at their per cent, so that text keeps its size at every width."""
    ticks = of.ticks()
    return Markup('<svg class="axis" aria-hidden="true">{}</svg>').format(
        Markup().join(
            Markup('<text{} x="{}%" y="12">{}</text>').format(
                Markup(' class="last"') if place > 95 else Markup(), f"{place:.1f}", text
            )
            for place, text in ticks
        )
    )


def rules(of: Scale) -> Markup:
    """Draw grid lines and break marks behind the rows."""
    lines = Markup().join(
        Markup('<line x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(f"{place:.1f}")
        for place, _ in of.ticks()
    )
    breaks = Markup().join(
        Markup(
            '<rect fill="url(#still)" x="{}%" width="{}%" y="0" height="100%">'
            "<title>{} without work</title></rect>"
        ).format(f"{left:.1f}", f"{right - left:.1f}", duration(length))
        for left, right, length in of.breaks
    )
    return Markup('<svg class="lines" aria-hidden="true">{}{}</svg>').format(breaks, lines)


def minimap(of: Scale, bars: Iterable[tuple[int, int, str]], count: int) -> Markup:
    """Draw all `count` bars of a long run in one low picture; `bars`: start, end, look.

    Bars that overlap in a line of half pixels are drawn as one, so that the picture stays small
    however many there are.
    """
    step = 26 / max(1, count)
    tall = f"{max(0.7, step):.1f}"
    covered: dict[tuple[str, int], int] = {}  # look and line: a bit for each pixel
    for index, (start, end, look) in enumerate(bars):
        left = int(of.place(start) * 10)
        wide = max(2, round(of.place(end) * 10) - left)
        line = round(index * step * 2)
        covered[look, line] = covered.get((look, line), 0) | ((1 << wide) - 1) << left
    paths: dict[str, list[str]] = {}
    for (look, line), pixels in covered.items():
        top = number(1 + line / 2)
        paths.setdefault(look, []).extend(
            f"M{run.start()} {top}h{len(run[0])}v{tall}h-{len(run[0])}z"
            for run in re.finditer("1+", f"{pixels:b}"[::-1])
        )
    return Markup(
        '<svg class="mini" viewBox="0 0 1000 28" preserveAspectRatio="none" aria-hidden="true">'
        "{}</svg>"
    ).format(
        Markup().join(
            Markup('<path class="{}" d="{}"/>').format(look, "".join(path))
            for look, path in paths.items()
        )
    )
