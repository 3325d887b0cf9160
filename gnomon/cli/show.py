"""Data on stdout, everything else on stderr: JSON for programs, tables for people.

Names and messages are a sender's: what a terminal would obey in them is shown, not sent to it.
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gnomon.model import JsonValue
from gnomon.web import formats

_WIDE = 250
"""Columns where nobody watches: a pipe gets whole ids, never half ones."""

_NARROWEST = 12
"""Columns that a text which may wrap needs at least; with less, rows are folded."""

_OBEYED = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_LINE = re.compile(f"[{_OBEYED}]")
_BLOCK = re.compile(f"(?!\n)[{_OBEYED}]")
_IN_JSON = re.compile(f"(?![\x00-\x1f])[{_OBEYED}]")


def plain(text: str, *, lines: bool = False) -> str:
    r"""Return a text without what a terminal obeys: escapes, line breaks, turns of direction.

    `lines`: it may have several.

    >>> plain("a\x1b[2J\nb"), plain("a\x1b[2J\nb", lines=True)
    ('a\\x1b[2J\\nb', 'a\\x1b[2J\nb')
    """
    return (_BLOCK if lines else _LINE).sub(_written, text)


def _written(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _out() -> Console:
    width = None if sys.stdout.isatty() else _WIDE
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


class Lines:
    """Texts one below the other."""

    def __init__(self, *, stderr: bool) -> None:
        self._console = Console(
            stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True
        )

    def print(self, text: str, *, mark: str = "", style: str = "") -> None:
        """Print a text behind a coloured mark; its further lines stand under it."""
        shown = Text(mark and f"{mark} ", style=style)
        self._console.print(shown.append(plain(text, lines=True).replace("\n", "\n    "), ""))

    def status(self, text: str) -> AbstractContextManager[object]:
        """Show that work goes on."""
        return self._console.status(text)


notes = Lines(stderr=True)
"""Progress, hints and warnings."""

findings = Lines(stderr=False)
"""What was asked for, where it is sentences."""


def as_json(value: JsonValue) -> None:
    """Print a value as JSON, indented."""
    _write_json(value, indent=2)


def as_lines(values: Iterable[JsonValue]) -> None:
    """Print values as JSON, one a line, while they arrive."""
    for value in values:
        _write_json(value)


def _write_json(value: JsonValue, indent: int | None = None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    _write(_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as error:
        # `gnomon runs list | head` closes the pipe early; that is not an error.
        abandon_output()
        raise typer.Exit(0) from error


def abandon_output() -> None:
    """Let what stdout still holds go nowhere, so that the end of the process does not fail."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Print a table; `empty` says why there is none and what to do.

    Where it does not fit, each row is folded: its first cell, and under it the others by name.
    """
    cells = [[cell(value) for value in row] for row in rows]
    if not cells:
        notes.print(empty)
        return
    names = [plain(heading.removeprefix(">")) for heading in headings]
    whole = [_is_whole(heading) for heading in headings]
    out = _out()
    if _least(names, whole, cells) > out.width:
        for row in cells:
            _write(_folded(names, row, out.width))
        return
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading, name, unbroken in zip(headings, names, whole, strict=True):
        right = heading.startswith(">")
        shown.add_column(
            name,
            justify="right" if right else "left",
            no_wrap=unbroken,
            overflow="fold",
            min_width=None if unbroken else min(_NARROWEST, cell_len(name)),
        )
    for row in cells:
        shown.add_row(*row)
    _draw(out, shown)


def _draw(out: Console, shown: Table) -> None:
    with out.capture() as drawn:
        out.print(shown)
    _write(drawn.get())


def _is_whole(heading: str) -> bool:
    """Tell columns that are copied or compared, which are never cut or wrapped."""
    return heading.startswith(">") or heading.endswith(
        ("id", "run", "hour", "started", "buried", "status")
    )


def _least(names: Sequence[str], whole: Sequence[bool], rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns of a terminal the table needs to be readable."""
    widths = [
        max([cell_len(name), *(cell_len(row[place]) for row in rows)])
        for place, name in enumerate(names)
    ]
    return sum(
        width if unbroken else min(width, _NARROWEST)
        for width, unbroken in zip(widths, whole, strict=True)
    ) + 2 * (len(names) - 1)


def _folded(names: Sequence[str], row: Sequence[str], width: int) -> str:
    """Return a row as lines: its first cell whole, then the others by name, unknown ones left out."""
    lines = [row[0], ""]
    for name, text in list(zip(names, row, strict=True))[1:]:
        if text == _NONE:
            continue
        part = f"{name} {text}".strip()
        longer = f"{lines[-1]} · {part}" if lines[-1] else f"  {part}"
        if lines[-1] and cell_len(longer) > width:
            lines.append(f"  {part}")
        else:
            lines[-1] = longer
    return "\n".join(line for line in lines if line) + "\n"


def facts(pairs: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one a line; what nobody reported is left out."""
    shown = Table.grid(padding=(0, 2))
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for name, value in pairs:
        if value not in (None, "", [], {}):
            text = plain(value, lines=True) if isinstance(value, str) else cell(value)
            shown.add_row(plain(name), text)
    _draw(_out(), shown)


_NONE = "–"


def cell(value: object) -> str:
    """Return a value as people read it, on one line; None is a dash, never 0."""
    match value:
        case None:
            return _NONE
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.6g}"
        case int():
            return f"{value:,}".replace(",", " ")
        case list() | tuple():
            return ", ".join(cell(item) for item in value)
        case dict():
            return ", ".join(f"{plain(str(key))}={cell(item)}" for key, item in value.items())
        case _:
            return plain(str(value))


def seconds(nanos: int | None) -> str:
    """Return a duration in nanoseconds as people read it."""
    if nanos is None:
        return _NONE
    if nanos < 1_000_000_000:
        return f"{nanos / 1e6:.0f} ms"
    if nanos < 120_000_000_000:
        return f"{nanos / 1e9:.1f} s"
    return f"{nanos / 60e9:.1f} min"


def usd(amount: float | None, *, unpriced: int = 0) -> str:
    """Return an amount of money as pages show it; calls without a price make it "at least"."""
    return formats.cost(amount, unpriced)


def when(text: str | None) -> str:
    """Return an RFC 3339 moment without its fraction."""
    return _NONE if not text else f"{text[:19].replace('T', ' ')}Z"
