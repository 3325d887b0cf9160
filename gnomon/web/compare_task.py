"""One changed task: the last words and the tool calls of two runs, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from urllib.parse import quote

from gnomon.errors import NotFound
from gnomon.model import Kind, Run, Step
from gnomon.segment import segment
from gnomon.web import worddiff
from gnomon.web.compare import CompareView
from gnomon.web.compare_parts import TaskLine, TaskSide
from gnomon.web.formats import duration, usd
from gnomon.web.jsontext import indented, parsed, written
from gnomon.web.port import PageReader
from gnomon.web.worddiff import Compared
from scoring.grading.evidence import StoredEvidence

_CALLS = 300
"""Tool calls of a run that are compared."""
_WORDS = 600
"""Words of one argument list or result that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call of one run."""

    tool: str
    failed: str
    """The kind of error; ''."""
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The same place in both runs; None: that run did nothing there."""

    base: Call | None
    cand: Call | None
    word: str
    """same, or what differs."""
    arguments: Compared
    result: Compared


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSide:
    """One of the two runs."""

    version: str
    run_id: str
    href: str
    facts: str
    others: Sequence[tuple[str, str, bool]]
    """Every run of the task on this side: short name, address of the page with it, chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """The page."""

    line: TaskLine
    back: str
    before: str
    after: str
    """Addresses of the neighbouring tasks; ''."""
    base: RunSide
    cand: RunSide
    answers: Compared | None
    """None: neither run has last words."""
    rows: Sequence[Row]
    left_out: int
    """Tool calls beyond those compared."""


def task_view(reader: PageReader, view: CompareView, *, task: str, old: str, new: str) -> TaskView:
    """Return the page of one of the changed tasks; raises NotFound for any other."""
    lines = view.tasks.lines if view.tasks is not None else ()
    place = next((place for place, line in enumerate(lines) if line.task == task), None)
    if place is None:
        raise NotFound(f"{task} is none of the changed tasks that Compare lists")
    line = lines[place]
    base, cand = _run(reader, line.base, old), _run(reader, line.cand, new)
    steps = reader.counted_steps([base, cand])
    calls = [_calls(steps[run.run_id]) for run in (base, cand)]
    words = [StoredEvidence(run, steps[run.run_id], reader).final_message for run in (base, cand)]
    shown = [found[:_CALLS] for found in calls]
    return TaskView(
        line=line,
        back=f"{view.asked.url()}#tasks",
        before=lines[place - 1].read if place else "",
        after=lines[place + 1].read if place + 1 < len(lines) else "",
        base=_side(view.base, base, line.base, line.read, "old"),
        cand=_side(view.cand, cand, line.cand, line.read, "new"),
        answers=worddiff.compared(words[0] or "", words[1] or "") if any(words) else None,
        rows=rows(shown[0], shown[1], base=view.base, cand=view.cand),
        left_out=sum(len(found) - len(some) for found, some in zip(calls, shown, strict=True)),
    )


def rows(old: Sequence[Step], new: Sequence[Step], *, base: str, cand: str) -> Sequence[Row]:
    """Return two lists of tool calls beside each other, lined up by the names of the tools."""
    left_names, right_names = ([step.tool_name or "" for step in steps] for steps in (old, new))
    found: list[Row] = []
    matcher = SequenceMatcher(None, left_names, right_names, autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        for left, right in zip_longest(old[a:b], new[c:d]):
            found.append(_row(left, right, base, cand))
    return found


def _row(left: Step | None, right: Step | None, base: str, cand: str) -> Row:
    arguments = _compared(_text(left, "tool_arguments"), _text(right, "tool_arguments"))
    result = _compared(_text(left, "tool_result"), _text(right, "tool_result"))
    return Row(
        base=_call(left),
        cand=_call(right),
        word=_word(left, right, arguments, result, base, cand),
        arguments=arguments,
        result=result,
    )


def _word(
    left: Step | None, right: Step | None, arguments: Compared, result: Compared, base: str, cand: str
) -> str:  # fmt: skip
    if left is None or right is None:
        return f"only {cand}" if left is None else f"only {base}"
    if left.tool_name != right.tool_name:
        return "another tool"
    differing = [
        name
        for name, differs in (
            ("arguments", not arguments.same),
            ("result", not result.same or left.error_type != right.error_type),
        )
        if differs
    ]
    return f"other {' and '.join(differing)}" if differing else "same"


def _compared(base: str, cand: str) -> Compared:
    return worddiff.compared(base, cand, most=_WORDS)


def _text(step: Step | None, name: str) -> str:
    """Return arguments or result as text, JSON in one order of keys."""
    value = None if step is None else getattr(step, name)
    if value is None:
        return ""
    told = parsed(value)
    return indented(value if isinstance(told, str) else written(told, ordered=True))


def _call(step: Step | None) -> Call | None:
    if step is None:
        return None
    return Call(
        tool=step.tool_name or "a tool without a name",
        failed=step.error_type or ("error" if step.status == "error" else ""),
        href=f"/runs/{segment(step.run_id)}?step={step.span_id}",
    )


def _calls(steps: Sequence[Step]) -> Sequence[Step]:
    return [step for step in steps if step.kind is Kind.TOOL]


def _run(reader: PageReader, side: TaskSide, asked: str) -> Run:
    if asked and asked not in side.run_ids:
        raise NotFound(f"run {asked} is none of the runs of this task")
    chosen = asked or side.run_ids[0]
    found = reader.run(chosen)
    if found is None:
        raise NotFound(f"run {chosen} is not stored any more")
    return found


def _side(version: str, run: Run, side: TaskSide, here: str, name: str) -> RunSide:
    facts = [str(run.status), duration(run.duration_ns)]
    if run.cost_usd is not None:
        facts.append(usd(run.cost_usd))
    return RunSide(
        version=version,
        run_id=run.run_id,
        href=f"/runs/{segment(run.run_id)}?list=period%3Dall",
        facts=", ".join(facts),
        others=[
            (one[:8], f"{here}&{name}={quote(one, safe='')}", one == run.run_id)
            for one in side.run_ids
        ],
    )
