"""What the keys of an attribute map tell by themselves, remembered: libraries repeat their keys."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_SETS = 1_024
"""Sets of keys remembered for one question; more than that start again from none."""

MOST_CHARACTERS = 8_192
"""A larger set of keys is looked at each time, so that no sender can fill the memory."""

Keys = tuple[str, ...]


class OfKeys(Generic[T]):
    """A question about the keys of a map, answered once for each set of keys."""

    def __init__(self, answer: Callable[[Keys], T]) -> None:
        self._answer = answer
        self._known: dict[Keys, T] = {}

    def __call__(self, attributes: Mapping[str, str]) -> T:
        """Return the answer for these attributes."""
        keys = tuple(attributes)
        known = self._known.get(keys)
        return self._asked(keys) if known is None else known

    def _asked(self, keys: Keys) -> T:
        answer = self._answer(keys)
        if len(keys) + sum(map(len, keys)) <= MOST_CHARACTERS:
            if len(self._known) >= MOST_SETS:
                self._known.clear()
            self._known[keys] = answer
        return answer
