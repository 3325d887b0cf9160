from gnomon.web.worddiff import compared


def own(pieces: object) -> list[str]:
    return [piece.text for piece in pieces if piece.own]  # type: ignore[attr-defined]


def test_only_the_words_that_differ_are_marked() -> None:
    found = compared("I paid 30 back to you.", "I paid nothing back to you!")
    assert own(found.base) == ["30", "."]
    assert own(found.cand) == ["nothing", "!"]
    assert not found.same


def test_both_texts_can_be_put_together_again() -> None:
    base, cand = "one two\n\n  three", "one  two four"
    found = compared(base, cand)
    assert "".join(piece.text for piece in found.base) == base
    assert "".join(piece.text for piece in found.cand) == cand


def test_equal_texts_have_no_mark_and_empty_ones_no_piece() -> None:
    assert compared("same", "same").same
    assert compared("", "").base == []
    assert own(compared("", "new").cand) == ["new"]


def test_long_texts_are_cut_and_say_so() -> None:
    found = compared("a " * 50, "a " * 50, most=10)
    assert found.cut
    assert "".join(piece.text for piece in found.base) == "a " * 5
