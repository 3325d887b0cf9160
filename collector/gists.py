"""What a run was asked and what it answered; parses four bodies at most."""

from collections.abc import Callable, Iterable, Sequence

from collector.dialects import content
from collector.parts import Part
from gnomon.model import Bodies, Kind

MAX_TEXT = 2_000
"""Characters of the first question and the last answer that are kept on the run."""


def gist_of(parts: Sequence[Part], root: Part, agent: Part | None) -> tuple[str | None, str | None]:
    """Return the first user text and the last assistant text of a run.

    They come from the root or the outermost agent, else from the first and the last model call.
    """
    outer = [root, agent] if agent is not None and agent is not root else [root]
    calls = [part for part in parts if part.step.counted and part.step.kind is Kind.LLM]
    last = max(calls, key=lambda part: (part.step.ended_at, part.key), default=None)
    read = _Reader(parts)
    question = read.first(content.user_text, (*outer, *calls[:1]))
    answer = read.first(content.assistant_text, (*outer, *((last,) if last else ())))
    return question, answer


class _Reader:
    """Reads bodies once, with the duplicates of a step to fill what it lacks."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._known: dict[int, Bodies] = {}
        self._duplicates: dict[int, list[Part]] = {}
        for part in parts:
            if part.draft.duplicate_of is not None:
                self._duplicates.setdefault(id(part.draft.duplicate_of), []).append(part)

    def first(self, look: Callable[[Bodies], str | None], places: Iterable[Part]) -> str | None:
        """Return the first text that one of the steps holds, cut to its limit."""
        for part in places:
            found = look(self._bodies(part))
            if found is not None and found.strip():
                return found[:MAX_TEXT]
        return None

    def _bodies(self, part: Part) -> Bodies:
        draft = part.draft
        if id(draft) not in self._known:
            copies = [copy.draft.span for copy in self._duplicates.get(id(draft), ())]
            self._known[id(draft)] = content.read_bodies(draft.span, draft.kind, draft.logs, copies)
        return self._known[id(draft)]
