"""The texts a model goes on from: the paper's, to the character, where our functions make them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from puzzles import Puzzle, puzzle_from_source
from puzzles.builtin.read import read_builtin
from puzzles.p3 import read_p3
from selftrain.prompts import (
    example_completion,
    example_prompt,
    few_shot_puzzles,
    propose_prompt,
    solve_prompt,
)

TWO_INPUTS = puzzle_from_source("def f(x: int, a=3, b=[1, 2]):\n    return x == a", name="two")
RECURSIVE = puzzle_from_source(
    "def f(x: int, n=2):\n    return x == 5 if n == 0 else f(x, n - 1)",
    name="recursive",
    solutions=("def g(n=2):\n    return 5 if n == 0 else g(n - 1)",),
)


@pytest.fixture(scope="module")
def golden(p3_folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((p3_folder / "golden_prompts.json").read_text())
    return content


@pytest.fixture(scope="module")
def p3(p3_folder: Path) -> dict[str, Puzzle]:
    return {puzzle.family: puzzle for puzzle in read_p3(p3_folder / "puzzles.json").puzzles}


@pytest.fixture(scope="module")
def p3_train(p3_folder: Path) -> list[Puzzle]:
    files = (p3_folder / "puzzles.json", p3_folder / "split.json")
    return read_p3(*files, "train").puzzles


def test_a_prompt_to_propose_is_the_papers(golden: dict[str, Any], p3: dict[str, Puzzle]) -> None:
    shown = [p3[name] for name in golden["propose"]["puzzles"]]
    assert propose_prompt(shown) == golden["propose"]["prompt"]


def test_a_prompt_to_solve_is_the_papers(
    golden: dict[str, Any], p3: dict[str, Puzzle], p3_train: list[Puzzle]
) -> None:
    few_shot = few_shot_puzzles(p3_train, 5)
    prompts = [solve_prompt(p3[one["puzzle"]], few_shot) for one in golden["solve"]]
    assert prompts == [one["prompt"] for one in golden["solve"]]
    assert all(prompt.startswith(golden["few_shot_prefix"]) for prompt in prompts)
    assert len(golden["solve"]) == 2


def test_the_papers_five_come_first_and_others_after_them(p3_train: list[Puzzle]) -> None:
    chosen = few_shot_puzzles(p3_train, 7)
    assert [puzzle.family for puzzle in chosen[:5]] == [f"Tutorial{i}" for i in range(1, 6)]
    assert len({puzzle.family for puzzle in chosen}) == 7


def test_the_papers_five_are_chosen_from_p3_alone(p3_train: list[Puzzle]) -> None:
    own = [replace(puzzle, origin="file") for puzzle in p3_train]
    assert [puzzle.family for puzzle in few_shot_puzzles(own, 1)] == [
        next(puzzle.family for puzzle in own if puzzle.solutions)
    ]


def test_only_the_blanks_of_a_repeated_text_are_taken_out() -> None:
    f = "def f(s: str):\n    return len(s) == 9"
    solution = "def g():\n    return 'a b' * (1 + 2) + str(3 * 4) + 'c' * len('d e')"
    puzzle = puzzle_from_source(
        f, name="Tutorial1:0", family="Tutorial1", origin="p3", solutions=(solution,)
    )
    (shown,) = few_shot_puzzles([puzzle], 1)
    assert shown.solutions == ("def g():\n    return 'a b'*(1+2)+str(3 * 4) + 'c' * len('d e')",)


def test_a_prompt_shows_the_first_inputs_alone() -> None:
    puzzle = replace(TWO_INPUTS, more_inputs=("a=777, b=[8]",))
    assert solve_prompt(puzzle) == solve_prompt(TWO_INPUTS)
    assert propose_prompt([puzzle]) == propose_prompt([TWO_INPUTS])


def test_every_head_of_p3_is_one_line(p3: dict[str, Puzzle]) -> None:
    assert [p.name for p in p3.values() if "\n" in p.inputs] == []


@pytest.mark.parametrize("few_shot", [(), (RECURSIVE,)])
def test_nothing_follows_the_colon_of_a_prompt_to_solve(few_shot: tuple[Puzzle, ...]) -> None:
    head = "def g2(a=3, b=[1, 2]):" if few_shot else "def g(a=3, b=[1, 2]):"
    assert solve_prompt(TWO_INPUTS, few_shot).endswith(f"\n\n{head}")


def test_a_prompt_to_propose_ends_in_an_open_bracket_and_shows_no_solution() -> None:
    prompt = propose_prompt([TWO_INPUTS, RECURSIVE])
    assert prompt == (
        "def f1(x: int, a=3, b=[1, 2]):\n    return x == a\n\n"
        "def f2(x: int, n=2):\n    return x == 5 if n == 0 else f2(x, n - 1)\n\n"
        "def f3("
    )


def test_a_solved_puzzle_is_numbered_where_it_calls_itself() -> None:
    assert solve_prompt(TWO_INPUTS, [RECURSIVE]) == (
        "from typing import List\n\n"
        "def f1(x: int, n=2):\n    return x == 5 if n == 0 else f1(x, n - 1)\n\n"
        "def g1(n=2):\n    return 5 if n == 0 else g1(n - 1)\n\n"
        "assert f1(g1())\n\n"
        "def f2(x: int, a=3, b=[1, 2]):\n    return x == a\n\n"
        "def g2(a=3, b=[1, 2]):"
    )


def test_an_example_goes_on_where_its_prompt_ends() -> None:
    g = "def g(a=3, b=[1, 2]):\n    return a"
    assert example_prompt(TWO_INPUTS) + example_completion(TWO_INPUTS, g) == (
        "def f(x: int, a=3, b=[1, 2]):\n    return x == a\n\n"
        "def g(a=3, b=[1, 2]):\n    return a\n\n"
        "assert f(g())"
    )


def test_few_shot_puzzles_are_solved_ones_each_of_another_family() -> None:
    train = read_builtin("train")
    chosen = few_shot_puzzles([TWO_INPUTS, *train], 5)
    assert len({puzzle.family for puzzle in chosen}) == 5
    assert all(puzzle.solutions for puzzle in chosen)
    assert few_shot_puzzles(train, 0) == []
