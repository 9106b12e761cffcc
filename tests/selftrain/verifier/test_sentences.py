"""What a comparison of rankings comes to in sentences, and what they must not claim."""

import re
from dataclasses import replace

import pytest
from verifier.comparisons import CALIBRATOR, compared, said, tasks

from selftrain.config import Config, LeverConfig
from selftrain.report.blocks import Paragraph, Table
from selftrain.report.rankers import meanings
from selftrain.statistics import Comparison
from selftrain.verifier.ranking.rank import RANKERS
from selftrain.verifier.ranking.strata import Stratum
from selftrain.verifier.report.choice_tables import (
    learner_differences_table,
    learners_table,
    spelt,
)
from selftrain.verifier.report.facts import Facts, SplitCounts, Trained
from selftrain.verifier.report.measure import Measured, measure
from selftrain.verifier.report.page import terminal_text
from selftrain.verifier.report.sections import sections_of
from selftrain.verifier.report.sentences import (
    apart_by_family,
    closes,
    differences,
    lacks,
    left_out,
    say_little,
)

CONFIG = Config(lever=LeverConfig(arms=("full",)))
FACTS = Facts(
    splits={"test": SplitCounts(12, 0, 30, 30, 14, 0)},
    verifiers=(Trained("full", 6, 3, 1, 5, 2, 0.4, 0.7, {"task": 0.0}),),
)


@pytest.fixture(scope="module")
def measured() -> Measured:
    return compared()


def with_difference(measured: Measured, difference: float, low: float, high: float) -> Measured:
    """Put another difference in the place of the second verifier's."""
    first, second, _ = measured.learners
    found = Comparison(
        difference=difference,
        low=low,
        high=high,
        p_value=0.02,
        holm_p_value=0.04,
        smallest_detectable=None,
        by_seed=(difference,),
        num_puzzles=12,
        num_clusters=12,
        num_seeds=1,
    )
    alike = replace(found, difference=-0.05)
    changed = replace(second, difference=found, alike_difference=alike)
    return replace(measured, learners=(first, changed))


def test_a_fall_without_results_is_said_with_its_size(measured: Measured) -> None:
    fallen = with_difference(measured, -0.066, -0.101, -0.032)
    assert list(lacks(fallen)) == [
        "Without execution results right choices fall by 6.6 points [3.2, 10.1], p = 0.0400. That "
        "is joint against joint with groups; by joint both, it is −5.0."
    ]


def test_a_rise_is_called_one(measured: Measured) -> None:
    (said,) = lacks(with_difference(measured, 0.03, 0.01, 0.05))
    assert said.startswith(
        "Without execution results right choices rise by 3.0 points [1.0, 5.0], p ="
    )


def test_no_fall_is_claimed_where_the_interval_reaches_to_both_sides(measured: Measured) -> None:
    (said,) = lacks(with_difference(measured, -0.02, -0.05, 0.01))
    assert said.startswith(
        "Without execution results no difference is shown: −2.0 [−5.0, +1.0] points, p = 0.0400"
    )


def test_the_gap_and_the_baselines_are_said_in_a_sentence_each(measured: Measured) -> None:
    (selection,) = (one for one in measured.selections.rankers if one.ranker == "most frequent")
    assert closes(measured) == (
        "Joint with groups chooses right on 91.7% of 12 test tasks, which closes 100.0 "
        "[100.0, 100.0] percent of the gap between random (44.4%) and the oracle (91.7%). Without a "
        f"verifier most frequent closes {spelt(selection.efficiency)}."
    )
    figures = (
        r"that is \+\d+\.\d \[.*?\] points, p = 0\.\d{4}, 0\.\d{4} if corrected over all rankers"
    )
    said = differences(measured)
    first, *others = said.split("; against ")
    assert re.fullmatch(
        "Of the rankers without a verifier most frequent is right most often, on 50.0%; joint with "
        f"groups is on 91.7%: against most frequent {figures}",
        first,
    )
    for one, base in zip(
        others, ("LM sum", "LM sum, error-free", "most frequent, error-free"), strict=True
    ):
        assert re.fullmatch(f"{base} {figures}\\.?", one)


def test_the_strongest_without_a_verifier_is_named_where_it_asks_for_no_error() -> None:
    made = tasks(["-+"] * 4)
    made["test"] = [
        replace(
            one, candidates=(replace(one.candidates[0], result="ERROR: no"), *one.candidates[1:])
        )
        for one in made["test"]
    ]
    found = measure(made, [said(made, 9)], CALIBRATOR, CONFIG)
    assert differences(found).startswith(
        "Of the rankers without a verifier LM sum, error-free is right most often, on 100.0%; "
    )


def test_the_second_ranker_is_named_only_where_it_gives_another_number(measured: Measured) -> None:
    same = with_difference(measured, -0.05, -0.101, -0.032)
    assert list(lacks(same)) == [
        "Without execution results right choices fall by 5.0 points [3.2, 10.1], p = 0.0400."
    ]


def test_fewer_samples_to_learn_from_are_said_with_their_number(measured: Measured) -> None:
    _, said_of_samples = lacks(measured)
    assert said_of_samples.startswith("With 8 samples a task to learn from, no difference is shown")


def test_one_sentence_says_which_rankers_lack_log_probabilities() -> None:
    made = tasks(logprobs=False)
    found = measure(made, [said(made, 9)], CALIBRATOR, CONFIG)
    assert list(left_out(found.selections)) == [
        "Left out: LM sum; LM mean; LM sum, error-free; joint; joint with groups: not all "
        "candidates have the log-probabilities that these need. lever.logprobs=model lets the "
        "model read them."
    ]
    assert "lever.logprobs=model" in terminal_text(found)


def test_groups_that_were_not_asked_for_are_not_called_missing() -> None:
    config = CONFIG.model_copy(
        update={"verifier": CONFIG.verifier.model_copy(update={"groups": False})}
    )
    made = tasks()
    assert list(left_out(measure(made, [said(made, 9)], CALIBRATOR, config).selections)) == []


def without_groups() -> Measured:
    verifier = CONFIG.verifier.model_copy(update={"groups": False})
    return compared(CONFIG.model_copy(update={"verifier": verifier}))


def test_without_groups_no_table_speaks_of_them() -> None:
    learners = without_groups().learners
    choices, apart = learners_table(learners), learner_differences_table(learners)
    assert choices.columns == ("Verifier", "Chooses by", "verifier", "joint")
    assert apart.columns == ("Verifier", "By joint", "p")
    assert {len(row) for row in apart.rows} == {3}
    assert "roups" not in choices.note + apart.note


def test_with_groups_both_comparisons_are_shown(measured: Measured) -> None:
    apart = learner_differences_table(measured.learners)
    assert apart.columns == ("Verifier", "As each chooses", "p", "Both by joint", "p")
    assert "the last column says what they would add" in learners_table(measured.learners).note


def test_families_are_said_with_the_ranker_that_is_right_on_them(measured: Measured) -> None:
    (all_tasks,) = (one.accuracy for one in measured.selections.rankers if one.ranker == "joint")
    same = {"joint with groups": all_tasks, "random": all_tasks}
    apart = (Stratum("known families", 40, same), Stratum("new families", 12, same))
    found = replace(measured, strata=apart)
    assert apart_by_family(found).startswith("Joint with groups is right on ")
    assert next(say_little(found)) == (
        "There are few test tasks (12 in all, 12 of new families): intervals over fewer "
        "than 30 say little."
    )


def test_an_interval_without_width_is_no_certainty() -> None:
    made = tasks(["-+", "+-"] * 15)
    (warned,) = say_little(measure(made, [said(made, 9)], CALIBRATOR, CONFIG))
    assert warned.startswith("An interval without width")


def test_many_tasks_that_differ_need_no_warning() -> None:
    made = tasks(["-+", "--"] * 15)
    found = measure(made, [said(made, 9)], CALIBRATOR, CONFIG)
    chosen = replace(found.selections.rankers[-2], efficiency=None)
    assert chosen.ranker == found.chooser
    rankers = (*found.selections.rankers[:-2], chosen, found.selections.rankers[-1])
    found = replace(found, selections=replace(found.selections, rankers=rankers))
    assert list(say_little(found)) == []


def test_where_no_order_can_save_a_call_it_is_said_in_place_of_zeros(measured: Measured) -> None:
    # Until the first passed a call can be saved; no task has 8 right ones and others.
    section = next(one for one in sections_of(measured, FACTS) if one.title == "Judge calls")
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert table.caption.startswith("Calls until one candidate")
    texts = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert [text for text in texts if "8 passed" in text] == [
        "Until 8 passed no order could save a call: none of the tasks has so many right candidates "
        "and others beside them."
    ]


def test_the_rankers_shown_are_defined_beneath_their_table(measured: Measured) -> None:
    section = next(one for one in sections_of(measured, FACTS) if one.title == "Rankings")
    (named,) = (
        one.text
        for one in section.blocks
        if isinstance(one, Paragraph) and one.text.startswith("What each chooses.")
    )
    assert "greedy: a sample of its own at temperature 0" in named
    assert "with groups: pooled over programs of equal result" in named


def test_rankers_that_are_not_shown_are_not_defined() -> None:
    assert meanings(["random", "oracle"]) == (
        "What each chooses. random: a sample at random, which is Pass@1; oracle: a candidate that "
        "is right, where there is one."
    )


def test_no_meaning_of_a_ranker_is_missing() -> None:
    assert all(meanings([ranker]) != meanings([]) for ranker in RANKERS)
