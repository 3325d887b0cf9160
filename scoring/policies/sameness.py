"""When two values are the same: one definition for entities, bindings, conditions and keys.

A number is the same as a number or a text of its value, digit by digit: 25, 25.0 and "25". Two
texts are compared as texts: "7" is not "007". True is only itself.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def number(value: object) -> Decimal | None:
    """Return a number given as JSON number or as text, exactly; None when it is none."""
    match value:
        case bool():
            return None
        case int():
            return Decimal(value)
        case float():
            found = Decimal(repr(value))
            return found if found.is_finite() else None
        case str() if _NUMBER.fullmatch(value.strip()):
            return _read(value.strip())
        case Decimal():
            return value
        case _:
            return None


def _read(text: str) -> Decimal | None:
    try:
        # Without a context: all digits are kept, and an exponent beyond all bounds is no number.
        return Decimal(text)
    except InvalidOperation:
        return None


def same(one: object, other: object) -> bool:
    """Return whether two values are the same."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    left, right = number(one), number(other)
    if left is not None and right is not None:
        return left == right
    return identity(one) == identity(other)


def identity(value: object) -> Hashable:
    """Return what is equal for equal JSON values: 1 is 1.0, and neither true nor "1"."""
    match value:
        case bool() | None:
            return ("word", value)
        case str():
            return ("text", value)
        case list() | tuple():
            return ("list", tuple(identity(one) for one in value))
        case dict():
            return ("object", frozenset((key, identity(one)) for key, one in value.items()))
        case _:
            found = number(value)
            return ("number", repr(value) if found is None else found)


def likeness(value: object) -> Hashable:
    """Return what is equal for values that are the same, and for "7" and "007": where to look."""
    found = number(value)
    return identity(value) if found is None else ("number", found)


def groups(values: Sequence[object]) -> Iterator[Hashable]:
    """Yield an equal key for each of the values that are the same.

    A number that equals several texts, which are not the same, goes with the most frequent one:
    a number of effects that is passed with any of them is passed with that one.
    """
    texts = _texts(values)
    for value in values:
        found = None if isinstance(value, str) else number(value)
        like = texts.get(found) if found is not None else None
        yield identity(value) if like is None else ("text", like)


def _texts(values: Iterable[object]) -> dict[Decimal, str]:
    """Return for each number the text that stands for it most often."""
    counted: dict[Decimal, Counter[str]] = {}
    for value in values:
        if isinstance(value, str) and (found := number(value)) is not None:
            counted.setdefault(found, Counter())[value] += 1
    return {found: texts.most_common(1)[0][0] for found, texts in counted.items()}
