"""Data on stdout, everything else on stderr: JSON for programs, tables for people."""

import json
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from gnomon.model import JsonValue

_WIDE = 250
"""Columns where nobody watches: a pipe gets whole ids, never half ones."""


def _out() -> Console:
    width = None if sys.stdout.isatty() else _WIDE
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


notes = Console(stderr=True, highlight=False, soft_wrap=True)
"""Where progress, hints and warnings go."""


def as_json(value: JsonValue) -> None:
    """Print a value as JSON, indented."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def as_lines(values: Iterable[JsonValue]) -> None:
    """Print values as JSON, one a line, while they arrive."""
    for value in values:
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Print a table; `empty` says why there is none and what to do."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        right = heading.startswith(">")
        whole = right or heading.endswith(("id", "run", "hour", "started", "buried"))
        shown.add_column(
            heading.removeprefix(">"), justify="right" if right else "left", no_wrap=whole
        )
    for row in rows:
        shown.add_row(*(cell(value) for value in row))
    if shown.row_count == 0:
        notes.print(empty)
        return
    _out().print(shown)


def facts(pairs: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one a line; what nobody reported is left out."""
    shown = Table.grid(padding=(0, 2))
    for name, value in pairs:
        if value not in (None, "", [], {}):
            shown.add_row(name, cell(value))
    _out().print(shown)


def cell(value: object) -> str:
    """Return a value as people read it; None is a dash, never 0."""
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.6g}"
        case int():
            return f"{value:,}".replace(",", " ")
        case list() | tuple():
            return ", ".join(cell(item) for item in value)
        case dict():
            return ", ".join(f"{key}={cell(item)}" for key, item in value.items())
        case _:
            return str(value)


def seconds(nanos: int | None) -> str:
    """Return a duration in nanoseconds as people read it."""
    if nanos is None:
        return "–"
    if nanos < 1_000_000_000:
        return f"{nanos / 1e6:.0f} ms"
    if nanos < 120_000_000_000:
        return f"{nanos / 1e9:.1f} s"
    return f"{nanos / 60e9:.1f} min"


def usd(amount: float | None, *, unpriced: int = 0) -> str:
    """Return an amount of money; unknown is a dash, calls without a price make it "at least"."""
    if amount is None:
        return "–"
    return f"≥ ${amount:.4f}" if unpriced else f"${amount:.4f}"


def when(text: str | None) -> str:
    """Return an RFC 3339 moment without its fraction."""
    return "–" if not text else f"{text[:19].replace('T', ' ')}Z"
