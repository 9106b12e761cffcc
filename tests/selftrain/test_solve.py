"""Solving: each attempt has its own seed and its own prompt, and its completion is cut to a g."""

from scripted import ScriptedSampler

from puzzles import Puzzle, puzzle_from_source
from puzzles.builtin.read import read_builtin
from selftrain.solve import Attempts, Candidate, solve

TRAIN = read_builtin("train")


def attempts(count: int = 2, few_shot: tuple[Puzzle, ...] = ()) -> Attempts:
    return Attempts(count, 0.9, 60, few_shot, 5, (1, "solve"))


def tried(sampler: ScriptedSampler, puzzles: list[Puzzle], how: Attempts) -> list[Candidate]:
    return solve(sampler, puzzles, how, advance=lambda _: None)


def test_every_attempt_has_a_seed_of_its_own() -> None:
    sampler = ScriptedSampler()
    tried(sampler, TRAIN[:5], attempts(3))
    assert len({request.seed for request in sampler.requests}) == 15


def test_an_attempt_does_not_depend_on_the_puzzles_around_it() -> None:
    alone = tried(ScriptedSampler(), TRAIN[3:4], attempts())
    among = tried(ScriptedSampler(), TRAIN[:6], attempts())
    assert among[6:8] == alone


def test_a_solution_is_cut_without_its_number() -> None:
    sampler = ScriptedSampler(wrong_share=0)
    for few_shot in ((), (TRAIN[8], TRAIN[20])):
        for candidate in tried(sampler, TRAIN[:4], attempts(1, few_shot)):
            assert candidate.g is not None
            assert candidate.g.startswith("def g(")
            assert "assert" not in candidate.g


def test_a_completion_without_g_says_why() -> None:
    found = tried(ScriptedSampler(wrong_share=1), TRAIN[:10], attempts())
    assert {c.no_g for c in found if c.g is None} == {"syntax"}
    assert all(c.detail for c in found if c.g is None)


def test_two_puzzles_that_differ_in_names_only_keep_their_own_heads() -> None:
    one = puzzle_from_source(TRAIN[60].f, name="one")
    other = puzzle_from_source("def f(x: int, a=700):\n    return x == a + 1", name="a")
    twin = puzzle_from_source("def f(y: int, b=700):\n    return y == b + 1", name="b")
    assert other.id == twin.id

    class Prompts(ScriptedSampler):
        def _solve(self, *_: object) -> str:
            return "\n    return 701"

    sampler = Prompts()
    tried(sampler, [one, other, twin], attempts(1))
    heads = [request.prompt.split("\n\n")[-1] for request in sampler.requests]
    assert heads[1:] == ["def g(a=700):", "def g(b=700):"]
