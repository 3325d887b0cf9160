"""Which rule was in force when both versions of a comparison had run: that one decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from gnomon.clock import Nanos, rfc3339
from gnomon.model import JsonValue
from scoring.metrics.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """That a version had run, and where. '' is not known: it is in no narrower scope."""

    agent: str
    version: str
    environment: str
    origin: str
    tasked: bool
    """Whether at a task."""

    def counts(self, scope: Scope, *, with_task: bool) -> bool:
        """Return whether it ran among the runs of a scope."""
        return (
            scope.agent in (None, self.agent)
            and scope.environment in (None, self.environment)
            and (scope.origin is None or scope.origin.value == self.origin)
            and (self.tasked or not with_task)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Force:
    """A rule that came into force, or that none was from then on."""

    place: int
    """Its place in the order: clocks may be put back."""
    digest: str
    """'' for no rule."""
    at: Nanos
    text: str = ""
    rule: str = ""
    """Its canonical JSON: what the digest is of."""
    ran: Sequence[Ran] = ()
    """What had run by then."""

    def as_json(self) -> JsonValue:
        """Return which rule, and since when."""
        return {"hash": self.digest, "text": self.text, "since": rfc3339(self.at)}


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The rules that came into force one after another, each with the versions that had run."""

    log: Sequence[Force]
    ran: Sequence[frozenset[str]]

    @classmethod
    def of(
        cls, log: Sequence[Force], scope: Scope, arrived: Mapping[str, Nanos], *, with_task: bool
    ) -> "History":
        """Return the history as a rule about `scope` sees it.

        What was noted is never taken back. What had arrived by then joins it as it is read now: it
        may have waited unread, or may name its version or task only since.
        """

        def ran(force: Force) -> frozenset[str]:
            noted = [one.version for one in force.ran if one.counts(scope, with_task=with_task)]
            return frozenset(noted) | {one for one, at in arrived.items() if at <= force.at}

        return cls(log=log, ran=[ran(force) for force in log])

    def until(self, pair: frozenset[str]) -> Sequence[Force]:
        """Return the rules up to the one that was in force when both versions had run."""
        steps = zip(self.log, self.ran, strict=True)
        return [force for force, _ in takewhile(lambda step: not pair <= step[1], steps)]

    def decides(self, digest: str, pair: frozenset[str], *, looked: bool) -> bool:
        """Return whether a rule was in force when both versions had run.

        looked: whether a look was taken under it. That is enough of a rule that was there by then:
        it was taken before anybody noted which rule was in force.
        """
        before = self.until(pair)
        known = any(one.digest == digest for one in before)
        return known and (looked or before[-1].digest == digest)


def first_seen(log: Sequence[Force], digest: str) -> Nanos:
    """Return when a rule of the log first came into force."""
    return next(one.at for one in log if one.digest == digest)
