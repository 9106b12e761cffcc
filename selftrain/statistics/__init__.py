"""Statistics of Pass@k: the unbiased estimator, and intervals by cluster bootstrap.

They read no file and sample no model.
"""

from selftrain.statistics.estimator import pass_at_k
from selftrain.statistics.evaluations import (
    evaluation_metrics,
    known_family,
    new_family,
    rows_greedy,
    rows_pass_at_k,
)
from selftrain.statistics.intervals import (
    NUM_REPLICATES,
    Estimate,
    bootstrap_weights,
    cluster_names,
    mean_pass_at_k,
    mean_with_interval,
)

__all__ = [
    "NUM_REPLICATES",
    "Estimate",
    "bootstrap_weights",
    "cluster_names",
    "evaluation_metrics",
    "known_family",
    "mean_pass_at_k",
    "mean_with_interval",
    "new_family",
    "pass_at_k",
    "rows_greedy",
    "rows_pass_at_k",
]
