import pytest

from scoring.metrics.definitions import SURFACES
from scoring.metrics.moments import Moments, Own
from scoring.metrics.ruled import RuleCount, Ruled
from scoring.metrics.surfaces import GraderCount, seven
from tests.unit.scoring.metrics.groups import group


def counted(surface: str, grader: str, passed: int, scored: int, **more: int) -> GraderCount:
    seen = Moments(clusters=scored, m=scored, y=passed, mm=scored, my=passed, yy=passed)
    given = {"graded": scored, "abstained": 0, "failed": 0, "not_applicable": 0, "broken": 0}
    own = Own(units=scored, shares=passed, squares=passed, inverse=scored)
    return GraderCount(
        surface=surface, grader=grader, kind="code", versions=("1",), seen=seen, own=own,
        **(given | more),
    )  # fmt: skip


def test_there_are_seven_side_by_side_and_an_empty_one_says_what_to_do() -> None:
    reports = seven(group(scoped=10, verified=9, failed=1), [], Ruled())
    assert [report.name for report in reports] == list(SURFACES)
    conversation = next(report for report in reports if report.name == "conversation")
    (figure,) = conversation.figures.values()
    assert figure.shown.value is None
    assert "add one to graders" in figure.text


def test_each_grader_stands_on_its_own_with_what_it_left_out() -> None:
    graders = [
        counted("factuality", "citations", 8, 10, abstained=3, failed=1),
        counted("outcome", "state", 9, 10),
    ]
    reports = {
        report.name: report for report in seven(group(scoped=16, not_summed_up=2), graders, Ruled())
    }
    shown = reports["factuality"].figures["grader citations"].shown
    assert shown.value == 0.8
    assert shown.excluded == {"abstained": 3, "grader_failed": 1}
    assert shown.open == 2
    assert "grader citations" not in reports["outcome"].figures


def test_a_broken_rule_shows_the_runs_that_broke_it() -> None:
    rule = RuleCount(policy="refunds", rule="prohibited.0", severity="hard", runs=2, my=2, yy=2)
    judged = Moments(clusters=50, m=50, y=0, mm=50, my=0, yy=0)
    ruled = Ruled(broken=[rule], judged={"refunds": judged})
    made = group(scoped=50, checked=50, violated=2)
    (report,) = (r for r in seven(made, [], ruled) if r.name == "policy")
    figure = report.figures["rule refunds/prohibited.0"]
    assert figure.shown.value == 0.04
    assert figure.hits is not None
    assert figure.hits.query["rule"] == "refunds/prohibited.0"
    assert figure.hits.runs == 2
    assert figure.link is not None
    assert (figure.link.query["grader"], figure.link.query["verdict"]) == ("refunds", "graded")


def test_incomplete_traces_leave_only_operations() -> None:
    reports = seven(group(scoped=100, verified=100, complete=90), [], Ruled())
    for report in reports:
        values = [figure.shown.value for figure in report.figures.values()]
        if report.name == "operations":
            assert report.figures["trace_completeness"].shown.value == 0.9
        else:
            assert values == [None] * len(values), report.name


@pytest.mark.parametrize("surface", list(SURFACES))
def test_every_figure_of_a_surface_leads_to_its_runs(surface: str) -> None:
    made = group(scoped=10, verified=9, failed=1, finished=10, finished_ns=[1] * 10)
    (report,) = (
        r for r in seven(made, [counted(surface, "g", 5, 10)], Ruled()) if r.name == surface
    )
    for name, figure in report.figures.items():
        assert figure.link is not None, name
