"""What lists and charts ask of many runs at once: the filter, and the rows that answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from gnomon.clock import Nanos
from gnomon.model import Kind, Origin, RunState, RunStatus, Step

if TYPE_CHECKING:
    from gnomon.store.client import Value

Facet = Literal["status", "agent", "version", "error_type", "model", "tool", "environment"]
FACETS: tuple[Facet, ...] = (
    "status",
    "agent",
    "version",
    "error_type",
    "model",
    "tool",
    "environment",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """A set of run ids that another room found: SQL of its own, never a word of a caller.

    The names of its parameters begin with `among`.
    """

    sql: str
    params: "Mapping[str, Value]"


class RunPosition(NamedTuple):
    """Where a row stands in a list: newest first, ties by run id, descending."""

    started_at: Nanos
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs. Times are half-open on `started_at`; None asks nothing."""

    since: Nanos | None = None
    until: Nanos | None = None
    status: RunStatus | None = None
    state: RunState | None = None
    agent: str | None = None
    version: str | None = None
    environment: str | None = None
    error_type: str | None = None
    """Held by `Run.error_types` or equal to `Run.error_type`."""
    model: str | None = None
    tool: str | None = None
    conversation_id: str | None = None
    business_keys: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    """Case-insensitive part of a run or trace id, name, business key, input, output or error."""
    origin: Origin | None = Origin.PRODUCTION
    among: Among | None = None
    """Only runs of this set."""
    places: Sequence[RunPosition] | None = None
    """Only runs that stand here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetCount:
    """How many runs have this value, under the filter without its own facet."""

    value: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBucket:
    """Some runs: of a time, of an agent's version, or all. None: nobody reported it."""

    start: Nanos
    """The runs of a time started in [start, start + width)."""
    agent: str = ""
    """'' unless they are those of a version."""
    version: str = ""
    runs: int
    errors: int
    unknown: int
    """Runs without a root; not in `errors`."""
    open: int
    """Runs that may still change, whatever their status."""
    p50_ns: int | None = None
    """Nearest-rank median of the duration of runs that are settled."""
    p95_ns: int | None = None
    cost_usd: float | None = None
    """Sum over the runs whose cost is known."""
    costed: int = 0
    """Runs whose cost is known."""
    unpriced_calls: int = 0
    """Model calls that could not be priced."""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    tokened: int = 0
    """Runs that reported input or output tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """Figures over many runs: each of the three holds every run once."""

    total: RunBucket
    points: Sequence[RunBucket]
    """Per width of time, oldest first; widths without a run are left out."""
    versions: Sequence[RunBucket]
    """Of each agent's versions, those with most runs first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy:
    """The first run of an agent's version: a mark on every time chart."""

    agent: str
    version: str
    at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """One step as the tree draws it; fields are those of Step, none of them large."""

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    started_at: Nanos
    duration_ns: int
    span_name: str = ""
    scope_name: str = ""
    scope_version: str = ""
    kind: Kind = Kind.OTHER
    counted: bool = False
    duplicate_of: str | None = None
    status: str = "ok"
    error_type: str | None = None
    agent_name: str | None = None
    agent_path: Sequence[str] = ()
    model: str | None = None
    tool_name: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    streamed: bool | None = None
    cost_usd: float | None = None
    flags: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """The step that another one is compared with: what finds its bodies, and its arguments."""

    trace_id: str
    span_id: str
    kind: Kind
    tool_arguments: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What steps of a run tell about what their source leaves out; equal ones are told once."""

    scope_name: str
    scope_version: str
    kind: Kind
    counted: bool
    ok: bool
    input_tokens: bool
    """Whether they were reported, as in those below."""
    output_tokens: bool
    cached_tokens: bool
    reasoning_tokens: bool
    streamed: bool
    orphan: bool


def told_by(steps: Iterable[Step | Outline]) -> Sequence[Told]:
    """Return what some steps tell."""
    found = (
        Told(
            scope_name=step.scope_name,
            scope_version=step.scope_version,
            kind=step.kind,
            counted=step.counted,
            ok=step.status == "ok",
            input_tokens=step.input_tokens is not None,
            output_tokens=step.output_tokens is not None,
            cached_tokens=step.cached_tokens is not None,
            reasoning_tokens=step.reasoning_tokens is not None,
            streamed=bool(step.streamed),
            orphan="orphan" in step.flags,
        )
        for step in steps
    )
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """All steps of a run in columns, by start, then span id: where each stands, and no more."""

    trace_ids: Sequence[str]
    span_ids: Sequence[str]
    parents: Sequence[str]
    """Span id of each step's parent, in the same trace; '' at a root."""
    starts: Sequence[int]
    durations: Sequence[int]
    kinds: Sequence[str]
    """Values of `Kind`."""
    counted: Sequence[bool]
    failed: Sequence[bool]
    doubled: Sequence[bool]
    """Whether it is another report of a call."""
    told: Sequence[Told]


def in_order(step: Outline) -> tuple[Nanos, str, str]:
    """Return what steps of a run are ordered by."""
    return step.started_at, step.span_id, step.trace_id


def shape_of(steps: Iterable[Outline]) -> Shape:
    """Return the shape of a run whose steps are at hand, in any order."""
    ordered = sorted(steps, key=in_order)
    return Shape(
        trace_ids=[step.trace_id for step in ordered],
        span_ids=[step.span_id for step in ordered],
        parents=[step.parent_span_id for step in ordered],
        starts=[step.started_at for step in ordered],
        durations=[step.duration_ns for step in ordered],
        kinds=[step.kind for step in ordered],
        counted=[step.counted for step in ordered],
        failed=[step.status == "error" for step in ordered],
        doubled=[step.duplicate_of is not None for step in ordered],
        told=told_by(ordered),
    )
