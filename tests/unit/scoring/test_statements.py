from gnomon.clock import Nanos
from gnomon.store.statements import columns
from scoring.rows import WindowRow
from scoring.statements import (
    ViolationFilter,
    ViolationPosition,
    behind,
    of_statuses,
    of_violations,
)


def test_a_filter_becomes_conditions_with_typed_parameters() -> None:
    where = ViolationFilter(since=Nanos(5), rule="x' OR 1", agent="a", graders=(("p", "1"),))
    found = of_violations(where)
    assert found.text == (
        "started_at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')"
        " AND rule = {rule:String} AND agent_name = {agent:String} AND origin = {origin:String}"
        " AND concat(policy, '\\n', policy_version) IN {graders:Array(String)}"
    )
    assert found.params == {
        "since": 5,
        "rule": "x' OR 1",
        "agent": "a",
        "origin": "production",
        "graders": ["p\n1"],
    }


def test_statuses_are_asked_only_for_what_they_know() -> None:
    where = ViolationFilter(rule="x", severity="hard", agent="a", origin=None)
    assert of_statuses(where).text == "agent_name = {agent:String}"
    assert of_statuses(ViolationFilter(origin=None)).text == "true"


def test_a_page_goes_on_behind_the_last_row() -> None:
    found = of_violations(ViolationFilter(origin=None))
    behind(found, ViolationPosition(Nanos(7), "r", "p", "1", 2, 3))
    assert "(started_at, run_id, policy, policy_version, revision, place) < (" in found.text
    assert found.params["position_place"] == 3


def test_columns_are_the_fields_of_the_row_and_moments_are_numbers() -> None:
    assert columns(WindowRow) == (
        "job, toUnixTimestamp64Nano(window_start) AS window_start,"
        " toUnixTimestamp64Nano(window_end) AS window_end, rows,"
        " toUnixTimestamp64Nano(finished_at) AS finished_at"
    )
