"""The table of rankers: what must hold of any, and cases that can be counted by hand."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selftrain.errors import UsageError
from selftrain.verifier.ranking.chooser import OF_VERIFIERS
from selftrain.verifier.ranking.rank import RANKERS, Scored
from selftrain.verifier.ranking.selection import (
    BASELINES,
    Selection,
    Selections,
    select,
    selections_to_row,
    shown_ks,
)
from selftrain.verifier.tasks.task import Candidate, Task


def task(number: int, labels: str, *, greedy: bool | None = True, **fields: Any) -> Scored:
    """Make a task of a candidate a letter, + for a right one; the verifier likes the first best."""
    candidates = tuple(
        Candidate(f"program {i}", -1.0 - i, 5, repr(i), label=letter == "+")
        for i, letter in enumerate(labels)
    )
    program = Candidate("greedy", -1.0, 5, "0", label=greedy)
    made = Task(f"task {number}", "f", candidates, greedy=program, **fields)
    return Scored(made, tuple(-float(i) for i in range(len(labels))))


def row(selections: Selections, ranker: str) -> Selection:
    return next(one for one in selections.rankers if one.ranker == ranker)


candidates = st.lists(
    st.tuples(
        st.sampled_from([-9.0, -3.5, -1.0]),
        st.sampled_from(["1", "2", "ERROR: raised: no"]),
        st.sampled_from([-3.0, 0.5, 2.0]),
        st.booleans(),
        st.integers(1, 3),
    ),
    max_size=5,
)
tables = st.lists(st.tuples(candidates, st.booleans()), min_size=1, max_size=5)


def build(drawn: list[Any]) -> list[Scored]:
    made = []
    for number, (rows, greedy) in enumerate(drawn):
        programs = tuple(
            Candidate(f"program {i}", logprob, 4, result, label, n)
            for i, (logprob, result, _, label, n) in enumerate(rows)
        )
        odds = tuple(odd for _, _, odd, _, _ in rows)
        program = Candidate("greedy", -1.0, 5, "0", label=greedy)
        made.append(Scored(Task(f"task {number}", "f", programs, greedy=program), odds))
    return made


@given(tables)
@settings(max_examples=8, deadline=None)
def test_every_table_adds_up(drawn: list[Any]) -> None:
    selections = select(build(drawn), seed=0)
    oracle = row(selections, "oracle")
    assert [one.ranker for one in selections.rankers] == list(RANKERS)
    for one in selections.rankers:
        misses = one.num_no_correct + one.num_not_chosen
        assert one.num_correct + misses == pytest.approx(selections.num_tasks)
        assert one.accuracy.value == pytest.approx(one.num_correct / selections.num_tasks)
        ranked = [estimate.value for estimate in one.pass_at_k.values()]
        assert ranked == sorted(ranked) and ranked[0] == one.accuracy.value
        if one.ranker != "greedy":  # Its program need not be among the candidates.
            assert one.accuracy.value <= oracle.accuracy.value
            assert ranked[-1] == pytest.approx(oracle.accuracy.value)
            assert one.num_no_correct == oracle.num_no_correct
    json.dumps(selections_to_row(selections), allow_nan=False)


@given(tables)
@settings(max_examples=6, deadline=None)
def test_a_perfect_verifier_equals_the_oracle(drawn: list[Any]) -> None:
    perfect = [
        Scored(
            # Equally likely programs, since a joint score weighs likelihood as well.
            replace(
                one.task,
                candidates=tuple(replace(c, sum_logprob=-2.0) for c in one.task.candidates),
            ),
            tuple(5.0 if c.label else -5.0 for c in one.task.candidates),
        )
        for one in build(drawn)
    ]
    selections = select(perfect, seed=0)
    for ranker in ("verifier", "joint"):
        assert row(selections, ranker).accuracy == row(selections, "oracle").accuracy
        assert row(selections, ranker).num_not_chosen == 0


def test_random_is_the_mean_share_of_right_samples() -> None:
    first, second = task(0, "+-"), task(1, "--")
    three = replace(first.task.candidates[0], num_samples=3)
    first = Scored(replace(first.task, candidates=(three, first.task.candidates[1])), (0.0, 0.0))
    selections = select([first, second], seed=0)
    assert row(selections, "random").accuracy.value == pytest.approx((3 / 4 + 0) / 2)
    assert row(selections, "random").num_not_chosen == pytest.approx(1 / 4)
    assert row(selections, "random").num_no_correct == 1
    # Four samples and two: no unbiased Pass@k beyond 2.
    assert [selections.pass_at_k[k].value for k in (1, 2)] == pytest.approx([3 / 8, 1 / 2])
    assert list(selections.pass_at_k) == [1, 2]


def test_misses_are_split_by_whether_any_candidate_was_right() -> None:
    selections = select([task(0, "+-"), task(1, "-+"), task(2, "--"), task(3, "--")], seed=0)
    verifier = row(selections, "verifier")
    assert (verifier.num_correct, verifier.num_not_chosen, verifier.num_no_correct) == (1, 1, 2)


def test_a_right_greedy_program_is_no_coverage_miss() -> None:
    greedy = row(select([task(0, "--"), task(1, "--", greedy=False)], seed=0), "greedy")
    assert (greedy.num_correct, greedy.num_not_chosen, greedy.num_no_correct) == (1, 0, 1)


def test_ranked_pass_at_k_looks_at_the_first_k() -> None:
    selections = select([task(0, "+--"), task(1, "-+-"), task(2, "--+"), task(3, "-")], seed=0)
    ranked = {k: estimate.value for k, estimate in row(selections, "verifier").pass_at_k.items()}
    assert ranked == {1: 0.25, 2: 0.5, 3: 0.75}


def test_efficiency_is_the_share_of_the_gap_between_random_and_oracle() -> None:
    selections = select([task(0, "+-"), task(1, "+-"), task(2, "+-"), task(3, "-+")], seed=0)
    found = row(selections, "verifier").efficiency
    assert found is not None and found.value == pytest.approx((0.75 - 0.5) / (1.0 - 0.5))
    assert found.low < 0.5 < found.high == 1.0
    for ranker, value in (("random", 0.0), ("oracle", 1.0)):
        share = row(selections, ranker).efficiency
        assert share is not None and (share.low, share.value, share.high) == (value,) * 3


def test_without_a_gap_there_is_no_efficiency() -> None:
    selections = select([task(0, "++"), task(1, "--")], seed=0)
    assert row(selections, "verifier").efficiency is None


def test_rankers_are_compared_task_by_task_with_each_baseline_but_themselves() -> None:
    some = [task(i, "-+", greedy=False) for i in range(8)]
    some = [Scored(one.task, (0.0, 1.0)) for one in some]
    selections = select(some, seed=0)
    verifier = row(selections, "verifier").differences
    assert set(verifier) == set(BASELINES)
    assert verifier["LM sum"].difference == 1.0
    assert verifier["LM sum"].p_value == 2 / 2**8
    assert set(row(selections, "LM sum").differences) == set(BASELINES) - {"LM sum"}


def test_all_that_choose_without_a_verifier_are_baselines() -> None:
    reading = {*OF_VERIFIERS, "random", "oracle"}
    assert set(BASELINES) == set(RANKERS) - reading


def test_p_values_are_corrected_for_the_rankers_and_the_oracle_is_none_of_them() -> None:
    some = [Scored(task(i, "-+").task, (0.0, 1.0)) for i in range(8)]
    selections = select(some, seed=0)
    # Nine others are compared with LM sum; the verifier's p is one of the smallest two.
    verifier = row(selections, "verifier").differences["LM sum"]
    assert verifier.holm_p_value == pytest.approx(9 * verifier.p_value)
    oracle = row(selections, "oracle").differences["LM sum"]
    assert oracle.holm_p_value == oracle.p_value


def test_tasks_with_unknown_labels_are_left_out_and_counted() -> None:
    known, unknown = task(0, "+-"), task(1, "-+")
    half = (replace(unknown.task.candidates[0], label=None), unknown.task.candidates[1])
    selections = select(
        [known, Scored(replace(unknown.task, candidates=half), unknown.log_odds)], seed=0
    )
    assert (selections.num_tasks, selections.num_left_out) == (1, 1)
    with pytest.raises(UsageError, match="none has labels"):
        select([Scored(replace(unknown.task, candidates=half), unknown.log_odds)], seed=0)


def test_greedy_is_left_out_with_a_reason_where_any_task_lacks_its_program_or_label() -> None:
    without = task(1, "+-")
    for other in (
        task(1, "+-", greedy=None),
        Scored(replace(without.task, greedy=None), (0.0, 0.0)),
    ):
        selections = select([task(0, "+-"), other], seed=0)
        assert "greedy" not in [one.ranker for one in selections.rankers]
        assert list(selections.refused) == ["greedy"]


def test_without_log_probabilities_what_needs_none_is_still_measured() -> None:
    one = task(0, "+-")
    bare = tuple(replace(c, sum_logprob=None) for c in one.task.candidates)
    selections = select([Scored(replace(one.task, candidates=bare), one.log_odds)], seed=0)
    assert [each.ranker for each in selections.rankers] == [
        "greedy",
        "random",
        "most frequent",
        "most frequent, error-free",
        "verifier",
        "oracle",
    ]
    assert list(selections.refused) == [
        "LM sum",
        "LM mean",
        "LM sum, error-free",
        "joint",
        "joint with groups",
    ]


def test_without_groups_no_ranker_pools() -> None:
    selections = select([task(0, "+-")], seed=0, groups=False)
    assert "joint with groups" not in [one.ranker for one in selections.rankers]
    assert selections.refused == {}


def test_a_task_without_candidates_is_a_coverage_miss_of_all() -> None:
    selections = select([task(0, "+-"), task(1, "", greedy=False)], seed=0)
    assert all(one.num_no_correct == 1 for one in selections.rankers)
    assert selections.pass_at_k[2].value == 0.5


def test_a_tie_of_three_is_one_task_whose_choice_was_drawn() -> None:
    some = [Scored(task(0, "+-+").task, (1.0, 1.0, 1.0)), task(1, "+-+")]
    selections = select(some, seed=0)
    assert row(selections, "verifier").num_ties == 1
    assert row(selections, "LM sum").num_ties == 0


def test_the_order_of_tasks_changes_no_choice() -> None:
    some = [task(i, "+-+--") for i in range(6)]
    tied = [Scored(one.task, (0.0,) * 5) for one in some]
    forth, back = select(tied, seed=0), select(tied[::-1], seed=0)
    for one, other in zip(forth.rankers, back.rankers, strict=True):
        assert one.num_correct == pytest.approx(other.num_correct)


def test_pass_at_k_is_given_for_every_small_k_and_for_doubling_ones_beyond() -> None:
    assert shown_ks(3) == [1, 2, 3]
    assert shown_ks(128) == list(range(1, 129))
    assert shown_ks(1000) == [*range(1, 129), 256, 512, 1000]
