"""Read pairs to train on: rows of {f, g}, or of {f, bodies} as published samples have them.

Programs for one puzzle may lie anywhere in the file, so the distinct ones are held in memory, about
a kilobyte each. Nothing is judged here, and no f is run.
"""

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from puzzles import Puzzle, Reason, Rejection
from puzzles.cut import cut_solution
from puzzles.files import PuzzleFileError
from puzzles.filters import well_formed
from puzzles.jsonl import read_objects
from puzzles.syntax import SyntaxFailure, parse, unix_lines
from selftrain.errors import UsageError
from selftrain.prompts import solve_head
from selftrain.sampling import Completion, FinishReason
from selftrain.solve import Candidate

ORIGIN = "pairs"
"""Origin of a puzzle that was given and not proposed."""
_NAMES = ("name", "p3_name")


@dataclass(frozen=True, slots=True)
class Program:
    """A text that may solve a puzzle."""

    text: str
    is_body: bool
    """Whether it is what follows the head of g, and not the whole of g."""
    count: int
    """How often the file has it."""


@dataclass(frozen=True, slots=True)
class Given:
    """A puzzle of the file with the programs given for it, or a text that is no puzzle."""

    name: str
    """As the file names it, else after the line that it first stands on."""
    f: str
    """Source, as given."""
    result: Puzzle | Rejection
    programs: tuple[Program, ...]
    """The distinct ones, in the order of the file."""
    num_attempts: int
    """Attempts that were made: `n` where rows have it, else the programs given."""


@dataclass(slots=True)
class _Gathered:
    name: str
    f: str
    result: Puzzle | Rejection
    num_attempts: int = 0
    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)


def read_pairs(path: Path, split: str | None = None) -> list[Given]:
    """Read the rows of a JSONL file (`.gz` too), those of one split where one is named.

    An f that is no puzzle is kept with the reason. Raises UsageError where a row is no pair.
    """
    try:
        return _read(path, split)
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None


def candidates_of(given: Given) -> list[Candidate]:
    """Cut a candidate from each program of a puzzle, under the head that its f asks for.

    A text that is no puzzle has none.
    """
    puzzle = given.result
    if isinstance(puzzle, Rejection):
        return []
    return [_candidate(puzzle, index, program) for index, program in enumerate(given.programs)]


def describe(given: Sequence[Given]) -> Iterator[str]:
    """Say what was read, and in a sentence a kind what was refused."""
    puzzles = [one for one in given if isinstance(one.result, Puzzle)]
    num_programs = sum(len(one.programs) for one in puzzles)
    yield f"{len(puzzles):,} puzzles with {num_programs:,} distinct programs"
    if bare := [one for one in puzzles if not one.programs]:
        yield f"{len(bare):,} of the puzzles come without a program, such as {bare[0].name!r}"
    refused: dict[Reason, list[tuple[str, str]]] = {}
    for one in given:
        if isinstance(one.result, Rejection):
            refused.setdefault(one.result.reason, []).append((one.name, one.result.detail))
    for reason, found in refused.items():
        name, detail = found[0]
        yield f"{len(found):,} refused, {reason}: of the first, {name!r}: {detail}"


def _read(path: Path, split: str | None) -> list[Given]:
    by_text: dict[str, _Gathered] = {}
    by_id: dict[str, _Gathered] = {}
    names: set[str] = set()
    others: set[str] = set()
    for where, row in read_objects(path):
        if split is not None and row.get("split") != split:
            others.add(repr(row.get("split")))
            continue
        f, programs = _text(row, "f", where), _programs(row, where)
        if f not in by_text:
            by_text[f] = _begin(row, f, where, names, by_id)
        group = by_text[f]
        for program in programs:
            group.counts[program.text, program.is_body] += program.count
        group.num_attempts += _attempts(row, programs, where)
    if not by_text:
        raise UsageError(
            f"{path}: no row has the split {split!r}; there is {', '.join(sorted(others))}. "
            "Name one of these, or leave --split out."
        )
    # Two texts of one puzzle are one group.
    return [_given(group) for group in {id(one): one for one in by_text.values()}.values()]


def _begin(
    row: dict[str, Any], f: str, where: str, names: set[str], by_id: dict[str, _Gathered]
) -> _Gathered:
    """Begin a group, or give that of an f that differs in layout and inner names only."""
    line = where.rpartition(" ")[2]
    name = next((row[key] for key in _NAMES if isinstance(row.get(key), str) and row[key]), "")
    if not name or name in names:
        name = f"{name or 'line'}-{int(line):06d}"
    result = well_formed(f, name=name, family=_family(row), origin=ORIGIN)
    if isinstance(result, Puzzle):
        known = by_id.get(result.id)
        if known is None:
            by_id[result.id] = group = _Gathered(name, f, result)
            names.add(name)
            return group
        assert isinstance(known.result, Puzzle), "only puzzles have ids"
        if known.result.inputs == result.inputs:
            return known
        # A g that reads the inputs by other names would not fit the f that is kept.
        detail = f"it equals {known.name}, but for the names of its inputs"
        result = Rejection(Reason.DUPLICATE, detail)
    names.add(name)
    return _Gathered(name, f, result)


def _family(row: dict[str, Any]) -> str:
    family = row.get("family")
    return family if isinstance(family, str) else ""


def _given(group: _Gathered) -> Given:
    programs = tuple(Program(*key, count) for key, count in group.counts.items())
    return Given(group.name, group.f, group.result, programs, group.num_attempts)


def _text(row: dict[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise PuzzleFileError(
            f"{where}: there is no text {key!r}. Each row needs 'f', and 'g' or 'bodies'."
        )
    return value


def _programs(row: dict[str, Any], where: str) -> list[Program]:
    if "bodies" not in row:
        return [Program(_text(row, "g", where), False, 1)]
    bodies = row["bodies"]
    if not isinstance(bodies, list) or not all(_is_body(body) for body in bodies):
        raise PuzzleFileError(
            f"{where}: 'bodies' is no list of pairs. Write [[text after the head of g, how often "
            "it came], ...]."
        )
    return [Program(text, True, count) for text, count in bodies]


def _is_body(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return False
    return type(value[1]) is int and value[1] > 0


def _attempts(row: dict[str, Any], programs: Sequence[Program], where: str) -> int:
    given = sum(program.count for program in programs)
    n = row.get("n", given)
    if type(n) is not int or n < given:
        raise PuzzleFileError(
            f"{where}: 'n' is {n!r}, and {given:,} programs are given. Make it the number of "
            "attempts, or leave it out."
        )
    return n


def _candidate(puzzle: Puzzle, index: int, program: Program) -> Candidate:
    text = program.text
    g = cut_solution(solve_head(puzzle), text) if program.is_body else _under_head(puzzle, text)
    # Nothing was sampled here, so there are no tokens to count.
    completion = Completion(text, FinishReason.STOP, 0, 0.0)
    cut, no_g, detail = (None, g.reason, g.detail) if isinstance(g, Rejection) else (g, "", "")
    more = puzzle.more_inputs
    return Candidate(puzzle.id, puzzle.f, index, completion, cut, no_g, detail, more)


def _under_head(puzzle: Puzzle, source: str) -> str | Rejection:
    """Put the body of a g under the head that f asks for, with which every example begins."""
    g = _definition(unix_lines(source).strip())
    if isinstance(g, Rejection):
        return g
    head = solve_head(puzzle)
    if g.startswith(head):
        return g
    strange = _parameters(g) - _parameters(f"{head} pass")
    if strange:
        detail = f"g has the parameter {min(strange)!r}, which f has not"
        return Rejection(Reason.SIGNATURE, detail)
    return cut_solution(head, _body(g))


def _definition(source: str) -> str | Rejection:
    """Take the g that a text begins with, whose head may go on in column 0."""
    try:
        first = next(iter(parse(source).body), None)
    except SyntaxFailure:
        # What follows g may be no Python.
        first = None
    if isinstance(first, ast.FunctionDef) and first.name == "g" and not first.decorator_list:
        return "\n".join(source.split("\n")[: first.end_lineno])
    return cut_solution(source, "")


def _parameters(source: str) -> set[str]:
    function = parse(source).body[0]
    assert isinstance(function, ast.FunctionDef), "it was cut as a definition"
    spec = function.args
    rest = [one for one in (spec.vararg, spec.kwarg) if one]
    return {one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *rest)}


def _body(g: str) -> str:
    """Give what follows the colon of a definition's head, from the same line on."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(g).readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == ":" and depth == 0:
                lines = g.split("\n")[token.end[0] - 1 :]
                return "\n".join([lines[0][token.end[1] :], *lines[1:]])
    raise AssertionError("a parsed definition has a colon after its head")
