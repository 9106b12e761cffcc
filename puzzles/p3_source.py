r"""Turn one row of P3's `puzzles.json` into a puzzle: sat becomes f, each sol a g.

It reads the published version to the byte, and what other versions and hands do differently:
whole solutions under `sols`, names such as `Study_1_0`, no `ans_type`, imports and docstrings
before the definition, `typing.List` and annotations in quotes, tabs. It runs nothing.
"""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Any

from puzzles.puzzle import Puzzle, puzzle_from_source
from puzzles.reasons import PuzzleError
from puzzles.rename import rename_global
from puzzles.signature import canonical_type
from puzzles.syntax import Positions, SyntaxFailure, is_docstring, parse, unix_lines, unparse


class Refused(ValueError):
    """A row that is no puzzle of ours; why, without its name and without a full stop."""


def problem_of(row: dict[str, Any]) -> str:
    """Give the problem that an instance belongs to: `Study_1` of `Study_1:0`, once `Study_1_0`."""
    name: str = row["name"]
    if "sols" in row and ":" not in name:
        return re.sub(r"_[0-9]+$", "", name)
    return name.partition(":")[0]


def read_instance(row: dict[str, Any], refused: list[str]) -> Puzzle:
    """Read one instance, or raise `Refused`; a solution that is none is noted in `refused`."""
    name = row["name"]
    if not isinstance(row.get("sat"), str):
        raise Refused("it has no text 'sat'")
    module = row.get("module", "")
    try:
        puzzle = puzzle_from_source(
            _f(row["sat"]),
            name=name,
            category=module.removesuffix(".py") if isinstance(module, str) else "",
            family=problem_of(row),
            origin="p3",
            solutions=_solutions(row, refused),
        )
    except (PuzzleError, SyntaxFailure) as error:
        raise Refused(str(error)) from None
    if row.get("ans_type") is not None and _spelt(row["ans_type"]) != puzzle.answer_type:
        raise Refused(
            f"'ans_type' is {row['ans_type']!r}, but its sat asks for {puzzle.answer_type}"
        )
    return puzzle


def _f(sat: str) -> str:
    """Write sat as one `def f(answer: type, ...)` in names that the judge knows."""
    source = _definition(textwrap.dedent(unix_lines(sat)))
    source = rename_global(source, {"sat": "f", "sol": "g"})
    source = _in_our_names(re.sub(r"^def\s+f\s*\(\s*", "def f(", source))
    return source


def _definition(source: str) -> str:
    """Drop imports of typing, comments and a docstring that stand before the definition."""
    tree = parse(source)
    for statement in tree.body[:-1]:
        if not (is_docstring(statement) or _imports_typing(statement)):
            raise Refused("more than one definition stands in its 'sat'")
    function = tree.body[-1] if tree.body else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        raise Refused("its 'sat' is no plain function")
    if function.name != "sat":
        raise Refused(f"its 'sat' defines {function.name!r}")
    return source if source.startswith("def ") else source[Positions(source).span(function)[0] :]


def _imports_typing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "typing"
    return isinstance(statement, ast.Import) and [name.name for name in statement.names] == [
        "typing"
    ]


def _in_our_names(source: str) -> str:
    """Write `typing.List` as `List`, and the answer's type in the one spelling of P3."""
    tree = parse(source)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    edits = {
        Positions(source).span(node): node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "typing"
    }
    annotation = function.args.args[0].annotation if function.args.args else None
    if annotation is not None and (answer_type := canonical_type(annotation)):
        start, end = Positions(source).span(annotation)
        edits = {span: new for span, new in edits.items() if span[0] >= end or span[1] <= start}
        edits[start, end] = answer_type
    for (start, end), new in sorted(edits.items(), reverse=True):
        source = source[:start] + new + source[end:]
    return source


def _spelt(answer_type: object) -> str:
    """Spell a type as P3 does, or give back what is no type."""
    try:
        tree = parse(str(answer_type))
    except SyntaxFailure:
        return str(answer_type)
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return str(answer_type)
    return canonical_type(tree.body[0].value) or unparse(tree)


def _solutions(row: dict[str, Any], refused: list[str]) -> tuple[str, ...]:
    """Read the reference solutions; the published version keeps head and bodies apart.

    A solution keeps its own head: in 32 instances its inputs have another order than f's, and it
    may call itself by position.
    """
    found = []
    for number, source in enumerate(_sources_of_solutions(row), start=1):
        try:
            found.append(_g(source))
        except (SyntaxFailure, Refused) as error:
            refused.append(f"solution {number} of puzzle {row['name']!r}: {error}")
    return tuple(found)


def _sources_of_solutions(row: dict[str, Any]) -> list[object]:
    if "sols" in row:
        whole = row["sols"]
        return whole if isinstance(whole, list) else [whole]
    bodies = row.get("sol_bodies") or []
    if not isinstance(bodies, list):
        bodies = [bodies]
    header = row.get("sol_header")
    return [
        f"{header}\n{body}" if isinstance(header, str) and isinstance(body, str) else None
        for body in bodies
    ]


def _g(source: object) -> str:
    if not isinstance(source, str):
        raise Refused("it is no text, or has no 'sol_header'")
    tree = parse(source)
    if not any(isinstance(node, ast.FunctionDef) and node.name == "sol" for node in tree.body):
        raise Refused("it defines no sol")
    return rename_global(source, {"sol": "g", "sat": "f"})
