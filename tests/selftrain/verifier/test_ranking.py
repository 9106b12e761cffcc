"""Orders of a task's candidates, against cases that can be worked out by hand."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selftrain.errors import UsageError
from selftrain.verifier.ranking.chooser import Results, chooser_of
from selftrain.verifier.ranking.rank import (
    RANKERS,
    Ranker,
    Scored,
    rank,
    rank_draws,
    ranking_to_row,
    refusal,
)
from selftrain.verifier.ranking.slate import lay_out
from selftrain.verifier.tasks.task import Candidate, Task


def candidate(
    program: str, logprob: float | None = -1.0, result: str = "1", **more: Any
) -> Candidate:
    fields = {"num_tokens": 10, "label": False} | more
    return Candidate(program=program, sum_logprob=logprob, result=result, **fields)


def scored(*candidates: Candidate, odds: list[float] | None = None, task_id: str = "t") -> Scored:
    greedy = candidate("greedy")
    log_odds = tuple(odds) if odds else (0.0,) * len(candidates)
    return Scored(Task(task_id, "f", candidates, greedy=greedy), log_odds)


def programs(one: Scored, ranker: Ranker, **how: Any) -> list[str]:
    order = rank(one, ranker, seed=0, **how).order
    return [one.task.candidates[index].program for index in order]


RANKERS_OF_CANDIDATES = [ranker for ranker in RANKERS if ranker != "greedy"]

# Few values of each, so that ties, groups and errors come up.
candidates = st.lists(
    st.tuples(
        st.sampled_from([-math.inf, -900.0, -768.5, -768.0, -3.25, -0.5]),
        st.sampled_from(["1", "[2]", "'x'", "ERROR: raised: no", "what no parser reads ("]),
        st.sampled_from([-4.0, 0.0, 0.5, 30.0]),
        st.booleans(),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=7,
)


def build(drawn: list[tuple[float, str, float, bool, int]], shift: float = 0.0) -> Scored:
    made = [
        candidate(f"program {i}", logprob + shift, result, label=label, num_samples=n)
        for i, (logprob, result, _, label, n) in enumerate(drawn)
    ]
    return scored(*made, odds=[odds for _, _, odds, _, _ in drawn])


@pytest.mark.parametrize("ranker", ["LM sum", "joint", "joint with groups"])
def test_log_probabilities_near_minus_768_do_not_tie(ranker: Ranker) -> None:
    assert math.exp(-768.0) == math.exp(-768.5) == 0.0
    one = scored(
        candidate("a", -768.5, "1"), candidate("b", -768.0, "2"), candidate("c", -900.0, "3")
    )
    assert programs(one, ranker) == ["b", "a", "c"]
    assert rank(one, ranker, seed=0).num_ties == 0


def test_far_below_the_best_group_the_others_are_still_in_order() -> None:
    one = scored(
        candidate("a", -1.0, "1"),
        candidate("b", -2000.0, "2"),
        candidate("c", -1999.5, "3"),
        candidate("d", -2000.0, "2"),
    )
    # Twice e^-2000 is e^-1999.3, more than e^-1999.5.
    found = programs(one, "joint with groups")
    assert [found[0], found[2]] == ["a", "c"] and found[1] in "bd"


@given(candidates)
@settings(max_examples=30, deadline=None)
def test_adding_minus_1000_to_a_task_changes_no_rank(drawn: list[Any]) -> None:
    for ranker in ("LM sum", "LM sum, error-free", "joint", "joint with groups"):
        assert programs(build(drawn), ranker) == programs(build(drawn, shift=-1000.0), ranker)


@given(candidates, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_shuffled_rows_change_no_order(drawn: list[Any], random: Any) -> None:
    one = build(drawn)
    rows = list(zip(one.task.candidates, one.log_odds or (), strict=True))
    random.shuffle(rows)
    shuffled = scored(*(row[0] for row in rows), odds=[row[1] for row in rows])
    for ranker in RANKERS_OF_CANDIDATES:
        assert programs(one, ranker) == programs(shuffled, ranker)


@given(candidates)
@settings(max_examples=25, deadline=None)
def test_an_order_holds_every_candidate_once(drawn: list[Any]) -> None:
    one = build(drawn)
    for ranker in RANKERS_OF_CANDIDATES:
        assert sorted(rank(one, ranker, seed=0).order) == list(range(len(drawn)))


@given(candidates)
@settings(max_examples=25, deadline=None)
def test_flipped_labels_change_no_order_but_the_oracles(drawn: list[Any]) -> None:
    one = build(drawn)
    flipped = tuple(replace(each, label=not each.label) for each in one.task.candidates)
    other = Scored(replace(one.task, candidates=flipped), one.log_odds)
    for ranker in RANKERS_OF_CANDIDATES[:-1]:
        assert rank(one, ranker, seed=0) == rank(other, ranker, seed=0)


def test_two_of_one_result_outweigh_a_better_single_one_with_groups_alone() -> None:
    one = scored(
        candidate("0.2", math.log(0.2), "'A'"),
        candidate("0.25", math.log(0.25), "'A'"),
        candidate("0.4", math.log(0.4), "'B'"),
    )
    assert programs(one, "joint with groups")[0] == "0.25"
    assert programs(one, "joint")[0] == "0.4"


def test_second_members_of_a_group_come_after_all_first_ones() -> None:
    one = scored(
        candidate("A second", -2.0, "'A'"),
        candidate("A best", -1.0, "'A'"),
        candidate("B", -9.0, "'B'"),
    )
    assert programs(one, "joint with groups") == ["A best", "B", "A second"]


def test_1_and_true_are_not_pooled() -> None:
    one = scored(candidate("a", -2.0, "1"), candidate("b", -1.9, "True"), candidate("c", -1.8, "2"))
    assert programs(one, "joint with groups")[0] == "c"


def test_a_joint_score_is_the_log_likelihood_plus_the_log_probability_of_being_right() -> None:
    one = scored(candidate("a", -2.0, num_tokens=4), odds=[math.log(3.0)])
    assert rank(one, "joint", seed=0).scores == pytest.approx([-2.0 + math.log(0.75)])
    by_mean = rank(one, "joint", seed=0, likelihood="mean")
    assert by_mean.scores == pytest.approx([-0.5 + math.log(0.75)])


def test_a_verifier_that_is_sure_still_tells_which_is_surer() -> None:
    # Both probabilities are 1.0 in float64.
    one = scored(candidate("a"), candidate("b"), odds=[40.0, 50.0])
    assert programs(one, "verifier") == ["b", "a"]


@pytest.mark.parametrize("ranker", ["LM sum", "joint", "joint with groups"])
def test_where_all_are_impossible_all_tie(ranker: Ranker) -> None:
    one = scored(*(candidate(name, -math.inf, repr(name)) for name in "abcd"))
    assert rank(one, ranker, seed=0).num_ties == 3


def test_an_impossible_program_comes_last() -> None:
    one = scored(candidate("a", -math.inf, "1"), candidate("b", -5000.0, "2"))
    assert programs(one, "joint with groups") == ["b", "a"]


def test_sums_that_differ_by_rounding_alone_tie() -> None:
    one = scored(candidate("a", 0.1 + 0.2 - 100, "1"), candidate("b", 0.3 - 100, "2"))
    assert rank(one, "LM sum", seed=0).num_ties == 1


def test_errors_of_one_text_are_not_pooled() -> None:
    error = "ERROR: raised: ValueError"
    one = scored(
        candidate("a", math.log(0.3), error),
        candidate("b", math.log(0.3), error),
        candidate("c", math.log(0.4), "1"),
    )
    assert programs(one, "joint with groups")[0] == "c"


def test_an_error_is_ranked_by_its_own_score_but_by_the_error_free_rankers() -> None:
    one = scored(
        candidate("fails", -1.0, "ERROR: timed_out", num_samples=9), candidate("runs", -2.0, "1")
    )
    for ranker in ("LM sum", "joint", "joint with groups", "most frequent"):
        assert programs(one, ranker) == ["fails", "runs"]
    for ranker in ("LM sum, error-free", "most frequent, error-free"):
        assert programs(one, ranker) == ["runs", "fails"]


def test_a_majority_counts_samples_and_not_texts() -> None:
    one = scored(
        candidate("a", result="'A'", num_samples=3),
        candidate("b", result="'B'"),
        candidate("c", result="'B'"),
    )
    assert programs(one, "most frequent")[0] == "a"
    assert rank(one, "most frequent", seed=0).scores == (3.0, 2.0, 2.0)


def test_a_majority_is_one_of_results_and_not_of_programs() -> None:
    one = scored(
        candidate("a", result="'A'", num_samples=3),
        candidate("b", result="'B'", num_samples=2),
        candidate("c", result="'B'", num_samples=2),
    )
    assert programs(one, "most frequent")[0] in "bc"


def test_ties_are_drawn_anew_for_each_task_and_favour_neither() -> None:
    first = [
        programs(scored(candidate("a"), candidate("b"), task_id=f"task {i}"), "LM sum")[0]
        for i in range(200)
    ]
    assert 70 <= first.count("a") <= 130


def test_a_tie_of_groups_does_not_favour_the_larger_one() -> None:
    found = []
    for i in range(200):
        one = scored(
            candidate("alone", math.log(0.6), "'A'"),
            *(candidate(name, math.log(0.2), "'B'") for name in ("x", "y", "z")),
            task_id=f"task {i}",
        )
        ranking = rank(one, "joint with groups", seed=0)
        assert ranking.num_ties == 3
        found.append(ranking.order[0])
    assert 70 <= found.count(0) <= 130


def test_members_below_the_best_of_a_winning_group_are_no_ties() -> None:
    one = scored(candidate("a", -1.0, "1"), candidate("b", -2.0, "1"))
    assert rank(one, "joint with groups", seed=0).num_ties == 0


def test_random_shows_frequent_texts_earlier() -> None:
    first = [
        programs(
            scored(candidate("a", num_samples=3), candidate("b"), task_id=f"task {i}"), "random"
        )[0]
        for i in range(400)
    ]
    assert 260 <= first.count("a") <= 340


def test_scores_are_in_the_order_of_the_candidates() -> None:
    one = scored(candidate("c", -1.0), candidate("a", -2.0, "2"), candidate("b", -3.0, "3"))
    assert rank(one, "LM sum", seed=0).scores == (-1.0, -2.0, -3.0)


def test_what_a_draw_lacks_adds_nothing_to_its_group_comes_last_and_is_no_tie() -> None:
    one = scored(
        candidate("a", math.log(0.3), "'A'"),
        candidate("b", math.log(0.3), "'A'"),
        candidate("c", math.log(0.3), "'C'"),
        candidate("d", math.log(0.4), "'D'"),
    )
    slate = lay_out(one.task, one.log_odds)
    draws = np.array([[1, 0, 0, 1], [1, 1, 0, 1], [1, 0, 2, 0]])
    priority = np.array([[1, 0, 2, 3]] * 3)
    order = rank_draws(slate, "joint with groups", draws, priority, "sum")
    assert order.columns[0, :2].tolist() == [3, 0]
    assert order.columns[1].tolist() == [1, 3, 0, 2]
    assert order.columns[2, :2].tolist() == [0, 2]
    # In the second draw a and b, in the third a and c, could come first.
    assert order.num_ties.tolist() == [0, 1, 1]


def test_greedy_ranks_its_own_program_alone() -> None:
    assert programs(scored(candidate("a"), candidate("greedy")), "greedy") == ["greedy"]
    assert programs(scored(candidate("a")), "greedy") == []


@pytest.mark.parametrize(
    ("results", "groups", "has_logprobs", "ranker"),
    [
        ("value", True, True, "joint with groups"),
        ("value", False, True, "joint"),
        ("type", True, True, "joint"),
        ("none", True, True, "joint"),
        ("value", True, False, "verifier"),
        ("none", False, False, "verifier"),
    ],
)
def test_results_are_pooled_only_for_a_verifier_that_reads_their_values(
    results: Results, groups: bool, has_logprobs: bool, ranker: Ranker
) -> None:
    assert chooser_of(results, groups=groups, has_logprobs=has_logprobs) == ranker


@pytest.mark.parametrize("ranker", ["LM sum", "LM mean", "joint", "joint with groups"])
def test_candidates_without_log_probabilities_are_refused(ranker: Ranker) -> None:
    one = scored(candidate("a"), candidate("b", None))
    with pytest.raises(UsageError, match=r"'t' have no log-probabilities.*lever\.logprobs=model"):
        rank(one, ranker, seed=0)


def test_a_mean_needs_the_number_of_tokens() -> None:
    one = scored(candidate("a", num_tokens=None))
    assert programs(one, "joint") == ["a"]
    for ranker, likelihood in (("LM mean", "sum"), ("joint", "mean")):
        with pytest.raises(UsageError, match="no log-probabilities a token"):
            rank(one, ranker, seed=0, likelihood=likelihood)  # type: ignore[arg-type]


def test_without_a_verifier_its_rankers_are_refused_and_others_are_not() -> None:
    one = Scored(scored(candidate("a")).task, None)
    assert programs(one, "LM sum") == ["a"]
    with pytest.raises(UsageError, match="no verifier's scores"):
        rank(one, "joint", seed=0)


def test_log_odds_of_other_candidates_are_refused() -> None:
    with pytest.raises(ValueError, match="1 candidates, but 2 log-odds"):
        rank(scored(candidate("a"), odds=[1.0, 2.0]), "verifier", seed=0)
    with pytest.raises(ValueError, match="not a number"):
        rank(scored(candidate("a"), odds=[math.nan]), "verifier", seed=0)


def test_why_a_ranker_is_refused_is_said_and_never_raised() -> None:
    one = scored(candidate("a"), odds=[math.nan])
    assert refusal(one, "verifier", "sum") is None
    assert "no verifier's scores" in (refusal(Scored(one.task, None), "joint", "sum") or "")


def test_a_task_without_candidates_has_an_empty_order() -> None:
    assert programs(scored(), "joint with groups") == []


def test_a_row_of_an_impossible_program_is_json() -> None:
    one = scored(candidate("a", -math.inf), candidate("b", -1.0, "2"))
    row = ranking_to_row(one.task, rank(one, "LM sum", seed=0))
    json.dumps(row, allow_nan=False)
    assert [each["score"] for each in row["candidates"]] == [-1.0, None]
