"""Which pairs are trained on: at most m a puzzle, distinct, shortest first where verified."""

from dataclasses import replace
from typing import Any

from puzzles import Puzzle, puzzle_from_source
from selftrain.config import CurateConfig
from selftrain.curate import Example, chosen_pairs, chosen_rows, curate
from selftrain.judge import NOT_JUDGED, Judged
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


def examples(pairs: list[Judged], seed: int = 0, **settings: Any) -> list[Example]:
    config = CurateConfig(**settings)
    return list(curate([ADD, WORD], pairs, config, seed, 4))


def completions(pairs: list[Judged], max_solutions: int) -> list[str]:
    return [example.completion for example in examples(pairs, max_solutions=max_solutions)]


def test_shortest_come_first_and_at_most_m() -> None:
    pairs = judged(ADD, "500 - a + 0", "497", "500 - a", "a * 0 + 497")
    assert completions(pairs, 2) == [
        "\n    return 497\n\nassert f(g())",
        "\n    return 500 - a\n\nassert f(g())",
    ]


def test_where_a_verifier_ordered_them_the_likeliest_come_first_whatever_their_length() -> None:
    bodies = ("500 - a + 0", "497", "500 - a")
    ranked = [
        replace(one, rank=rank) for one, rank in zip(judged(ADD, *bodies), (0, 2, 1), strict=True)
    ]
    assert completions(ranked, 2) == [
        "\n    return 500 - a + 0\n\nassert f(g())",
        "\n    return 500 - a\n\nassert f(g())",
    ]


def test_a_candidate_that_was_not_judged_is_no_attempt() -> None:
    spared = [replace(one, outcome=NOT_JUDGED) for one in judged(ADD, "1", "2", passed=False)]
    (example,) = examples([*judged(ADD, "497"), *spared])
    assert (example.num_attempts, example.num_correct) == (1, 1)


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
    kept = examples(pairs, max_solutions=1)
    assert [(one.puzzle_id, one.name, one.round) for one in kept] == [
        (ADD.id, "add", 4),
        (WORD.id, "word", 4),
    ]
    assert kept[0].prompt == f"{ADD.f}\n\ndef g(a=3):"


def test_a_candidate_without_g_is_not_kept() -> None:
    (one,) = judged(ADD, "497", passed=False)
    without = replace(one, candidate=replace(one.candidate, g=None))
    assert completions([without], 8) == []


MIXED = [*judged(ADD, "497", "498 - 1"), *judged(ADD, "1", "2", "3", passed=False)]


def test_unverified_pairs_are_drawn_whatever_their_verdict() -> None:
    drawn = [
        tuple(
            one.num_correct for one in examples(MIXED, seed, verdicts="unverified", max_solutions=2)
        )
        for seed in range(3)
    ]
    assert drawn == [(2, 2)] * 3
    kept = {
        one.g.rpartition(" ")[2]
        for seed in range(40)
        for one in examples(MIXED, seed, verdicts="unverified", max_solutions=1)
    }
    assert kept == {"497", "1", "2", "3"}


def test_unverified_pairs_do_not_change_with_the_verdicts() -> None:
    flipped = [replace(one, passed=not one.passed) for one in MIXED]
    chosen = [
        [one.g for one in examples(pairs, verdicts="unverified", max_solutions=2)]
        for pairs in (MIXED, flipped)
    ]
    assert chosen[0] == chosen[1]


def test_wrong_pairs_neither_passed_nor_passed_by_luck() -> None:
    lucky = replace(MIXED[2], outcome="flaky")
    kept = examples([*MIXED[:2], lucky, *MIXED[3:]], verdicts="wrong")
    assert {one.g.rpartition(" ")[2] for one in kept} == {"2", "3"}


def test_a_puzzle_that_every_attempt_solved_can_be_left_out() -> None:
    pairs = [
        *judged(ADD, "497", "498 - 1"),
        *judged(WORD, "'ba'"),
        *judged(WORD, "1", passed=False),
    ]
    assert {one.name for one in examples(pairs, drop_always_solved=True)} == {"word"}
    assert {one.name for one in examples(pairs)} == {"add", "word"}


def test_an_example_knows_its_solve_rate_and_its_attempt() -> None:
    (one,) = examples([*judged(ADD, "1", passed=False), *judged(ADD, "1", "497")[1:]])
    assert (one.num_correct, one.num_attempts, one.index) == (1, 2, 1)


RATES = [1.0, 0.1, 0.5, 0.9, 0.45]


def test_middle_first_keeps_what_is_solved_half_the_time() -> None:
    config = CurateConfig(max_pairs=3, choose="middle_first")
    first, second, third = chosen_pairs(RATES, config, 0, 1)
    assert (first, second) == (2, 4)
    assert third in (1, 3)


def test_rows_come_in_the_order_in_which_they_were_chosen() -> None:
    rows = [{"num_correct": n, "num_attempts": 8} for n in (8, 1, 4, 6)]
    config = CurateConfig(max_pairs=3, choose="middle_first")
    found = chosen_rows(lambda: iter(rows), config, 0, 1)
    assert [row["num_correct"] for row in found] == [4, 6, 1]
    assert list(chosen_rows(lambda: iter(rows), CurateConfig(), 0, 1)) == rows


def test_a_random_choice_depends_on_the_seed_alone() -> None:
    config = CurateConfig(max_pairs=2)
    choices = [tuple(chosen_pairs(RATES, config, seed, 1)) for seed in range(30)]
    assert choices == [tuple(chosen_pairs(RATES, config, seed, 1)) for seed in range(30)]
    assert len(set(choices)) > 3
    assert {len(one) for one in choices} == {2}


def test_without_a_limit_every_pair_is_kept() -> None:
    assert chosen_pairs(RATES, CurateConfig(), 0, 1) == [0, 1, 2, 3, 4]


def test_each_round_may_have_a_limit_of_its_own() -> None:
    config = CurateConfig(max_pairs=(2, 4))
    assert [len(chosen_pairs(RATES, config, 0, number)) for number in (1, 2, 3)] == [2, 4, 4]
