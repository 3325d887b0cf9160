"""What others compute of the same numbers: imported when the first test asks, since it takes seconds."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Oracle:
    """A module that stands for itself once something of it is used."""

    module: str

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.module), name)


agreement = Oracle("statsmodels.stats.inter_rater")
proportion = Oracle("statsmodels.stats.proportion")
tables = Oracle("statsmodels.stats.contingency_tables")
weighted = Oracle("statsmodels.stats.weightstats")
survival = Oracle("lifelines")
survival_tests = Oracle("lifelines.statistics")
