"""The tree of a run: every step has its place, wrappers fold, large runs stay small."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from collector.views import Outline, shape_of
from gnomon.clock import Nanos
from gnomon.model import Kind
from gnomon.web.plan import FULL, PAGE, Gap, Row
from gnomon.web.plan import plan as planned
from gnomon.web.tree import Forest, decisive, first_error
from gnomon.web.tree import forest as forest_of
from tests.desk import wide_run
from tests.page_memory import outline_of


def step(name: str, parent: str = "", at: int = 0, **more: object) -> Outline:
    return Outline(
        trace_id="t",
        span_id=name,
        parent_span_id=parent,
        started_at=Nanos(at),
        duration_ns=1,
        span_name=name,
        **{"kind": Kind.AGENT, **more},  # type: ignore[arg-type]
    )


def forest(steps: Sequence[Outline]) -> Forest:
    return forest_of(shape_of(steps))


def plan(of: Forest, **asked: Any) -> list[Row]:
    return [row for row in planned(of, **asked) if isinstance(row, Row)]


def gaps(of: Forest, **asked: Any) -> list[Gap]:
    return [row for row in planned(of, **asked) if isinstance(row, Gap)]


def names(of: Forest, rows: Sequence[Row]) -> list[tuple[int, str]]:
    return [(row.level, of.keys[row.place]) for row in rows]


def key(of: Forest, place: int | None) -> str | None:
    return None if place is None else of.keys[place]


def wide(count: int, each: int = 9) -> Forest:
    return forest([outline_of(one) for one in wide_run(count, each=each)[1]])


def test_children_follow_their_parent_in_order_of_start_then_span_id() -> None:
    of = forest(
        [step("b", "r", 2), step("a", "r", 2), step("c", "r", 1), step("r"), step("x", "c", 3)]
    )
    assert names(of, plan(of)) == [(1, "r"), (2, "c"), (3, "x"), (2, "a"), (2, "b")]


def test_a_step_whose_parent_is_missing_is_a_root() -> None:
    of = forest([step("a", "lost"), step("b", "a", 1)])
    assert names(of, plan(of)) == [(1, "a"), (2, "b")]


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=13, unique_by=lambda p: p[0]
    )
)
def test_every_step_is_drawn_once_whatever_the_parents_say(pairs: list[tuple[int, int]]) -> None:
    of = forest([step(f"s{a}", f"s{b}", a) for a, b in pairs])
    drawn = [of.keys[row.place] for row in plan(of)]
    folded = [of.keys[place] for row in plan(of) for place in row.wrappers]
    assert sorted(drawn + folded) == sorted(f"s{a}" for a, _ in pairs)


def test_a_wrapper_with_one_child_folds_into_it() -> None:
    of = forest(
        [
            step("agent", kind=Kind.AGENT),
            step("turn", "agent", 1, kind=Kind.CHAIN),
            step("inner", "turn", 2, kind=Kind.OTHER),
            step("call", "inner", 3, kind=Kind.LLM, counted=True),
        ]
    )
    rows = plan(of)
    assert names(of, rows) == [(1, "agent"), (2, "call")]
    assert [of.keys[place] for place in rows[1].wrappers] == ["turn", "inner"]


def test_a_chosen_wrapper_and_one_that_failed_by_itself_stay() -> None:
    steps = [
        step("turn", kind=Kind.CHAIN, status="error"),
        step("call", "turn", 1, kind=Kind.LLM, counted=True),
    ]
    failed = forest(steps)
    assert names(failed, plan(failed)) == [(1, "turn"), (2, "call")]
    of = forest([step("turn", kind=Kind.CHAIN), step("call", "turn", 1, kind=Kind.LLM)])
    assert names(of, plan(of, selected=of.places["turn"])) == [(1, "turn"), (2, "call")]


def test_the_page_opens_at_the_first_failed_work_else_at_the_last_tool_call() -> None:
    failed = forest(
        [
            step("agent", kind=Kind.AGENT, status="error"),
            step("a", "agent", 1, kind=Kind.TOOL, counted=True),
            step("b", "agent", 2, kind=Kind.TOOL, counted=True, status="error"),
            step("c", "agent", 3, kind=Kind.TOOL, counted=True, status="error"),
        ]
    )
    assert key(failed, first_error(failed)) == "b"
    fine = forest(
        [
            step("agent", kind=Kind.AGENT),
            step("a", "agent", 1, kind=Kind.TOOL, counted=True),
            step("b", "agent", 2, kind=Kind.LLM, counted=True),
        ]
    )
    assert first_error(fine) is None
    assert key(fine, decisive(fine)) == "a"
    assert decisive(forest([])) is None


def test_a_failed_container_is_the_error_only_when_no_work_failed() -> None:
    of = forest([step("agent", status="error"), step("inner", "agent", 1, status="error")])
    assert key(of, first_error(of)) == "inner"


def test_up_to_a_thousand_steps_are_drawn_whole() -> None:
    rows = plan(wide(FULL))
    assert len(rows) == FULL
    assert gaps(wide(FULL)) == []


def test_a_large_run_shows_few_rows_and_the_way_to_the_first_error() -> None:
    of = wide(30_000)
    rows = plan(of)
    error = first_error(of)
    assert error is not None
    assert len(rows) <= FULL
    assert set(of.path(error)) <= {row.place for row in rows}
    root = rows[0].place
    left_out = sum(gap.steps for gap in gaps(of) if gap.inside == root)
    assert left_out == len(of.inside[root]) - sum(row.level == 2 for row in rows)


def test_a_selected_or_opened_step_of_a_large_run_shows_what_is_inside() -> None:
    of = wide(30_000)
    closed = next(row.place for row in plan(of) if row.expanded is False)
    for rows in (plan(of, selected=closed), plan(of, opened={of.keys[closed]: 1})):
        assert set(of.inside[closed]) <= {row.place for row in rows}
    more = plan(of, opened={of.keys[of.roots[0]]: 3})
    assert sum(row.level == 2 for row in more) >= 3 * PAGE


def test_a_hundred_and_thirty_levels_and_a_long_chain_are_no_trouble() -> None:
    agents = [step(f"{n:05}", f"{n - 1:05}", n) for n in range(20_000)]
    assert plan(forest(agents[:130]))[-1].level == 130
    assert plan(forest(agents))
    wrappers = [step(f"{n:05}", f"{n - 1:05}", n, kind=Kind.CHAIN) for n in range(130)]
    rows = plan(forest(wrappers))
    assert (len(rows), len(rows[0].wrappers)) == (1, 129)


def test_a_ring_of_parents_is_cut_at_its_earliest_step() -> None:
    of = forest([step("a", "c", 1), step("b", "a", 2), step("c", "b", 3)])
    assert [of.keys[root] for root in of.roots] == ["a"]


def test_a_run_of_nothing_but_roots_shows_some_of_them_and_more_on_demand() -> None:
    of = forest([step(f"{n:05}", "lost", n) for n in range(5_000)])
    assert len(plan(of)) == PAGE
    assert len(plan(of, opened={"": 3})) == 3 * PAGE
    assert plan(of, selected=4_000)[-1].place == 4_000


def test_steps_of_several_traces_are_named_with_their_trace() -> None:
    twin = replace(step("a", "r", 1), trace_id="u")
    of = forest([step("r"), step("a", "r", 1), twin])
    assert of.keys == ["t-r", "t-a", "u-a"]
    assert of.roots == [0, 2]
    assert (of.named("u-a"), of.named("a"), of.named("b")) == (2, 1, None)
