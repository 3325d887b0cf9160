"""People's own graders: found by entry point, set up by gnomon.yaml, and never trusted with more."""

import datetime as dt
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Literal, TypeVar

from pydantic import Field, model_validator

from gnomon.config import Duration
from gnomon.errors import Unavailable
from gnomon.model import Bodies, JsonValue, Run, Step
from scoring.grading.port import (
    GROUP,
    Answer,
    CheckFailed,
    Evidence,
    Grader,
    GraderKind,
    Surface,
)
from scoring.grading.spec import Name, Said

T = TypeVar("T")

_HANGING = 16
"""Calls that never ended, from which on a grader is not asked any more: each keeps a thread."""


class Plugin(Said):
    """A grader that an installed package brings under the entry point group `gnomon.graders`."""

    type: Literal["plugin"]
    entry: str = Field(description="Name of the entry point.")
    name: Name | None = Field(default=None, description="Unset: as the grader calls itself.")
    options: dict[str, JsonValue] = Field(default={}, description="Handed to the entry point.")
    timeout: Duration = Field(
        default=dt.timedelta(seconds=30), description="The longest it may look at one run."
    )

    @model_validator(mode="after")
    def _bounded(self) -> "Plugin":
        if not dt.timedelta(0) < self.timeout <= dt.timedelta(minutes=10):
            raise ValueError("timeout must lie above 0 and be at most 10m")
        return self


def load(spec: Plugin) -> Grader:
    """Return the grader; raises ValueError that says what is wrong with it and what there is."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    if spec.entry not in found:
        there = ", ".join(sorted(found)) or "none"
        raise ValueError(f"no entry point {spec.entry} in group {GROUP}; installed: {there}")
    try:
        make: Callable[..., Grader] = found[spec.entry].load()
        grader = make(**spec.options)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"{spec.entry} can not be made: {type(error).__name__}: {error}"
        ) from error
    return checked(grader, spec)


def checked(grader: Grader, spec: Plugin) -> Grader:
    """Return a grader that says of itself what is stored with each label."""
    try:
        name, version = spec.name or grader.name, grader.version
        surface, kind = Surface(grader.surface), GraderKind(grader.kind)
        look = grader.grade
    except (AttributeError, ValueError) as error:
        raise ValueError(f"{spec.entry} is no grader: {error}") from error
    if not (isinstance(version, str) and version and isinstance(name, str) and name):
        raise ValueError(f"{spec.entry} is no grader: name and version must be text")
    return Own(
        name=name, version=version, surface=surface, kind=kind, look=look, limit=spec.timeout
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A plug-in under the name that gnomon.yaml gives it."""

    name: str
    version: str
    surface: Surface
    kind: GraderKind
    look: Callable[[Evidence], Answer]
    limit: dt.timedelta
    _hanging: list[threading.Thread] = field(default_factory=list)

    def grade(self, evidence: Evidence) -> Answer:
        """Ask the plug-in; raises CheckFailed when it takes too long or something is away for it."""
        self._hanging[:] = [thread for thread in self._hanging if thread.is_alive()]
        if len(self._hanging) >= _HANGING:
            raise CheckFailed(
                f"{len(self._hanging)} calls of it never ended, so it is not asked any more;"
                " mend it and restart this process"
            )
        lent = _Lent(evidence)
        call = _Call(self.look, lent)
        thread = threading.Thread(target=call.run, name=f"grader-{self.name}", daemon=True)
        thread.start()
        thread.join(self.limit.total_seconds())
        if thread.is_alive():
            self._hanging.append(thread)
            raise CheckFailed(f"took longer than {self.limit.total_seconds():g} s")
        if lent.away is not None:
            # What it made of evidence that could not be read is no answer: it is asked again.
            raise lent.away
        return call.answer()


class _Call:
    """One call of a plug-in, in a thread that may be left behind."""

    def __init__(self, look: Callable[[Evidence], Answer], evidence: Evidence) -> None:
        self._look = look
        self._evidence = evidence
        self._answer: Answer | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Ask."""
        try:
            self._answer = self._look(self._evidence)
        except BaseException as error:  # noqa: BLE001 - the plug-in boundary; raised by answer()
            self._error = error

    def answer(self) -> Answer:
        """Return what it answered, or raise what it raised."""
        if isinstance(self._error, Unavailable):
            # Something it asked is away; the store is not.
            raise CheckFailed(f"{type(self._error).__name__}: {self._error}") from self._error
        if self._error is not None:
            raise self._error
        return self._answer  # type: ignore[return-value]  # judged by scoring.grading.answers


class _Lent:
    """Evidence as a plug-in gets it; remembers that the store was away."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.away: Unavailable | None = None

    @property
    def run(self) -> Run:
        return self._evidence.run

    @property
    def steps(self) -> Sequence[Step]:
        return self._evidence.steps

    @property
    def final_message(self) -> str | None:
        return self._read(lambda: self._evidence.final_message)

    @property
    def final_json(self) -> JsonValue:
        return self._read(lambda: self._evidence.final_json)

    def bodies(self, steps: Sequence[Step]) -> Sequence[Bodies]:
        return self._read(lambda: self._evidence.bodies(steps))

    def _read(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except Unavailable as error:
            self.away = error
            raise
