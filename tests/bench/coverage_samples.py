"""Samples with a known truth, on which intervals are tried: seeded, small, of the shapes we meet."""

import math
from collections.abc import Callable

import numpy as np
from scipy import stats as scipy_stats

from scoring import stats
from scoring.stats.results import Estimate
from scoring.stats.survival import survival_at
from scoring.stats.twophase import Disagreements

Chance = np.random.Generator
Trial = Callable[[Chance], tuple[Estimate | None, float]]


def holds(found: Estimate, truth: float) -> bool:
    """Return whether both limits hold the truth; an open end always does."""
    low = -math.inf if found.low is None else found.low
    high = math.inf if found.high is None else found.high
    return low - 1e-12 <= truth <= high + 1e-12


def suite_differences(tasks: int) -> Trial:
    """Return trials of two versions on tasks of their own difficulty, three times each."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        base = chance.beta(0.7, 0.7, tasks)
        new = chance.binomial(3, np.clip(base + 0.05 * (1 - base), 0, 1))
        old = chance.binomial(3, base)
        return stats.paired_mean((new - old) / 3), 0.05 * 0.5

    return trial


def clustered_scores(customers: int) -> Trial:
    """Return mean scores of customers with 4 runs each and a level of their own."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        own = chance.normal(0.7, 0.1, customers)
        sums = [float(chance.normal(level, 0.15, 4).sum()) for level in own]
        return stats.cluster_mean(sums, [4] * customers), 0.7

    return trial


def clustered(customers: int, p: float) -> Trial:
    """Return clustered rates of customers with 4 runs each."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        own = chance.beta(p * 4, (1 - p) * 4, customers)
        return stats.cluster_rate(chance.binomial(4, own), [4] * customers), p

    return trial


def cost_ratio(n: int) -> Trial:
    """Return cost per success of n tasks."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        solved = chance.binomial(4, 0.7, n)
        cost = chance.gamma(4, 0.5, n) + 0.3 * solved
        return stats.ratio(cost, solved), (2 + 0.3 * 2.8) / 2.8

    return trial


def latency_quantile(n: int, q: float) -> Trial:
    """Return quantiles of log-normal latencies."""
    truth = math.exp(float(scipy_stats.norm.ppf(q)))
    return lambda chance: (stats.quantile_interval(chance.lognormal(0, 1, n), q), truth)


def bootstrapped(n: int) -> Trial:
    """Return bootstrap intervals of a mean."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        units = list(chance.gamma(4, 0.25, n))
        return stats.bootstrap_interval(units, np.mean, seed=1, resamples=199), 1.0

    return trial


def agreement(make: Callable[..., Estimate | None], n: int) -> Trial:
    """Return coefficients of two raters on n items."""
    shares = np.array([[0.45, 0.1], [0.1, 0.35]])
    truth = make((shares * 1_000_000).round().astype(int).tolist())
    known = truth.value if truth and truth.value is not None else math.nan

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        table = chance.multinomial(n, shares.ravel()).reshape(2, 2)
        return make(table.tolist()), known

    return trial


def strata(n: int) -> Trial:
    """Return stratified rates: 80 and 20 % of a week of 1,000."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        frames = [(800, round(0.7 * n), 0.93), (200, n - round(0.7 * n), 0.7)]
        parts, good = [], 0
        for size, graded, p in frames:
            right = round(size * p)
            good += right
            parts.append(
                stats.rate_stratum(
                    size, graded, int(chance.hypergeometric(right, size - right, graded))
                )
            )
        return stats.stratified_rate(parts), good / 1000

    return trial


def streamed(n: int) -> Trial:
    """Return rates of runs drawn with two probabilities."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        pi = np.where(np.arange(1000) < 800, n / 1600, n / 400)
        good = np.arange(1000) % 10 < 9
        drawn = chance.random(1000) < pi
        return stats.hajek_rate(good[drawn], pi[drawn]), float(good.mean())

    return trial


def two_phase(sampled: int) -> Trial:
    """Return adjudicated correctness of 300 pairs, 60 of them disagreements."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        agree = int(chance.binomial(300, 0.8))
        right = int(chance.binomial(sampled, 0.95))
        parts = [
            stats.rate_stratum(agree, sampled, right),
            stats.rate_stratum(300 - agree, 300 - agree, int(chance.binomial(300 - agree, 0.45))),
        ]
        return stats.two_phase(parts), 0.8 * 0.95 + 0.2 * 0.45

    return trial


def sampled_disagreements(n: int) -> Trial:
    """Return differences of 300 pairs with half of the disagreements judged."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        apart = int(chance.binomial(n, 0.3))
        judged = max(2, apart // 2)
        b, c, _ = chance.multinomial(judged, [0.35, 0.45, 0.2])
        found = Disagreements(size=apart, judged=judged, first_only=int(b), second_only=int(c))
        return stats.two_phase_difference(n - apart, [found]), 0.3 * -0.1

    return trial


def judged(kind: str, n: int, p: float) -> Trial:
    """Return judge-assisted rates: n graded, ten times as many judged."""
    se, sp = 0.93, 0.85

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        y = chance.random(n) < p
        f = np.where(y, chance.random(n) < se, chance.random(n) > sp)
        others = int(chance.binomial(10 * n, p * se + (1 - p) * (1 - sp)))
        if kind == "ppi":
            rest = [1] * others + [0] * (10 * n - others)
            found = stats.ppi(y, f, rest)
            return (found.estimate if found else None), p
        if kind == "tenenbein":
            table = [[int(np.sum((f == i) & (y == j))) for j in (0, 1)] for i in (0, 1)]
            return stats.tenenbein(table, others, 10 * n), p
        right = [int(chance.binomial(100, rate)) / 100 for rate in (se, sp)]
        return (
            stats.rogan_gladen(others / (10 * n), *right, n=10 * n, n_pos=100, n_neg=100),
            p,
        )

    return trial


def curve(n: int) -> Trial:
    """Return a curve at 5 with censoring, where 60 % are left."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        time, end = chance.exponential(-5 / math.log(0.6), n), chance.uniform(2, 12, n)
        found = stats.survival(np.minimum(time, end), time <= end)
        return survival_at(found, 5.0), 0.6

    return trial


def competing(n: int) -> Trial:
    """Return the incidence of one of two causes at 5."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        time, end = chance.exponential(10, n), chance.uniform(3, 15, n)
        cause = np.where(time <= end, 1 + (chance.random(n) < 0.4), 0)
        found = stats.incidence(np.minimum(time, end), cause)
        past = [row for row in found.rows if row.time <= 5]
        return (past[-1].incidence.get(1) if past else None), 0.6 * (1 - math.exp(-0.5))

    return trial


def early(n: int) -> Trial:
    """Return early reads: runs of ten days, a window of seven, 20 % events."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        start = chance.uniform(0, 10, n)
        happens = chance.random(n) < 0.2
        lag = chance.uniform(0, 7, n)
        runs = [
            (float(s), float(s + d) if h and s + d <= 10 else None)
            for s, h, d in zip(start, happens, lag, strict=True)
        ]
        return stats.early_read(runs, 7, 10), 0.2

    return trial


def at_all_times(kind: str, n: int) -> Trial:
    """Return whether a sequence held the truth after every one of n units."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        if kind == "scores":
            x = chance.beta(6, 2, n)
            return stats.bernstein_sequence(x), 0.75  # a running intersection
        good = chance.random(n) < 0.9
        looks = range(1, n + 1, 3)
        s = np.cumsum(good)
        found = [stats.beta_sequence(int(s[k - 1]), k - int(s[k - 1])) for k in looks]
        missed = [one for one in found if one and not holds(one, 0.9)]
        return (missed or found)[0], 0.9

    return trial


def planned_looks(looks: int, n: int) -> Trial:
    """Return whether Tango at Pocock's level held the truth at every planned look."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        kinds = chance.choice([1, -1, 0], n, p=[0.12, 0.12, 0.76])
        confidence = stats.pocock_confidence(looks)
        found = [
            stats.tango(
                int((kinds[:k] == 1).sum()), int((kinds[:k] == -1).sum()), k, confidence=confidence
            )
            for k in stats.look_sizes(n, looks)
        ]
        missed = [one for one in found if one and not holds(one, 0.0)]
        return (missed or found)[0], 0.0

    return trial


def weeks(n: int) -> Trial:
    """Return two versions over three weeks with other shares of runs."""

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        found = []
        for n1, n2, p in ((n, 2 * n, 0.8), (2 * n, n, 0.7), (n, n, 0.85)):
            found.append((int(chance.binomial(n1, p)), n1, int(chance.binomial(n2, p - 0.1)), n2))
        return stats.compare_weeks(found), 0.1

    return trial


def pass_rates(tasks: int, k: int) -> Trial:
    """Return pass^k of tasks of their own difficulty, five times each."""
    truth = math.prod((0.8 + place) / (1.6 + place) for place in range(k))

    def trial(chance: Chance) -> tuple[Estimate | None, float]:
        passed = chance.binomial(5, chance.beta(0.8, 0.8, tasks))
        suite = {str(place): (5, int(c)) for place, c in enumerate(passed)}
        found = stats.suite_pass_hat(suite, k).measure
        return Estimate(value=found.value, low=found.low, high=found.high), truth

    return trial


SIMULATED: tuple[tuple[str, str, Trial, bool], ...] = (
    ("paired_mean", "10 tasks x 3", suite_differences(10), False),
    ("paired_mean", "20 tasks x 3", suite_differences(20), False),
    ("suite_pass_hat", "20 tasks x 5, k=2", pass_rates(20, 2), False),
    ("cluster_mean", "scores of 10 customers x 4", clustered_scores(10), False),
    ("cluster_mean", "scores of 30 customers x 4", clustered_scores(30), False),
    ("cluster_rate", "10 customers x 4, p=.8", clustered(10, 0.8), False),
    ("cluster_rate", "30 customers x 4, p=.95", clustered(30, 0.95), False),
    ("ratio", "10 tasks", cost_ratio(10), False),
    ("ratio", "30 tasks", cost_ratio(30), False),
    ("quantile_interval", "p50, n=20", latency_quantile(20, 0.5), True),
    ("quantile_interval", "p90, n=60", latency_quantile(60, 0.9), True),
    ("compare_weeks", "3 weeks, 80 runs each", weeks(20), False),
    ("cohen_kappa", "n=50", agreement(stats.cohen_kappa, 50), False),
    ("cohen_kappa", "n=100", agreement(stats.cohen_kappa, 100), False),
    ("gwet_ac1", "n=50", agreement(stats.gwet_ac1, 50), False),
    ("stratified_rate", "50 of 1,000", strata(50), False),
    ("stratified_rate", "100 of 1,000", strata(100), False),
    ("hajek_rate", "100 of 1,000", streamed(100), False),
    ("two_phase", "40 agreements of 300 pairs", two_phase(40), False),
    ("two_phase_difference", "half of the disagreements of 300", sampled_disagreements(300), False),
    ("ppi", "n=50, p=.90", judged("ppi", 50, 0.90), False),
    ("ppi", "n=100, p=.97", judged("ppi", 100, 0.97), False),
    ("tenenbein", "n=100, p=.90", judged("tenenbein", 100, 0.90), False),
    ("rogan_gladen", "n=1,000, p=.80", judged("rogan", 100, 0.80), False),
    ("survival", "n=30 at S=.6", curve(30), False),
    ("incidence", "n=40 at F=.24", competing(40), False),
    ("early_read", "60 runs, 30 % closed", early(60), False),
    ("beta_sequence", "at 67 looks within 200", at_all_times("rate", 200), True),
    ("bernstein_sequence", "at all of 200", at_all_times("scores", 200), True),
    ("tango at pocock", "3 looks within 150", planned_looks(3, 150), False),
)
