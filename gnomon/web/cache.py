"""Answers kept while the data do not change: one computation at a time per key."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
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
