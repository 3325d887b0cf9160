"""What lists and charts ask of many runs at once: the filter, and the rows that answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from gnomon.clock import Nanos
from gnomon.model import Kind, Origin, RunState, RunStatus

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


class RunPosition(NamedTuple):
    """Where a row stands in a list: newest first, ties by run id, descending."""

    started_at: Nanos
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetCount:
    """How many runs have this value, under the filter without its own facet."""

    value: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBucket:
    """The runs that started in [start, start + width), of one group. None: nobody reported it."""

    start: Nanos
    group: str = ""
    """'' when not grouped, else the agent version."""
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
    unpriced_calls: int = 0
    """Model calls that could not be priced."""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None


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
