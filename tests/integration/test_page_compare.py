"""Compare over the real engine: the worked example of two versions on the same fifty tasks."""

import re
from collections.abc import Iterator

import pytest

from tests import desk, judged_desk
from tests import site as pages
from tests.judged_desk import World
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
    assert "Completion on tasks is not worse by 5 points, shown at 95 % with n = 50" in words
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


def test_before_the_planned_n_there_is_no_p_value_and_the_missing_n_is_said(early: Site) -> None:
    words = words_of(early, BUGS)
    assert "NOT ENOUGH DATA" in words
    assert "150 more needed, n = 50" in words
    assert "No p value before the rule has decided" in words
    assert not re.search(r"p = 0", words)
    assert "95 % CI" in words
