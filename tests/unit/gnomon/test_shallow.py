import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.shallow import shallow

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=20,
)


def cut(value: object, room: int) -> object:
    if not isinstance(value, list | dict):
        return value
    if room == 0:
        return None
    if isinstance(value, list):
        return [cut(item, room - 1) for item in value]
    return {name: cut(item, room - 1) for name, item in value.items()}


@given(VALUES, st.integers(0, 5))
def test_what_lies_too_deep_is_replaced_and_all_else_stays(value: object, deepest: int) -> None:
    text = json.dumps(value)
    assert json.loads(shallow(text, deepest=deepest, instead="null")) == cut(value, deepest)


@pytest.mark.parametrize("text", ["[" * 100_000, "]" * 10, '["a', '{"\\', "no JSON at all [["])
def test_what_is_no_json_stays_none(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json raises ValueErrors of its own
        json.loads(shallow(text, deepest=1, instead="null"))
