"""The Puzzle record: the source of one f, and what is known about it. It runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from puzzles.normal import content_id
from puzzles.reasons import PuzzleError, Reason
from puzzles.signature import check_inputs, read_signature, with_inputs
from puzzles.syntax import MAX_CHARACTERS, SyntaxFailure, parse, unix_lines, without_docstring


@dataclass(frozen=True, slots=True)
class Puzzle:
    """One puzzle: find an answer for which `f(answer)` is True."""

    name: str
    """Unique within the file or the run it comes from."""
    f: str
    """Source of exactly one `def f(answer: type, ...)`: no docstring, no trailing white space."""
    answer_type: str
    """Type of the answer, spelt as in P3: `int`, `List[List[str]]`."""
    inputs: str
    """f's parameters after the first, as written: g's head is `def g(<inputs>):`.

    Their defaults are part of them.
    """
    category: str = ""
    """Kind of task, as the source of the puzzle names it."""
    difficulty: str = ""
    """easy, medium or hard; empty where nobody said."""
    family: str = ""
    """Puzzles that differ in their inputs only share it; empty where unknown."""
    origin: str = ""
    """builtin, p3, file, or `round-001/<completion id>` for a proposed one."""
    solutions: tuple[str, ...] = ()
    """Reference solutions, complete sources of `def g(...)`; never shown to a model."""
    more_inputs: tuple[str, ...] = ()
    """`inputs` with other defaults: a g is right only where f accepts its answer on each. A prompt
    shows the first inputs alone."""

    @property
    def id(self) -> str:
        """Hash f's normal form: equal for puzzles that differ in names and layout only."""
        return content_id(self.f)


def puzzle_from_source(
    f: str,
    *,
    name: str,
    category: str = "",
    difficulty: str = "",
    family: str = "",
    origin: str = "",
    solutions: tuple[str, ...] = (),
    more_inputs: tuple[str, ...] = (),
    any_answer: bool = False,
) -> Puzzle:
    """Check the source of f, drop its docstring and read its head.

    With `any_answer` the answer may be of a type that the judge cannot test, and unused. Raises
    `PuzzleError`, a ValueError whose message is one sentence, where f is no puzzle.
    """
    if len(f) > MAX_CHARACTERS:
        raise PuzzleError(
            Reason.TOO_LONG,
            f"it has {len(f):,} characters, and at most {MAX_CHARACTERS:,} are read",
        )
    source = unix_lines(f).strip()
    if not source.startswith("def f("):
        raise PuzzleError(Reason.NO_DEFINITION, "it does not start with 'def f('")
    try:
        tree = parse(source)
        signature = read_signature(source, tree, any_answer=any_answer)
        without = without_docstring(source, tree)
        # Names and layout alone cannot make two ids differ, and an f whose id fails is no puzzle.
        content_id(without)
    except SyntaxFailure as failure:
        raise PuzzleError(Reason.SYNTAX, f"it does not parse: {failure}") from None
    for inputs in more_inputs:
        check_inputs(without, inputs)
    return Puzzle(
        name=name,
        f=without.rstrip(),
        answer_type=signature.answer_type,
        inputs=signature.inputs,
        category=category,
        difficulty=difficulty,
        family=family,
        origin=origin,
        solutions=solutions,
        more_inputs=more_inputs,
    )


def instances(puzzle: Puzzle) -> list[str]:
    """Give the sources of f at all inputs of the puzzle, the first of them as it is shown."""
    return sources(puzzle.f, puzzle.more_inputs)


def sources(f: str, more_inputs: Sequence[str]) -> list[str]:
    """Give f, and f at each of the other inputs."""
    return [f, *(with_inputs(f, inputs) for inputs in more_inputs)]


def to_row(puzzle: Puzzle) -> dict[str, Any]:
    """Give the puzzle as a JSON object, its id included, so that the row stands alone."""
    return {
        "id": puzzle.id,
        **asdict(puzzle),
        "solutions": list(puzzle.solutions),
        "more_inputs": list(puzzle.more_inputs),
    }


def from_row(row: dict[str, Any]) -> Puzzle:
    """Rebuild a puzzle from a row that `to_row` wrote."""
    fields = {key: value for key, value in row.items() if key != "id"}
    lists = {key: tuple(row[key]) for key in ("solutions", "more_inputs")}
    return Puzzle(**{**fields, **lists})
