"""One span while it is being read: its attributes, and what was parsed of them so far."""

from collections.abc import Mapping

from collector.dialects.answers import NO_ANSWER, Answer, answer_in
from collector.dialects.spellings import usage_in
from collector.dialects.values import as_data
from collector.spans import Event, Span
from gnomon.model import MODEL_CALLS, JsonValue, Kind

ANSWER_KEYS = (
    "output.value",
    "gen_ai.completion",
    "mlflow.spanOutputs",
    "haystack.component.output",
    "haystack.agent.step.llm.output",
)
"""Where M8 looks for the provider's answer, in this order."""


class Facts:
    """A span, its dialect and kind once they are known, and a memory of parsed attributes."""

    __slots__ = (
        "_answer",
        "_parsed",
        "_usages",
        "answer_key",
        "attributes",
        "dialect",
        "failed",
        "kind",
        "resource",
        "span",
    )

    def __init__(self, span: Span) -> None:
        self.span = span
        self.attributes: Mapping[str, str] = span.attributes
        self.resource: Mapping[str, str] = span.resource
        self.dialect = "otel"
        self.kind = Kind.OTHER
        self.failed = False
        self._parsed: dict[str, JsonValue] = {}
        self._usages: dict[str, Mapping[str, int]] = {}
        self._answer: Answer | None = None
        self.answer_key = ""

    @property
    def is_model_call(self) -> bool:
        """Tell whether this span is one call of a model."""
        return self.kind in MODEL_CALLS

    @property
    def claude_code_type(self) -> str:
        """What Claude Code says a span of its own is (K10); '' for the spans of everybody else."""
        return self.attributes.get("span.type", "") if self.dialect == "claude-code" else ""

    def data(self, key: str) -> JsonValue:
        """Return the JSON (or Python literal) inside an attribute, quoted or not; parsed once."""
        parsed = self._parsed
        if key not in parsed:
            value = as_data(self.attributes.get(key))
            if isinstance(value, str) and value[:1] in ("{", "["):
                inner = as_data(value)
                value = value if inner is None else inner
            parsed[key] = value
        return parsed[key]

    def inside(self, key: str, path: tuple[str, ...]) -> JsonValue:
        """Return what lies at a path inside the object of an attribute."""
        value = self.data(key)
        for part in path:
            if not isinstance(value, dict):
                return None
            value = value.get(part)
        return value

    def usage(self, key: str, *, without_cache: bool | None = None) -> Mapping[str, int]:
        """Return the tokens that the usage object of an attribute tells; read once."""
        if key not in self._usages:
            self._usages[key] = usage_in(self.data(key), without_cache=without_cache)
        return self._usages[key]

    def last_event(self, name: str) -> Event | None:
        """Return the latest span event of that name."""
        found = [event for event in self.span.events if event.name == name]
        return max(found, key=lambda event: event.time) if found else None

    @property
    def answer(self) -> Answer:
        """What the provider answered, as far as the body of the span holds it (M8)."""
        if self._answer is None:
            self._answer = NO_ANSWER
            for key in ANSWER_KEYS:
                if key in self.attributes:
                    self._answer = answer_in(self.data(key))
                    if self._answer is not NO_ANSWER:
                        self.answer_key = key
                        break
        return self._answer
