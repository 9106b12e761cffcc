"""Which verified pairs are trained on: at most m, distinct, shortest first."""

from dataclasses import replace

from puzzles import Puzzle, puzzle_from_source
from selftrain.curate import curate
from selftrain.judge import Judged
from selftrain.sampling import Completion, FinishReason
from selftrain.solve import Candidate

ADD = puzzle_from_source("def f(x: int, a=3):\n    return x + a == 500", name="add")
WORD = puzzle_from_source("def f(s: str):\n    return s[::-1] == 'ab'", name="word")
DRAWN = Completion("", FinishReason.STOP, 1, 0.0)


def judged(puzzle: Puzzle, *bodies: str, passed: bool = True) -> list[Judged]:
    made = []
    for index, body in enumerate(bodies):
        g = f"def g({puzzle.inputs}):\n    return {body}"
        candidate = Candidate(puzzle.id, puzzle.f, index, DRAWN, g, "", "")
        made.append(Judged(candidate, "passed" if passed else "raised", passed, None, "", 0))
    return made


def completions(pairs: list[Judged], max_solutions: int) -> list[str]:
    return [example.completion for example in curate(pairs, max_solutions, 1)]


def test_shortest_come_first_and_at_most_m() -> None:
    pairs = judged(ADD, "500 - a + 0", "497", "500 - a", "a * 0 + 497")
    assert completions(pairs, 2) == [
        "\n    return 497\n\nassert f(g())",
        "\n    return 500 - a\n\nassert f(g())",
    ]


def test_a_solution_drawn_twice_is_kept_once() -> None:
    assert len(completions(judged(ADD, "497", "497", "496 + 1"), 8)) == 2


def test_of_equally_long_ones_the_order_does_not_depend_on_the_draws() -> None:
    pairs = judged(ADD, "499-2", "498-1")
    assert (
        completions(pairs, 1)
        == completions(pairs[::-1], 1)
        == ["\n    return 498-1\n\nassert f(g())"]
    )


def test_what_did_not_pass_is_not_kept() -> None:
    assert completions(judged(ADD, "1", "2", passed=False), 8) == []


def test_m_counts_for_each_puzzle_alone() -> None:
    pairs = [*judged(ADD, "497", "498 - 1"), *judged(WORD, "'ba'", "'ab'[::-1]")]
    examples = list(curate(pairs, 1, 4))
    assert [(example.puzzle_id, example.round) for example in examples] == [
        (ADD.id, 4),
        (WORD.id, 4),
    ]
    assert examples[0].prompt == f"{ADD.f}\n\ndef g(a=3):"


def test_a_candidate_without_g_is_not_kept() -> None:
    (one,) = judged(ADD, "497", passed=False)
    without = replace(one, candidate=replace(one.candidate, g=None))
    assert completions([without], 8) == []
