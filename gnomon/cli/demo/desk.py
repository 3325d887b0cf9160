"""The refund desk: takes tickets one after the other and returns their spans and their truth."""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.sdk.version import __version__ as sdk_version
from opentelemetry.trace import NoOpTracer, Tracer

from gnomon.cli.demo.agent import Agent, Instrument
from gnomon.cli.demo.chance import Chance
from gnomon.cli.demo.genai import GenAi
from gnomon.cli.demo.model import PseudoModel
from gnomon.cli.demo.openinference import OpenInference
from gnomon.cli.demo.plan import Plan, make_plan
from gnomon.cli.demo.releases import RELEASES, Release, release_at
from gnomon.cli.demo.talk import Ended, Refused
from gnomon.cli.demo.tickets import FOLLOW_UP_RATE, Ticket, Topic, follow_up, new_ticket
from gnomon.cli.demo.truth import Dialect, Truth, count
from gnomon.cli.demo.world import Refund, World
from gnomon.clock import Nanos
from gnomon.errors import ConfigError

OPENINFERENCE_RATE = 0.04
_FOLLOW_UP_AFTER = 45 * 1_000_000_000
"""Nobody asks again sooner than this after the last word."""
REHEARSED_AT = 0.4
"""The place in the history whose world rehearsals meet: the slow payment provider."""
_REMEMBERED = 400
_BLOCKING = frozenset({"declined", "approval_pending"})
_MANY = 4_096
"""More attributes than any span has: flattened messages are many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    """One run: its spans in the order in which they ended, and what really happened."""

    spans: Sequence[ReadableSpan]
    truth: Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closed:
    ticket: Ticket
    refunds: tuple[Refund, ...]
    ended_at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worked:
    ticket: Ticket
    plan: Plan
    world: World
    agent: Agent
    ended: Ended


class SeededIds(IdGenerator):
    """Trace and span ids from the seed, one trace after the other."""

    def __init__(self) -> None:
        self._chance = Chance("")
        self._spans = 0

    def begin(self, chance: Chance) -> None:
        """Start the ids of the next run."""
        self._chance, self._spans = chance, 0

    def generate_trace_id(self) -> int:
        """Return the run's trace id."""
        return int.from_bytes(self._chance.name_bits("trace")[:16], "big") or 1

    def generate_span_id(self) -> int:
        """Return the next span id of the run."""
        self._spans += 1
        return int.from_bytes(self._chance.name_bits(f"span {self._spans}")[:8], "big") or 1


class _Recorder(SpanProcessor):
    def __init__(self) -> None:
        self._ended: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self._ended.append(span)

    def take(self) -> list[ReadableSpan]:
        ended, self._ended = self._ended, []
        return sorted(ended, key=lambda span: span.end_time or 0)


class Desk:
    """Handles tickets in order. The same seed, start and times give the same spans."""

    def __init__(self, seed: int, salt: str = "", *, rehearsal: bool = False) -> None:
        self._chance = Chance(f"refund desk {seed}", salt)
        self._ids = SeededIds()
        self._recorder = _Recorder()
        self._closed: deque[_Closed] = deque(maxlen=_REMEMBERED)
        self._instruments = _instruments(self._ids, self._recorder, rehearsal=rehearsal)

    def handle(self, index: int, at: Nanos, position: float) -> Handled:
        """Handle the ticket that comes in at a moment; positions from 1 on are live."""
        chance = self._chance.below("run", index)
        ticket = self._ticket(chance, at)
        release = release_at(position, chance)
        plan = make_plan(ticket, release, position, chance)
        return self._work(index, at, ticket, plan, chance)

    def rehearse(self, task: int, release: Release, at: Nanos) -> Handled:
        """Let one release try a task: every release meets the same request and the same faults."""
        case = self._chance.below("task", task)
        own = case.below(release.version)
        ticket = replace(
            new_ticket(case),
            id=f"T-{own.code('ticket')}",
            conversation=f"conv-{own.code('conversation', 10).lower()}",
            task=f"R-{task + 1:02}",
        )
        plan = make_plan(ticket, release, REHEARSED_AT, case, own)
        return self._work(task, at, ticket, plan, own)

    def _work(self, index: int, at: Nanos, ticket: Ticket, plan: Plan, chance: Chance) -> Handled:
        world = World(
            caller=ticket.customer,
            order=ticket.order,
            faults=plan.faults,
            refunds=list(ticket.paid_before),
        )
        other = chance.happens("openinference", OPENINFERENCE_RATE)
        dialect: Dialect = "openinference" if other else "otel-genai"
        self._ids.begin(chance)
        model = PseudoModel(ticket, plan, chance.below("model"))
        agent = Agent(model, world, self._instruments[plan.release.version, dialect], chance)
        ended = agent.handle(ticket, at)
        self._remember(ticket, world, ended)
        worked = _Worked(ticket=ticket, plan=plan, world=world, agent=agent, ended=ended)
        trace_id = self._ids.generate_trace_id()
        return Handled(
            spans=self._recorder.take(), truth=_truth(index, at, dialect, trace_id, worked)
        )

    def _ticket(self, chance: Chance, at: Nanos) -> Ticket:
        if chance.happens("follow up", FOLLOW_UP_RATE):
            for place in reversed(range(len(self._closed))):
                before = self._closed[place]
                if before.ended_at + _FOLLOW_UP_AFTER <= at:
                    del self._closed[place]
                    return follow_up(before.ticket, before.refunds, chance)
        return new_ticket(chance)

    def _remember(self, ticket: Ticket, world: World, ended: Ended) -> None:
        if ticket.topic is not Topic.FOLLOW_UP and ticket.due is not None:
            self._closed.append(
                _Closed(ticket=ticket, refunds=tuple(world.refunds), ended_at=ended.at)
            )


def _instruments(
    ids: SeededIds, recorder: SpanProcessor, *, rehearsal: bool
) -> Mapping[tuple[str, Dialect], Instrument]:
    found: dict[tuple[str, Dialect], Instrument] = {}
    for release in RELEASES:
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=_resource(release, rehearsal=rehearsal),
            shutdown_on_exit=False,
            id_generator=ids,
            span_limits=SpanLimits(
                max_attributes=_MANY,
                max_span_attributes=_MANY,
                max_attribute_length=SpanLimits.UNSET,
                max_span_attribute_length=SpanLimits.UNSET,
            ),
        )
        provider.add_span_processor(recorder)
        genai = _live(provider.get_tracer("refund-desk", "1.4.0"))
        found[release.version, "otel-genai"] = GenAi(genai, release)
        other = provider.get_tracer("openinference.instrumentation.refund_desk", "0.2.0")
        found[release.version, "openinference"] = OpenInference(other, release)
    return found


def _live(tracer: Tracer) -> Tracer:
    if isinstance(tracer, NoOpTracer):
        raise ConfigError("OTEL_SDK_DISABLED is set, so the demo can make no spans: unset it")
    return tracer


def _resource(release: Release, *, rehearsal: bool) -> Resource:
    origin = {"gnomon.origin": "replay"} if rehearsal else {}
    return Resource(
        {
            **origin,
            "service.name": "refund-desk",
            "service.version": release.version,
            "service.instance.id": f"refund-desk-{release.version}-0",
            "deployment.environment.name": "rehearsal" if rehearsal else "production",
            "telemetry.sdk.language": "python",
            "telemetry.sdk.name": "opentelemetry",
            "telemetry.sdk.version": sdk_version,
        }
    )


def _truth(index: int, at: Nanos, dialect: Dialect, trace_id: int, worked: _Worked) -> Truth:
    ticket, plan, world = worked.ticket, worked.plan, worked.world
    fired = [*world.fired]
    if any(isinstance(call.got, Refused) for call in worked.agent.model_calls):
        fired.append(f"model_{plan.model_fault}")
    return Truth(
        run_id=f"{trace_id:032x}",
        index=index,
        agent_version=plan.release.version,
        model=plan.release.model,
        dialect=dialect,
        ticket=ticket.id,
        conversation=ticket.conversation,
        topic=str(ticket.topic),
        customer=ticket.customer,
        order=ticket.order.id,
        started_at=at,
        ended_at=worked.ended.at,
        mistake=plan.mistake,
        faults=tuple(fired),
        due=ticket.due,
        blocked=not _BLOCKING.isdisjoint(world.fired),
        refunds=tuple(world.refunds[len(ticket.paid_before) :]),
        paid_before=len(ticket.paid_before),
        claimed_outcome=_claim(worked.ended),
        error_type=worked.ended.error_type,
        counts=count(worked.agent.model_calls, worked.agent.tool_uses),
    )


def _claim(ended: Ended) -> str | None:
    if ended.text is None:
        return None
    claimed: str = json.loads(ended.text.splitlines()[-1])["claimed_outcome"]
    return claimed
