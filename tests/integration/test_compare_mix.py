"""The difference inside slices over the real engine: clusters, repeated tasks, unverified runs."""

from collections.abc import Mapping

import pytest

from gnomon.cli import metrics as cli
from gnomon.errors import InputError
from gnomon.web.compare_parts import live_part
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import CompareSection, MetricsWatched, RuleSection
from scoring.versions.answers import Live
from scoring.versions.reader import CompareReader
from tests.judged_world import DAY, World, seen_first

TOPICS = MetricsWatched(slices={"topic": "topic"})
CUSTOMERS = MetricsWatched(slices={"topic": "topic"}, cluster_by="customer_id")


def compared(world: World, watched: MetricsWatched) -> Live:
    reader = CompareReader(world.store, MetricReader(world.store, watched))
    return reader.live(Scope(agent="desk"), base="rc3", cand="rc4")


def customers(world: World, version: str, passing: int, name: str) -> None:
    """Run 6 customers 3 times each: of the first so many every run passes, of the others none."""
    for place in range(18):
        keys = {"customer_id": f"{name}{place % 6}", "topic": "late"}
        world.run(verified=place % 6 < passing, agent_version=version, keys=keys)


def test_the_interval_inside_a_slice_is_that_of_customers(world: World) -> None:
    customers(world, "rc3", 4, "a")
    customers(world, "rc4", 3, "b")
    found = compared(world, CUSTOMERS)
    assert found.mix is not None
    shown, plain = found.mix.adjusted, found.difference
    assert (shown.value, shown.n, shown.unit) == (pytest.approx(-1 / 6), 6, "customer_id")
    assert (plain.n, plain.unit) == (6, "customer_id")
    # By hand: se² = (1/2·1/2 + 2/3·1/3) / 5, .3073; t at 10 degrees 2.23: -.167 ± .685.
    assert shown.low == pytest.approx(-0.167 - 0.685, abs=2e-3)
    assert shown.high == pytest.approx(-0.167 + 0.685, abs=2e-3)
    runs = compared(world, TOPICS)
    assert runs.mix is not None
    assert (runs.mix.adjusted.n, runs.mix.adjusted.unit) == (18, "run")


def test_one_customer_a_side_has_no_interval_and_page_and_terminal_say_why(world: World) -> None:
    for version in ("rc3", "rc4"):
        for verified in (True, True, False):
            keys = {"customer_id": version, "topic": "late"}
            world.run(verified=verified, agent_version=version, keys=keys)
    found = compared(world, CUSTOMERS)
    assert found.mix is not None
    assert (found.mix.adjusted.value, found.mix.adjusted.low) == (0.0, None)
    assert "no interval: too few clusters" in cli._points(found.mix.adjusted.as_json())
    assert "no interval: too few clusters" in str(live_part(found).chart.chart)


def test_a_change_of_decided_runs_is_divided_into_mix_and_behaviour(world: World) -> None:
    for version, late, broken in (("rc3", 4, 4), ("rc4", 2, 6)):
        for topic, runs in (("late", late), ("broken", broken)):
            for _ in range(runs):
                world.run(verified=topic == "late", agent_version=version, keys={"topic": topic})
    told = live_part(compared(world, TOPICS)).mix
    # By hand: half of 8 passed, a quarter of 8 does; inside each topic nothing changed.
    assert told == (
        "Of −25 points, −25 come from another mix of topic and 0 from the behaviour inside the"
        " slices; at the mix of rc3, rc4 would pass 50 %."
    )


def test_unverified_runs_are_told_wherever_the_mix_is(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in range(8):
        topic = {"topic": "late" if place % 2 else "broken"}
        world.run(verified=True, keys=topic)
        world.run(verified=None, agent_version="rc4", keys=topic)
    found = compared(world, TOPICS)
    assert found.mix is not None
    shown = found.mix.adjusted
    assert (found.difference.value, found.difference.open) == (None, 8)
    assert (shown.value, shown.low, shown.high, shown.open) == (
        None, found.difference.low, found.difference.high, 8,
    )  # fmt: skip
    page = live_part(found)
    assert page.mix.startswith("8 of 16 runs are undecided")
    assert [row[4] for row in page.slices] == ["0 of 4, 4 undecided"] * 2
    assert [row[-1] for row in page.chart.rows] == ["8 undecided"] * 2
    said = found.as_json()
    assert isinstance(said, dict)
    cli._mix(said["mix"])
    told = " ".join(capsys.readouterr().out.split())
    assert "8 of 16 runs are undecided" in told
    assert "undecided inside 8" in told
    assert "-100" not in told.split("95 %")[0]


def test_customers_of_another_week_are_no_better_version(world: World) -> None:
    """A third passes in the first week and two thirds in the second, whichever version runs."""
    for version, weeks in (("rc3", (9, 3)), ("rc4", (3, 9))):
        for week, (number, share) in enumerate(zip(weeks, (3, 1.5), strict=True)):
            for place in range(2 * number):
                customer = place % number
                world.run(
                    verified=customer * share < number, agent_version=version, later=week * 7 * DAY,
                    keys={"customer_id": f"{version}-{week}-{customer}"},
                )  # fmt: skip
    found = compared(world, MetricsWatched(cluster_by="customer_id")).difference
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.low is not None
    assert found.low < 0
    assert (found.n, found.unit) == (12, "customer_id")
    assert found.method == "wider of mantel-haenszel over weeks and clusters"
    turned = CompareReader(world.store, MetricReader(world.store, CUSTOMERS)).live(
        Scope(agent="desk"), base="rc4", cand="rc3"
    )
    assert turned.difference.high == pytest.approx(-found.low)


def easier(world: World) -> None:
    """Half of the hard runs pass and all easy ones; the candidate gets nearly none but easy ones."""
    for version, hard in (("rc3", 36), ("rc4", 4)):
        for place in range(40):
            topic = "hard" if place < hard else "easy"
            verified = topic == "easy" or place % 2 == 0
            world.run(verified=verified, agent_version=version, keys={"topic": topic})


def ruled(world: World, slices: Mapping[str, str]) -> CompareReader:
    """Return a reader whose rule was there before anybody ran."""
    rule = RuleSection(kind="superiority", agent="desk", n=40, basis="live")
    watched = MetricsWatched(slices=dict(slices), compare=CompareSection(rule=rule))
    reader = CompareReader(world.store, MetricReader(world.store, watched))
    seen_first(world.store, reader.plan)
    return reader


def test_a_verdict_on_live_runs_rests_on_the_difference_inside_the_slices(world: World) -> None:
    """By hand: 22 of 40 passed and 38 of 40, +40 points; inside each topic nothing changed."""
    easier(world)
    raw = ruled(world, {}).live(Scope(agent="desk"), base="rc3", cand="rc4")
    assert (raw.ruling.decision.verdict, raw.as_json()["decides"]) == ("PASS", "difference")  # type: ignore[index,call-overload]
    found = ruled(world, TOPICS.slices).live(Scope(agent="desk"), base="rc3", cand="rc4")
    assert found.mix is not None
    assert found.difference.value == pytest.approx(0.4)
    assert found.difference.low is not None
    assert found.difference.low > 0
    assert found.mix.adjusted.value == pytest.approx(0, abs=1e-12)
    assert found.deciding == found.mix.adjusted
    decision = found.ruling.decision
    assert (decision.verdict, decision.reason) == ("FAIL", "not shown")
    assert "the mix of topic taken out" in found.ruling.sentence
    assert found.as_json()["decides"] == "mix.adjusted"  # type: ignore[index,call-overload]
    page = live_part(found)
    assert page.chart.title.startswith("Live, inside topic: no difference between rc3 and rc4 is shown")  # fmt: skip
    assert [row[0] for row in page.chart.rows] == ["inside topic", "same weeks"]
    assert page.rests.startswith("A verdict rests on the difference inside topic")


def test_terminal_and_page_name_the_difference_that_decides(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    easier(world)
    cli._comparison(compared(world, TOPICS).as_json())
    told = " ".join(capsys.readouterr().out.split())
    assert "difference inside topic +0.0 points" in told
    assert "in the same weeks +40.0 points" in told
    assert told.count("a reading aid, not a test") == 2


def test_a_look_counts_the_runs_of_slices_that_both_versions_have(world: World) -> None:
    for place in range(50):
        world.run(keys={"topic": "late"})
        topic = "late" if place < 39 else "new"
        world.run(keys={"topic": topic}, agent_version="rc4")
    reader = ruled(world, TOPICS.slices)
    found = reader.live(Scope(agent="desk"), base="rc3", cand="rc4")
    assert (found.ruling.n, found.ruling.decision.missing, found.ruling.looks) == (39, 1, [])
    world.run(keys={"topic": "late"}, agent_version="rc4")
    found = reader.live(Scope(agent="desk"), base="rc3", cand="rc4")
    assert (found.ruling.n, found.deciding.n, len(found.ruling.looks)) == (40, 40, 1)
    assert found.deciding.excluded == {"slices_of_cand_only": 11}


def test_the_mix_of_another_slice_is_another_question_than_the_rule_s(world: World) -> None:
    easier(world)
    reader = ruled(world, {"topic": "topic", "country": "country"})
    scope = Scope(agent="desk")
    found = reader.live(scope, base="rc3", cand="rc4", by_slice="country")
    assert found.ruling.decision.verdict == "NOT ENOUGH DATA"
    assert "the rule takes out the mix of topic" in found.ruling.sentence
    assert found.ruling.looks == ()
    with pytest.raises(InputError, match="mix=foo is no slice; known: topic, country"):
        reader.live(scope, base="rc3", cand="rc4", by_slice="foo")
