"""A step together with the draft it came from, as the fold of a run handles it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from collector.folding.steps import Draft
from gnomon.model import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One step of a run with the draft it came from."""

    step: Step
    draft: Draft

    @property
    def key(self) -> tuple[int, str, str]:
        """The order of steps inside a run."""
        return self.step.started_at, self.step.span_id, self.step.trace_id


def most_frequent(values: Iterable[str | None]) -> str | None:
    """Return the most frequent value; of equally frequent ones the smallest in byte order."""
    numbers = Counter(value for value in values if value)
    if not numbers:
        return None
    most = max(numbers.values())
    return min(
        (value for value, number in numbers.items() if number == most),
        key=lambda value: value.encode(errors="surrogatepass"),
    )
