"""Pass@k and its intervals, against values worked out by hand, published ones, and simulation."""

import gzip
import json
import os
import time
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from selftrain.statistics import evaluation_metrics
from selftrain.statistics.estimator import pass_at_k
from selftrain.statistics.intervals import (
    bootstrap_weights,
    cluster_names,
    mean_pass_at_k,
    mean_with_interval,
)

SHARED = Path(os.environ.get("SELFTRAIN_SHARED", Path(__file__).parents[4] / "shared"))
CODEX = SHARED / "data" / "p3" / "codex_cushman_med.jsonl.gz"


def row(
    family: str = "",
    *,
    n: int = 4,
    num_correct: int = 0,
    known: bool = True,
    greedy: bool | None = None,
) -> Any:
    return {
        "family": family,
        "known_family": known,
        "n": n,
        "num_correct": num_correct,
        "greedy_passed": greedy,
    }


def test_pass_at_k_equals_the_values_worked_out_by_hand() -> None:
    assert pass_at_k([4, 4, 4, 4], [0, 1, 2, 4], 2).tolist() == [0.0, 0.5, 5 / 6, 1.0]


def test_pass_at_1_is_the_share_that_is_right() -> None:
    assert pass_at_k([10, 1000], [3, 7], 1).tolist() == [0.3, 0.007]


def test_fewer_samples_than_k_is_refused_even_where_all_are_right() -> None:
    with pytest.raises(
        ValueError,
        match=r"Pass@5 needs at least 5 samples of every puzzle; the fewest found are 4\.",
    ):
        pass_at_k([9, 4], [9, 4], 5)


def test_k_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="a k of at least 1; found 0"):
        pass_at_k([4], [1], 0)


def test_more_right_than_sampled_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        pass_at_k([4], [5], 1)


@pytest.mark.parametrize(
    ("n", "c", "k"), [(5000, 1, 1), (5000, 3, 2500), (5000, 4000, 999), (3000, 2, 3000)]
)
def test_pass_at_k_of_thousands_of_samples_is_exact(n: int, c: int, k: int) -> None:
    assert pass_at_k(n, c, k).item() == float(1 - Fraction(comb(n - c, k), comb(n, k)))


@pytest.mark.skipif(
    not CODEX.exists(),
    reason=f"{CODEX} is missing; SELFTRAIN_SHARED may name another shared folder",
)
@pytest.mark.parametrize(
    ("split", "num_puzzles", "published"),
    [
        (None, 397, {1: 0.0714, 10: 0.2666, 100: 0.5147, 1000: 0.6902}),
        ("test", 228, {1: 0.0579, 10: 0.2578, 100: 0.5328, 1000: 0.7325}),
    ],
)
def test_codex_on_p3_gives_the_published_pass_at_k(
    split: str | None, num_puzzles: int, published: dict[int, float]
) -> None:
    with gzip.open(CODEX, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if split is None or row["split"] == split]
    n, num_correct = [row["n"] for row in rows], [row["num_correct"] for row in rows]
    assert len(rows) == num_puzzles
    assert {k: round(float(pass_at_k(n, num_correct, k).mean()), 4) for k in published} == published


def test_the_same_seed_gives_the_same_interval() -> None:
    families = ["a", "a", "b", "c", ""]
    first = mean_pass_at_k([8] * 5, [0, 1, 8, 3, 2], 2, families, seed=7)
    bootstrap_weights.cache_clear()
    assert first == mean_pass_at_k([8] * 5, [0, 1, 8, 3, 2], 2, families, seed=7)


def test_another_seed_gives_another_interval() -> None:
    estimates = [
        mean_pass_at_k([8] * 5, [0, 1, 8, 3, 2], 1, [""] * 5, seed=seed, num_replicates=50)
        for seed in (1, 2)
    ]
    assert (estimates[0].low, estimates[0].high) != (estimates[1].low, estimates[1].high)


def test_puzzles_without_a_family_are_clusters_of_their_own() -> None:
    assert (
        mean_pass_at_k([1] * 4, [0, 1, 1, 0], 1, ["add", "add", "", ""], seed=0).num_clusters == 3
    )


def test_puzzles_that_agree_within_families_give_a_wider_interval_than_puzzles_alone() -> None:
    solved = np.repeat([0.0, 1.0], 50)
    alone = mean_with_interval(solved, [""] * 100, num_samples=1, seed=0)
    clustered = mean_with_interval(
        solved, [f"family {i // 10}" for i in range(100)], num_samples=1, seed=0
    )
    assert clustered.high - clustered.low > 2 * (alone.high - alone.low)


def test_each_puzzle_alone_gives_the_interval_of_the_binomial() -> None:
    estimate = mean_with_interval(np.repeat([0.0, 1.0], 200), [""] * 400, num_samples=1, seed=0)
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.1)


def test_puzzles_within_a_single_family_are_resampled_too() -> None:
    estimate = mean_with_interval([0.0, 1.0, 0.0, 1.0], ["add"] * 4, num_samples=1, seed=0)
    assert (estimate.low, estimate.high) == (0.0, 1.0)


def test_weights_favour_no_family_and_no_puzzle() -> None:
    clusters = cluster_names(["a"] * 5 + ["b"] * 5 + ["c"] * 5)
    average = bootstrap_weights(clusters, seed=0, num_replicates=20_000).mean(axis=0)
    assert average == pytest.approx([1 / 15] * 15, rel=0.05)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    families = [f"family {i // 5}" for i in range(150)]
    covered = 0
    for trial in range(200):
        chances = np.repeat(rng.beta(2, 2, size=30), 5)
        found = mean_pass_at_k([8] * 150, rng.binomial(8, chances), 1, families, seed=trial % 4)
        covered += found.low <= 0.5 <= found.high
    assert 0.90 <= covered / 200 <= 1.0


def test_the_interval_holds_its_mean_where_all_values_are_equal() -> None:
    estimate = mean_with_interval(
        [0.1] * 7, ["a", "a", "b", "", "", "c", "c"], num_samples=1, seed=0
    )
    assert estimate.low <= estimate.value <= estimate.high


def test_two_thousand_replicates_of_228_puzzles_take_well_under_a_second() -> None:
    bootstrap_weights.cache_clear()
    begin = time.process_time()
    mean_pass_at_k(
        [16] * 228, [1] * 228, 4, [f"{i // 4}" for i in range(228)], seed=0, num_replicates=2000
    )
    assert time.process_time() - begin < 0.7


def test_evaluation_metrics_are_exactly_the_keys_of_a_round() -> None:
    rows = [
        row("add", num_correct=2, greedy=True),
        row("add", num_correct=0, greedy=False),
        row("word", num_correct=4, known=False, greedy=True),
        row("", num_correct=0, known=False, greedy=True),
    ]
    metrics = evaluation_metrics(rows, [1, 4], seed=0)
    bounds = {
        f"eval/pass@{k}_{end}": metrics.pop(f"eval/pass@{k}_{end}")
        for k in (1, 4)
        for end in ("low", "high")
    }
    assert metrics == {
        "eval/pass@1": 0.375,
        "eval/pass@4": 0.5,
        "eval/greedy": 0.75,
        "eval/num_puzzles": 4,
        "eval/num_samples": 4,
        "eval/known_family/pass@1": 0.25,
        "eval/new_family/pass@1": 1.0,
    }
    assert bounds["eval/pass@1_low"] <= 0.375 <= bounds["eval/pass@1_high"]


def test_metrics_name_neither_greedy_nor_families_where_there_are_none() -> None:
    assert set(evaluation_metrics([row(num_correct=1)], [1], seed=0)) == {
        "eval/pass@1",
        "eval/pass@1_low",
        "eval/pass@1_high",
        "eval/num_puzzles",
        "eval/num_samples",
    }


def test_metrics_refuse_a_k_above_n() -> None:
    with pytest.raises(
        ValueError,
        match=r"Pass@16 needs at least 16 samples of every puzzle; the fewest found are 4\.",
    ):
        evaluation_metrics([row("add")], [1, 16], seed=0)


def test_metrics_refuse_an_evaluation_without_puzzles() -> None:
    with pytest.raises(ValueError, match="no held-out puzzle to measure on"):
        evaluation_metrics([], [1], seed=0)
