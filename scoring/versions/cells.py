"""Runs and passes of two versions by week and slice, and what both have."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scoring.stats.results import Difference, Estimate
from scoring.stats.weeks import Week


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Settled runs of one version in one week and slice."""

    week: int
    """Seconds since 1970 at its Monday, UTC."""
    slice: str
    version: str
    runs: int
    passed: int
    undecided: int

    @property
    def stratum(self) -> tuple[int, str]:
        """Its week and slice together."""
        return self.week, self.slice


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Clusters that have the very same runs in the common weeks."""

    cells: Sequence[Cell]
    """Of one of them, by week, slice and version."""
    clusters: int

    @property
    def repeated(self) -> bool:
        """Whether such a cluster has more than one run of a version."""
        runs = Counter[str]()
        for cell in self.cells:
            runs[cell.version] += cell.runs
        return max(runs.values(), default=0) > 1


def common(cells: Sequence[Cell], *, base: str, cand: str) -> tuple[list[int], dict[str, int]]:
    """Return the weeks both versions have, and the runs outside of them by reason."""
    weeks = {version: {c.week for c in cells if c.version == version} for version in (base, cand)}
    both = weeks[base] & weeks[cand]
    left = {
        f"weeks_of_{name}_only": sum(c.runs for c in cells if c.version == version and c.week not in both)
        for name, version in (("base", base), ("cand", cand))
    }  # fmt: skip
    return sorted(both), {reason: runs for reason, runs in left.items() if runs}


Key = Literal["week", "slice", "stratum"]
"""What cells are added up by."""


def summed(
    cells: Sequence[Cell], key: Key, *, base: str, cand: str, worst: int | None = None
) -> dict[Hashable, Week]:
    """Return (x new, n new, x old, n old) by week, slice or stratum.

    worst: 1 fails the undecided of the new side and passes those of the old, -1 the opposite;
    None fails both.
    """
    lucky = {1: base, -1: cand}.get(worst or 0)
    found: dict[Hashable, Week] = {}
    for cell in cells:
        version = cell.version
        if version not in (base, cand):
            continue
        name = getattr(cell, key)
        a, b, c, d = found.get(name, NO_RUNS)
        passed = cell.passed + (cell.undecided if version == lucky else 0)
        new = (a + passed, b + cell.runs, c, d)
        found[name] = new if version == cand else (a, b, c + passed, d + cell.runs)
    return found


NO_RUNS: Week = (0, 0, 0, 0)


def bounded(found: Callable[[int | None], Estimate | None], undecided: int) -> Estimate | None:
    """Return what is found; while runs are undecided from the worst to the best case, no value."""
    plain = found(None)
    if not undecided or plain is None:
        return plain
    return around([found(1), plain, found(-1)], flags=plain.flags)


def around(cases: Sequence[Estimate | None], flags: Sequence[str] = ()) -> Estimate:
    """Return the limits that hold in each of some cases, no value; none where a case has none.

    The case with the lowest difference need not have the lowest limit: one with more spread may.
    """
    lows = [None if case is None else case.low for case in cases]
    highs = [None if case is None else case.high for case in cases]
    known_lows = [low for low in lows if low is not None]
    known_highs = [high for high in highs if high is not None]
    return Estimate(
        value=None,
        low=min(known_lows) if len(known_lows) == len(cases) else None,
        high=max(known_highs) if len(known_highs) == len(cases) else None,
        flags=(*flags, "undecided"),
    )


_SWAPPED = {
    f"{what}_of_{one}_only": f"{what}_of_{other}_only"
    for what in ("weeks", "slices")
    for one, other in (("base", "cand"), ("cand", "base"))
}


def swapped(found: Difference) -> Difference:
    """Return a difference of live runs with the sides exchanged."""
    excluded = {_SWAPPED.get(reason, reason): runs for reason, runs in found.excluded.items()}
    turned = found.swapped
    return replace(turned, excluded=excluded, changed=tuple(turned.changed))
