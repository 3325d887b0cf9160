"""One group of runs as figures: shares, means and quantiles with units, exclusions and links."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from scoring.metrics import moments
from scoring.metrics.figures import Figure
from scoring.metrics.moments import Moments, Own
from scoring.metrics.others import Others, told_of
from scoring.metrics.parts import BY_TASK, RATIOS
from scoring.metrics.scope import BEHIND_PATH, Link, Scope
from scoring.metrics.statements import Units
from scoring.metrics.sums import Sums
from scoring.stats.quantiles import quantile_interval
from scoring.stats.rates import from_0, open_bounds, zero_event_upper
from scoring.stats.results import Estimate
from scoring.stats.shown import shown_measure, shown_rate

OF_TASKS = "mean of tasks, korn-graubard"
"""Method of a share that is averaged per task first."""

NANO = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs of one scope, added up."""

    sums: Sums
    scope: Scope
    """Of this group alone."""
    units: Units
    confidence: float = 0.95
    extra_flags: Sequence[str] = field(default=())
    others: Sequence[Others] = ()
    """Runs for which other versions of graders speak than those that are set up."""

    @property
    def by_task(self) -> bool:
        """Whether the units are tasks: how well a run does is averaged per task first."""
        return self.units.tasks(repeated=self._repeated, named=self._named)

    @property
    def clustered(self) -> bool:
        """Whether runs come in clusters."""
        return self.unit != "run"

    @property
    def unit(self) -> str:
        """What one independent unit is."""
        return self.units.unit(repeated=self._repeated, named=self._named)

    @property
    def _repeated(self) -> bool:
        scoped = self.sums.ratios["completion"]
        return scoped.clusters < scoped.runs

    @property
    def _named(self) -> bool:
        """Whether any run tells its cluster."""
        return self.sums.totals["unclustered"] < self.sums.parts["scoped"]

    @property
    def excluded(self) -> dict[str, int]:
        """Runs left out of every number, by reason."""
        parts = self.sums.parts
        return {name: parts[name] for name in ("running", "infra_error") if parts[name]}

    def link(self, part: str) -> Link:
        """Return the address of the runs of a part."""
        plain = part == "scoped" and not self.sums.parts["infra_error"]
        return self.scope.link(part, self.sums.parts[part], keys=self.units.slices, plain=plain)

    def common_link(self, other: str, runs: int) -> Link:
        """Return the address of the solved runs on tasks that another version solved as well."""
        query = {**self.scope.query(), "part": "verified", "common": other}
        return Link(path=BEHIND_PATH, query=query, runs=runs)

    def flags(self) -> list[str]:
        """Return what is odd about every number of this group."""
        missing = self.units.cluster_by is not None and self.sums.totals["unclustered"] > 0
        return [*self.extra_flags, *([f"runs_without_{self.units.cluster_by}"] if missing else [])]

    def share(
        self,
        name: str,
        *,
        left_out: str = "",
        never: bool = False,
        unknown: str = "",
        unclear: str = "",
    ) -> Figure:
        """Return a ratio of two parts; `left_out` names why scoped runs are not in it.

        never: what should not happen at all: none seen shows the exact upper bound.
        unknown: the part of its runs that are neither in nor out: while there are some, bounds.
        unclear: the part of the runs that are left out because what they did was not recorded.
        """
        ratio, seen = RATIOS[name], self.sums.ratios[name]
        open_ = self.sums.parts[unknown] if unknown else 0
        # Actions of one run are no independent units: the run is their cluster.
        clustered = self.clustered or ratio.actions is not None
        found = moments.share(seen, clustered=clustered, confidence=self.confidence)
        method = "korn-graubard" if clustered else "wilson"
        own = self.sums.own[name] if self.by_task and name in BY_TASK else None
        if own is not None:
            found, method = moments.mean_share(own, confidence=self.confidence), OF_TASKS
        if open_ and own is not None:
            most = self.sums.own[BY_TASK[name]].mean
            found, method = Estimate(value=None, low=own.mean, high=most), "bounds"
        elif open_:
            parts = self.sums.parts
            found, method = open_bounds(parts[ratio.y], parts[ratio.m], open_), "bounds"
        elif never and found is not None and seen.hits == 0:
            bound = zero_event_upper(seen.clusters, confidence=self.confidence)
            found, method = Estimate(value=0.0, low=0.0, high=bound), "exact upper bound"
        shown = shown_rate(
            found,
            n=seen.clusters,
            unit=self.unit,
            method=method,
            excluded=self.excluded | self._left(ratio.m, left_out, unclear),
            open=open_,
            confidence=self.confidence,
            flags=[*self.flags(), *(["unverified"] if open_ else [])],
        )
        figure = Figure(
            shown=shown,
            link=self.link(ratio.m),
            hits=self.link(ratio.y),
            text=self._why_none(left_out) if found is None else self.counted(own, seen),
        )
        return told_of(figure, self.others, ratio=name)

    def counted(self, own: Own | None, seen: Moments) -> str:
        """Return what the runs behind a mean over tasks come to: links list runs, not tasks."""
        if own is None:
            return ""
        return f"each {self.unit} counts once; of all runs {seen.hits:,} of {seen.runs:,}"

    def _why_none(self, left_out: str) -> str:
        if not self.sums.parts["scoped"]:
            return "no settled run in this scope"
        return f"none of {self.sums.parts['scoped']} runs counts here: {left_out}".rstrip(": ")

    def _left(self, part: str, reason: str, unclear: str = "") -> dict[str, int]:
        apart = self.sums.parts[unclear] if unclear else 0
        left = self.sums.parts["scoped"] - self.sums.parts[part] - apart
        found = {reason: left, unclear: apart}
        return {name: runs for name, runs in found.items() if name and runs > 0}

    def completion(self) -> Figure:
        """Return verified runs per scoped run; bounds while some are neither right nor wrong."""
        share = self.share("completion", unknown="unverified")
        unknown, runs = self.sums.parts["unverified"], self.sums.parts["scoped"]
        if not unknown:
            return share
        if unknown < runs:
            return share.saying(f"{unknown} of {runs} runs are not verified")
        text = "no run is verified: add a grader of surface outcome (an outcome_check) to graders"
        waiting = self.sums.parts["not_summed_up"]
        if waiting:
            text = f"{waiting} of {runs} runs are not judged yet: see the jobs on the Status page"
        return replace(share.without_number(), text=text, missing=("verified",))

    def false_claims(self) -> Figure:
        """Return claims of success that verification refutes, per claim; bounds while some are open."""
        share = self.share("false_claims", left_out="no_claim", unknown="claim_open")
        unknown, claims = self.sums.parts["claim_open"], self.sums.parts["claimed"]
        if not unknown:
            return share
        if unknown < claims:
            return share.saying(f"{unknown} of {claims} claims are not verified")
        text = "no claim is verified: add a grader of surface outcome (an outcome_check) to graders"
        return replace(share.without_number(), text=text, missing=("verified",))

    def mean(self, name: str, *, scale: str, per: float = 1.0, left_out: str = "") -> Figure:
        """Return an amount per run, divided by `per` (such as nanoseconds to seconds)."""
        ratio, seen = RATIOS[name], self.sums.ratios[name]
        found = from_0(scaled(moments.mean(seen, confidence=self.confidence), 1 / per))
        shown = shown_measure(
            found,
            n=seen.clusters,
            unit=self.unit,
            method="cluster mean, t" if self.clustered else "mean, t",
            scale=scale,
            excluded=self.excluded | self._left(ratio.m, left_out),
            confidence=self.confidence,
            flags=self.flags(),
        )
        figure = Figure(shown=shown, link=self.link(ratio.m))
        return told_of(figure, self.others, ratio=name) if ratio.m == "verified" else figure

    def quantile(
        self, values: Sequence[float], q: float, *, part: str, scale: str, per: float = 1.0,
        unit: str = "run",
    ) -> Figure:  # fmt: skip
        """Return a nearest-rank quantile of ascending values, each one `unit`, in runs of `part`."""
        shown = shown_measure(
            scaled(of_sorted(values, q, confidence=self.confidence), 1 / per),
            n=len(values),
            unit=unit,
            method="nearest-rank",
            scale=scale,
            excluded=self.excluded | (self._left(part, f"not_{part}") if unit == "run" else {}),
            confidence=self.confidence,
            flags=self.flags(),
        )
        return Figure(shown=shown, link=self.link(part))

    def plain(
        self, value: float | None, *, n: int, scale: str, unit: str = "run", method: str = "count",
        part: str = "scoped", text: str = "",
    ) -> Figure:  # fmt: skip
        """Return a number that has no interval: a count, or an exact amount."""
        shown = shown_measure(
            None if value is None else Estimate(value=value),
            n=n,
            unit=unit,
            method=method,
            scale=scale,
            excluded=self.excluded,
            confidence=self.confidence,
            flags=self.flags(),
        )
        return Figure(shown=shown, link=self.link(part), text=text)

    def nothing(
        self, text: str, *missing: str, scale: str = "rate", part: str = "scoped"
    ) -> Figure:
        """Return None with the reason and the fields that are missing."""
        if scale == "rate":
            shown = shown_rate(
                None, n=0, unit=self.unit, method="none", excluded=self.excluded, flags=self.flags()
            )
            return Figure(shown=shown, link=self.link(part), text=text, missing=missing)
        measure = shown_measure(
            None, n=0, unit=self.unit, method="none", scale=scale, excluded=self.excluded,
            flags=self.flags(),
        )  # fmt: skip
        return Figure(shown=measure, link=self.link(part), text=text, missing=missing)


def scaled(found: Estimate | None, factor: float) -> Estimate | None:
    """Return an estimate in another unit."""
    if found is None:
        return None
    return Estimate(
        value=_times(found.value, factor),
        low=_times(found.low, factor),
        high=_times(found.high, factor),
        se=_times(found.se, factor),
        df=found.df,
        flags=found.flags,
    )


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def of_sorted(values: Sequence[float], q: float, *, confidence: float = 0.95) -> Estimate | None:
    """Return `quantile_interval` of ascending values: it depends on ranks alone."""
    ranks = quantile_interval(range(1, len(values) + 1), q, confidence=confidence)
    if ranks is None or ranks.value is None:
        return None
    return Estimate(
        value=values[int(ranks.value) - 1],
        low=None if ranks.low is None else values[int(ranks.low) - 1],
        high=None if ranks.high is None else values[int(ranks.high) - 1],
        flags=ranks.flags,
    )


def half_done(finished: Sequence[int], aborted: Sequence[int]) -> int | None:
    """Return the Kaplan-Meier median of ascending times, aborted ones censored; None: never.

    Equals `median_time(survival(...))` without its curve, which 100,000 runs do not need.
    """
    from scoring.stats.survival import HALF_SLACK

    share, gone = 1.0, 0
    total = len(finished) + len(aborted)
    place = 0
    while place < len(finished):
        time, events = finished[place], 0
        while place < len(finished) and finished[place] == time:
            events, place = events + 1, place + 1
        while gone < len(aborted) and aborted[gone] < time:
            gone += 1
        at_risk = total - gone - (place - events)
        share *= 1 - events / at_risk
        if share <= 0.5 + HALF_SLACK:
            return time
    return None
