"""Answers are computed once, kept while the key holds, and never without bound."""

import threading

import pytest

from gnomon.web.cache import Cache


def test_a_known_answer_is_not_computed_again() -> None:
    cache: Cache[int] = Cache()
    made: list[int] = []
    for _ in range(3):
        assert cache.get("a", lambda: made.append(1) or 7) == 7
    assert len(made) == 1


def test_the_longest_unused_answer_is_dropped() -> None:
    cache: Cache[str] = Cache(size=2)
    made: list[str] = []

    def ask(key: str) -> str:
        return cache.get(key, lambda: made.append(key) or key)

    for key in ("a", "b", "a", "c", "a", "b"):
        ask(key)
    assert made == ["a", "b", "c", "b"]


def test_whoever_comes_meanwhile_waits_for_the_one_computation() -> None:
    cache: Cache[int] = Cache()
    entered, release = threading.Event(), threading.Event()
    made: list[int] = []

    def slow() -> int:
        made.append(1)
        entered.set()
        release.wait(5)
        return 9

    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(cache.get("a", slow))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    assert entered.wait(5)
    release.set()
    for thread in threads:
        thread.join(5)
    assert answers == [9] * 8
    assert len(made) == 1


def test_a_failed_computation_is_tried_again() -> None:
    cache: Cache[int] = Cache()

    def fail() -> int:
        raise OSError("away")

    with pytest.raises(OSError, match="away"):
        cache.get("a", fail)
    assert cache.get("a", lambda: 3) == 3
