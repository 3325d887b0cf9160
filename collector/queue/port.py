"""The queue as its neighbours see it: the receivers put, the writer takes and reports."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, Protocol

from gnomon.clock import Nanos

Signal = Literal["traces", "logs"]

_UNKNOWN = Nanos(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One export request after inspection, ready to be kept."""

    signal: Signal
    source: str
    """`<signal>/<grpc|http|table>/<sender>`, e.g. `traces/http/loopback`."""
    payload: bytes
    """Protobuf of an Export…ServiceRequest that holds only what is accepted; b'' if nothing is."""
    digest: bytes
    """sha256 over signal and the decompressed body as received; a retry has the same one."""
    received: int
    """Spans (or log records) in the body as received; rejected ones included."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Refusals by ledger reason. received - sum(rejected) is what `payload` holds."""
    traces: Sequence[str] = ()
    """Trace ids (lower-case hex) touched by `payload`, distinct."""
    received_at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A request as the writer gets it."""

    id: int
    request: Request


class Queue(Protocol):
    """Durable, bounded, ordered by arrival."""

    def put(self, request: Request) -> "Future[bool]":
        """Keep a request; the future is done when it is durable.

        True: new. False: the same payload was here before and nothing was added.
        Raises QueueFull at once when there is no room; DiskFull through the future.
        """

    def take(self, max_bytes: int, wait: float) -> Sequence[Queued]:
        """Return the oldest requests not yet stored, of one signal, up to `max_bytes`."""

    def stored(self, batch: Sequence[Queued]) -> None:
        """Note that ClickHouse has these requests, and which traces they touched, atomically."""

    def bury(self, queued: Queued, *, reason: str, detail: str) -> None:
        """Move a request that can not be stored to the dead letters."""

    def bury_raw(self, request: Request, body: bytes, *, detail: str) -> "Future[bool]":
        """Keep a body the receiver failed on as a dead letter, and count it.

        `request` has no payload and one reason in `rejected`, which becomes that of the letter.
        `body` is as received, decompressed; it may be OTLP/JSON. Answers as `put` does.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A trace that must be folded (again), and when something last came for it."""

    trace_id: str
    generation: int
    """Raised by every touch; lets `folded` see that something came meanwhile."""
    last_received: Nanos
    first_received: Nanos = _UNKNOWN
    """Nothing of the trace came earlier since it was last forgotten; 0 = unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading:
    """Traces of history that somebody asked to be read again."""

    traces: int
    """So many are still to be read."""
    until: Nanos | None = None
    """When the last of them is due; None where there is none."""


class TouchedTraces(Protocol):
    """Which traces changed since they were last folded. Survives a crash."""

    def due(self, now: Nanos, limit: int) -> Sequence[Touched]:
        """Return traces whose time has come, longest waiting first."""

    def folded(self, traces: Sequence[Touched], again: Mapping[str, Nanos]) -> None:
        """Forget these traces unless touched meanwhile; those in `again` come back at that time."""

    def touch(self, traces: Mapping[str, Nanos], now: Nanos) -> None:
        """Ask for these traces (trace id to last received) to be folded at once."""

    def wake(self, now: Nanos) -> None:
        """Make every trace due that waits for its time."""

    def rereading(self) -> Rereading:
        """Return what is left of the traces given to `touch`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """What came from one source in one hour (UTC). received = stored + sum(rejected) + pending.

    The unit is spans (log records for signal `logs`); a request that could not be opened counts
    as one.
    """

    source: str
    hour: Nanos
    received: int
    stored: int
    rejected: Mapping[str, int]
    pending: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A request ClickHouse could not store, kept until a person decides."""

    id: int
    source: str
    signal: Signal
    reason: str
    detail: str
    items: int
    """Spans or log records inside."""
    size: int
    """Bytes of the payload."""
    received_at: Nanos
    buried_at: Nanos


class Books(Protocol):
    """The ledger and the dead letters, as the API and the pages read them."""

    def ledger(self, since: Nanos, until: Nanos) -> Sequence[LedgerRow]:
        """Return the rows of the hours in [since, until), newest hour first, then by source."""

    def oldest_pending(self) -> Nanos | None:
        """Return when the oldest request that is not stored yet arrived."""

    def dead_letters(self, *, after: int = 0, limit: int = 50) -> Sequence[DeadLetter]:
        """List dead letters with an id above `after`, oldest first."""

    def dead_letter(self, letter: int) -> tuple[DeadLetter, bytes]:
        """Return one with its payload; raises NotFound."""

    def resend(self, letter: int) -> None:
        """Put a dead letter back into the queue; its items become pending again."""

    def drop(self, letter: int) -> None:
        """Delete a dead letter for good; its items stay counted as rejected."""
