"""Ids of senders in addresses: whatever they hold, they arrive, and as one segment."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.segment import id_of, segment
from tests.odd_ids import ODD_IDS


@given(st.text(min_size=1))
def test_every_id_is_one_segment_of_unreserved_letters_and_comes_back(text: str) -> None:
    encodable = text.encode(errors="replace").decode()
    shown = segment(encodable)
    assert re.fullmatch(r"[A-Za-z0-9_.:@~-]+", shown)
    assert set(shown) != {"."}
    assert id_of(shown) == encodable


@pytest.mark.parametrize("plain", ["284b6d4c", "a.b-c_d", "user@host:1"])
def test_a_plain_id_stands_as_it_is(plain: str) -> None:
    assert segment(plain) == plain


@pytest.mark.parametrize("odd", ODD_IDS)
def test_an_id_that_a_browser_would_resolve_or_decode_is_marked(odd: str) -> None:
    assert segment(odd).startswith("~")


def test_what_is_no_utf8_stands_for_no_id() -> None:
    assert id_of("~~FF") == "\N{REPLACEMENT CHARACTER}"
