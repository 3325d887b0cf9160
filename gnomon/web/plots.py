"""What every chart of runs over time is made of: data, figure, frame, links to the runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from collector.views import Deploy, RunBucket
from gnomon.clock import Nanos
from gnomon.web.amounts import FEW
from gnomon.web.axes import Axis
from gnomon.web.filters import Query
from gnomon.web.svg import Frame
from gnomon.web.timeline import Timeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart with its words and its table."""

    name: str
    title: str
    """The finding, when there is one."""
    subtitle: str
    """Measure, unit, interval, n."""
    chart: Markup
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    links: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """What all charts of a page are drawn from."""

    time: Timeline
    points: Sequence[RunBucket | None]
    deploys: Sequence[Deploy]
    query: Query
    now: Nanos

    @property
    def links(self) -> Sequence[str]:
        """The list of the runs of each point."""
        width = self.time.width
        return [self.query.within(start, start + width).url() for start in self.time.starts]

    def names(self) -> Sequence[str]:
        """Return the words for each point's time."""
        return [self.time.name(start) for start in self.time.starts]

    def values(self, read: Callable[[RunBucket], float | None]) -> Sequence[float | None]:
        """Return one value a point; a point without runs has none."""
        return [None if point is None else read(point) for point in self.points]

    @property
    def each(self) -> str:
        """The width of a point in words."""
        return self.time.each


def frame_of(
    data: Data,
    *,
    title: str,
    finding: str,
    readings: Sequence[str],
    scale: Axis,
    shape: Callable[[float], str],
    slots: bool,
) -> Frame:
    """Return what the charts of a page have in common."""
    return Frame(
        title=title,
        finding=finding,
        ticks=data.time.ticks(),
        readings=readings,
        links=data.links,
        axis=scale,
        format=shape,
        marks=data.time.marks(data.deploys, slots=slots),
        partial=data.time.partial(data.now),
    )


def few(n: int) -> str:
    """Return the warning beside a small n."""
    return " (few)" if n < FEW else ""


def links_of(data: Data, **more: str) -> Sequence[str]:
    """Return the list of runs behind each row of the table."""
    query = data.query.having(**more)
    width = data.time.width
    return [
        query.within(start, start + width).url()
        for start, point in zip(data.time.starts, data.points, strict=True)
        if point is not None
    ]
