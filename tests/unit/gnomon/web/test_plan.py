"""What is drawn of a large run: few rows whatever its shape, and every step within reach."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.views import shape_of
from gnomon.model import Kind
from gnomon.web.plan import FULL, OPENS, PAGE, ROOM, Gap, Row, opening, pages_of, plan
from gnomon.web.tree import NOBODY, Forest, decisive, first_error, forest
from tests.page_memory import outline_of
from tests.shapes import chain, chain_of_fans, fan, fan_of_chains, shaped

SHAPES: Mapping[str, Sequence[int]] = {
    "a chain": chain(3_000),
    "a fan": fan(3_000),
    "a fan of chains": fan_of_chains(30, 100),
    "a chain of fans": chain_of_fans(10, 300),
    "a chain with leaves": chain_of_fans(600, 5),
    "nothing but roots": [NOBODY] * 3_000,
}


def made(parents: Sequence[int], *, failed: int | None = None, kind: Kind = Kind.TOOL) -> Forest:
    _, steps = shaped(parents, root="a" * 32, failed=failed, kind=kind)
    return forest(shape_of([outline_of(one) for one in steps]))


def places(rows: Sequence[Row | Gap]) -> list[int]:
    return [place for row in rows if isinstance(row, Row) for place in (*row.wrappers, row.place)]


def gaps(rows: Sequence[Row | Gap]) -> list[Gap]:
    return [row for row in rows if isinstance(row, Gap)]


def opened_at(of: Forest, gap: Gap, opened: Mapping[str, int]) -> Mapping[str, int]:
    return opening(opened, "" if gap.inside == NOBODY else of.keys[gap.inside], gap.page)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("failed", [None, 1_500, 2_999])
def test_a_large_run_of_any_shape_has_few_rows_and_shows_the_decisive_step(
    shape: str, failed: int | None
) -> None:
    of = made(SHAPES[shape], failed=failed)
    chosen = decisive(of)
    rows = plan(of, selected=chosen)
    assert len(rows) <= ROOM
    assert chosen in places(rows)
    assert len(set(places(rows))) == len(places(rows))
    if failed is not None:
        assert failed in places(plan(of, selected=0))


def test_a_long_way_shows_its_first_levels_a_gap_and_the_levels_around_the_step() -> None:
    of = made(chain(3_000))
    rows = plan(of, selected=2_999)
    (gap,) = gaps(rows)
    at = rows.index(gap)
    assert places(rows[:at]) == list(range(at))
    assert places(rows[at + 1 :]) == list(range(3_000 - len(rows) + at + 1, 3_000))
    assert at >= 3
    assert len(rows) - at > 5
    assert gap.between
    assert gap.steps == 3_000 - (len(rows) - 1)
    assert [row.level for row in rows if isinstance(row, Row)] == [n + 1 for n in places(rows)]


def test_a_gap_among_siblings_says_how_many_lie_before_and_behind_the_chosen_one() -> None:
    of = made(fan(3_000), failed=1_700)
    found = [(gap.steps, gap.between) for gap in gaps(plan(of))]
    assert found == [(1_700 - 1 - PAGE, False), (3_000 - 1 - 1_700, False)]


@pytest.mark.parametrize(
    "parents",
    [
        chain(1_300),
        fan(1_300),
        fan_of_chains(13, 100),
        chain_of_fans(5, 250),
        chain_of_fans(300, 4),
    ],
)
def test_every_step_is_reached_by_opening_gaps_and_closed_rows(parents: Sequence[int]) -> None:
    of = made(parents)
    rows, opened = plan(of), dict[str, int]()
    reached = set(places(rows))
    for _ in range(600):
        if len(reached) == len(of):
            break
        wanted = [(gap, opened_at(of, gap, opened)) for gap in gaps(rows)] + [
            (row, opening(opened, of.keys[row.place], 1))
            for row in rows
            if isinstance(row, Row) and row.expanded is False
        ]
        fresh = next(
            (after for _, after in wanted if not set(places(plan(of, opened=after))) <= reached),
            None,
        )
        assert fresh is not None, f"{len(of) - len(reached)} steps can not be reached"
        opened = dict(fresh)
        rows = plan(of, opened=opened)
        assert len(rows) - len(gaps(rows)) <= ROOM
        assert len(opened) <= OPENS
        reached |= set(places(rows))
    assert len(reached) == len(of)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_gap_that_is_opened_draws_its_first_steps(shape: str) -> None:
    of = made(SHAPES[shape], failed=1_700)
    rows, opened = plan(of), dict[str, int]()
    for turn in range(12):
        left = gaps(rows)
        if not left:
            return
        gap = left[turn % len(left)]
        opened = dict(opened_at(of, gap, opened))
        before, rows = set(places(rows)), plan(of, opened=opened)
        assert gap.first not in before
        assert gap.first in places(rows)


@settings(max_examples=20)
@given(st.randoms(use_true_random=False), st.sampled_from([Kind.TOOL, Kind.CHAIN]))
def test_no_tree_whatever_is_opened_has_more_rows_or_draws_a_step_twice(
    dice: Random, kind: Kind
) -> None:
    parents = [dice.randrange(max(NOBODY, n - 40), n) for n in range(FULL + 200)]
    of = made(parents, kind=kind)
    keys = ["", *of.keys]
    selected = dice.randrange(len(of))
    rows = plan(of, selected=selected, opened={dice.choice(keys): 1 for _ in range(8)})
    drawn = places(rows)
    assert len(drawn) == len(set(drawn))
    assert selected in drawn
    assert sum(isinstance(row, Row) for row in rows) <= ROOM


def test_small_gaps_on_the_way_are_drawn_instead() -> None:
    of = made(chain_of_fans(600, 5), failed=2_000)
    rows = plan(of)
    way = of.path(first_error(of) or 0)
    beside = {child for place in way[-3:] for child in of.children(of.above[place])}
    assert beside <= set(places(rows))
    assert all(gap.between or gap.steps > 4 for gap in gaps(rows))


def test_pages_of_a_step_are_known_and_those_of_others_are_not() -> None:
    of = made(fan(3_000))
    assert pages_of(of, of.keys[0]) == 15
    assert pages_of(of, of.keys[1]) == 0
    assert pages_of(of, "") == 1
    assert pages_of(of, "beef") is None
