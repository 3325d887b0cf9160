"""Two versions in the same weeks: the difference, and how much of it is the mix of inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gnomon.model import JsonValue
from scoring.metrics.moments import Crossed, Moments, difference
from scoring.stats.changes import MixAndRate, mix_and_rate, standardised
from scoring.stats.clusters import wider
from scoring.stats.rates import newcombe
from scoring.stats.results import Difference, Estimate
from scoring.stats.shown import shown_difference
from scoring.stats.weeks import Week, compare_weeks

SAME_TASKS = "same_tasks"
"""Flag of a difference between live runs that is not shown: it would ignore that tasks are the same."""
NO_COMMON_WEEK = (
    "the versions have no week in common: a difference between weeks is not one between versions"
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """Sums over clusters of both versions, in the common weeks."""

    new: Moments
    old: Moments
    crossed: Crossed

    @property
    def repeated(self) -> bool:
        """Whether a cluster has more than one run of a version."""
        return any(side.clusters < side.runs for side in (self.new, self.old))


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """One slice: share of the runs and share of passes, before and after."""

    slice: str
    base_runs: int
    base_passed: int
    cand_runs: int
    cand_passed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """How much of a change comes from other inputs, and how much from other behaviour."""

    name: str
    """The slice."""
    effects: MixAndRate
    standardised: float
    """The new version's share of passes at the mix of the old one."""
    adjusted: Difference
    """New less old inside slices, each slice with the same weight on both sides."""
    rows: Sequence[SliceRow]

    @property
    def swapped(self) -> "Mix | None":
        """The same with the sides exchanged."""
        cells = [
            Cell(week=0, slice=row.slice, version=side, runs=runs, passed=passed, undecided=0)
            for row in self.rows
            for side, runs, passed in (
                ("base", row.cand_runs, row.cand_passed),
                ("cand", row.base_runs, row.base_passed),
            )
            if runs
        ]
        return mix(cells, self.name, base="base", cand="cand", confidence=self.adjusted.confidence)

    def as_json(self) -> JsonValue:
        """Return mix beside rate; they add to the change."""
        return {
            "slice": self.name,
            "mix": self.effects.mix,
            "rate": self.effects.rate,
            "total": self.effects.total,
            "standardised": self.standardised,
            "adjusted": self.adjusted.as_json(),
            "rows": [
                {name: getattr(row, name) for name in SliceRow.__dataclass_fields__}
                for row in self.rows
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFound:
    """What the live runs of two versions show."""

    difference: Difference
    weeks: int
    """Weeks both have."""
    mix: Mix | None
    shared: int = 0
    """Runs at tasks that both versions tried."""
    runs: int = 0
    """All runs of both in these weeks."""

    @property
    def paired(self) -> bool:
        """Whether most runs are at the same tasks, so that an unpaired interval would be wrong."""
        return 2 * self.shared > self.runs

    @property
    def why_nothing(self) -> str:
        """Why there are no numbers, or ''."""
        if not self.weeks:
            return NO_COMMON_WEEK
        if SAME_TASKS not in self.difference.flags:
            return ""
        return (
            f"{self.shared} of {self.runs} runs try tasks that both versions tried: they are"
            " compared by task, and an interval that takes them for independent would be wrong"
        )

    @property
    def swapped(self) -> "LiveFound":
        """The same with the sides exchanged."""
        left = self.difference.excluded
        excluded = {_SWAPPED.get(reason, reason): runs for reason, runs in left.items()}
        return replace(
            self,
            difference=replace(self.difference.swapped, excluded=excluded),
            mix=None if self.mix is None else self.mix.swapped,
        )

    def as_json(self) -> dict[str, JsonValue]:
        """Return the numbers as the API writes them."""
        return {
            "difference": self.difference.as_json(),
            "weeks": self.weeks,
            "at_shared_tasks": self.shared,
            "mix": None if self.mix is None else self.mix.as_json(),
        }


_SWAPPED = {
    "weeks_of_base_only": "weeks_of_cand_only",
    "weeks_of_cand_only": "weeks_of_base_only",
}


def common(cells: Sequence[Cell], *, base: str, cand: str) -> tuple[list[int], dict[str, int]]:
    """Return the weeks both versions have, and the runs outside of them by reason."""
    weeks = {version: {c.week for c in cells if c.version == version} for version in (base, cand)}
    both = weeks[base] & weeks[cand]
    left = {
        f"weeks_of_{name}_only": sum(c.runs for c in cells if c.version == version and c.week not in both)
        for name, version in (("base", base), ("cand", cand))
    }  # fmt: skip
    return sorted(both), {reason: runs for reason, runs in left.items() if runs}


def summed(cells: Sequence[Cell], key: str, *, base: str, cand: str, worst: int | None = None) -> dict[str, Week]:  # fmt: skip
    """Return (x new, n new, x old, n old) by week or slice.

    worst: 1 fails the undecided of the new side and passes those of the old, -1 the opposite;
    None fails both.
    """
    found: dict[str, list[int]] = {}
    lucky = {1: base, -1: cand}.get(worst or 0)
    for cell in cells:
        if cell.version not in {base, cand}:
            continue
        counts = found.setdefault(str(getattr(cell, key)), [0, 0, 0, 0])
        place = 0 if cell.version == cand else 2
        counts[place] += cell.passed + (cell.undecided if cell.version == lucky else 0)
        counts[place + 1] += cell.runs
    return {name: (a, b, c, d) for name, (a, b, c, d) in sorted(found.items())}


def between_weeks(
    cells: Sequence[Cell],
    *,
    base: str,
    cand: str,
    unit: str = "run",
    clusters: Mapping[int | None, Both] | None = None,
    confidence: float = 0.95,
) -> Difference:
    """Return new less old over the weeks both have.

    clusters: sums by case (None, 1 worst, -1 best) where runs come in clusters. While runs are
    undecided there is no value: the limits are those of the worst and the best case.
    """
    weeks, left = common(cells, base=base, cand=cand)
    kept = [cell for cell in cells if cell.week in weeks]
    undecided = sum(cell.undecided for cell in kept)

    def found(worst: int | None) -> Estimate | None:
        by_week = summed(kept, "week", base=base, cand=cand, worst=worst)
        if clusters is None:
            return compare_weeks(list(by_week.values()), confidence=confidence)
        return _clustered(list(by_week.values()), clusters[worst], confidence)

    plain = found(None)
    if undecided and plain is not None:
        low, high = found(1), found(-1)
        plain = Estimate(
            value=None,
            low=None if low is None else low.low,
            high=None if high is None else high.high,
            flags=(*plain.flags, "undecided"),
        )
    sides = summed(kept, "version", base=base, cand=cand)
    units = min(sides.get(cand, _NONE)[1], sides.get(base, _NONE)[3])
    if clusters is not None:
        units = min(clusters[None].new.clusters, clusters[None].old.clusters)
    pooled = plain is not None and ("pooled" in plain.flags or clusters is not None)
    method = "newcombe" if pooled else "mantel-haenszel over weeks"
    return shown_difference(
        plain,
        n=units,
        unit=unit,
        method=method if clusters is None else "wider of newcombe and clusters",
        excluded=left,
        open=undecided,
        confidence=confidence,
    )


_NONE: Week = (0, 0, 0, 0)


def _clustered(weeks: Sequence[Week], both: Both, confidence: float) -> Estimate | None:
    """Return the pooled difference with the wider limits of Newcombe and of the clusters."""
    x1, n1, x0, n0 = (sum(week[place] for week in weeks) for place in range(4))
    pooled = newcombe(x1, n1, x0, n0, confidence=confidence)
    if pooled is None:
        return None
    found = difference(both.new, both.old, both.crossed, confidence=confidence)
    if found.low is None:
        return Estimate(value=pooled.value, flags=found.flags)
    return wider(pooled, found)


def mix(
    cells: Sequence[Cell], name: str, *, base: str, cand: str, confidence: float = 0.95
) -> Mix | None:
    """Return mix and rate over slices in the common weeks; None without a run on a side.

    A slice that only one version has tells nothing about its rate: it counts as mix alone.
    Undecided runs count as not passed on both sides.
    """
    weeks, _ = common(cells, base=base, cand=cand)
    by_slice = summed([c for c in cells if c.week in weeks], "slice", base=base, cand=cand)
    n1, n0 = sum(s[1] for s in by_slice.values()), sum(s[3] for s in by_slice.values())
    if not n1 or not n0:
        return None
    w1, w0 = [s[1] / n1 for s in by_slice.values()], [s[3] / n0 for s in by_slice.values()]
    p1 = [_rate(s[0], s[1], s[2], s[3]) for s in by_slice.values()]
    p0 = [_rate(s[2], s[3], s[0], s[1]) for s in by_slice.values()]
    adjusted = compare_weeks(list(by_slice.values()), confidence=confidence)
    if adjusted is not None:
        flags = [flag.replace("weeks", "slices") for flag in adjusted.flags]
        adjusted = replace(adjusted, flags=tuple(flags))
    return Mix(
        name=name,
        effects=mix_and_rate(w0, p0, w1, p1),
        standardised=standardised(w0, p1),
        adjusted=shown_difference(
            adjusted, n=min(n1, n0), unit="run", method="mantel-haenszel over slices",
            confidence=confidence,
        ),
        rows=[
            SliceRow(slice=value, cand_passed=s[0], cand_runs=s[1], base_passed=s[2], base_runs=s[3])
            for value, s in by_slice.items()
        ],
    )  # fmt: skip


def _rate(x: int, n: int, other_x: int, other_n: int) -> float:
    return x / n if n else other_x / other_n
