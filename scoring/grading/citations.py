"""Whether everything the final message cites is among the documents that were retrieved."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from pydantic import Field, field_validator

from gnomon.model import Document, JsonValue, Kind, Step
from scoring.grading.expect import value_at
from scoring.grading.port import Abstained, Answer, Evidence, Label, NotApplicable, Surface
from scoring.grading.spec import GraderSpec, Means
from scoring.policies.endings import MISSING
from scoring.policies.patterns import captured, groups, wrong_pattern
from scoring.policies.recorded import read
from scoring.policies.said import Names

_URL = re.compile(r"https?://[^\s<>\"'`\])}]+")
_TRAILING = ".,;:!?*_"
_SHOWN = 5


class Citations(GraderSpec):
    """Grounding by existence: a citation of nothing that was read fails."""

    type: Literal["citations"]
    surface: Surface = Surface.FACTUALITY
    urls: bool = Field(default=True, description="Addresses in the text are citations.")
    pattern: str | None = Field(
        default=None, description=r"What else is one; its group is the id: `\[doc:([^\]]+)\]`."
    )
    path: str | None = Field(
        default=None, description="Where the JSON of the final message lists citations."
    )
    sources: Names = Field(default=(), description="Tools whose results are documents, too.")
    required: bool = Field(default=False, description="A message without a citation fails.")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            wrong = wrong_pattern(value)
            if wrong is not None:
                raise ValueError(wrong)
            if groups(value) != 1:
                raise ValueError("put exactly one group around the id")
        return value

    def judge(self, means: Means) -> Callable[[Evidence], Answer]:
        """Return what looks the citations up."""
        del means
        return self._look

    def _look(self, evidence: Evidence) -> Answer:
        text = evidence.final_message
        if text is None:
            return Abstained(reason="the final message was not recorded")
        cited = list(dict.fromkeys(self._cited(text, evidence.final_json)))
        if not cited:
            if self.required:
                return Label(passed=False, explanation="nothing is cited")
            return NotApplicable(reason="nothing is cited")
        reads = [step for step in evidence.steps if self._is_source(step)]
        known, blind = self._known(evidence, reads)
        lost = [one for one in cited if _same(one) not in known]
        if lost and blind:
            reason = f"documents of {len(blind)} of {len(reads)} retrievals were not recorded"
            return Abstained(reason=reason, evidence=tuple(blind))
        return Label(
            passed=not lost,
            score=1 - len(lost) / len(cited),
            explanation=f"{len(cited) - len(lost)} of {len(cited)} citations were retrieved",
            evidence=tuple(step.span_id for step in reads),
        )

    def _cited(self, text: str, final: JsonValue) -> Iterator[str]:
        if self.pattern is not None:
            yield from captured(self.pattern, text)
        if self.path is not None:
            listed = value_at(final, self.path)
            if listed is not MISSING:
                yield from _strings(listed)
        if self.urls:
            yield from (match[0].rstrip(_TRAILING) for match in _URL.finditer(text))

    def _is_source(self, step: Step) -> bool:
        return step.kind is Kind.RETRIEVAL or (
            step.kind is Kind.TOOL and step.tool_name in self.sources
        )

    def _known(self, evidence: Evidence, reads: Sequence[Step]) -> tuple[set[str], list[str]]:
        """Return what was retrieved, and the steps whose documents nobody recorded."""
        known: set[str] = set()
        blind: list[str] = []
        for step, bodies in zip(reads, evidence.bodies(reads), strict=True):
            names = [name for document in bodies.documents for name in _names(document)]
            if step.kind is Kind.TOOL and step.tool_result is not None:
                names += _strings(read(step.tool_result))
            elif not (bodies.documents or step.content_captured or step.status == "error"):
                blind.append(step.span_id)
            known.update(_same(name) for name in names)
        return known, blind


def _names(document: Document) -> Iterator[str]:
    yield document.id
    yield from _strings(read(document.metadata))


def _strings(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _strings(item)
        case dict():
            for item in value.values():
                yield from _strings(item)
        case int() | float() if not isinstance(value, bool):
            yield str(value)
        case _:
            return


def _same(name: str) -> str:
    """Return a name without what does not tell documents apart."""
    name = name.strip()
    return name.partition("#")[0].rstrip("/") if name.startswith(("http:", "https:")) else name
