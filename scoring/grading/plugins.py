"""People's own graders: found by entry point, set up by gnomon.yaml."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Literal

from pydantic import Field

from gnomon.model import JsonValue
from scoring.grading.port import GROUP, Answer, Evidence, Grader, GraderKind, Surface
from scoring.grading.spec import Name, Said


class Plugin(Said):
    """A grader that an installed package brings under the entry point group `gnomon.graders`."""

    type: Literal["plugin"]
    entry: str = Field(description="Name of the entry point.")
    name: Name | None = Field(default=None, description="Unset: as the grader calls itself.")
    options: dict[str, JsonValue] = Field(default={}, description="Handed to the entry point.")


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
    return Own(name=name, version=version, surface=surface, kind=kind, look=look)


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A plug-in under the name that gnomon.yaml gives it."""

    name: str
    version: str
    surface: Surface
    kind: GraderKind
    look: Callable[[Evidence], Answer]

    def grade(self, evidence: Evidence) -> Answer:
        """Ask the plug-in."""
        return self.look(evidence)
