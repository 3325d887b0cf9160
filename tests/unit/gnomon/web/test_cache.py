"""Answers are computed once, kept while the key holds, and never without bound."""

import threading

import pytest

from gnomon.web.cache import REST, Cache, Rested


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


class Ticking:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_dear_answer_rests_before_it_is_asked_for_again_though_the_data_changed() -> None:
    clock = Ticking()
    kept: Rested[int] = Rested(clock=clock)

    def dear(value: int) -> int:
        clock.now += 2.0
        return value

    assert kept.get("a", 1, lambda: dear(1)) == 1
    clock.now += REST * 2.0
    assert kept.get("a", 2, lambda: dear(2)) == 1, "it has not rested enough"
    clock.now += 0.1
    assert kept.get("a", 2, lambda: dear(2)) == 2


def test_an_answer_of_the_same_version_is_never_asked_for_again() -> None:
    clock = Ticking()
    kept: Rested[int] = Rested(clock=clock)
    kept.get("a", 1, lambda: 1)
    clock.now += 1e6
    assert kept.get("a", 1, lambda: 2) == 1
    assert kept.get("b", 1, lambda: 3) == 3
    assert kept.get("a", 2, lambda: 4) == 4


def test_an_answer_that_fails_is_not_kept() -> None:
    kept: Rested[int] = Rested()

    def fails() -> int:
        raise OSError("away")

    with pytest.raises(OSError, match="away"):
        kept.get("a", 1, fails)
    assert kept.get("a", 1, lambda: 5) == 5


def test_only_so_many_answers_rest() -> None:
    kept: Rested[int] = Rested(size=2)
    for key in "abc":
        kept.get(key, 1, lambda: 1)
    assert kept.get("a", 1, lambda: 2) == 2
    assert kept.get("c", 1, lambda: 2) == 1
