"""Nominal 95 % intervals cover what they say: enumerated, or simulated from a fixed seed."""

import pytest

from tests.bench.coverage import measure


@pytest.mark.parametrize("name", ["one_rate", "two_rates", "pairs"])
def test_intervals_of_counts_cover_what_they_say(name):
    lines = list(measure([name]))
    assert lines
    assert [line for line in lines if line.verdict == "TOO NARROW"] == []


@pytest.mark.soak
@pytest.mark.parametrize(
    "name", ["ppi", "tenenbein", "early_read", "beta_sequence", "stratified_rate", "two_phase"]
)
def test_simulated_intervals_cover_what_they_say(name):
    lines = list(measure([name]))
    assert lines
    assert [line for line in lines if line.verdict == "TOO NARROW"] == []
