"""The script that stands for a model where memory is measured: the real judge accepts what is right."""

from random import Random

from judge import judge
from puzzles import Puzzle
from puzzles.cut import cut_puzzle, cut_solution
from puzzles.filters import well_formed
from scripts.bench_memory.script import Shares, propose, solve

NEW = Shares(broken=0, repeated=0, trivial=0, unsolved=0, wrong=0)


def test_a_new_puzzle_is_well_formed_and_its_solution_right() -> None:
    shapes = set()
    for seed in range(12):
        f = cut_puzzle("def f(" + propose(Random(seed), NEW))
        assert isinstance(f, str)
        assert isinstance(well_formed(f, name="p"), Puzzle)
        inputs = f.split(", ", 1)[1].split("):", 1)[0]
        head = f"def g({inputs}):"
        g = cut_solution(head, solve(Random(seed), f"{f}\n\n{head}", NEW))
        assert isinstance(g, str)
        assert judge(f, g).passed, (f, g)
        shapes.add("List" in f)
    assert shapes == {True, False}
