"""The Policies page over two agents that call their versions the same."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gnomon.model import Run, RunId, RunState
from tests import desk, judged_desk, site
from tests.judged_desk import BROKEN, GRADERS, Rows, World, written

POLICY = GRADERS[0]
OTHER = "billing-desk"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with judged_desk.judged_desk(tmp_path_factory.mktemp("policies"), count=60) as made:
        yield made


def another_agent(world: World) -> list[Run]:
    """Write a second agent of the same version, whose every run breaks the rule."""
    one = next(run for run in world.runs if run.state is RunState.SETTLED)
    runs = [
        replace(one, run_id=RunId(f"billing-{number}"), trace_ids=[], agent_name=OTHER)
        for number in range(3)
    ]
    rows = Rows()
    for run in runs:
        rows.judge(run, POLICY, passed=False, broken=[BROKEN])
    reader = written(world.store, runs)
    rows.write(world.store)
    rows.sum_up(world.store, reader, runs)
    return runs


def by_version(text: str) -> dict[tuple[str, ...], str]:
    """Return what the table says, by its cells of names."""
    table = text.partition('aria-label="By version"')[2].partition("</table>")[0]
    found = {}
    for line in table.partition("<tbody>")[2].split("</tr>"):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL)
        words = [" ".join(site.Page(cell).words.split()) for cell in cells]
        if words:
            found[tuple(words[:-1])] = words[-1]
    return found


def test_versions_of_two_agents_that_share_a_name_stay_apart(world: World) -> None:
    made = site.site(world.reader, desk.books(), world.judging)  # type: ignore[arg-type]
    before = by_version(made.client.get("/policies?period=30d").text)
    runs = another_agent(world)
    version = str(runs[0].agent_version)
    fresh = site.site(world.reader, desk.books(), world.judging)  # type: ignore[arg-type]
    after = by_version(fresh.client.get("/policies?period=30d").text)
    assert after.keys() == before.keys() | {(OTHER, version)}
    assert {key: after[key] for key in before} == before
    assert re.match(r"100 %", after[OTHER, version]), after
    alone = by_version(fresh.client.get(f"/policies?period=30d&agent={OTHER}").text)
    assert alone == {(version,): after[OTHER, version]}
