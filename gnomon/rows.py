"""Rows as JSON text by column: what dataclasses hold, as ClickHouse reads it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from operator import attrgetter
from types import NoneType
from typing import Any, get_args, get_type_hints

import orjson

from gnomon.clock import LAST_MOMENT, Nanos, from_nanos, moments
from gnomon.errors import StoreRefused

PART_BYTES = 16 * 1024**2
"""A larger insert goes in parts."""

_HALF = re.compile("[\ud800-\udfff]")


def columns(row_type: type) -> tuple[str, ...]:
    """Return the columns of a table: the fields of its row type, in order."""
    return tuple(field.name for field in fields(row_type))


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows as one insert takes them: JSON lists, one for each of these columns."""

    columns: Sequence[str]
    body: bytes
    count: int


def parts(rows: Sequence[Any], extra: Mapping[str, str | int]) -> Iterator[Part]:
    """Yield the rows, about `PART_BYTES` at a time.

    Columns in which no row says anything are left out, so that the table's default fills them.
    """
    part = _encoded(rows, extra)
    if len(part.body) <= PART_BYTES or len(rows) == 1:
        yield part
        return
    middle = len(rows) // 2
    yield from parts(rows[:middle], extra)
    yield from parts(rows[middle:], extra)


def lines(rows: Sequence[Any], names: Sequence[str]) -> list[bytes]:
    """Return each row as a JSON list of these fields of it."""
    if not rows:
        return []
    row_type: type = type(rows[0])
    times = [name in _shape(row_type).moments for name in names]
    values_of = attrgetter(*names)
    return [
        _line(
            [
                moment(value) if is_time and value is not None else value
                for value, is_time in zip(values_of(row), times, strict=True)
            ]
        )
        for row in rows
    ]


def _line(values: list[Any]) -> bytes:
    try:
        return orjson.dumps(values, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return orjson.dumps(_repaired(values), option=orjson.OPT_NON_STR_KEYS)


def moment(nanos: int) -> str:
    """Return nanoseconds since 1970 as the text of a DateTime64(9)."""
    seconds, rest = divmod(min(nanos, LAST_MOMENT), 1_000_000_000)
    return f"{_second(seconds)}.{rest:09}"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return f"{from_nanos(Nanos(seconds * 1_000_000_000)):%Y-%m-%d %H:%M:%S}"


def _encoded(rows: Sequence[Any], extra: Mapping[str, str | int]) -> Part:
    row_type: type = type(rows[0])
    shape = _shape(row_type)
    named: dict[str, Sequence[Any]] = {}
    by_column = zip(*map(shape.values_of, rows), strict=True)
    for name, column in zip(shape.columns, by_column, strict=False):
        if not _is_empty(column) or (column[0] is None and name not in shape.optional):
            named[name] = _moments(column) if name in shape.moments else column
    for name, value in extra.items():
        named[name] = [value] * len(rows)
    return Part(tuple(named), _json(named), len(rows))


def _json(named: Mapping[str, Sequence[Any]]) -> bytes:
    """Return the columns as JSON; text that is not Unicode is repaired, as the receiver does it."""
    try:
        return orjson.dumps(list(named.values()), option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return b"[" + b",".join(_column(name, named[name]) for name in named) + b"]"


def _column(name: str, column: Sequence[Any]) -> bytes:
    try:
        return orjson.dumps(column, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        pass
    try:
        return orjson.dumps(_repaired(column), option=orjson.OPT_NON_STR_KEYS)
    except TypeError as error:
        raise StoreRefused(f"the column {name} cannot hold a value: {error}") from error


def _repaired(value: Any) -> Any:
    """Return a value with U+FFFD in place of halves of surrogate pairs."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_repaired(item) for item in value]
    if is_dataclass(value):
        return {name: _repaired(getattr(value, name)) for name in columns(type(value))}
    return value


def _moments(column: Sequence[int | None]) -> list[str | None]:
    return [None if nanos is None else moment(nanos) for nanos in column]


def _is_empty(column: Sequence[Any]) -> bool:
    """Tell whether a column holds nothing but NULL, or nothing but empty lists or maps."""
    if column[0] is None:
        return column.count(None) == len(column)
    return isinstance(column[0], tuple | list | dict) and not any(column)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """How the rows of a type are taken apart."""

    columns: tuple[str, ...]
    moments: frozenset[str]
    optional: frozenset[str]
    """Columns that may be None."""
    values_of: Callable[[Any], tuple[Any, ...]]


@lru_cache(maxsize=64)
def _shape(row_type: type) -> _Shape:
    if not is_dataclass(row_type):
        raise TypeError(f"{row_type.__name__} is not a dataclass")
    names = columns(row_type)
    hints = get_type_hints(row_type)
    return _Shape(
        columns=names,
        moments=moments(row_type),
        optional=frozenset(name for name in names if NoneType in get_args(hints[name])),
        values_of=attrgetter(*names, names[0]),  # one too many, so that it is always a tuple
    )
