"""Comparisons of rankings: what must hold of their numbers, on tasks that can be counted by hand."""

import json
import math
import random
from dataclasses import replace

import pytest
from verifier.comparisons import CALIBRATOR, LABELS, compared, said, task, tasks

from selftrain.config import Config, VerifierConfig
from selftrain.errors import UsageError
from selftrain.verifier.report.confidence import confidence_to_row
from selftrain.verifier.report.measure import Measured, measure, measured_to_row
from selftrain.verifier.report.sentences import closes, selection_of
from selftrain.verifier.tasks.task import Candidate, Task


@pytest.fixture(scope="module")
def measured() -> Measured:
    return compared()


def test_a_verifier_that_knows_closes_the_whole_gap(measured: Measured) -> None:
    chosen, oracle = selection_of(measured, "joint with groups"), selection_of(measured, "oracle")
    assert chosen and oracle and chosen.efficiency
    assert (chosen.num_correct, chosen.num_no_correct, chosen.num_not_chosen) == (11, 1, 0)
    assert chosen.accuracy == oracle.accuracy
    assert chosen.efficiency.value == 1


def test_a_verifier_without_results_is_compared_without_groups(measured: Measured) -> None:
    choosers = [(one.learner.name, one.chooser) for one in measured.learners]
    assert choosers == [
        ("full", "joint with groups"),
        ("no-execution", "joint"),
        ("full-8", "joint with groups"),
    ]


@pytest.mark.parametrize("settings", [{"results": "none"}, {"results": "type"}, {"groups": False}])
def test_where_results_are_not_read_nothing_is_pooled_by_them(settings: dict[str, object]) -> None:
    made = tasks()
    config = Config(verifier=VerifierConfig.model_validate(settings))
    assert measure(made, [said(made, 9)], CALIBRATOR, config).chooser == "joint"


def test_what_a_verifier_lacks_is_paired_with_the_first(measured: Measured) -> None:
    first, without, alike = measured.learners
    assert first.difference is None
    assert without.difference and alike.difference
    # Of 12 tasks 11 have a right candidate; one has no other, so that even the worst choice is it.
    assert without.difference.difference == pytest.approx(-10 / 12)
    assert alike.difference.difference == 0


def test_pooling_shows_in_the_difference_of_a_verifier_that_may_not_pool() -> None:
    made = tasks()
    made["test"] = [_pooled(f"test {i}") for i in range(8)]
    level = [[0.0] * 3 for _ in made["test"]]
    full, without = said(made, 9), said(made, 9, "no-execution")
    ones = [replace(full, test=level), replace(without, test=level)]
    one = measure(made, ones, CALIBRATOR, Config()).learners[1]
    assert one.difference and one.alike_difference
    assert (one.difference.difference, one.alike_difference.difference) == (-1, 0)


def _pooled(name: str) -> Task:
    """Two right programs of one result, likelier together than the wrong one, not alone."""
    programs = (("a", -1.6, "1"), ("b", -1.4, "1"), ("c", -0.9, "2"))
    candidates = tuple(
        Candidate(program, logprob, 3, result, label=result == "1")
        for program, logprob, result in programs
    )
    return replace(task(name, "+"), candidates=candidates)


def test_permuted_test_labels_change_no_threshold(measured: Measured) -> None:
    labels = ["".join(random.Random(1).sample(own, len(own))) for own in LABELS]
    made = tasks(labels)
    of_others = replace(said(made, 9), test=said(tasks(), 9).test)
    other = measure(made, [of_others], CALIBRATOR, Config()).confidence
    mine = measured.confidence
    assert other.before != mine.before
    assert mine.selective and other.selective
    assert other.selective.threshold == mine.selective.threshold


def test_the_calibrator_given_is_the_one_applied(measured: Measured) -> None:
    before, after = measured.confidence.before, measured.confidence.after
    assert measured.confidence.calibrator == CALIBRATOR
    right, wrong = (1 / (1 + math.exp(-odds)) for odds in (0.5 * 9 - 0.25, 0.5 * -9 - 0.25))
    share = before.share_right.value
    assert after.mean_probability == pytest.approx(share * right + (1 - share) * wrong)


def test_without_log_probabilities_what_needs_none_is_measured() -> None:
    made = tasks(logprobs=False)
    found = measure(made, [said(made, 9)], CALIBRATOR, Config())
    assert found.chooser == "verifier"
    assert [one.ranker for one in found.selections.rankers] == [
        "greedy",
        "random",
        "most frequent",
        "most frequent, error-free",
        "verifier",
        "oracle",
    ]
    assert list(found.scores) == ["verifier"]
    assert list(found.calls[0].by_order) == ["verifier"]
    assert found.calls[0].saved_of_likelihood is None


def test_dev_tasks_that_lack_labels_choose_no_threshold() -> None:
    made = tasks()
    made["dev"] = [task(f"dev {i}", "+-?") for i in range(3)]
    found = measure(made, [said(made, 9)], CALIBRATOR, Config())
    assert found.confidence.selective is None
    assert confidence_to_row(found.confidence)["threshold"] is None


def test_tasks_without_all_labels_are_left_out_and_counted() -> None:
    made = tasks([*LABELS, "+?", "?"])
    found = measure(made, [said(made, 9)], CALIBRATOR, Config())
    assert (found.selections.num_tasks, found.selections.num_left_out) == (12, 2)
    assert found.confidence.before.num_candidates == sum(map(len, LABELS))


def test_a_task_without_a_candidate_is_wrong_and_never_chosen_by_a_threshold() -> None:
    made = tasks([*LABELS, ""])
    found = measure(made, [said(made, 9)], CALIBRATOR, Config())
    chosen, curve = selection_of(found, found.chooser), found.confidence.curve
    assert chosen and chosen.num_no_correct == 2
    assert curve and curve.points[-1].confidence == -math.inf
    assert curve.points[-2].num_chosen == 12
    assert found.confidence.selective
    assert found.confidence.selective.coverage.value < 1


def test_test_tasks_without_any_candidate_are_refused() -> None:
    made = tasks(["", ""])
    with pytest.raises(UsageError, match="None of the 2 test tasks has a candidate"):
        measure(made, [said(made, 9)], CALIBRATOR, Config())


def test_candidates_that_are_all_right_leave_no_gap_to_close() -> None:
    made = tasks(["++", "+", "+++"])
    found = measure(made, [said(made, 9)], CALIBRATOR, Config())
    assert closes(found) == (
        "The choice of joint with groups is right on 100.0% of 3 test tasks, as any would be: "
        "every task's candidates are all right or all wrong."
    )


def test_judge_calls_are_counted_until_the_first_and_until_enough(measured: Measured) -> None:
    assert [one.enough for one in measured.calls] == [1, 8]
    first = measured.calls[0].by_order["joint with groups"]
    # One call where a candidate is right, both of the task where none is.
    assert (first.num_calls, first.num_kept) == (11 + 2, 11)


def test_where_results_are_read_a_program_that_fails_is_no_call_saved() -> None:
    made = tasks(["-+", "--"])
    failed = replace(made["test"][0].candidates[0], result="ERROR: timed_out")
    made["test"][0] = replace(made["test"][0], candidates=(failed, made["test"][0].candidates[1]))
    for results, asked in (("value", 3), ("type", 3), ("none", 4)):
        config = Config(verifier=VerifierConfig.model_validate({"results": results}))
        (first, _) = measure(made, [said(made, -9)], CALIBRATOR, config).calls
        assert {one.num_candidates for one in first.by_order.values()} == {asked}


def test_where_every_program_fails_there_is_no_call_to_save() -> None:
    made = tasks(["--"])
    failed = [replace(one, result="ERROR: timed_out") for one in made["test"][0].candidates]
    made["test"] = [replace(made["test"][0], candidates=tuple(failed))]
    assert measure(made, [said(made, 9)], CALIBRATOR, Config()).calls == ()


def test_the_numbers_are_strict_json(measured: Measured) -> None:
    row = measured_to_row(measured)
    assert json.loads(json.dumps(row, allow_nan=False))["chooser"] == "joint with groups"


def test_the_same_tasks_give_the_same_numbers(measured: Measured) -> None:
    assert json.dumps(measured_to_row(compared())) == json.dumps(measured_to_row(measured))
