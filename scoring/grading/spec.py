"""What gnomon.yaml says about any grader: name, version, surface, scope."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from gnomon.model import Run
from gnomon.store import Store
from scoring.grading.port import Answer, Evidence, GraderKind, NotApplicable, Surface
from scoring.policies.check import in_scope
from scoring.policies.language import Scope
from scoring.policies.said import Said as Said

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.\-]{0,79}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What graders may use."""

    store: Store | None = None
    """None where a grader is only checked or replayed, without a store."""
    stop: Callable[[], bool] = lambda: False
    """Whether the process stops: then nobody waits for a check any more."""


class GraderSpec(Said, ABC):
    """One entry of `graders`."""

    code: ClassVar[str] = "1"
    """Raised by every change of meaning of the built-in grader itself."""

    name: Name
    version: Annotated[str, Field(min_length=1, max_length=40)] | None = Field(
        default=None, description="Raised by every change of meaning; unset: made of the entry."
    )
    surface: Surface = Surface.OUTCOME
    scope: Scope = Scope()

    @property
    def stored_version(self) -> str:
        """What is stored with each label."""
        return self.version or digest_of(f"{self.code}{self.model_dump_json(exclude={'version'})}")

    @abstractmethod
    def judge(self, means: Means) -> Callable[[Evidence], Answer]:
        """Return what grades, from what gnomon.yaml says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltIn:
    """A grader that came with Gnomon, as gnomon.yaml set it up."""

    name: str
    version: str
    surface: Surface
    scope: Scope
    look: Callable[[Evidence], Answer]
    kind: GraderKind = GraderKind.CODE

    def grade(self, evidence: Evidence) -> Answer:
        """Look at a run that lies in the scope."""
        return outside(self.scope, evidence.run) or self.look(evidence)


def outside(scope: Scope, run: Run) -> NotApplicable | None:
    """Return why a run is none of a grader's business, or None when it is."""
    return None if in_scope(scope, run) else NotApplicable(reason="outside of the grader's scope")


def digest_of(text: str) -> str:
    """Return a version made of what is said, for those who give none."""
    return f"auto-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
