"""Variants: other constants in the same way everywhere, and nothing else."""

import re

import pytest

from puzzles import Puzzle, puzzle_from_source
from puzzles.builtin.read import read_builtin
from selftrain.refine.teach.variants import vary


def puzzle(f: str, **more: tuple[str, ...]) -> Puzzle:
    return puzzle_from_source(f, name="p", **more)  # type: ignore[arg-type]


def masked(source: str) -> str:
    """Put one mark in place of each digit and each letter of a text in quotes."""
    return re.sub(
        r'"[^"]*"|\d', lambda match: re.sub(r"[A-Za-z]", "w", re.sub(r"\d", "9", match[0])), source
    )


@pytest.mark.parametrize("seed", range(4))
def test_only_constants_change_and_each_alike(seed: int) -> None:
    f = 'def f(s: str, a="tuko", b="tukozuko"):\n    return a + s == b and len(s) == 1024 - 1020'
    g = 'def g(a="tuko", b="tukozuko"):\n    return "zuko" * (1020 - 1024)'
    varied = vary(puzzle(f), [g], seed)
    assert varied is not None
    other, (program,) = varied
    assert other.f != f and masked(other.f) == masked(f) and masked(program) == masked(g)
    a, b = re.findall(r'"(\w+)"', other.f)
    assert b.startswith(a) and f'"{b[4:]}"' in program and a in program
    big, small = re.findall(r"\d{4}", other.f)
    assert re.findall(r"\d{4}", program) == [small, big]


def test_short_constants_stay_since_they_may_belong_to_the_way() -> None:
    f = "def f(x: float, c=361):\n    return abs(x ** 2 - c) < 0.001 and x > 0"
    varied = vary(puzzle(f), ["def g(c=361):\n    return c ** 0.5"], 1)
    assert varied is not None
    number = re.search(r"c=(\d+)", varied[0].f)
    assert number is not None and number[1] != "361"
    assert varied[0].f == f.replace("361", number[1])
    assert varied[1] == [f"def g(c={number[1]}):\n    return c ** 0.5"]


def test_inputs_follow_their_f() -> None:
    varied = vary(puzzle("def f(x: int, a=57, b=[12, 13]):\n    return x in b"), [], 2)
    assert varied is not None
    assert f"def f(x: int, {varied[0].inputs}):" in varied[0].f
    assert "a=57" not in varied[0].inputs


@pytest.mark.parametrize(
    "f", ["def f(x: int):\n    return x == 7", "def f(s: str, ab1234=0.125):\n    return s == 'x'"]
)
def test_a_puzzle_without_long_constants_has_no_variant(f: str) -> None:
    assert vary(puzzle(f), [], 3) is None


def test_a_puzzle_with_further_inputs_has_none() -> None:
    one = puzzle("def f(x: int, a=57):\n    return x == a", more_inputs=("a=58",))
    assert vary(one, [], 3) is None


def test_every_train_puzzle_stays_a_puzzle_of_its_shape() -> None:
    num_varied = 0
    for seed, one in enumerate(read_builtin("train")):
        if (varied := vary(one, one.solutions, seed)) is not None:
            num_varied += 1
            assert (varied[0].answer_type, varied[0].family) == (one.answer_type, one.family)
            assert masked(varied[0].f) == masked(one.f)
    assert num_varied > 180
