from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from gnomon import watch
from gnomon.clock import Nanos
from scoring.policies.actions import Action
from scoring.policies.binding import bound
from scoring.policies.check import check_trial
from scoring.policies.endings import Ending
from scoring.policies.language import policy_of
from scoring.policies.trajectory import Standing, Trajectory

ORDERS = ("7", "07", 7, 7.0, "a", True, None)
actions = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.integers(0, 9),
        st.integers(0, 5),
        st.sampled_from(Ending),
        st.sampled_from([None, *({"order": one, "customer": "x"} for one in ORDERS), {}]),
    ),
    max_size=20,
).map(
    lambda calls: [
        Action(
            tool=tool,
            started=Nanos(start),
            ended=Nanos(start + took),
            ending=ending,
            arguments=arguments,
            step=f"s{number:02}",
        )
        for number, (tool, start, took, ending, arguments) in enumerate(
            sorted(calls, key=lambda call: call[1])
        )
    ]
)
values = st.dictionaries(st.sampled_from(["order", "customer"]), st.sampled_from(["7", 7, "x"]))


@given(actions, st.sampled_from("abcd"), values, st.sampled_from(Standing), st.integers(-1, 15))
def test_calls_found_by_what_they_are_about_are_those_a_look_at_all_finds(
    calls: list[Action],
    tool: str,
    values: Mapping[str, object],
    standing: Standing,
    at: int,
) -> None:
    found = Trajectory(calls)
    moment = Nanos(at)
    possible = [
        one
        for one in calls
        if one.tool == tool and standing.holds(one) and bound(one, values) is not False
    ]
    rows = found.about(tool, values, standing)

    def ids(*several: object) -> list[str]:
        own = (one for calls in several for one in calls)  # type: ignore[attr-defined]
        return sorted(one.step for one in own if bound(one, values) is not False)

    assert ids(*(row.calls for row in rows)) == ids(possible)
    for row in rows:
        kept = row.calls
        assert ids(row.ended_by(moment)) == ids(a for a in kept if a.ended <= moment)
        assert ids(row.ended_after(moment)) == ids(a for a in kept if a.ended > moment)
        assert ids(row.started_by(moment)) == ids(a for a in kept if a.started <= moment)
        assert ids(row.started_after(moment)) == ids(a for a in kept if a.started > moment)
        assert ids(row.started_from(moment)) == ids(a for a in kept if a.started >= moment)
    assert set(found.tools) == {one.tool for one in calls}


BEFORE = policy_of(
    watch.parse("required_before: {a: [{tool: b, bind: {order: order}}]}"), default_name="p"
)
AFTER = policy_of(
    watch.parse("prohibited: [{tool: a, after: b, bind: {order: order}}]"), default_name="p"
)


@given(actions)
def test_order_is_judged_as_a_look_at_every_pair_of_calls_judges_it(calls: list[Action]) -> None:
    def before(judged: Action, relied: bool) -> list[bool | None]:
        order = (judged.arguments or {}).get("order")
        return [
            None if order is None else bound(one, {"order": order})
            for one in calls
            if one.tool == "b"
            and one.ended <= judged.started
            and (one.succeeded if relied else one.unknown)
        ]

    judged = [one for one in calls if one.tool == "a"]
    met = [True in before(one, relied=True) for one in judged]
    open_ = [
        None in before(one, relied=True)
        or any(known is not False for known in before(one, relied=False))
        for one in judged
    ]
    found = check_trial(BEFORE, calls).violations
    assert [one.steps[0] for one in found] == [
        one.step for one, done in zip(judged, met, strict=True) if not done
    ]
    assert [one.message.startswith("not shown") for one in found] == [
        unclear for unclear, done in zip(open_, met, strict=True) if not done
    ]
    late = check_trial(AFTER, calls).violations
    assert [one.steps[0] for one in late] == [
        one.step for one, done, unclear in zip(judged, met, open_, strict=True) if done or unclear
    ]
