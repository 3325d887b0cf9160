"""What a reader wants first of a body: the answer."""

from collector.dialects.values import as_json
from gnomon.model import Bodies


def assistant_text(bodies: Bodies) -> str | None:
    """Return the last text of an assistant in what was written."""
    turns = as_json(bodies.output)
    for turn in reversed(turns if isinstance(turns, list) else []):
        if turn["role"] == "assistant":
            words = [part["text"] for part in turn["parts"] if part["type"] == "text"]
            if words:
                return "\n".join(words)
    return None
