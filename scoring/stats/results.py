"""What a number looks like when it is shown: with n, unit, limits, and what it leaves out.

Functions on bare counts and lists return an `Estimate`, or None when there is nothing to say.
What leaves `scoring.stats` towards metrics, reports, pages and API is one of the other types.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from gnomon.model import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its limits. None: undefined, or no limit can be given; `flags` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    """Standard error in the unit of the value, where the method has one."""
    df: float | None = None
    """Degrees of freedom, where the limits come from Student's t."""
    flags: Sequence[str] = ()

    def __post_init__(self) -> None:
        require_finite(self.value, self.low, self.high, self.se, self.df)
        require_order(self.value, self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A test of "no effect": the statistic (None where the test has none) and its p-value."""

    __test__ = False  # not a test for pytest

    statistic: float | None = None
    p: float

    def __post_init__(self) -> None:
        require_finite(self.statistic, self.p)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A number with everything its reader must know."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Independent units, not trials."""
    unit: str
    """What one unit is: task, case, customer, run, pair."""
    method: str
    scale: str
    """rate, difference, usd, s, …; rates and differences are fractions."""
    excluded: Mapping[str, int] = field(default_factory=dict)
    """Units left out, by reason."""
    open: int = 0
    """Units whose result can still change."""
    confidence: float = 0.95
    flags: Sequence[str] = ()

    def __post_init__(self) -> None:
        require_finite(self.value, self.low, self.high, self.confidence)
        require_order(self.value, self.low, self.high)
        if self.n < 0 or self.open < 0 or any(left < 0 for left in self.excluded.values()):
            raise ValueError("n, open and excluded must not be negative")

    def as_json(self) -> dict[str, JsonValue]:
        """Return the fields as JSON values; a list never holds NaN or infinity."""
        return {name: plain(value) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Shown):
    """A share of units, between 0 and 1. Without data the limits are 0 and 1."""

    scale: str = "rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Shown):
    """A mean, ratio or quantile in the unit that `scale` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One unit on which two versions differ; positive when the new one is better."""

    name: str
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Shown):
    """New minus old on one scale: how much, how sure, and which units moved."""

    scale: str = "difference"
    p_values: Mapping[str, float | None] = field(default_factory=dict)
    better: int = 0
    same: int = 0
    worse: int = 0
    changed: Sequence[Changed] = ()

    @property
    def swapped(self) -> "Difference":
        """Old minus new: limits change places and sign, p values are of either side."""
        return replace(
            self,
            value=_negative(self.value),
            low=_negative(self.high),
            high=_negative(self.low),
            better=self.worse,
            worse=self.better,
            changed=[Changed(name=one.name, size=-one.size) for one in self.changed],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivalRow:
    """The curve at one event time. Time in the unit that was handed in."""

    time: float
    at_risk: int
    events: int
    survival: float
    se: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve(Shown):
    """Share without the event over time; `value` is the share after the last row."""

    scale: str = "rate"
    rows: Sequence[SurvivalRow] = ()
    last_time: float | None = None
    """The longest time anybody was watched; a median never reached is "> last_time"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidenceRow:
    """The parts at one time; `survived` and the incidences of all causes add to 1."""

    time: float
    at_risk: int
    events: Mapping[int, int]
    survived: float
    incidence: Mapping[int, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incidence(Shown):
    """Competing endings over time; `value` is the share that had none, after the last row."""

    scale: str = "rate"
    rows: Sequence[IncidenceRow] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number together with the numbers that keep it honest. It cannot be had without them."""

    name: str
    measure: Shown
    guard: Mapping[str, Shown]

    def __post_init__(self) -> None:
        if not self.guard:
            raise ValueError(f"metric {self.name} has no guard")

    def as_json(self) -> dict[str, JsonValue]:
        """Return metric and guard in one object."""
        guard = {name: shown.as_json() for name, shown in self.guard.items()}
        return {"name": self.name, **self.measure.as_json(), "guard": guard}


def _negative(number: float | None) -> float | None:
    return None if number is None else 0.0 - number  # never -0.0


def require_finite(*numbers: float | None) -> None:
    """Refuse NaN and infinity: they are not numbers one may act on, and not JSON."""
    for number in numbers:
        if number is not None and not math.isfinite(number):
            raise ValueError(f"{number!r} is no result; use None")


def require_order(value: float | None, low: float | None, high: float | None) -> None:
    """Refuse limits that do not hold their value."""
    given = [number for number in (low, value, high) if number is not None]
    if given != sorted(given):
        raise ValueError(f"the limits {low!r} .. {high!r} do not hold {value!r}")


def plain(value: object) -> JsonValue:
    """Return mappings, sequences and numbers as `json` writes them."""
    match value:
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case str():
            return value
        case Sequence():
            return [plain(inner) for inner in value]
        case _:
            return value
