"""Statistics of Pass@k: the unbiased estimator, intervals, and comparisons of models.

They read no file and sample no model. Whatever they draw comes from a seed they are given.
"""

from selftrain.statistics.comparison import (
    Comparison,
    compare,
    sign_flip_p_value,
    smallest_detectable,
    with_holm,
)
from selftrain.statistics.estimator import pass_at_k
from selftrain.statistics.evaluations import (
    evaluation_metrics,
    known_family,
    mean_over_seeds,
    new_family,
    rows_greedy,
    rows_pass_at_k,
)
from selftrain.statistics.holm import holm
from selftrain.statistics.intervals import (
    NUM_REPLICATES,
    Estimate,
    bootstrap_weights,
    cluster_names,
    mean_pass_at_k,
    mean_with_interval,
)
from selftrain.statistics.mcnemar import McNemar, mcnemar

__all__ = [
    "NUM_REPLICATES",
    "Comparison",
    "Estimate",
    "McNemar",
    "bootstrap_weights",
    "cluster_names",
    "compare",
    "evaluation_metrics",
    "holm",
    "known_family",
    "mcnemar",
    "mean_over_seeds",
    "mean_pass_at_k",
    "mean_with_interval",
    "new_family",
    "pass_at_k",
    "rows_greedy",
    "rows_pass_at_k",
    "sign_flip_p_value",
    "smallest_detectable",
    "with_holm",
]
