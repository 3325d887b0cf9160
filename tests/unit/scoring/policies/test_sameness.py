from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.policies.sameness import groups, identity, likeness, number, same

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["7", "07", "7.0", 7, 7.0, "1e400", 1e300, "1e9999999"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (25, 25.0, True),
        (25, "25", True),
        (25.0, "25.00", True),
        (0.1, "0.1", True),
        ("25", "25.0", False),
        ("c1", "c1", True),
        (True, True, True),
        (True, 1, False),
        (True, "true", False),
        (None, None, True),
        (None, "", False),
        (10**40 + 1, 10**40 + 2, False),
        (10**40 + 1, str(10**40 + 1), True),
        ([1, "a"], [1.0, "a"], True),
        ([True], [1], False),
        ({"a": 1}, {"a": "1"}, False),
        ("1_000", 1000, False),
    ],
)
def test_values_are_the_same_digit_by_digit(one: object, other: object, expected: bool) -> None:
    assert same(one, other) is expected
    assert same(other, one) is expected


def test_a_number_of_any_length_is_exact_and_text_beyond_all_bounds_is_none() -> None:
    assert number("1e9999999") == Decimal("1e9999999")
    assert number(10**5000) is not None
    for text in ("1e99999999999999999999", "nan", "Infinity", "1_0", "", "٣", "0x1", True):
        assert number(text) is None


@given(st.lists(VALUES, max_size=6))
def test_sameness_likeness_and_groups_agree(values: list[object]) -> None:
    keys = list(groups(values))
    assert len(keys) == len(values)
    for one, key in zip(values, keys, strict=True):
        assert same(one, one)
        for other, theirs in zip(values, keys, strict=True):
            assert same(one, other) is same(other, one)
            if identity(one) == identity(other):
                assert key == theirs
            if key == theirs:
                assert same(one, other)
            if same(one, other):
                assert likeness(one) == likeness(other)
