"""What each metric means, in the words of its page."""

from collections.abc import Mapping

DEFINITIONS: Mapping[str, str] = {
    "completion": (
        "verified runs of all settled runs, aborted ones included, where runs of tasks repeat the mean"
        " of the tasks' shares; never the agent's claim"
    ),
    "tool_use": (
        "tool steps, repeats and errors included, per solved run on tasks both versions solved"
    ),
    "correctness": (
        "people's passes of the runs that passed the visible check and were examined by people"
    ),
    "human_intervention": "runs with a correction or takeover by a person of all settled runs",
    "latency": "start to result of finished runs: median; the p90 stands beside it",
    "cost": "money of all runs, failed ones included, per verified run",
    "model_calls": "model steps per run, sub-agents and summaries included",
    "recovery": "runs with an injected fault that end verified without a doubled write",
    "robustness": "success on a variant less success on its base, per task, paired",
}
"""In the order in which they are shown."""

THREE = "solution rate, cost per success and share aborted: only ever together"

SURFACES: Mapping[str, str] = {
    "outcome": "floor, or superiority",
    "policy": "hard invariant",
    "trajectory": "invariant for writes, else diagnostic",
    "factuality": "floor on a calibrated judge",
    "conversation": "people or a calibrated judge: diagnostic, or floor",
    "efficiency": "budget, after outcome and policy",
    "operations": "bound; under 99 % complete traces all others are NOT ENOUGH DATA",
}
"""Name: with which authority it may decide. Side by side, never added, averaged or weighted."""
