"""The refund desk: a toy world whose agent produces real OTLP, right and wrong, from a seed."""

from gnomon.cli.demo.audit import Audit
from gnomon.cli.demo.files import demo_config, demo_policy
from gnomon.cli.demo.tally import Progress, Totals
from gnomon.cli.demo.traffic import run_traffic
from gnomon.cli.demo.truth import Counts, Truth

__all__ = [
    "Audit",
    "Counts",
    "Progress",
    "Totals",
    "Truth",
    "demo_config",
    "demo_policy",
    "run_traffic",
]
