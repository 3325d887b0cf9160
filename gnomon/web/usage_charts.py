"""What the runs cost and which tokens they used: charts over time."""

from collector.views import RunBucket
from gnomon.web import svg
from gnomon.web.axes import axis
from gnomon.web.formats import cost, count, percent, plural, short_count, usd
from gnomon.web.plots import Data, Figure, frame_of, links_of
from gnomon.web.svg import Series
from gnomon.web.tiles import among, each


def cost_figure(data: Data, total: RunBucket, words: str) -> Figure:
    """Return what the runs cost by our price table."""
    names = data.names()
    costs = data.values(lambda p: p.cost_usd)
    known = total.cost_usd is not None
    unpriced = total.unpriced_calls
    whole = cost(total.cost_usd, unpriced)
    title = (
        f"{whole} in {words}, {each(total)} a run{among(total.costed, total)}"
        if known
        else "No cost is known"
    )
    subtitle = f"USD per {data.each}, by the price table" + (
        f"; {plural(unpriced, 'model call')} without a price left out" if unpriced else ""
    )
    frame = frame_of(
        data,
        title=f"Cost per {data.each}",
        finding=title,
        readings=[
            f"{name}\n"
            + (
                "no runs"
                if p is None
                else f"{cost(p.cost_usd, p.unpriced_calls)}, {plural(p.runs, 'run')}"
                if p.cost_usd is not None
                else f"cost unknown, {plural(p.runs, 'run')}"
            )
            for name, p in zip(names, data.points, strict=True)
        ],
        scale=axis([value for value in costs if value is not None]),
        shape=usd,
        slots=True,
    )
    return Figure(
        name="cost",
        title=title,
        subtitle=subtitle,
        chart=svg.bars(frame, [Series(name="cost", look="s1", values=costs)]),
        heads=("Time (UTC)", "Cost", "Runs", "Calls without a price"),
        rows=[
            (name, cost(p.cost_usd, p.unpriced_calls), count(p.runs), count(p.unpriced_calls))
            for name, p in zip(names, data.points, strict=True)
            if p is not None
        ],
        links=links_of(data),
    )


def tokens_figure(data: Data) -> Figure:
    """Return tokens by kind; the cached ones are part of the input and drawn apart from it."""
    names = data.names()
    fresh = data.values(
        lambda p: None if p.input_tokens is None else p.input_tokens - (p.cached_tokens or 0)
    )
    cached = data.values(lambda p: p.cached_tokens)
    written = data.values(lambda p: p.output_tokens)
    tall = [(a or 0) + (b or 0) + (c or 0) for a, b, c in zip(fresh, cached, written, strict=True)]
    inputs = sum(value or 0 for value in fresh) + sum(value or 0 for value in cached)
    shared = sum(value or 0 for value in cached)
    title = (
        f"{percent(shared / inputs)} of the input tokens came from a cache"
        if inputs and shared
        else "Tokens written and read"
        if inputs
        else "No tokens were reported"
    )
    frame = frame_of(
        data,
        title=f"Tokens per {data.each}",
        finding=title,
        readings=[
            f"{name}\n"
            + (
                "no tokens reported"
                if p is None or p.input_tokens is None
                else f"{count(p.output_tokens)} out\n{count(p.input_tokens)} in, "
                f"{count(p.cached_tokens)} of them cached"
            )
            for name, p in zip(names, data.points, strict=True)
        ],
        scale=axis(tall, least=1),
        shape=lambda tick: short_count(round(tick)),
        slots=True,
    )
    return Figure(
        name="tokens",
        title=title,
        subtitle=f"tokens per {data.each}; output at the bottom",
        chart=svg.bars(
            frame,
            [
                Series(name="output", look="s4", values=written),
                Series(name="input", look="s1", values=fresh),
                Series(name="cached input", look="s1 light", values=cached),
            ],
        ),
        heads=("Time (UTC)", "Input", "of it cached", "Output"),
        rows=[
            (name, count(p.input_tokens), count(p.cached_tokens), count(p.output_tokens))
            for name, p in zip(names, data.points, strict=True)
            if p is not None
        ],
        links=links_of(data),
    )
