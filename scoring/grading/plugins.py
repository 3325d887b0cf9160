"""People's own graders: found by entry point, set up by gnomon.yaml, and never trusted with more."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import Literal

from pydantic import Field, model_validator

from gnomon.config import Duration
from gnomon.errors import Unavailable
from gnomon.model import JsonValue
from scoring.grading.lent import Lent, json_of_its_own
from scoring.grading.limit import Bounded, TookTooLong
from scoring.grading.port import (
    GROUP,
    Answer,
    CheckFailed,
    Evidence,
    Grader,
    GraderKind,
    Surface,
    TryAgain,
)
from scoring.grading.redaction import guarded, secrets_in, told, without
from scoring.grading.spec import Name, Said


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


def load(spec: Plugin) -> "Own":
    """Return the grader; raises ValueError that says what is wrong with it and what there is."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    if spec.entry not in found:
        there = ", ".join(sorted(found)) or "none"
        raise ValueError(f"no entry point {spec.entry} in group {GROUP}; installed: {there}")
    try:
        make: Callable[..., Grader] = found[spec.entry].load()
        # Of its own: what it takes out of them is hidden in its reasons all the same.
        grader = make(**json_of_its_own(spec.options))
    except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001 - told without what it was given
        said = without(told(error), secrets_in(spec.options))
        raise ValueError(f"{spec.entry} can not be made: {said}") from None
    return checked(grader, spec)


def checked(grader: Grader, spec: Plugin) -> "Own":
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
        name=name,
        version=version,
        surface=surface,
        kind=kind,
        look=look,
        bounded=Bounded(limit=spec.timeout, name=name),
        given=tuple(secrets_in(spec.options)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A plug-in under the name that gnomon.yaml gives it."""

    name: str
    version: str
    surface: Surface
    kind: GraderKind
    look: Callable[[Evidence], Answer]
    bounded: Bounded
    given: Sequence[str] = ()
    """The texts of its options that may be secrets: no reason tells one."""

    def until(self, stop: Callable[[], bool]) -> "Own":
        """Return the grader that nobody waits for any more once the process stops."""
        return replace(self, bounded=replace(self.bounded, stop=stop))

    def grade(self, evidence: Evidence) -> Answer:
        """Ask the plug-in; raises CheckFailed when it takes too long or something is away for it."""
        lent = Lent(evidence)
        try:
            answer = guarded(lambda: self.bounded(lambda: _looked(self.look, lent)), self.given)
        except TookTooLong:
            raise
        except CheckFailed:
            lent.refuse_if_away()
            raise
        lent.refuse_if_away()
        return answer


def _looked(look: Callable[[Evidence], Answer], evidence: Evidence) -> Answer:
    """Ask; what a plug-in raises leaves as a failed check, whatever it is."""
    try:
        return look(evidence)
    except CheckFailed:
        raise
    except Unavailable as error:
        # Something it asked is away; the store is not.
        raise TryAgain(told(error)) from error
    except BaseException as error:
        # SystemExit and GeneratorExit, too: nothing that a plug-in raises may end all judging.
        raise CheckFailed(told(error)) from error
