"""A grader that is set back to an earlier version: its labels speak again, the others no more."""

import json
from collections.abc import Iterable

import pytest

from gnomon.errors import StoreUnavailable
from gnomon.model import Run, RunId
from gnomon.store import Store
from gnomon.web.judgments import verdict_of
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import MetricsWatched
from scoring.rollbacks import ROLLBACKS
from tests.judging import Court, make_run

RIGHT = """
graders:
  - {{type: schema, name: right, version: "{version}", surface: outcome,
      schema: {{type: object, required: [right], properties: {{right: {{const: {right}}}}}}}}}
"""
FIRST = RIGHT.format(version="1", right="true")
SECOND = RIGHT.format(version="2", right="false")
"""It judges the other way round."""


def verdicts(store: Store) -> tuple[int, int]:
    """Return how many runs are right and wrong."""
    (group,) = MetricReader(store, MetricsWatched()).groups(Scope(), "")
    return group.sums.parts["verified"], group.sums.parts["failed"]


def put(court: Court, *names: str, right: bool) -> None:
    for name in names:
        court.put(make_run(name, output=json.dumps({"right": right})))


def backfill(court: Court) -> int:
    court.clock.later(5)
    court.scoring.backfills.ask("right", since=None)
    return court.scoring.backfills.work("right").judged


def start(court: Court, config: str) -> int:
    """Start a process with this configuration; return the windows that the job found due."""
    court.open(config)
    court.clock.later(30)
    return court.scoring.jobs.tick(court.scoring.jobs.named(ROLLBACKS))


def judged_by_both(store: Store) -> Court:
    """Return a house in which version 2 judged after version 1: of four runs, three are right."""
    court = Court(store, FIRST)
    put(court, "a", "b", "c", right=True)
    put(court, "d", right=False)
    court.tick()
    assert verdicts(store) == (3, 1)
    assert start(court, SECOND) == 1
    assert verdicts(store) == (3, 1), "version 2 has judged nothing: version 1 speaks on"
    assert backfill(court) == 4
    assert verdicts(store) == (1, 3)
    return court


def rows(store: Store) -> int:
    return int(store.read("SELECT count() AS n FROM verdicts", tag="test")[0]["n"])


def test_labels_of_the_version_that_is_set_up_speak_again_by_themselves(store: Store) -> None:
    court = judged_by_both(store)
    assert start(court, FIRST) == 1
    assert verdicts(store) == (3, 1)
    before = rows(store)
    assert start(court, FIRST) == 0, "nothing is left of it, and no window is made"
    put(court, "e", right=True)
    court.tick()
    assert verdicts(store) == (4, 1), "no number mixes two versions"
    assert rows(store) == before + 1
    assert start(court, SECOND) == 1
    assert verdicts(store) == (2, 3), "e is not judged by version 2: what version 1 said stands"
    assert backfill(court) == 1
    assert verdicts(store) == (1, 4)


def test_a_backfill_makes_the_verdicts_anew_too_though_nothing_is_left_to_judge(
    store: Store,
) -> None:
    court = judged_by_both(store)
    court.open(FIRST)
    assert backfill(court) == 0
    assert verdicts(store) == (3, 1)


def test_what_an_end_of_the_process_leaves_the_next_start_makes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.rollbacks._MANY", 1)
    court = judged_by_both(store)
    whole, asked = court.reader.many_runs, []

    def away(ids: Iterable[str]) -> dict[RunId, Run]:
        asked.append(ids)
        if len(asked) > 2:
            raise StoreUnavailable
        return whole(ids)

    monkeypatch.setattr(court.reader, "many_runs", away)
    assert start(court, FIRST) == 0, "its window stays open"
    assert rows(store) == 4 + 4 + 2
    monkeypatch.undo()
    assert start(court, FIRST) == 1
    assert verdicts(store) == (3, 1)
    assert rows(store) == 4 + 4 + 4, "two were made before"


def test_the_page_of_a_run_tells_the_verdict_that_numbers_count(store: Store) -> None:
    court = judged_by_both(store)
    run = make_run("a", output='{"right": true}')
    assert verdict_of(court.scoring.reader.of(run)) == "fail"
    start(court, FIRST)
    assert verdict_of(court.scoring.reader.of(run)) == "pass"


def told(court: Court) -> dict[str, tuple[bool, str]]:
    """Return of some figures whether they are flagged, and what they say."""
    (report,) = court.scoring.metrics.metrics(Scope())
    (surfaces,) = court.scoring.metrics.surfaces(Scope())
    (pulse,) = court.scoring.metrics.pulse(Scope())
    outcome = next(one for one in surfaces.surfaces if one.name == "outcome")
    figures = {
        "completion": report.metric("completion").measure,
        "aborted": report.metric("completion").guard["aborted"],
        "cost": report.metric("cost").measure,
        "grader": outcome.figures["grader right"],
        "first page": pulse.pass_rate.measure,
    }
    return {
        name: ("other_grader_version" in one.shown.flags, one.text) for name, one in figures.items()
    }


def test_a_number_that_stems_from_another_version_says_so_and_names_the_mend(store: Store) -> None:
    mend = (
        "of 4 runs another version of right speaks than 2, which is set up and has judged"
        " none of them: gnomon graders backfill right"
    )
    court = Court(store, FIRST)
    for name in "abcd":
        court.put(make_run(name, output='{"right": true}', complete=True, cost_usd=1.0))
    court.tick()
    assert not any(flagged for flagged, _ in told(court).values())
    start(court, SECOND)
    found = told(court)
    for name in ("completion", "cost", "grader", "first page"):
        assert found[name][0], name
        assert found[name][1].endswith(mend), name
    assert found["aborted"] == (False, ""), "no grader has a part in it"
    court.put(make_run("e", output='{"right": true}', complete=True, cost_usd=1.0))
    court.tick()
    assert told(court)["completion"] == (True, mend), "e is judged by version 2"
    backfill(court)
    assert not any(flagged for flagged, _ in told(court).values())
    start(court, FIRST)
    of_one = mend.replace("of 4 runs", "of 1 run").replace("than 2", "than 1")
    assert told(court)["completion"] == (True, of_one), "version 1 never judged e"
