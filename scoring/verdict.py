"""Whether a run did what it should have done: one verdict from the labels of all graders."""

from collections.abc import Sequence

from scoring.grading.port import GraderKind, State, Surface
from scoring.reading import RunJudgments
from scoring.rows import LabelRow, StatusRow


def verified(judged: RunJudgments) -> bool | None:
    """Return whether the outcome is right; None when nobody knows.

    By code, else by people, never by a model or by what the agent claims; one grader that says
    no is enough. The same as the column `verified` of the metrics.
    """
    labels = deciding(judged)
    return all(label.passed for label in labels) if labels else None


def deciding(judged: RunJudgments) -> Sequence[LabelRow]:
    """Return the labels that the verdict is made of: outcome, by the newest version of a grader."""
    newest: dict[str, StatusRow] = {}
    for status in judged.statuses:
        known = newest.get(status.grader)
        if status.state is not State.WAITING and (known is None or status.at > known.at):
            newest[status.grader] = status
    versions = {(name, status.grader_version) for name, status in newest.items()}
    labels = [
        label
        for label in judged.labels
        if label.surface is Surface.OUTCOME
        and label.passed is not None
        and (label.grader, label.grader_version) in versions
    ]
    code = [one for one in labels if one.kind is GraderKind.CODE and one.claimed is None]
    return code or [one for one in labels if one.kind is GraderKind.HUMAN]
