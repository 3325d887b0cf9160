"""What the process of the store and the processes that fold tell each other: pieces of bytes.

The first piece of a message is a small JSON object; the others are rows as ClickHouse wrote them, or
as it takes them, which the process of the store passes on without reading them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import orjson

from collector.encoded import Rows
from collector.reading import rows
from collector.reading.rows import Place
from collector.watched import Watched
from gnomon.clock import Nanos
from gnomon.model import JsonValue

Pieces = Sequence[bytes]


class FoldFailed(Exception):
    """Folding raised something; `kind` is a code or the name of the class."""

    def __init__(self, kind: str, detail: str, trace: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.trace = trace


def hello(watched: Watched, reading: str) -> bytes:
    """Return what a process that folds must know once: gnomon.yaml and the name of the mapping."""
    return orjson.dumps({"watched": watched.model_dump(mode="json"), "reading": reading})


def understood(told: bytes) -> tuple[Watched, str]:
    """Read what `hello` wrote."""
    known = orjson.loads(told)
    return Watched.model_validate(known["watched"]), known["reading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lot:
    """Traces to fold together, with all that is stored of them."""

    now: Nanos
    folded_at: Nanos
    received: Mapping[str, Nanos]
    """When something last came for each touched trace."""
    traces: Sequence[str]
    """All traces that are here: the touched ones, and those that share a run with them."""
    places: Sequence[Place]
    """Where their runs stand, and what they were."""
    spans: bytes
    logs: bytes
    step_keys: bytes
    """The steps stored of them; empty where no run is stored."""

    def pieces(self) -> Pieces:
        """Return the message."""
        head = orjson.dumps(
            {
                "now": self.now,
                "folded_at": self.folded_at,
                "received": self.received,
                "traces": self.traces,
                "places": self.places,
            }
        )
        return head, self.spans, self.logs, self.step_keys

    @classmethod
    def read(cls, pieces: Pieces) -> "Lot":
        """Read the message."""
        head, spans, logs, step_keys = pieces
        told = orjson.loads(head)
        told["places"] = [rows.place(one) for one in told["places"]]
        return cls(spans=spans, logs=logs, step_keys=step_keys, **told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """An open run that is all its trace holds: how its row begins, and when it settles."""

    trace_id: str
    due: Nanos
    row: bytes
    """Its row as a settled run, as far as it can be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a lot came to: rows to write, in this order, and when to look again."""

    run_ids: Sequence[str]
    again: Mapping[str, Nanos]
    rows: Sequence[Rows]
    quiet: Sequence[Quiet]

    def pieces(self) -> Pieces:
        """Return the message."""
        head: JsonValue = {
            "run_ids": self.run_ids,
            "again": self.again,
            "rows": [asdict(one) | {"body": None} for one in self.rows],
            "quiet": [(one.trace_id, one.due) for one in self.quiet],
        }
        return (
            orjson.dumps(head),
            b"\n".join(one.row for one in self.quiet),
            *(one.body for one in self.rows),
        )

    @classmethod
    def read(cls, pieces: Pieces) -> "Outcome":
        """Read the message; raises FoldFailed when it says so."""
        told = orjson.loads(pieces[0])
        if "failed" in told:
            raise FoldFailed(**told["failed"])
        return cls(
            run_ids=told["run_ids"],
            again=told["again"],
            rows=[
                Rows(**{**one, "body": body})
                for one, body in zip(told["rows"], pieces[2:], strict=True)
            ],
            quiet=list(_quiet(told["quiet"], pieces[1])),
        )


def _quiet(told: JsonValue, lines: bytes) -> Iterator[Quiet]:
    for (trace_id, due), row in zip(told, lines.splitlines(), strict=True):
        yield Quiet(trace_id=trace_id, due=due, row=row)


def failure(kind: str, error: BaseException, trace: str) -> Pieces:
    """Return the message that folding failed."""
    told = {"kind": kind, "detail": _plain(str(error)[:1000]), "trace": _plain(trace)}
    return (orjson.dumps({"failed": told}),)


def _plain(text: str) -> str:
    return text.encode(errors="replace").decode()
