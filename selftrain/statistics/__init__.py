"""Statistics of Pass@k: the unbiased estimator, intervals, and comparisons of models.

They read no file and sample no model. Whatever they draw comes from a seed they are given.
"""

from selftrain.statistics.comparison import Comparison, compare, with_holm
from selftrain.statistics.evaluations import (
    evaluation_metrics,
    known_family,
    mean_over_seeds,
    new_family,
    rows_greedy,
    rows_pass_at_k,
)
from selftrain.statistics.intervals import NUM_REPLICATES, Estimate
from selftrain.statistics.mcnemar import McNemar, mcnemar

__all__ = [
    "NUM_REPLICATES",
    "Comparison",
    "Estimate",
    "McNemar",
    "compare",
    "evaluation_metrics",
    "known_family",
    "mcnemar",
    "mean_over_seeds",
    "new_family",
    "rows_greedy",
    "rows_pass_at_k",
    "with_holm",
]
