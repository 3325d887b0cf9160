from typing import Any

import pytest

from gnomon.clock import Nanos
from gnomon.model import Origin
from scoring.metrics.scope import Scope
from scoring.versions.force import Force, History, Ran, first_seen

PAIR = frozenset(("rc3", "rc4"))
SCOPE = Scope(agent="desk", origin=None)


def ran(version: str, **more: Any) -> Ran:
    given = {"agent": "desk", "environment": "prod", "origin": "production", "tasked": True}
    return Ran(version=version, **{**given, **more})


BOTH = (ran("rc3"), ran("rc4"))


def history(*steps: tuple[str, tuple[Ran, ...]], arrived: dict[str, int] | None = None) -> History:
    """Return a history whose rules came into force at 10, 20 and so on."""
    log = [
        Force(place=place, digest=digest, at=Nanos(10 * place), ran=had)
        for place, (digest, had) in enumerate(steps, 1)
    ]
    came = {version: Nanos(at) for version, at in (arrived or {}).items()}
    return History.of(log, SCOPE, came, with_task=True)


@pytest.mark.parametrize(
    ("steps", "deciding"),
    [
        ((("a", ()),), "a"),
        ((("a", ()), ("b", ())), "b"),
        ((("a", BOTH),), ""),
        ((("b", ()), ("a", ()), ("b", BOTH)), "a"),
        ((("a", ()), ("b", BOTH), ("a", BOTH)), "a"),
        ((("a", ()), ("", ()), ("a", BOTH)), ""),
        ((("a", (ran("rc3"),)), ("b", (ran("rc3"),)), ("a", BOTH)), "b"),
        ((("a", ()), ("a", BOTH), ("b", BOTH)), "a"),  # of two processes that started at once
    ],
)
def test_the_rule_before_the_first_that_came_when_both_had_run_decides(
    steps: tuple[tuple[str, tuple[Ran, ...]], ...], deciding: str
) -> None:
    found = history(*steps)
    said = [digest for digest in "ab" if found.decides(digest, PAIR, looked=False)]
    assert said == [deciding] * bool(deciding)


def test_what_had_arrived_by_then_counts_as_it_is_read_now() -> None:
    steps = (("a", ()), ("b", (ran("rc3"),)))
    assert history(*steps, arrived={"rc4": 21}).decides("b", PAIR, looked=False)
    assert history(*steps, arrived={"rc4": 20}).decides("a", PAIR, looked=False)


def test_a_look_of_before_rules_in_force_were_noted_stays_unless_its_rule_came_later() -> None:
    found = history(("a", ()), ("b", ()), ("a", BOTH), ("c", BOTH))
    looked = [digest for digest in "abc" if found.decides(digest, PAIR, looked=True)]
    assert looked == ["a", "b"]


@pytest.mark.parametrize(
    ("more", "scope", "counts"),
    [
        ({}, SCOPE, True),
        ({"agent": "other"}, SCOPE, False),
        ({"tasked": False}, SCOPE, False),
        ({}, Scope(agent="desk", environment="prod"), True),
        ({}, Scope(agent="desk", environment="staging"), False),
        ({"environment": ""}, Scope(agent="desk", environment="prod"), False),
        ({"origin": "replay"}, Scope(agent="desk"), False),
        ({"origin": "replay"}, Scope(origin=Origin.REPLAY), True),
    ],
)
def test_what_ran_counts_in_its_scope(more: dict[str, Any], scope: Scope, counts: bool) -> None:
    assert ran("rc3", **more).counts(scope, with_task=True) is counts


def test_a_rule_that_comes_back_keeps_the_moment_it_was_first_seen() -> None:
    assert first_seen(history(("a", ()), ("b", ()), ("a", BOTH)).log, "a") == 10
