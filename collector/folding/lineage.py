"""Who stands under whom: parents, agents and their paths, and what a child says for its parent."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from collector.dialects.values import found
from collector.folding import bounds
from collector.folding.steps import Draft
from gnomon.model import MODEL_CALLS, Kind

TRACKED = MODEL_CALLS | {Kind.AGENT, Kind.TOOL, Kind.RETRIEVAL}
"""Kinds whose nearest ancestor somebody asks for."""

_INHERITED = ("agent_name", "agent_id", "agent_version")
_NO_PARENT = ("", "0" * 16)


def linked(drafts: Iterable[Draft]) -> list[Draft]:
    """Join the steps of one trace to their parents; return them with parents before children.

    Steps are ordered by depth, start and span id, so that arrival decides nothing. A parent that
    is not there makes an orphan, and so does a circle of parents, cut at its earliest step.
    """
    ordered = sorted(drafts, key=lambda draft: draft.key)
    by_id = {draft.span.span_id: draft for draft in ordered}
    by_id |= _pending(ordered, by_id)
    children: dict[int, list[Draft]] = {}
    for draft in ordered:
        if draft.parent_id:
            parent = by_id.get(draft.parent_id)
            if parent is None:
                draft.flags.add("orphan")
            else:
                draft.parent = parent
                children.setdefault(id(parent), []).append(draft)
    return _walked(ordered, children)


def _pending(ordered: Sequence[Draft], by_id: Mapping[str, Draft]) -> dict[str, Draft]:
    """Let a pending span of Logfire stand where its real span is missing (D7)."""
    standing: dict[str, Draft] = {}
    for draft in ordered:
        if draft.span.attributes.get("logfire.span_type") == "pending_span":
            real = draft.parent_id
            parent = draft.span.attributes.get("logfire.pending_parent_id", "")
            draft.parent_id = "" if parent in _NO_PARENT else parent
            if real in by_id:
                draft.duplicate_of = by_id[real]
                draft.duplicate_reason = "D7: the finished span is there"
            else:
                draft.flags.add("pending")
                if real:
                    standing.setdefault(real, draft)
    return standing


def _walked(ordered: Sequence[Draft], children: Mapping[int, Sequence[Draft]]) -> list[Draft]:
    walked: list[Draft] = []
    seen: set[int] = set()
    for start in sorted(ordered, key=lambda draft: draft.parent is not None):
        if id(start) in seen:
            continue
        if start.parent is not None:
            start.parent = None
            start.flags.add("orphan")
        waiting = deque([start])
        seen.add(id(start))
        while waiting:
            draft = waiting.popleft()
            _place(draft)
            walked.append(draft)
            for child in children.get(id(draft), ()):
                if id(child) not in seen:
                    seen.add(id(child))
                    waiting.append(child)
    return walked


def _place(draft: Draft) -> None:
    """Note depth, nearest ancestors, agent and run of a step whose parent is done."""
    parent = draft.parent
    if parent is None:
        return
    draft.depth = parent.depth + 1
    tracked = parent.kind in TRACKED
    draft.nearest = {**parent.nearest, parent.kind: parent} if tracked else parent.nearest
    if draft.run_id is None:
        draft.run_id = parent.run_id


def inherit_agents(drafts: Sequence[Draft]) -> None:
    """Give each step its agent: its own, else that of the nearest agent above it."""
    for draft in drafts:
        agent = draft.nearest.get(Kind.AGENT)
        if agent is None:
            continue
        draft.agent_path = agent.agent_path
        if agent.own_name:
            path = (*agent.agent_path, agent.own_name)
            draft.agent_path = path[: bounds.PATH]
            if len(path) > bounds.PATH:
                draft.flags.add(bounds.TRUNCATED)
        for name in _INHERITED:
            draft.fill(name, agent.values.get(name), "1.1", f"agent {agent.span.span_id}")


def settle_claude_code_tools(drafts: Sequence[Draft]) -> None:
    """E4: the tool span of Claude Code stays unset; its execution child knows how it ended."""
    for draft in drafts:
        tool = draft.parent
        if (
            tool is not None
            and tool.kind is Kind.TOOL
            and draft.reading.facts.claude_code_type == "tool.execution"
            and draft.failed
            and not tool.failed
        ):
            tool.failed = True
            tool.values["status_from"] = draft.span.span_id
            tool.reading.reasons["status"] = ("E4", f"span {draft.span.span_id}")
            tool.fill("error_type", draft.values.get("error_type"), "E4", draft.span.span_id)
            tool.fill("error_message", draft.values.get("error_message"), "E4", draft.span.span_id)


def complete_handoffs(drafts: Sequence[Draft]) -> None:
    """Find who took over where the hand-off does not say: the next agent put under the giver."""
    agents: dict[str, list[Draft]] = {}
    for draft in drafts:
        giver = found(draft.span.attributes.get("graph.node.parent_id"))
        if giver is not None and draft.kind is Kind.AGENT:
            agents.setdefault(giver, []).append(draft)
    if not agents:
        return
    for draft in drafts:
        giver = draft.text("handoff_from")
        if draft.kind is Kind.HANDOFF and giver and not draft.text("handoff_to"):
            later = [taker for taker in agents.get(giver, ()) if taker.key >= draft.key]
            if later:
                taker = min(later, key=lambda agent: agent.key)
                key = f"graph.node.parent_id of span {taker.span.span_id}"
                draft.fill("handoff_to", taker.values.get("agent_name"), "2.3", key)
