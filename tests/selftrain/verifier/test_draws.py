"""Rankings of fewer samples, and choices by chance, against what can be counted."""

import random
from dataclasses import replace

import numpy as np
import pytest

from selftrain.statistics.estimator import pass_at_k
from selftrain.verifier.ranking.draws import (
    Drawn,
    by_number,
    doubling_sizes,
    right_by_chance,
    right_within_by_chance,
)
from selftrain.verifier.ranking.rank import Scored
from selftrain.verifier.ranking.selection import select
from selftrain.verifier.tasks.task import Candidate, Task


def tasks(number: int, *, size: int = 7, seed: int = 0) -> list[Scored]:
    """Make tasks of distinct scores, so that nothing but a majority ties."""
    rng = random.Random(seed)
    return [
        Scored(
            Task(
                f"task {i}",
                "f",
                tuple(
                    Candidate(
                        program=f"program {j}",
                        sum_logprob=-20 * rng.random(),
                        num_tokens=rng.randint(3, 9),
                        result=rng.choice(["1", "2", "3", "ERROR: raised: no"]),
                        label=rng.random() < 0.3,
                        num_samples=rng.randint(1, 3),
                    )
                    for j in range(size)
                ),
            ),
            tuple(rng.gauss(0, 2) for _ in range(size)),
        )
        for i in range(number)
    ]


def values(found: tuple[Drawn, ...], ranker: str) -> list[float]:
    return [one.accuracy.value for one in found if one.ranker == ranker]


def test_the_oracle_of_m_samples_is_the_unbiased_pass_at_m() -> None:
    some = tasks(3, size=4)
    found = values(by_number(some, (1, 2, 3, 4), repeats=1000, seed=0), "oracle")
    for m, value in zip((1, 2, 3, 4), found, strict=True):
        candidates = [one.task.candidates for one in some]
        n = [sum(c.num_samples for c in each) for each in candidates]
        num_correct = [sum(c.num_samples for c in each if c.label) for each in candidates]
        # Three tasks of 1000 draws: a standard error of 0.009 at most.
        assert value == pytest.approx(pass_at_k(n, num_correct, m).mean(), abs=0.04)


def test_the_oracle_never_falls_as_the_number_grows() -> None:
    for seed in range(4):
        found = values(by_number(tasks(2, seed=seed), range(1, 15), repeats=3, seed=0), "oracle")
        assert found == sorted(found)


def test_random_is_as_good_among_any_number() -> None:
    some = tasks(4)
    chance = [
        right_by_chance(
            np.array([c.label for c in one.task.candidates]),
            np.array([c.num_samples for c in one.task.candidates]),
        )
        for one in some
    ]
    found = values(by_number(some, (1, 3, 9), seed=0), "random")
    assert found == pytest.approx([np.mean(chance)] * 3)


def test_one_sample_leaves_no_ranker_a_choice() -> None:
    found = by_number(tasks(5), (1,), seed=0)
    assert len({one.accuracy.value for one in found if one.ranker != "random"}) == 1


def test_all_samples_are_ranked_as_the_task_is() -> None:
    some = tasks(6)
    whole = {one.ranker: one.accuracy.value for one in select(some, seed=0).rankers}
    # More than any task has are all that it has.
    drawn = {one.ranker: one.accuracy.value for one in by_number(some, (1000,), repeats=2, seed=0)}
    for ranker in ("LM sum", "LM mean", "LM sum, error-free", "verifier", "joint", "oracle"):
        assert drawn[ranker] == whole[ranker]
    assert drawn["joint with groups"] == whole["joint with groups"]


def test_equal_samples_of_a_draw_are_pooled_once() -> None:
    # Counted twice, a's two samples of 0.3 would outweigh b's 0.5.
    a = Candidate("a", float(np.log(0.3)), 5, "'A'", label=False, num_samples=2)
    b = Candidate("b", float(np.log(0.5)), 5, "'B'", label=True)
    found = by_number([Scored(Task("t", "f", (a, b)), (0.0, 0.0))], (3,), seed=0)
    assert values(found, "joint with groups") == [1.0]
    assert values(found, "most frequent") == [0.0]


def test_a_majority_counts_what_was_drawn_of_each() -> None:
    # Of two of four samples: a tie, but where both are a's, which is one draw of two in six.
    a = Candidate("a", -1.0, 5, "'A'", label=True, num_samples=2)
    others = [Candidate(name, -1.0, 5, repr(name), label=False) for name in "bc"]
    one = Scored(Task("t", "f", (a, *others)), (0.0,) * 3)
    found = values(by_number([one], (2,), repeats=4000, seed=0), "most frequent")
    # 1/6 both, 4/6 one of a's two and another, drawn; 1/6 neither. A standard error of 0.008.
    assert found == pytest.approx([1 / 6 + 4 / 6 / 2], abs=0.03)


def test_shuffled_rows_change_no_draw() -> None:
    some = tasks(3)
    turned = [
        Scored(replace(one.task, candidates=one.task.candidates[::-1]), (one.log_odds or ())[::-1])
        for one in some
    ]
    assert by_number(some, (2, 5), seed=0) == by_number(turned, (2, 5), seed=0)


def test_sizes_double_up_to_all() -> None:
    assert doubling_sizes(1) == (1,)
    assert doubling_sizes(8) == (1, 2, 4, 8)
    assert doubling_sizes(12) == (1, 2, 4, 8, 12)


def test_of_texts_as_frequent_as_each_other_the_first_k_are_a_draw_of_k() -> None:
    labels = np.array([True, False, False, True, False, False])
    exact = [float(pass_at_k(6, 2, k)) for k in range(1, 7)]
    for num_samples in (1, 5):
        counts = np.full(6, num_samples)
        assert right_within_by_chance(labels, counts, seed=0) == pytest.approx(exact)


def test_the_chance_of_the_first_k_texts_is_that_of_shuffled_samples() -> None:
    labels, counts = np.array([True, False, False, False]), np.array([2, 6, 1, 3])
    rng = random.Random(0)
    samples = [text for text, count in enumerate(counts) for _ in range(count)]
    hits = np.zeros(4)
    for _ in range(20_000):
        rng.shuffle(samples)
        hits[list(dict.fromkeys(samples)).index(0) :] += 1
    # Standard errors: 0.004 of the simulation, 0.01 of the 200 orders.
    found = right_within_by_chance(labels, counts, seed=0)
    assert found == pytest.approx(hits / 20_000, abs=0.03)
    assert found[0] == pytest.approx(2 / 12)


def test_by_chance_nothing_right_is_never_found() -> None:
    labels, counts = np.array([False, False]), np.array([1, 2])
    assert right_within_by_chance(labels, counts, seed=0).tolist() == [0.0, 0.0]
