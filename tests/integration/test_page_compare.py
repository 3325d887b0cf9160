"""Compare over the real engine: the worked example of two versions on the same fifty tasks."""

import re
from collections.abc import Iterator

import pytest

from tests import desk, judged_desk
from tests import site as pages
from tests.judged_desk import World
from tests.judged_world import seen_first
from tests.site import Page, Site, page


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with judged_desk.fifty_bugs(tmp_path_factory.mktemp("bugs")) as made:
        yield made


@pytest.fixture(scope="module")
def bugs(world: World) -> Site:
    return pages.site(world.reader, desk.books(), world.judging)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def early(world: World) -> Site:
    """The same runs under a rule that asks for 200 tasks."""
    judging = judged_desk.judging_of(
        world.store, world.reader, watched=judged_desk.ruled(200), graders=[]
    )
    seen_first(world.store, judging.compare.plan)
    return pages.site(world.reader, desk.books(), judging)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def late(world: World) -> Site:
    """The same runs under a rule that nobody saw before."""
    judging = judged_desk.judging_of(
        world.store, world.reader, watched=judged_desk.ruled(40), graders=[]
    )
    return pages.site(world.reader, desk.books(), judging)  # type: ignore[arg-type]


def words_of(made: Site, path: str) -> str:
    answer = made.client.get(path)
    assert answer.status_code == 200, answer.text[:400]
    return " ".join(Page(answer.text).words.split())


BUGS = "/compare?base=old&cand=new&agent=fixer&period=3d"


def test_the_worked_example_shows_interval_sign_test_and_the_twelve_tasks(bugs: Site) -> None:
    words = words_of(bugs, f"{BUGS}&show=all")
    assert "new is better than old, +8 points, 95 % CI +0.95 to +15 points" in words
    assert "sign test p = 0.146" in words
    assert "sign-flip p = 0.041" in words
    assert "t p = 0.027" in words
    assert "PASS" in words
    for shown in ("3 broke", "38 same", "9 fixed"):
        assert shown in words
    for size, tasks in (("+66.7", 6), ("+33.3", 3), ("−33.3", 3), ("0", 38)):
        assert f"{size} points {tasks} tasks" in words
    text = bugs.client.get(f"{BUGS}&show=all").text
    table = re.search(r'<table class="tasks">.*?</table>', text, re.DOTALL)
    assert table is not None
    links = Page(table[0]).links
    assert len([link for link in links if "key.task_id=bug-" in link]) == 12
    assert len([link for link in links if link.startswith("/compare/task?")]) == 12
    for version in ("old", "new"):
        for task in range(12):
            for trial in range(3):
                assert any(f"/runs/{version}-{task:02}-{trial}" in link for link in links)


def test_the_rule_and_its_hash_stand_above_the_verdict(bugs: Site) -> None:
    text = bugs.client.get(BUGS).text
    plan = re.search(r'<section class="card plan".*?</section>', text, re.DOTALL)
    assert plan is not None
    assert re.search(r'<code class="hash"[^>]*>[0-9a-f]{12}</code>', plan[0])
    words = " ".join(Page(plan[0]).words.split())
    assert (
        "Completion on tasks of fixer in all environments is not worse by 5 points, shown at 95 % with n = 50"
        in words
    )
    assert words.index("not worse by 5 points") < words.index("PASS")
    assert text.index('class="card plan"') < text.index('class="chart forest"')


def test_more_than_one_changed_pin_is_a_banner(bugs: Site) -> None:
    text = bugs.client.get(BUGS).text
    banner = re.search(r'<p class="note bad[^>]*>(.*?)</p>', text)
    assert banner is not None
    assert "2 pins changed at once (model, prompt)" in banner[1]


def test_tasks_that_broke_are_shown_first_of_all(bugs: Site) -> None:
    seen = page(bugs, BUGS)
    assert len([link for link in seen.links if "key.task_id=bug-" in link]) == 3
    assert "/compare?agent=fixer&period=3d&base=old&cand=new&show=fixed#tasks" in seen.links


def test_every_changed_task_is_a_link_beside_its_size_whatever_is_listed(bugs: Site) -> None:
    """All twelve at first sight, though only what broke is listed to be read."""
    text = bugs.client.get(BUGS).text
    sizes = re.search(r'<div class="top-list sizes">.*?</div></div>', text, re.DOTALL)
    assert sizes is not None
    links = [link for link in Page(sizes[0]).links if link.startswith("/compare/task?")]
    assert sorted(re.findall(r"task=(bug-\d\d)", " ".join(links))) == [f"bug-{n:02}" for n in range(12)]  # fmt: skip
    rows = re.findall(r"<div><span>(.*?) points</span>.*?</div>", sizes[0], re.DOTALL)
    linked = [one.count("/compare/task?") for one in re.split(r"<div><span>", sizes[0])[1:]]
    assert dict(zip(rows, linked, strict=True)) == {"+66.7": 6, "+33.3": 3, "−33.3": 3, "0": 0}
    assert bugs.client.get(links[0].replace("&amp;", "&")).status_code == 200


def test_before_the_planned_n_there_are_counts_and_nothing_that_tests(early: Site) -> None:
    words = words_of(early, BUGS)
    assert "NOT ENOUGH DATA" in words
    assert "150 more needed, n = 50" in words
    assert "50 tasks so far, 150 more before the planned look" in words
    assert "Before the planned look there is no interval, no p value and no verdict" in words
    assert not re.search(r"p = 0", words)
    assert "+8 points, 95 % CI +0.95" not in words
    for shown in ("3 broke", "38 same", "9 fixed"):
        assert shown in words
    assert "confidence sequence over tasks in time order" in words


def test_the_rule_says_when_it_was_first_seen_and_which_looks_were_taken(bugs: Site) -> None:
    words = words_of(bugs, BUGS)
    assert (
        "before both versions had run; it counts all runs, whatever the period · look 1 of 1"
        in words
    )
    assert "PASS at n = 50" in words
    assert "Numbers of look 1 at the first 50 tasks" in words


def test_a_rule_that_came_after_the_runs_shows_figures_and_decides_nothing(late: Site) -> None:
    words = words_of(late, BUGS)
    assert "after runs of both versions had come in" in words
    assert "not in force when both versions had run" in words
    assert "NOT ENOUGH DATA" in words
    plan = re.search(
        r'<section class="card plan".*?</section>', late.client.get(BUGS).text, re.DOTALL
    )
    assert plan is not None
    for decided in ("PASS", "FAIL", "look 1 of 1", "before both versions had run"):
        assert decided not in plan[0]
    assert "+8 points" in words
    assert "nobody planned to look now" in words
    assert "A reading aid, not a test: the rule came too late to decide these versions" in words
    assert not re.search(r" p [=<]", words)


def test_the_other_way_round_the_same_look_is_shown(bugs: Site) -> None:
    words = words_of(bugs, "/compare?base=new&cand=old&agent=fixer&period=3d")
    assert "old is worse than new, −8 points, 95 % CI −15 to −0.95 points" in words
    assert "3 fixed" in words
    assert "9 broke" in words
    assert "FAIL" in words


def test_the_guard_stands_beside_both_differences(bugs: Site) -> None:
    text = bugs.client.get(BUGS).text
    assert len(re.findall(r'<table class="guard">', text)) == 2
    words = " ".join(Page(text).words.split())
    assert words.count("claims that were false") == 2
    assert "no policy judged runs of both sides" in words
    assert "violations are not judged, which the rule allows" in words


def test_what_no_rule_is_about_is_a_reading_aid_without_a_p_value(bugs: Site) -> None:
    words = words_of(bugs, f"{BUGS}&metric=finished")
    assert "A reading aid, not a test: the rule is about completion on tasks" in words
    assert "p =" not in words
    assert "PASS" not in words


def reading(made: Site, task: str) -> str:
    links = page(made, f"{BUGS}&show=all").links
    return next(link for link in links if link.startswith("/compare/task?") and task in link)


def test_a_changed_task_is_read_with_both_runs_beside_each_other(bugs: Site) -> None:
    path = reading(bugs, "bug-03")
    seen = page(bugs, path)
    words = " ".join(seen.words.split())
    assert "The last words" in words
    assert "Action by action" in words
    for trial in range(3):
        assert f"old-03-{trial}"[:8] in words
    assert any(link.startswith("/runs/new-03-0") for link in seen.links)
    assert any("new=new-03-2" in link for link in seen.links)
    chosen = page(bugs, next(link for link in seen.links if "new=new-03-2" in link))
    assert any(link.startswith("/runs/new-03-2?") for link in chosen.links)


def test_a_task_that_did_not_change_and_a_run_of_another_task_are_not_found(bugs: Site) -> None:
    path = reading(bugs, "bug-03")
    assert bugs.client.get(path.replace("bug-03", "bug-40")).status_code == 404
    assert bugs.client.get(f"{path}&new=new-04-0").status_code == 404


def test_neighbouring_tasks_are_one_link_away(bugs: Site) -> None:
    path = reading(bugs, "bug-04")
    after = re.search(r'href="([^"]+)" data-follow="next"', bugs.client.get(path).text)
    assert after is not None
    assert bugs.client.get(after[1].replace("&amp;", "&")).status_code == 200
