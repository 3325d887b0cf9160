"""Traces that cannot be folded: kept in sight until a later attempt succeeds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gnomon.clock import Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A trace whose spans are stored but which is no run: folding it failed."""

    trace_id: str
    error: str
    """Code of the error, or the class of the exception."""
    since: Nanos
    """First failure since this process started."""


class Aside:
    """What is set aside. One thread writes; others may look at any time."""

    def __init__(self) -> None:
        self._traces: dict[str, SetAside] = {}

    def add(self, trace_id: str, error: str, now: Nanos) -> None:
        """Note a failure; the first one's time stays."""
        before = self._traces.get(trace_id)
        since = now if before is None else before.since
        self._traces[trace_id] = SetAside(trace_id=trace_id, error=error, since=since)

    def folded(self, traces: Iterable[str]) -> None:
        """These could be folded after all."""
        for trace_id in traces if self._traces else ():
            self._traces.pop(trace_id, None)

    def listed(self) -> Sequence[SetAside]:
        """Return all of them, the longest waiting first."""
        return sorted(self._traces.values(), key=lambda one: (one.since, one.trace_id))
