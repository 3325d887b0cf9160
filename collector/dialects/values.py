"""Reading attribute text: numbers, truth values, JSON, Python literals, flattened lists."""

import ast
import json
import math
import re
import warnings
from collections.abc import Mapping
from typing import Final

import orjson

from gnomon.model import JsonValue

PLACEHOLDERS = frozenset({"", "[]", "unknown", "<synthetic>", "<not specified>", "None", "null"})
"""Texts that say that nobody knew the value."""

_LONGEST = 32
"""A longer text is no placeholder, whatever spaces stand around it."""

MAX_LITERAL = 64 * 1024
"""Characters of a Python literal that are read at most."""

MAX_INDEXED = 10_000
"""Entries of one flattened list that are read at most."""

_MAX_NESTING = 60
_MAX_COUNT = 2**64 - 1
_TRUE = frozenset({"true", "1", "yes"})
_FALSE = frozenset({"false", "0", "no"})


def found(text: str | None) -> str | None:
    """Return the text, or None where it is absent, empty or a placeholder."""
    if text is None:
        return None
    if len(text) <= _LONGEST:
        return None if text.strip() in PLACEHOLDERS else text
    return None if text.isspace() else text


def as_json(text: str | None) -> JsonValue:
    """Return what JSON text says; None where it is absent, `null` or no JSON."""
    if not text:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _slow_json(text)
    except UnicodeEncodeError:
        return None
    return _slow_json(text) if len(text) >= _LONG_NUMBER and _has_long_number(text) else value


_HALF_PAIR: Final = re.compile(
    r"\\\\|\\u[dD][89abAB][\da-fA-F]{2}(?:\\u[dD][c-fC-F][\da-fA-F]{2})?|\\u[dD][c-fC-F][\da-fA-F]{2}"
)
"""Escapes of surrogates. JavaScript that cuts a text inside an emoji leaves one without its half,
which the strict parser refuses, and with it the whole text."""

_PAIR: Final = len(r"\ud83d\ude00")


def _whole(escape: re.Match[str]) -> str:
    found = escape[0]
    return found if found == "\\\\" or len(found) == _PAIR else "\\ufffd"


_LONG_NUMBERS: Final = (b"0" * 20, b"-" + b"0" * 19)
"""Digits of numbers that the fast parser may read as a float, and so lose the last ones."""

_LONG_NUMBER: Final = 20
"""A text that is shorter holds none."""

_DIGITS_AS_ZEROS: Final = bytes(
    48 if 48 <= byte < 58 else byte if byte == ord("-") else 32 for byte in range(256)
)


def _has_long_number(text: str) -> bool:
    digits = text.encode().translate(_DIGITS_AS_ZEROS)
    return any(long in digits for long in _LONG_NUMBERS)


_BEGINS: Final = frozenset('{["-0123456789NI')


def _slow_json(text: str) -> JsonValue:
    """Read what the strict parser refuses and other writers write all the same.

    That is a mark before the text, half a character, a raw line end or tab in a string, numbers of
    any size, and NaN and Infinity as nothing.
    """
    text = text.lstrip("\ufeff \t\r\n")
    if text[:1] not in _BEGINS:
        return None
    text = _HALF_PAIR.sub(_whole, text) if "\\u" in text else text
    try:
        return FORGIVING.decode(text)
    except (ValueError, RecursionError):
        return None


def _no_number(_name: str) -> None:
    return None


def _integer(digits: str) -> int | str:
    """Read an integer as it is; one that no program counts with stays its text."""
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


_MAX_DIGITS: Final = 4_000
"""Python refuses to read integers much longer than that."""


def _decimal(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


FORGIVING: Final = json.JSONDecoder(
    strict=False, parse_constant=_no_number, parse_int=_integer, parse_float=_decimal
)
"""Reads what `as_json` does, and more slowly; it takes no mark before the text."""


def as_object(text: str | None) -> Mapping[str, JsonValue]:
    """Return the object that JSON text holds; an empty one where it holds none."""
    if not text or text[0] not in "{ \t\r\n\"'":
        return {}
    value = as_json(text)
    if isinstance(value, str):
        value = as_json(value)
    return value if isinstance(value, dict) else {}


def as_text(value: JsonValue) -> str | None:
    """Return a JSON value as the text an attribute would carry; None where it says nothing."""
    if value is None:
        return None
    if isinstance(value, str):
        return found(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return found(dumps(value))


def dumps(value: JsonValue) -> str:
    """Return compact JSON text; never raises on what `as_json` or `as_literal` returned."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)


def unquoted(text: str | None) -> str | None:
    """Return the text inside JSON quotes (MLflow quotes every value); other text as it is."""
    if text and len(text) > 1 and text[0] == '"' and text[-1] == '"':
        value = as_json(text)
        if isinstance(value, str):
            return found(value)
    return found(text)


def as_int(value: JsonValue) -> int | None:
    """Return a count: integer, decimal or numeric text, quoted or not, from 0 to 2^64-1."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        value = value.strip().strip('"')
        if value.isascii() and value.isdigit():
            return int(value) if len(value) <= 20 and int(value) <= _MAX_COUNT else None
    number = as_float(value)
    if number is None or number < 0 or number != math.floor(number) or number > _MAX_COUNT:
        return None
    return value if isinstance(value, int) else int(number)


def as_float(value: JsonValue) -> float | None:
    """Return a finite number from a number or numeric text, quoted or not."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        value = value.strip().strip('"')
        if not value or value[0] not in "0123456789+-." or "_" in value:
            return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_bool(value: JsonValue) -> bool | None:
    """Return a truth value from `true`, `"False"`, `1` and their likes; None for other text."""
    if isinstance(value, bool):
        return value
    if value is None:
        return None
    word = str(value).strip().strip('"').lower()
    if word in _TRUE:
        return True
    return False if word in _FALSE else None


def as_literal(text: str | None) -> JsonValue:
    """Return a Python literal as JSON values; None where it is none, too long or too deep."""
    if not text or len(text) > MAX_LITERAL or not _is_shallow(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _plain(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def as_data(text: str | None) -> JsonValue:
    """Return JSON, else a Python literal, else None."""
    value = as_json(text)
    if value is None and text and text.lstrip()[:1] in ("{", "[", "(", "'"):
        return as_literal(text)
    return value


def _is_shallow(text: str) -> bool:
    """Refuse what would exhaust the parser's stack: deep brackets and long runs of signs."""
    depth = signs = 0
    for character in text:
        if character in "([{":
            depth += 1
            if depth > _MAX_NESTING:
                return False
        elif character in ")]}":
            depth -= 1
        signs = signs + 1 if character in "-+~ " else 0
        if signs > 4 * _MAX_NESTING:
            return False
    return True


def _plain(value: object) -> JsonValue:
    """Turn what only Python knows (tuples, sets, bytes) into what JSON knows."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=repr)
    return repr(value)


def indexed(attributes: Mapping[str, str], prefix: str) -> dict[int, dict[str, str]]:
    """Collect `prefix.N.rest` by N in numeric order; gaps are fine; rest '' for `prefix.N`."""
    start = f"{prefix}."
    length = len(start)
    groups: dict[int, dict[str, str]] = {}
    for key, value in attributes.items():
        if key.startswith(start):
            number, _, rest = key[length:].partition(".")
            if number.isascii() and number.isdigit() and len(number) <= 9:
                groups.setdefault(int(number), {})[rest] = value
    return {number: groups[number] for number in sorted(groups)[:MAX_INDEXED]}
