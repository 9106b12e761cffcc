"""The answers of the paper's Appendix C that anyone would try first, and the puzzles they solve.

All answers of a puzzle are judged in one go. Only an f that returns True is solved: one that raises
or runs out of fuel is not. The paper's released code sees it otherwise, and can be reproduced.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from itertools import product

from judge import Limits, first_true, inputs
from puzzles.puzzle import Puzzle
from puzzles.reasons import Reason, Rejection
from puzzles.rename import rename_global
from puzzles.syntax import parse

_SCALARS: dict[str, tuple[str, ...]] = {
    "int": tuple(str(number) for number in range(-10, 101)),
    "str": ("'cat'", "'dog'", "'aa'", "'ab'", "'foo'", "'bar'", "'baz'", "''"),
    "float": (
        *("-100.0", "-10.0", "-2.0", "-1.0", "-0.5", "-0.1"),
        *("0.0", "0.1", "0.5", "1.0", "2.0", "10.0", "100.0"),
    ),
    "bool": ("False", "True"),
}
_ITEMS: dict[str, tuple[str, ...]] = {
    "int": tuple(str(number) for number in range(-3, 4)),
    "str": ("'a'", "'b'", "'foo'", "'bar'", "'baz'"),
    "float": ("-1.0", "-0.1", "0.0", "0.1", "0.5", "1.0", "2.0"),
    "bool": ("False", "True"),
}


@lru_cache(maxsize=64)
def trivial_answers(answer_type: str) -> tuple[str, ...]:
    """List the trivial answers of a type as Python literals.

    Lists hold up to two of the trivial items; a list of lists is empty, or holds one trivial list.
    """
    if not answer_type.startswith("List["):
        return _SCALARS[answer_type]
    item = answer_type.removeprefix("List[").removesuffix("]")
    if item.startswith("List["):
        return ("[]", *(f"[{inner}]" for inner in trivial_answers(item)))
    items = _ITEMS[item]
    return tuple(
        f"[{', '.join(chosen)}]" for length in (0, 1, 2) for chosen in product(items, repeat=length)
    )


def check_trivial(puzzle: Puzzle, limits: Limits, *, as_released: bool = False) -> Rejection | None:
    """Reject a puzzle that a trivial answer solves, or whose f cannot be loaded at all.

    With `as_released`, an f that raises NameError or returns what only counts as true is solved
    too. Raises `judge.JudgeError` where the judge cannot run.
    """
    if puzzle.answer_type == "bool":
        return Rejection(Reason.TRIVIAL, "a bool has two values, so every bool puzzle is trivial")
    answers = trivial_answers(puzzle.answer_type)
    probe = first_true(_lenient(puzzle) if as_released else puzzle.f, answers, limits)
    if probe.failure is not None:
        return Rejection(Reason.DOES_NOT_RUN, f"{probe.failure}: {probe.detail}")
    if probe.index is not None:
        solved = "solves it, as the release counts" if as_released else "makes it True"
        return Rejection(Reason.TRIVIAL, f"{answers[probe.index]} {solved}")
    return None


def check_loads(puzzle: Puzzle, limits: Limits) -> Rejection | None:
    """Reject a puzzle whose f cannot be loaded, or whose inputs are no plain data; f is not run.

    Raises `judge.JudgeError` where the judge cannot run.
    """
    read = inputs(puzzle.f, limits)
    if read.failure is None:
        return None
    return Rejection(Reason.DOES_NOT_RUN, f"{read.failure}: {read.detail}")


def _lenient(puzzle: Puzzle) -> str:
    """Write an f that is True where the released code takes the puzzle as solved."""
    function = parse(puzzle.f).body[0]
    assert isinstance(function, ast.FunctionDef)
    names = [parameter.arg for parameter in function.args.args]
    original = "original"
    while original in puzzle.f:
        original += "_"
    return (
        f"{rename_global(puzzle.f, {'f': original})}\n\n"
        f"def f({', '.join([names[0], puzzle.inputs]) if puzzle.inputs else names[0]}):\n"
        f"    try:\n        return bool({original}({', '.join(names)}))\n"
        "    except NameError:\n        return True"
    )
