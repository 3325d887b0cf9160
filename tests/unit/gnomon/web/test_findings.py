"""What the titles of charts claim: nothing that few runs or many looks can make."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from collector.views import RunBucket
from gnomon.clock import Nanos
from gnomon.web.charts import duration_figure, errors_figure
from gnomon.web.filters import Query
from gnomon.web.overview import error_rate
from gnomon.web.plots import Data
from gnomon.web.tiles import among, each, tokens_each
from gnomon.web.timeline import PERIODS, back_from
from gnomon.web.verdict_charts import pass_figure
from scoring.stats.rates import wilson

DAY = 86_400_000_000_000
NOW = Nanos(20_000 * DAY)


def bucket(runs: int, errors: int, **more: object) -> RunBucket:
    given = {"start": Nanos(0), "runs": runs, "errors": errors, "unknown": 0, "open": 0, **more}
    return RunBucket(**given)  # type: ignore[arg-type]


def data_of(points: Sequence[RunBucket]) -> Data:
    time = back_from(NOW, PERIODS["30d"])
    rest: list[RunBucket | None] = [None] * (len(time.starts) - len(points))
    return Data(time=time, points=[*points, *rest], deploys=(), query=Query(period="30d"), now=NOW)


def errors_title(*points: RunBucket) -> str:
    total = bucket(sum(p.runs for p in points), sum(p.errors for p in points))
    return errors_figure(data_of(points), total, error_rate(total)).title


def shown(x: int, n: int) -> Any:
    found = wilson(x, n)
    assert found is not None
    ends = {"value": found.value, "low": found.low, "high": found.high, "confidence": 0.95}
    return SimpleNamespace(
        shown=SimpleNamespace(**ends, n=n, unit="run", flags=(), method="wilson", scale="rate")
    )


def beat(passed: int, failed: int, unknown: int) -> Any:
    n = passed + failed + unknown
    return SimpleNamespace(
        runs=n,
        passed=passed,
        failed=failed,
        unknown=unknown,
        running=0,
        pass_rate=shown(passed, n),
        least=shown(passed, n),
        most=shown(passed + unknown, n),
    )


def whole_of(beats: Sequence[Any]) -> Any:
    passed, unknown = sum(b.passed for b in beats), sum(b.unknown for b in beats)
    measure = shown(passed, sum(b.runs for b in beats))
    return SimpleNamespace(pass_rate=SimpleNamespace(measure=measure), unknown=unknown)


def test_one_failed_run_of_one_is_no_finding() -> None:
    title = errors_title(*[bucket(40, 1)] * 10, bucket(1, 1))
    assert title == "2.7 % of the runs ended in error; no day stands out"


def test_many_failed_runs_are_a_finding_that_says_of_how_many() -> None:
    assert errors_title(*[bucket(40, 1)] * 10, bucket(40, 20)).endswith(
        ": 50 % (n = 40) against 6.8 %"
    )


def test_few_runs_that_all_failed_are_a_finding_when_chance_can_not_make_it() -> None:
    assert ": 100 % (n = 6) against 3.9 %" in errors_title(*[bucket(40, 1)] * 10, bucket(6, 6))


def test_few_durations_say_their_number_and_nothing_of_one_in_twenty() -> None:
    one = bucket(3, 0, p50_ns=2_000_000_000, p95_ns=9_000_000_000)
    assert (
        duration_figure(data_of([one]), one).title == "Half of the runs take 2.0 s or more (n = 3)"
    )
    many = bucket(30, 0, p50_ns=2_000_000_000, p95_ns=9_000_000_000)
    assert "one in twenty 9.0 s or more" in duration_figure(data_of([many]), many).title


@pytest.mark.parametrize(
    ("passed", "failed", "unknown", "fell"),
    [(0, 1, 0, False), (0, 6, 0, True), (0, 6, 3, True), (0, 3, 7, False), (10, 30, 0, True)],
)
def test_a_pass_rate_falls_only_where_chance_can_not_make_it(
    passed: int, failed: int, unknown: int, fell: bool
) -> None:
    beats = [beat(38, 2, 0)] * 10 + [beat(passed, failed, unknown)]
    data = data_of([bucket(40, 0)] * len(beats))
    points: list[Any] = [*beats, *[None] * (len(data.time.starts) - len(beats))]
    title = pass_figure(data, points, whole_of(beats)).title
    n = passed + failed + unknown
    assert (f"(n = {n}), against" in title) == fell, title
    assert ("no day stands out" in title) != fell, title


def test_an_average_is_of_the_runs_that_have_the_figure() -> None:
    some = bucket(10, 0, cost_usd=1.0, costed=4, input_tokens=90, output_tokens=10, tokened=5)
    assert (each(some), among(some.costed, some)) == ("$0.25", " (n = 4)")
    assert (tokens_each(some), among(some.tokened, some)) == ("20", " (n = 5)")
    assert each(bucket(10, 0)) == tokens_each(bucket(10, 0)) == "–"
    assert among(10, some) == among(0, some) == ""


def test_a_pass_rate_over_tasks_is_not_said_of_the_runs() -> None:
    beats = [beat(38, 2, 0)] * 3
    whole = whole_of(beats)
    vars(whole.pass_rate.measure.shown).update(value=0.5, low=0.2, high=0.8, n=4, unit="task_id")
    data = data_of([bucket(40, 0)] * 3)
    points: list[Any] = [*beats, *[None] * (len(data.time.starts) - 3)]
    title = pass_figure(data, points, whole).title
    assert title == "50 % is the pass rate over 4 task_ids; no day stands out"
