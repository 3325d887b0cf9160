"""Answers kept while the data do not change: one computation at a time per key."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """At most `size` answers, the longest unused dropped first."""

    def __init__(self, size: int = 64) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, T] = OrderedDict()
        self._working: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the answer for a key; whoever comes meanwhile waits instead of computing."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
            turn = self._working.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._answers:
                    return self._answers[key]
            try:
                answer = compute()
            finally:
                with self._lock:
                    self._working.pop(key, None)
            with self._lock:
                self._answers[key] = answer
                while len(self._answers) > self._size:
                    self._answers.popitem(last=False)
            return answer


REST = 20
"""A dear answer is not asked for again before so many times what it took."""


@dataclass(frozen=True, slots=True)
class _Answer(Generic[T]):
    value: T
    version: Hashable
    at: float
    took: float


class Rested(Generic[T]):
    """Answers to dear questions about data that change all the time: a little old, never wrong.

    So that open pages take at most a twentieth of the machine, however many runs there are.
    """

    def __init__(self, size: int = 64, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, _Answer[T]] = OrderedDict()
        self._turns: Cache[T] = Cache(size=1)

    def get(self, key: Hashable, version: Hashable, compute: Callable[[], T]) -> T:
        """Return the answer for a key: of this version, or one that has not rested enough."""
        with self._lock:
            known = self._answers.get(key)
        if known is not None:
            rested = self._clock() - known.at > REST * known.took
            if known.version == version or not rested:
                return known.value
        return self._turns.get((key, version), lambda: self._computed(key, version, compute))

    def _computed(self, key: Hashable, version: Hashable, compute: Callable[[], T]) -> T:
        began = self._clock()
        value = compute()
        now = self._clock()
        with self._lock:
            self._answers[key] = _Answer(value, version, now, now - began)
            self._answers.move_to_end(key)
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
        return value
