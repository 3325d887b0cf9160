import pytest

from collector.dialects import keysets
from collector.dialects.keysets import Keys, OfKeys


class Asked:
    """Tells whether `a` is among the keys, and remembers what it was asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, keys: Keys) -> bool:
        self.times += 1
        return "a" in keys


def test_equal_keys_are_looked_at_once_whatever_their_values() -> None:
    asked = Asked()
    question: OfKeys[bool] = OfKeys(asked)
    assert [question({"a": "1"}), question({"a": "2"}), question({"b": ""})] == [True, True, False]
    assert question({"b": ""}) is False
    assert asked.times == 2


def test_a_large_set_of_keys_is_answered_and_not_kept() -> None:
    asked = Asked()
    question: OfKeys[bool] = OfKeys(asked)
    large = {"x" * keysets.MOST_CHARACTERS: "", "a": ""}
    assert question(large)
    assert question(large)
    assert asked.times == 2


def test_more_sets_than_the_limit_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keysets, "MOST_SETS", 2)
    asked = Asked()
    question: OfKeys[bool] = OfKeys(asked)
    for key in ("a", "b", "c", "c", "a"):
        assert question({key: ""}) is (key == "a")
    assert asked.times == 4
