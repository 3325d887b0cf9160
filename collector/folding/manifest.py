"""What a run was made with: the pins known for it and their hash."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from collector.dialects.values import dumps, unquoted
from collector.folding import bounds
from collector.folding.parts import Part, most_frequent
from collector.folding.totals import distinct
from collector.short import short
from collector.spans import Span
from gnomon.model import MODEL_CALLS


def pins_of(
    parts: Sequence[Part], root: Part, manifest: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return what this run was made with, as far as it is known."""
    counted = [part.step for part in parts if part.step.counted]
    prompts = _first(
        f"{step.prompt_name}@{step.prompt_version or '?'}" for step in counted if step.prompt_name
    )
    pins = {
        "model": _first(s.model for s in counted if s.kind in MODEL_CALLS),
        "prompt": prompts,
        "application": f"{root.step.service_name} {root.step.service_version}".strip(),
        "agent_version": root.step.agent_version or "",
    }
    for name, attributes in manifest.items():
        pins[name] = _pin(parts, root, attributes) or pins.get(name, "")
    return {name: short(pins[name], bounds.WORDS) for name in sorted(pins) if pins[name]}


def _first(names: Iterable[str | None]) -> str:
    return ", ".join(distinct(names)[: bounds.LISTED])


def _pin(parts: Sequence[Part], root: Part, attributes: Sequence[str]) -> str | None:
    """Return the root's value of the first attribute found, else the most frequent one."""
    for attribute in attributes:
        own = _carried(root.draft.span, attribute)
        value = own or most_frequent(_carried(part.draft.span, attribute) for part in parts)
        if value is not None:
            return value
    return None


def _carried(span: Span, attribute: str) -> str | None:
    return unquoted(span.attributes.get(attribute)) or unquoted(span.resource.get(attribute))


def hash_of(pins: Mapping[str, str]) -> str:
    """Return a short digest of the pins; equal pins, equal digest."""
    if not pins:
        return ""
    return hashlib.sha256(dumps(sorted(pins.items())).encode()).hexdigest()[:16]
