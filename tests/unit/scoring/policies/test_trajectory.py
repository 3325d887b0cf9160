from hypothesis import given
from hypothesis import strategies as st

from gnomon.clock import Nanos
from scoring.policies.actions import Action, Ending, Trajectory

actions = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 5)), max_size=20
).map(
    lambda calls: [
        Action(
            tool=tool,
            started=Nanos(start),
            ended=Nanos(start + took),
            ending=Ending.SUCCEEDED,
            arguments={},
            step=f"s{number}",
        )
        for number, (tool, start, took) in enumerate(sorted(calls, key=lambda call: call[1]))
    ]
)


@given(actions, st.sampled_from("abcd"), st.integers(-1, 10))
def test_calls_found_by_tool_and_time_are_those_a_look_at_all_finds(
    calls: list[Action], tool: str, at: int
) -> None:
    found = Trajectory(calls)
    moment = Nanos(at)
    assert list(found.of(tool)) == [one for one in calls if one.tool == tool]
    assert list(found.before(tool, moment)) == [
        one for one in calls if one.tool == tool and one.started <= moment
    ]
    assert list(found.since(moment)) == [one for one in calls if one.started >= moment]
    assert set(found.tools) == {one.tool for one in calls}
