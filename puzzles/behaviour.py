"""Compare examples with held-out puzzles by what they do: which answers make a held-out f True.

What fits may fit by chance, and for many an f it does: every negative number, any long string. So
a fit counts only where unrelated answers seldom fit, and never where the answer is one that anyone
would try first. What is left is a suspicion. On P3 five held-out puzzles accept other answers of
the train split: PlantedClique one of AnyTriangle, which is the same graph; Median many, so that it
tells nothing; Study_6, BinaryAverage and InverseSuperFactorial one or two, by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from judge import Backend, Limits, call_many, first_true
from puzzles import scopes
from puzzles.puzzle import Puzzle
from puzzles.syntax import MAX_CHARACTERS, parse
from puzzles.trivial import trivial_answers

CHUNK_ANSWERS = 200
"""Answers that a worker asks one f about in a go: few, so that a slow f delays few others."""
MIN_FITTING = 2
"""A single unrelated answer that fits is no rate, however few there are."""

Task = tuple[str, Sequence[str]]
"""An f, and answers to ask it about, as Python literals."""


def fitting_answers(
    tasks: Sequence[Task],
    limits: Limits,
    num_workers: int = 1,
    *,
    backend: Backend = "loky",
    address: str | None = None,
) -> list[set[str]]:
    """Find, for each task, the answers on which f returns True itself; types are not tested.

    An answer that f does not decide within the fuel does not fit. Raises `judge.JudgeError`.
    """
    chunks = [
        (number, (f, answers[start : start + CHUNK_ANSWERS]))
        for number, (f, answers) in enumerate(tasks)
        for start in range(0, len(answers), CHUNK_ANSWERS)
    ]
    asked = call_many(
        partial(ask_all, limits),
        [task for _, task in chunks],
        num_workers,
        backend=backend,
        address=address,
    )
    found: list[set[str]] = [set() for _ in tasks]
    for (number, _), fitting in zip(chunks, asked, strict=True):
        found[number].update(fitting)
    return found


def ask_all(limits: Limits, task: Task) -> list[str]:
    """Find the answers that make one f True; this may run in a worker."""
    f, left = task
    found: list[str] = []
    while left:
        probe = first_true(f, left, limits)
        if probe.index is None:
            break
        found.append(left[probe.index])
        left = left[probe.index + 1 :]
    return found


def can_tell(answer: str, answer_type: str) -> bool:
    """Say whether it means anything that an answer fits: not where anyone would try it first.

    Neither does one that is longer than any source that is read.
    """
    return len(answer) <= MAX_CHARACTERS and answer not in trivial_answers(answer_type)


def fits_by_chance(num_fitting: int, num_unrelated: int, max_base_rate: float) -> bool:
    """Say whether so many of the unrelated answers fit that one more tells nothing."""
    return num_fitting >= MIN_FITTING and num_fitting > max_base_rate * num_unrelated


def constant_solution(answer: str) -> str:
    """Write the g that gives this answer to any inputs, to be judged like any other."""
    return f"def g(**inputs):\n    return {answer}"


def input_names(puzzle: Puzzle) -> frozenset[str]:
    """Give the names of a puzzle's inputs."""
    (g,) = parse(f"def g({puzzle.inputs}): pass").body
    return frozenset(parameter.arg for parameter in g.args.args)  # type: ignore[attr-defined]


def searches(g: str) -> bool:
    """Say whether a g calls the f it is to solve: it may then solve any other as well."""
    return any(use.name == "f" and use.owner is None for use in scopes.uses(parse(g)))
