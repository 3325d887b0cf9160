"""Effects are drawn where they lie, around zero, with their limits."""

import re

from gnomon.web.forest import Effect, forest, split, whisker


def effect(value: float | None, low: float | None, high: float | None) -> Effect:
    return Effect(name="same tasks", value=value, low=low, high=high, reading="+8 points")


def drawn(one: Effect, margin: float | None = None) -> str:
    return str(forest([one], title="t", finding="f", margin=margin))


def test_the_limits_stand_on_both_sides_of_the_value_and_zero_is_marked() -> None:
    text = drawn(effect(0.08, 0.0095, 0.15))
    dot = float(re.search(r'<circle[^>]*cx="([\d.]+)"', text)[1])  # type: ignore[index]
    line = re.search(r'class="interval s0" d="M([\d.]+) [\d.]+H([\d.]+)', text)
    assert line is not None
    zero = float(re.search(r'class="rule zero" d="M([\d.]+)', text)[1])  # type: ignore[index]
    assert zero < float(line[1]) < dot < float(line[2])


def test_the_margin_that_the_rule_allows_lies_on_the_side_of_a_loss() -> None:
    text = drawn(effect(0.08, 0.0095, 0.15), margin=0.05)
    mark = float(re.search(r'class="mark" d="M([\d.]+)', text)[1])  # type: ignore[index]
    zero = float(re.search(r'class="rule zero" d="M([\d.]+)', text)[1])  # type: ignore[index]
    assert mark < zero
    assert "margin" in text


def test_an_effect_beyond_every_tick_still_lies_within_the_chart() -> None:
    text = drawn(effect(-0.9, -1.0, -0.8))
    xs = [float(x) for x in re.findall(r'(?:cx|x)="([\d.]+)"', text)]
    assert min(xs) >= 0
    assert max(xs) <= 640


def test_bounds_without_a_value_have_no_dot() -> None:
    assert "<circle" not in drawn(effect(None, -0.1, 0.2))
    text = str(whisker(0.8, None, 0.9, least=0.0, most=1.0))
    assert "<circle" not in text
    assert 'class="interval s0"' in text


def test_a_whisker_without_anything_known_is_nothing() -> None:
    assert whisker(None, None, None, least=0.0, most=1.0) == ""
    assert whisker(0.5, 0.5, 0.5, least=0.5, most=0.5) == ""


def test_names_are_escaped() -> None:
    one = Effect(name="<b>", value=0.1, low=0.0, high=0.2, reading='"x"')
    text = str(forest([one], title="<t>", finding="f", margin=None))
    assert "<b>" not in text
    assert "<t>" not in text


def test_the_parts_of_a_whole_fill_the_bar_in_their_order() -> None:
    text = str(split([("broke", "error", 3), ("same", "rest", 38), ("fixed", "ok", 9)], title="t"))
    assert re.findall(r'class="area (\w+)" x="([\d.]+)%"', text) == [
        ("error", "0"),
        ("rest", "6"),
        ("ok", "82"),
    ]
    assert split([("broke", "error", 0)], title="t") == ""
