"""Chance is a hash: reproducible, independent of order, evenly spread."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.cli.demo.chance import Chance


@given(st.text(), st.text(), st.integers(-5, 5), st.integers(0, 20))
def test_every_answer_lies_where_it_was_asked_for(
    path: str, question: str, low: int, more: int
) -> None:
    chance = Chance(path)
    assert 0 <= chance.share(question) < 1
    assert low <= chance.whole(question, low, low + more) <= low + more
    assert chance.pick(question, [low]) == low


def test_the_same_question_gets_the_same_answer_and_another_place_gives_another() -> None:
    here, there = Chance("7").below("run", 1), Chance("7").below("run", 2)
    assert here.share("x") == Chance("7").below("run", 1).share("x")
    assert here.share("x") != there.share("x")


def test_another_salt_gives_other_names_to_the_same_story() -> None:
    monday, tuesday = Chance("7", "monday"), Chance("7", "tuesday")
    assert monday.share("x") == tuesday.share("x")
    assert monday.code("order") != tuesday.code("order")
    assert monday.below("run").name_bits("trace") != tuesday.below("run").name_bits("trace")


def test_a_rate_is_kept_over_many_questions() -> None:
    chance = Chance("rates")
    said_yes = sum(chance.happens(f"q{n}", 0.3) for n in range(20_000))
    # 4 standard deviations of a binomial with n = 20,000 and p = 0.3 are 259.
    assert abs(said_yes - 6_000) < 260
