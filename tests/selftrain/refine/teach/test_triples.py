"""Triples: a wrong try, the edits that the rules ask for, and the nearest right try."""

from puzzles import Puzzle, puzzle_from_source
from selftrain.judge import Judged
from selftrain.refine.gate.evidence import Evidence, GateReport, Status
from selftrain.refine.teach.triples import example_of, nearest, wrong_tries
from selftrain.sampling import Completion, FinishReason
from selftrain.solve import Candidate

F = "def f(x: int, a=3, b=9):\n    return x + a == b"
HEAD = "def g(a=3, b=9):"
REFERENCE = f"{HEAD}\n    return -a + b"
REJECTED = GateReport((Evidence("solved", Status.failed, "f rejects the answer 12"),))


def puzzle(*solutions: str) -> Puzzle:
    return puzzle_from_source(F, name="p", solutions=solutions)


def tried(one: Puzzle, *tries: tuple[str | None, str]) -> list[Judged]:
    """Give tries at a puzzle, each a body and an outcome."""
    completion = Completion("", FinishReason.STOP, 1, 0.0)
    return [
        Judged(
            Candidate(one.id, one.f, i, completion, body and f"{HEAD}\n    {body}", "", ""),
            outcome,
            outcome == "passed",
            "6" if outcome == "passed" else None,
            "",
            1,
        )
        for i, (body, outcome) in enumerate(tries)
    ]


def test_a_triple_asks_as_the_loop_asks_and_ends_as_examples_end() -> None:
    one = puzzle()
    judged = tried(one, ("return b + a", "wrong_answer"), ("return b - a", "passed"))
    (wrong,) = wrong_tries([one], judged, 8, 0)
    example = example_of(wrong, REJECTED, 1)
    assert example is not None
    assert example.prompt == (
        f"{F}\n\n{HEAD}\n    return b + a\n\n# 1. line 2: change + to -\n\n{HEAD}"
    )
    assert example.completion == "\n    return b - a\n\nassert f(g())"
    assert (example.g, example.answer, example.puzzle_id) == (
        f"{HEAD}\n    return b - a",
        "6",
        one.id,
    )
    assert (example.num_attempts, example.num_correct) == (2, 1)


def test_the_right_try_is_the_one_nearest_to_the_wrong_one() -> None:
    right = ["return 6", "return b - a", "return (b * 2 - a * 2) // 2"]
    assert nearest("return b + a", right) == "return b - a"
    assert nearest("return (b * 2 + a * 2) // 2", right) == "return (b * 2 - a * 2) // 2"
    assert nearest("return 8", right) == "return 6"


def test_a_right_try_comes_before_the_reference_solution_which_comes_before_nothing() -> None:
    wrong = ("return b + a", "wrong_answer")
    with_right = puzzle(REFERENCE)
    (one,) = wrong_tries([with_right], tried(with_right, wrong, ("return b - a", "passed")), 8, 0)
    assert one.g == f"{HEAD}\n    return b - a"
    (one,) = wrong_tries([with_right], tried(with_right, wrong), 8, 0)
    assert (one.g, one.answer) == (REFERENCE, None)
    assert wrong_tries([puzzle()], tried(puzzle(), wrong), 8, 0) == []


def test_what_has_no_g_or_passed_by_luck_is_no_wrong_try() -> None:
    one = puzzle(REFERENCE)
    judged = tried(one, (None, "syntax"), ("return b - a", "flaky"), ("return b", "raised"))
    assert [wrong.source for wrong in wrong_tries([one], judged, 8, 0)] == [f"{HEAD}\n    return b"]


def test_equal_tries_count_once_and_no_more_than_the_most_are_drawn() -> None:
    one = puzzle(REFERENCE)
    twice = [(f"return {number}", "wrong_answer") for number in (*range(10), *range(10))]
    drawn = [wrong.source for wrong in wrong_tries([one], tried(one, *twice), 4, 0)]
    assert len(drawn) == len(set(drawn)) == 4
    assert drawn == [wrong.source for wrong in wrong_tries([one], tried(one, *twice), 4, 0)]
    others = {
        tuple(wrong.source for wrong in wrong_tries([one], tried(one, *twice), 4, seed))
        for seed in range(4)
    }
    assert len(others) > 1


def test_what_the_gate_accepts_after_all_is_left_out() -> None:
    one = puzzle(REFERENCE)
    accepted = GateReport((Evidence("solved", Status.held),))
    (wrong,) = wrong_tries([one], tried(one, ("return b + a", "wrong_answer")), 8, 0)
    assert example_of(wrong, accepted, 1) is None
