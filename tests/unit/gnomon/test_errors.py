from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon import errors

DOCS = Path(__file__).parents[3] / "docs" / "api.md"


def tree(root: type[errors.GnomonError]) -> Iterator[type[errors.GnomonError]]:
    yield root
    for branch in root.__subclasses__():
        yield from tree(branch)


ALL = [error for error in tree(errors.GnomonError) if error.__module__ == errors.__name__]


def test_codes_are_unique() -> None:
    codes = [error.code for error in ALL]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("error", ALL)
def test_a_code_is_documented_and_has_a_default_message(error: type[errors.GnomonError]) -> None:
    assert f"`{error.code}`" in DOCS.read_text()
    assert str(error()) == (error.__doc__ or "").strip()
    assert error.status in range(400, 600)
    assert error.exit_code in (1, 2, 3, 4)
