"""Coverage of every nominal 95 % interval at small n: `python -m tests.bench.coverage`.

Counts are enumerated where the distribution is finite, and simulated from a fixed seed elsewhere.
Goal: 93 to 97 %; intervals that promise at least 95 % must have it. Above the goal is "wide".
"""

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats as scipy_stats

from scoring import stats
from scoring.stats.results import Estimate
from tests.bench.coverage_samples import SIMULATED, Trial, bootstrapped, holds
from tests.bench.figures import Figure, say

SEED = 20_240_501
RUNS = 1_000
GOAL = (0.93, 0.97)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Coverage of one interval in one setting."""

    name: str
    setting: str
    covered: float
    least: bool
    """Whether the interval promises at least 95 % (else about 95 %)."""
    without: float = 0.0
    """Share of samples that have no interval."""
    error: float = 0.0
    """Standard error of the simulation; 0 where it was counted out."""

    @property
    def verdict(self) -> str:
        """Return ok, too narrow, or wide, allowing for two errors of the simulation."""
        slack = 2 * self.error + 1e-9
        if self.covered < (0.95 if self.least else GOAL[0]) - slack:
            return "TOO NARROW"
        return "wide" if not self.least and self.covered > GOAL[1] + slack else "ok"


def enumerated(
    name: str, setting: str, cells: Iterable[tuple[float, Estimate | None, float]], *, least: bool
) -> Line:
    """Return exact coverage from (probability, interval, truth)."""
    covered = sum(weight for weight, found, truth in cells if found and holds(found, truth))
    return Line(name=name, setting=setting, covered=covered, least=least)


def simulated(
    name: str, setting: str, trial: Trial, *, least: bool = False, runs: int = RUNS
) -> Line:
    """Return the share of seeded samples whose interval holds the truth."""
    chance = np.random.default_rng([SEED, *name.encode(), *setting.encode()])
    hits = missing = 0
    for _ in range(runs):
        found, truth = trial(chance)
        if found is None or (found.low is None and found.high is None):
            missing += 1
        else:
            hits += holds(found, truth)
    given = max(1, runs - missing)
    covered = hits / given
    return Line(
        name=name,
        setting=setting,
        covered=covered,
        least=least,
        without=missing / runs,
        error=math.sqrt(max(covered * (1 - covered), 0.0475) / given),
    )


# --- counted out ---------------------------------------------------------------------------


def one_rate() -> Iterator[Line]:
    """Return coverage of one rate, averaged over rates from .5 to .95 and at the worst of them."""
    for n in (10, 20, 50):
        for name, make, least in (
            ("wilson", stats.wilson, False),
            ("clopper_pearson", stats.clopper_pearson, True),
        ):
            found = [make(x, n) for x in range(n + 1)]
            each = [_binomial(found, n, p) for p in np.linspace(0.02, 0.98, 97)]
            pick, word = (min, "worst rate") if least else (np.mean, "mean over rates")
            covered = float(pick(each))
            yield Line(name=name, setting=f"n={n}, {word}", covered=covered, least=least)
    for n in (20, 60):
        p = stats.zero_event_upper(n) * 1.0001
        covered = 1 - (1 - p) ** n
        yield Line(
            name="zero_event_upper",
            setting=f"n={n}, rate at the bound",
            covered=covered,
            least=True,
        )


def _binomial(found: list[Estimate | None], n: int, p: float) -> float:
    weights = scipy_stats.binom.pmf(range(n + 1), n, p)
    pairs = zip(weights, found, strict=True)
    return float(sum(weight for weight, one in pairs if one and holds(one, p)))


def two_rates() -> Iterator[Line]:
    """Return coverage of two independent rates."""
    for n, p1, p2 in ((20, 0.8, 0.7), (20, 0.95, 0.85), (50, 0.9, 0.8)):
        first, second = (scipy_stats.binom.pmf(range(n + 1), n, p) for p in (p1, p2))
        cells = (
            (float(first[a] * second[b]), stats.newcombe(a, n, b, n), p1 - p2)
            for a in range(n + 1)
            for b in range(n + 1)
            if first[a] * second[b] > 1e-7
        )
        yield enumerated("newcombe", f"n={n}+{n}, {p1} against {p2}", cells, least=False)


def pairs() -> Iterator[Line]:
    """Return coverage of paired rates and of planned looks at them."""
    for n, b, c in ((20, 0.15, 0.10), (50, 0.10, 0.05), (100, 0.08, 0.08)):
        cells = (
            (weight, cached_tango(x, y, n), b - c)
            for x in range(n + 1)
            for y in range(n + 1 - x)
            if (
                weight := float(
                    scipy_stats.multinomial.pmf([x, y, n - x - y], n, [b, c, 1 - b - c])
                )
            )
            > 1e-6
        )
        yield enumerated("tango", f"n={n}, discordant {b} and {c}", cells, least=False)


@cache
def cached_tango(b: int, c: int, n: int) -> Estimate | None:
    """Return Tango's interval, computed once for each table."""
    return stats.tango(b, c, n)


COUNTED = (one_rate, two_rates, pairs)
"""Groups of intervals whose distribution is finite."""


def measure(names: Iterable[str] = ()) -> Iterator[Line]:
    """Return coverage line by line, of some intervals or of all."""
    wanted = set(names)
    for group in COUNTED:
        if not wanted or group.__name__ in wanted:
            yield from group()
    for name, setting, trial, least in SIMULATED:
        if not wanted or name in wanted:
            yield simulated(name, setting, trial, least=least)
    if not wanted or "bootstrap_interval" in wanted:
        yield simulated("bootstrap_interval", "mean of 50 units", bootstrapped(50), runs=400)


def run(*, quick: bool = False, names: Iterable[str] = ()) -> list[Figure]:
    """Print coverage of every interval; with `quick` only those that are counted out."""
    wanted = [group.__name__ for group in COUNTED] if quick else names
    narrow = 0
    say(f"{'interval':22} {'setting':34} {'covers':>14} {'no limits':>10}  {'goal':6}")
    for line in measure(wanted):
        narrow += line.verdict == "TOO NARROW"
        goal = ">= 95" if line.least else "93-97"
        error = f" +-{100 * line.error:.1f}" if line.error else " exact"
        say(
            f"{line.name:22} {line.setting:34} {100 * line.covered:7.1f}%{error}"
            f"{100 * line.without:9.1f}%  {goal:6} {line.verdict}"
        )
    return [Figure(name="intervals that are too narrow", value=narrow, below=1)]


if __name__ == "__main__":
    sys.exit(any(figure.met is False for figure in run(names=sys.argv[1:])))
