"""Adapters of the cases about time: late outcomes, monitoring, metrics, signatures."""

import re
from typing import Any

from scoring import stats
from scoring.outcomes import signatures
from tests.unit.scoring.stats.case_adapters import Case, answers, limits, se, value


@answers("time event")
def kaplan_meier(_: Case, time: list[float], event: list[int]) -> Any:
    return rows(stats.survival(time, map(bool, event)))


def rows(curve: stats.Curve) -> dict[str, list[Any]]:
    return {
        "time": [row.time for row in curve.rows],
        "n_risk": [row.at_risk for row in curve.rows],
        "surv": [row.survival for row in curve.rows],
        "se": [row.se for row in curve.rows],
    }


@answers("time event at")
def curve_limits(_: Case, time: list[float], event: list[int], at: list[float]) -> Any:
    from scoring.stats.survival import survival_at

    curve = stats.survival(time, map(bool, event))
    return [limits(survival_at(curve, t)) for t in at]


@answers("entry exit event")
def delayed_entry(_: Case, entry: list[float], exit: list[float], event: list[int]) -> Any:  # noqa: A002
    return rows(stats.survival(exit, map(bool, event), entry))


@answers("time cause")
def competing(_: Case, time: list[float], cause: list[int]) -> Any:
    found = stats.incidence(time, cause)
    first = min(kind for kind in cause if kind)
    return {
        "time": [row.time for row in found.rows],
        "cif": [row.incidence[first].value for row in found.rows],
        "se": [row.incidence[first].se for row in found.rows],
    }


@answers("time cause at")
def naive_competing(_: Case, time: list[float], cause: list[int], at: float) -> Any:
    from scoring.stats.incidence import incidence_at
    from scoring.stats.survival import survival_at

    first = min(kind for kind in cause if kind)
    naive = survival_at(stats.survival(time, [kind == first for kind in cause]), at)
    return {
        "one_minus_km": 1 - value(naive),  # the wrong figure
        "aalen_johansen": value(incidence_at(stats.incidence(time, cause), at, first)),
    }


@answers("runs_start_event now window")
def window_cohort(_: Case, runs_start_event: list[Any], now: float, window: float) -> Any:
    runs = [(start, event) for start, event in runs_start_event]
    found = stats.cohort(runs, window, now)
    late = sum(event is not None and event - start <= window for start, event in runs)
    share = found.closed.value
    return {
        "closed": [None if share is None else round(share * found.closed.n), found.closed.n],
        "naive": [late, len(runs)],  # the wrong figure
        "km": value(found.early),
        "open": found.closed.open,
    }


@answers("triangle")
def reporting_delay(_: Case, triangle: list[list[int | None]]) -> Any:
    shares = stats.delay_distribution(triangle)
    assert shares is not None
    seen = [cell for cell in triangle[-1] if cell is not None]
    return {
        "F": shares,
        "nowcast_last_week": value(stats.nowcast(sum(seen), shares[len(seen) - 1])),
    }


@answers("start window now source_watermark")
def closed(_: Case, start: float, window: float, now: float, source_watermark: float) -> Any:
    assert now is not None
    return {"closed": stats.is_closed(start, window, source_watermark)}


@answers("start window_s event_s")
def boundary(_: Case, start: float, window_s: float, event_s: list[float]) -> Any:
    return [stats.in_window(start, window_s, event) for event in event_s]


@answers("x target k h")
def tabular(_: Case, x: list[float], target: float, k: float, h: float) -> Any:
    found = stats.tabular_cusum(x, target, k, h)
    ends = {f"S_hi_{suffix(place)}": high for place, high in enumerate(found.high, start=1)}
    lows = {f"S_lo_{suffix(place)}": low for place, low in enumerate(found.low, start=1)}
    return {
        **ends,
        **lows,
        "first_alarm_index0": found.alarm,
        "S_hi_last": found.high[-1],
        "S_lo_last": found.low[-1],
    }


def suffix(place: int) -> str:
    """Return an ordinal such as 13th."""
    teens = place % 100 // 10 == 1
    return f"{place}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


@answers("k h_delta")
def normal_lengths(_: Case, k: float, h_delta: list[list[float]]) -> Any:
    return [stats.cusum_arl_normal(k, h, delta) for h, delta in h_delta]


@answers("p0 q arl")
def e_detector(_: Case, p0: float, q: float, arl: float) -> Any:
    in_control = stats.run_length(arl, p0, p0, q)
    assert in_control is not None
    return {
        "bound_holds": in_control >= arl,
        "arl0": in_control,
        "delay_at_q": stats.run_length(arl, q, p0, q),
    }


@answers("x p0 q")
def e_path(case: Case, x: list[int], p0: float, q: float) -> Any:
    (threshold,) = re.findall(r"threshold (\d+)", case["topic"])
    found = stats.bernoulli_cusum(map(bool, x), p0, q, float(threshold))
    return {"path": list(found.values), "alarm_index0": found.alarm}


@answers("x hazard a b")
def run_lengths(_: Case, x: list[int], **prior: float) -> Any:
    return stats.bocpd(map(bool, x), **prior)


@answers("x delta threshold")
def page(_: Case, x: list[float], delta: float, threshold: float) -> Any:
    found = stats.page_hinkley(x, delta, threshold)
    at = found.alarm
    return {"alarm_index0": at, "stat_at_alarm": None if at is None else found.values[at]}


@answers("slo burn window_h")
def burn_rates(_: Case, slo: float, burn: list[float], window_h: list[float]) -> Any:
    from scoring.stats.burn import burn_error_rate

    pairs = zip(burn, window_h, strict=True)
    return {
        "error_rate": [burn_error_rate(times, slo) for times in burn],
        "budget_spent": [stats.budget_spent(times, hours) for times, hours in pairs],
    }


@answers("slo burn")
def burn_runs(_: Case, slo: list[float], burn: float) -> Any:
    return {"n": [stats.least_runs(burn, target) for target in slo]}


@answers("bins n m")
def stability(_: Case, **sizes: int) -> Any:
    return {"expected": stats.psi_null_mean(**sizes)}


@answers("w0 p0 w1 p1")
def mix(_: Case, **slices: list[float]) -> Any:
    found = stats.mix_and_rate(**slices)
    return {"mix": found.mix, "rate": found.rate, "total": found.total}


@answers("e_values alpha")
def slices(_: Case, e_values: list[float], alpha: float) -> Any:
    return stats.e_bh(e_values, alpha)


@answers("rows columns")
def numbers_together(_: Case, rows: list[list[Any]], columns: list[str]) -> Any:
    from scoring.stats.headline import Attempt

    named = [dict(zip(columns, row, strict=True)) for row in rows]
    found = stats.three_numbers(
        [
            Attempt(
                case=row["case"],
                attempt=row["attempt"],
                succeeded=row["succeeded"],
                cost=row["tokens"],
                done=row["status"] == "done",
                steps=row["steps"],
            )
            for row in named
        ]
    )
    return {
        "solution_rate": value(found.solution_rate),
        "pass_at_1": found.first_attempt_rate,
        "cost_per_success": value(found.cost_per_success),
        "mean_steps_successful": found.mean_steps_successful,
        "aborted": found.aborted,
    }


@answers("task_cost task_successes")
def cost(_: Case, task_cost: list[float], task_successes: list[int]) -> Any:
    found = stats.ratio(task_cost, task_successes)
    return {"ratio": value(found), "se": se(found)}


@answers("n")
def quantile_ranks(case: Case, n: list[int]) -> Any:
    found: dict[str, list[Any]] = {}
    for name in case["expected"]:
        q = float("0." + name.removeprefix("p"))
        each = [stats.quantile_interval(range(1, size + 1), q) for size in n]
        found[name] = [limits(estimate) for estimate in each]
    return found


@answers("time done")
def median(_: Case, time: list[float], done: list[int]) -> Any:
    return stats.median_time(stats.survival(time, map(bool, done)))


@answers("v1 v2")
def tool_steps(_: Case, v1: dict[str, Any], v2: dict[str, Any]) -> Any:
    found = stats.tool_use(
        {task: [tuple(run)] for task, run in v1.items()},
        {task: [tuple(run)] for task, run in v2.items()},
    )
    return {
        "naive_v1": found.naive_old,
        "naive_v2": found.naive_new,
        "common_v1": found.old,
        "common_v2": found.new,
    }


@answers("secret body")
def hub(_: Case, secret: str, body: str) -> Any:
    return signatures.hub_signature(secret, body.encode())


@answers("secret id timestamp body")
def standard_webhook(_: Case, secret: str, timestamp: int, body: str, **named: str) -> Any:
    return signatures.webhook_signature(secret, named["id"], timestamp, body.encode())
