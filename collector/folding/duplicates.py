"""One call, one count: which steps report a call that another step reports too (D1 to D6, 3.1)."""

from collections import deque
from collections.abc import Iterable, Sequence

from collector.dialects.usage import TOKEN_FIELDS
from collector.folding.steps import Draft
from gnomon.model import Kind

SLACK_NS = 5_000_000
"""How far a span may reach beyond the one that contains it (D3)."""

_SDK_SCOPES = ("com.anthropic.sdk.", "com.anthropic.claude-platform")
_TAKEN = (
    "provider",
    "request_model",
    "response_model",
    "model",
    "response_id",
    "finish_reason",
    "finish_reason_raw",
    "streamed",
    "service_tier",
    "request_params",
    "ttft_ns",
    "cost_reported_usd",
    "tool_name",
    "tool_call_id",
    "tool_arguments",
    "tool_result",
    "tool_type",
    "query",
    "prompt_name",
    "prompt_version",
    "conversation_id",
    "user_id",
    "error_type",
    "error_message",
    "attempts",
    "tags",
    "guardrails",
)
"""Fields a kept step takes from its duplicates where it has none."""

_TOTALS = ("input_tokens", "output_tokens")
_PARTS = {
    "cached_tokens": "input_tokens",
    "cache_write_tokens": "input_tokens",
    "reasoning_tokens": "output_tokens",
}
"""Parts of a total that only one of two instrumentations tells: taken where the totals agree."""

_OF_FAILURE = frozenset({"error_type", "error_message"})
_OF_SUCCESS = frozenset({"response_model", "response_id"})


def mark_duplicates(drafts: Sequence[Draft]) -> None:
    """Mark the duplicates among the steps of one trace; parents must come before children."""
    live = [draft for draft in drafts if draft.duplicate_of is None]
    models = [draft for draft in live if draft.is_model_call]
    if len(models) > 1:
        _same_response(models)
        _nested_model_calls(models)
        _beside_instrumentor(models)
        _logfire_streams(models)
    tools = [draft for draft in live if draft.kind is Kind.TOOL]
    if len(tools) > 1:
        _mcp_calls(tools)
    _nested_retrievals([draft for draft in live if draft.kind is Kind.RETRIEVAL])


def _is_live(draft: Draft) -> bool:
    return draft.duplicate_of is None


def _mark(duplicate: Draft, kept: Draft, reason: str) -> None:
    """Note a duplicate; what was folded into it before follows it to the step that is kept."""
    while kept.duplicate_of is not None:
        kept = kept.duplicate_of
    if kept is duplicate or duplicate.duplicate_of is not None:
        return
    duplicate.duplicate_of = kept
    duplicate.duplicate_reason = reason


def _by_parent(drafts: Iterable[Draft]) -> dict[str, list[Draft]]:
    children: dict[str, list[Draft]] = {}
    for draft in drafts:
        children.setdefault(draft.parent_id, []).append(draft)
    return children


def _grouped(drafts: Iterable[Draft], *names: str) -> Iterable[list[Draft]]:
    """Group steps by the values of some fields; steps without the first one are left out."""
    groups: dict[tuple[object, ...], list[Draft]] = {}
    for draft in drafts:
        key = tuple(draft.values.get(name) for name in names)
        if key[0] is not None:
            groups.setdefault((draft.kind, *key), []).append(draft)
    return groups.values()


def _same_response(models: Sequence[Draft]) -> None:
    """D1: two steps with usage share a response id."""
    reporting = [draft for draft in models if draft.has_usage]
    for group in _grouped(reporting, "response_id"):
        if len(group) < 2:
            continue
        kept = _outermost(min(group, key=lambda draft: draft.key), group)
        for draft in group:
            if draft is not kept:
                _mark(draft, kept, "D1: same response id")


def _outermost(draft: Draft, group: Sequence[Draft]) -> Draft:
    """Return the outermost ancestor of a step that is one of the group, else the step."""
    members = {id(member) for member in group}
    above = draft.parent
    while above is not None:
        if id(above) in members:
            draft = above
        above = above.parent
    return draft


def _model_above(draft: Draft) -> Draft | None:
    """Return the live model step of the same kind around this one.

    A tool or an agent between them parts them: what a tool or a sub-agent asks is a call of its
    own.
    """
    wall = max(
        (step.depth for kind in (Kind.TOOL, Kind.AGENT) if (step := draft.nearest.get(kind))),
        default=-1,
    )
    outer = draft.nearest.get(draft.kind)
    while outer is not None and not _is_live(outer):
        outer = outer.nearest.get(draft.kind)
    return outer if outer is not None and outer.depth > wall else None


def _nested_model_calls(models: Sequence[Draft]) -> None:
    """D2: a model step inside a model step of the same kind, at any depth."""
    for inner in sorted(models, key=lambda draft: (-draft.depth, draft.key)):
        while _is_live(inner) and (outer := _model_above(inner)) is not None:
            if inner.has_usage and (not outer.has_usage or _restates(outer, inner)):
                _mark(outer, inner, "D2: wraps the model call that reports the usage")
            else:
                _mark(inner, outer, "D2: nested model span of the same call")


def _restates(outer: Draft, inner: Draft) -> bool:
    """Tell an embedding wrapper that repeats the usage of the call inside it."""
    return outer.kind is Kind.EMBEDDING and all(
        outer.values.get(name) == inner.values.get(name) for name in TOKEN_FIELDS
    )


def _beside_instrumentor(models: Sequence[Draft]) -> None:
    """D3: the SDK's own span beside the instrumentor's, where no response id joins them."""
    live = [draft for draft in models if _is_live(draft)]
    others = _by_parent(d for d in live if not d.span.scope_name.startswith(_SDK_SCOPES))
    for sdk in live if others else ():
        if not sdk.span.scope_name.startswith(_SDK_SCOPES):
            continue
        around = [draft for draft in others.get(sdk.parent_id, ()) if _is_beside(sdk, draft)]
        if around:
            kept = min(around, key=lambda draft: (draft.span.end - draft.span.start, draft.key))
            _mark(sdk, kept, "D3: the SDK's own span of the same call")


def _is_beside(sdk: Draft, other: Draft) -> bool:
    return (
        other.kind is sdk.kind
        and other.values.get("request_model") == sdk.values.get("request_model")
        and other.span.start - SLACK_NS <= sdk.span.start
        and sdk.span.end <= other.span.end + SLACK_NS
    )


def _logfire_streams(models: Sequence[Draft]) -> None:
    """D4: Logfire reports a stream's usage on a log span after the call that has none."""
    calls = _by_parent(
        draft
        for draft in models
        if _is_live(draft) and not draft.has_usage and not draft.failed and _is_logfire(draft)
    )
    if not calls:
        return
    for log in sorted(models, key=lambda draft: draft.key):
        if not (_is_live(log) and log.has_usage and _is_stream_log(log)):
            continue
        before = [
            call
            for call in calls.get(log.parent_id, ())
            if _is_live(call)
            and call.key < log.key
            and call.values.get("request_model") == log.values.get("request_model")
        ]
        if before:
            call = max(before, key=lambda draft: draft.key)
            _mark(call, log, "D4: usage is on the companion log span")


def _is_logfire(draft: Draft) -> bool:
    return draft.span.scope_name.startswith("logfire")


def _is_stream_log(draft: Draft) -> bool:
    return draft.span.attributes.get("logfire.span_type") == "log" and draft.span.name.startswith(
        "streaming response from"
    )


def _mcp_calls(tools: Sequence[Draft]) -> None:
    """D5: an MCP `tools/call X` inside a tool step of the same tool, or beside it."""
    calls = [tool for tool in tools if _is_mcp_call(tool)]
    if not calls:
        return
    for call in calls:
        outer = call.nearest.get(Kind.TOOL)
        if outer is not None and _same_tool(outer, call):
            _mark(call, outer, "D5: MCP span of the tool step around it")
    own = _by_parent(tool for tool in tools if not _is_mcp_call(tool))
    for call in filter(_is_live, calls):
        beside = [tool for tool in own.get(call.parent_id, ()) if _is_beside_call(tool, call)]
        if beside:
            kept = min(beside, key=lambda draft: draft.key)
            _mark(call, kept, "D5: MCP span beside the tool span")
    siblings: dict[tuple[str, str], list[Draft]] = {}
    for call in filter(_is_live, calls):
        bare = (call.text("tool_name") or "").rpartition("__")[2]
        siblings.setdefault((call.parent_id, bare), []).append(call)
    for some in siblings.values():
        _mcp_siblings(some)


def _mcp_siblings(calls: Sequence[Draft]) -> None:
    """D5: the two ends of one MCP call, side by side; each call has one span of each scope."""
    if len({call.span.scope_name for call in calls}) < 2:
        return
    running: dict[frozenset[str], deque[Draft]] = {}
    for call in sorted(calls, key=lambda draft: draft.key):
        scopes = frozenset({call.span.scope_name})
        kept = call
        for others, waiting in list(running.items()):
            if scopes <= others or (other_end := _first_beside(waiting, call)) is None:
                continue
            waiting.remove(other_end)
            _mark(call, other_end, "D5: the other end of the MCP call beside it")
            kept, scopes = other_end, scopes | others
            break
        running.setdefault(scopes, deque()).append(kept)


def _first_beside(waiting: deque[Draft], call: Draft) -> Draft | None:
    """Return the first call that runs while another starts; those that have ended are let go."""
    while waiting and waiting[0].span.end < call.span.start:
        waiting.popleft()
    return next((tool for tool in waiting if _is_beside_call(tool, call)), None)


def _is_mcp_call(draft: Draft) -> bool:
    method = draft.span.attributes.get("mcp.method.name")
    return method == "tools/call" or draft.span.name.startswith("tools/call ")


def _same_tool(one: Draft, other: Draft) -> bool:
    a, b = one.text("tool_name"), other.text("tool_name")
    return (
        a is not None and b is not None and (a == b or a.endswith(f"__{b}") or b.endswith(f"__{a}"))
    )


def _is_beside_call(tool: Draft, call: Draft) -> bool:
    return (
        tool.span.scope_name != call.span.scope_name
        and _same_tool(tool, call)
        and tool.span.start <= call.span.start <= tool.span.end
    )


def _nested_retrievals(retrievals: Sequence[Draft]) -> None:
    """D6: a retrieval inside a retrieval of the same query, at any depth."""
    for inner in retrievals:
        query = inner.text("query")
        outer = inner.nearest.get(Kind.RETRIEVAL) if query is not None else None
        while outer is not None and outer.text("query") != query:
            outer = outer.nearest.get(Kind.RETRIEVAL)
        if outer is not None:
            _mark(inner, outer, "D6: nested retrieval of the same query")


def complete_kept(drafts: Sequence[Draft]) -> None:
    """Let each kept step take what it lacks from its duplicates; nothing is overwritten."""
    for duplicate in sorted(drafts, key=lambda draft: draft.key):
        kept = duplicate.duplicate_of
        if kept is None:
            continue
        if kept.duplicate_of is not None:
            kept = duplicate.duplicate_of = _kept(kept)
        kept.has_duplicates = True
        for name in _TAKEN:
            value = duplicate.values.get(name)
            if value is not None and name not in (_OF_SUCCESS if kept.failed else _OF_FAILURE):
                kept.fill(name, value, "3.1", f"duplicate {duplicate.span.span_id}")
        _complete_tokens(kept, duplicate)


def _complete_tokens(kept: Draft, duplicate: Draft) -> None:
    """Take the tokens that only the duplicate tells: never where the two tell different totals."""
    key = f"duplicate {duplicate.span.span_id}"
    both = [(kept.values.get(total), duplicate.values.get(total)) for total in _TOTALS]
    if all(one is None or one == other for one, other in both):
        for total, (_, other) in zip(_TOTALS, both, strict=True):
            kept.fill(total, other, "3.1", key)
    for name, total in _PARTS.items():
        part, whole = duplicate.values.get(name), duplicate.values.get(total)
        # A 0 is what instrumentations say of what they do not look at.
        if part and whole is not None and kept.values.get(total) == whole:
            kept.fill(name, part, "3.1", key)


def _kept(draft: Draft) -> Draft:
    """Follow a chain of duplicates to the step that is kept."""
    while draft.duplicate_of is not None:
        draft = draft.duplicate_of
    return draft
