"""How many units it takes, and where to spend them."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from scoring.stats.arguments import count, finite, inner_share, level, number, round_up, units, z_of


def _z_both(confidence: float, power: float) -> float:
    """Return the sum of the quantiles of the two-sided level and of the power."""
    return z_of(confidence) + NormalDist().inv_cdf(inner_share("power", power))


def ni_sample_size(
    p_disc: float,
    margin: float,
    difference: float = 0.0,
    *,
    power: float = 0.8,
    confidence: float = 0.95,
) -> int:
    """Return the pairs that a paired non-inferiority gate needs.

    p_disc: share of pairs on which the sides differ, in (0, 1]; margin: delta > 0; difference:
    the true one, better is positive, above -margin (fractions). One-sided (1 - confidence)/2.
    Result: pairs, rounded up: .153 at .05 needs 481.
    Raises ValueError if p_disc < difference^2, or margin + difference is not positive or so small
    that it asks for more than 2^53 pairs.
    Source: (z + z_power)^2 (p_disc - D^2) / (margin + D)^2.
    """
    p = number("p_disc", p_disc, above=0)
    margin = number("margin", margin, above=0)
    d = number("difference", difference, above=-margin)
    if p > 1 or p < d**2:
        raise ValueError(f"p_disc must lie in [{d**2:g}, 1], not {p_disc!r}")
    wanted = _z_both(confidence, power) ** 2 * (p - d**2) / (margin + d) ** 2
    return units("margin + difference", wanted)


def suite_size(
    sd: float, difference: float, *, power: float = 0.8, confidence: float = 0.95
) -> int:
    """Return the tasks that show a difference between two versions.

    sd: of the differences per task; difference: the one to be seen, not 0 (same unit).
    Result: tasks, rounded up: sd .25 needs 77 for 8 points.
    Raises ValueError if sd is not positive, difference is 0, or it is so small beside sd that it
    asks for more than 2^53 tasks.
    Source: (z + z_power)^2 sd^2 / D^2.
    """
    sd = number("sd", sd, above=0)
    d = number("abs(difference)", abs(difference), above=0)
    beside = _z_both(confidence, power) * sd / d
    return units("sd beside difference", beside * beside)


def n_for_margin(
    e: float,
    p: float = 0.5,
    N: int | None = None,  # noqa: N803 - the letter of the literature
    deff: float = 1.0,
    *,
    confidence: float = 0.95,
) -> int:
    """Return the graded runs that give a rate a half width of e.

    e: half width in (0, 1); p: expected rate in (0, 1); N: runs in the frame, if finite; deff:
    design effect of clusters, >= 1. Result: runs, rounded up: 5 points at p = .5 need 385.
    Raises ValueError if an argument is outside its range, or e asks for more than 2^53 runs.
    Source: Cochran, Sampling Techniques, 4.4: n0 = z^2 p(1-p)/e^2 deff, n0/(1 + (n0-1)/N).
    """
    e, p = inner_share("e", e), inner_share("p", p)
    if number("deff", deff) < 1:
        raise ValueError(f"deff must be at least 1, not {deff!r}")
    wanted = z_of(confidence) ** 2 * p * (1 - p) / e**2 * deff
    if N is None:
        return units("e", wanted)
    frame = count("N", N)
    return 0 if frame == 0 else min(frame, round_up(wanted / (1 + (wanted - 1) / frame)))


def half_width(n: int, p: float, *, confidence: float = 0.95) -> float | None:
    """Return the half width that n graded runs can be expected to give.

    n: runs (count); p: expected rate in (0, 1). Result: half of the Wilson interval, a fraction;
    for planning only. n = 0 gives None. Raises ValueError if an argument is outside its range.
    Source: Wilson 1927.
    """
    n, p, z = count("n", n), inner_share("p", p), z_of(confidence)
    if n == 0:
        return None
    return z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)


def neyman(n: int, sizes: Sequence[int], spreads: Sequence[float], *, least: int = 10) -> list[int]:
    """Return how many units to draw from each stratum for the narrowest overall interval.

    n: units to grade; sizes: N_h, units per stratum (counts); spreads: S_h, standard deviation
    in each, any common unit. Result: n N_h S_h / sum(N S), rounded up, at least `least` and at
    most N_h (the sum may exceed n). No spread anywhere: in proportion to N_h.
    Raises ValueError on unequal length or a negative spread.
    Source: Neyman 1934, JRSS 97:558.
    """
    wanted, frames = count("n", n), [count("sizes", size) for size in sizes]
    widths = finite("spreads", spreads)
    if len(frames) != len(widths) or any(width < 0 for width in widths):
        raise ValueError("spreads must hold one number of 0 or more per stratum")
    weights = [frame * width for frame, width in zip(frames, widths, strict=True)]
    if sum(weights) == 0:
        weights = [float(frame) for frame in frames]
    total = math.fsum(weights)
    if total == 0:
        return [0 for _ in frames]
    return [
        min(frame, max(least, round_up(wanted * weight / total)))
        for frame, weight in zip(frames, weights, strict=True)
    ]


def look_sizes(n_max: int, looks: int) -> list[int]:
    """Return the numbers of adjudicated pairs at which a gate may look.

    n_max: planned pairs, looks: planned looks (counts, looks >= 1). Result: n_max k / K rounded
    up, ending at n_max. Raises ValueError if looks is 0 or exceeds n_max.
    Source: Pocock 1977, equally spaced looks.
    """
    n, k = count("n_max", n_max), count("looks", looks)
    if not 1 <= k <= max(1, n):
        raise ValueError(f"looks must lie between 1 and n_max, not {looks!r}")
    return [-(-n * place // k) for place in range(1, k + 1)]


def joint_power(powers: Sequence[float]) -> float:
    """Return a lower bound of the chance that all checks pass together.

    powers: chance of each check to pass, in [0, 1]. Result: 1 - sum of the misses, at least 0;
    no check gives 1. Raises ValueError if a power is outside [0, 1].
    Source: Bonferroni's inequality; checks may depend on each other.
    """
    missed = 0.0
    for power in finite("powers", powers):
        if not 0 <= power <= 1:
            raise ValueError(f"powers must lie in [0, 1], not {power!r}")
        missed += 1 - power
    return max(0.0, 1 - missed)


def effective_units(n: int, design_effect: float) -> float:
    """Return how many independent units n clustered ones are worth.

    n: units (count); design_effect: >= 0, 1 for independent units. Result: n / deff.
    Raises ValueError if the design effect is not positive. Source: Kish 1965.
    """
    return count("n", n) / number("design_effect", design_effect, above=0)


def look_confidence(z: float) -> float:
    """Return the two-sided confidence whose normal quantile is z: .95 at 1.96.

    Source: normal distribution. Raises ValueError if z gives no confidence in (0.5, 1).
    """
    return level(2 * NormalDist().cdf(number("z", z, above=0)) - 1)
