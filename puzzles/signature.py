"""Read a puzzle's head: the answer's name and type, and the inputs with their defaults.

The checks are those of the paper's Appendix C that need no run; the first that fails is raised as
a `PuzzleError` with its reason. Defaults are not evaluated here: that is for the judge.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from puzzles.reasons import PuzzleError, Reason
from puzzles.syntax import SyntaxFailure, digit_limit_lifted, parse, unparse

SCALARS = ("int", "str", "float", "bool")


@dataclass(frozen=True, slots=True)
class Signature:
    """What the head of a puzzle says."""

    answer_type: str
    """The first parameter's type in one spelling: `List[int]` also where `list[int]` was written.
    """
    inputs: str
    """The other parameters as written, with their defaults; empty where there are none."""


def read_signature(source: str, tree: ast.Module, *, any_answer: bool = False) -> Signature:
    """Check the one definition in `tree`, parsed from `source`; raise `PuzzleError` if it fails.

    With `any_answer` the answer needs an annotation, but may be of any type, and unused.
    """
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise PuzzleError(Reason.NO_DEFINITION, "the text is not one plain function definition")
    function = tree.body[0]
    if function.name != "f" or function.decorator_list:
        raise PuzzleError(Reason.NO_DEFINITION, "the definition is not named f, or is decorated")
    _check_returns(function)
    _check_parameters(function.args)
    answer = function.args.args[0]
    if answer.annotation is None:
        raise PuzzleError(Reason.ANSWER_TYPE, f"the answer {answer.arg} has no annotation")
    answer_type = canonical_type(answer.annotation)
    if not any_answer:
        _check_answer(function, answer.annotation, answer_type)
    return Signature(answer_type or unparse(answer.annotation), _inputs(source, function.args))


def _check_answer(function: ast.FunctionDef, annotation: ast.expr, answer_type: str | None) -> None:
    if answer_type is None:
        raise PuzzleError(
            Reason.ANSWER_TYPE,
            f"the answer's type is {unparse(annotation)}, not int, str, float, bool or a"
            " (nested) List of them",
        )
    name = function.args.args[0].arg
    if not any(
        isinstance(node, ast.Name) and node.id == name
        for statement in function.body
        for node in ast.walk(statement)
    ):
        raise PuzzleError(Reason.ANSWER_UNUSED, f"the body never uses the answer {name}")


def check_inputs(f: str, inputs: str) -> None:
    """Raise `PuzzleError` unless `inputs` gives f's inputs other defaults, in f's own order."""
    if not _place_of_inputs(f)[0]:
        raise PuzzleError(Reason.SIGNATURE, f"f has no inputs, so {inputs!r} can't stand for them")
    try:
        same = only_inputs_differ(f, with_inputs(f, inputs))
    except SyntaxFailure as failure:
        raise PuzzleError(Reason.SYNTAX, f"the inputs {inputs!r} do not parse: {failure}") from None
    if not same:
        raise PuzzleError(
            Reason.SIGNATURE, f"the inputs {inputs!r} are not f's inputs with other defaults"
        )


def only_inputs_differ(f: str, other: str) -> bool:
    """Tell whether two sources are one f at other inputs: same parameters, same body.

    Raises `SyntaxFailure` where one is no Python.
    """
    return _without_defaults(parse(f)) == _without_defaults(parse(other))


def _without_defaults(tree: ast.Module) -> str:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            blank: list[ast.expr] = [ast.Constant(0) for _ in statement.args.defaults]
            statement.args.defaults = blank
    with digit_limit_lifted():
        return ast.dump(tree)


@lru_cache(maxsize=4_096)  # every attempt at a puzzle asks for the same few
def with_inputs(f: str, inputs: str) -> str:
    """Write f with other inputs, in the words of `inputs`; nothing else of its text changes."""
    lines = f.split("\n")
    start, end = _place_of_inputs(f)
    if start is None:
        raise ValueError("f has no inputs that others could stand for")
    before = "\n".join([*lines[: start[0] - 1], lines[start[0] - 1][: start[1]]])
    after = "\n".join([lines[end[0] - 1][end[1] :], *lines[end[0] :]])
    return f"{before} {inputs}{after}"


def canonical_type(annotation: ast.expr) -> str | None:
    """Spell an annotation as P3 does (`List[int]`); None where the judge has no such type."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            tree = parse(annotation.value.strip())
        except SyntaxFailure:
            return None
        if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
            return None
        return canonical_type(tree.body[0].value)
    if isinstance(annotation, ast.Name):
        return annotation.id if annotation.id in SCALARS else None
    if not isinstance(annotation, ast.Subscript):
        return None
    if unparse(annotation.value) not in ("List", "list", "typing.List"):
        return None
    item = canonical_type(annotation.slice)
    return None if item is None else f"List[{item}]"


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, but not those of functions and classes inside it."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _check_returns(function: ast.FunctionDef) -> None:
    returns = False
    for node in _own_nodes(function):
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            raise PuzzleError(Reason.GENERATOR, "it yields, so a call of it is never True")
        returns = returns or (isinstance(node, ast.Return) and node.value is not None)
    if not returns:
        raise PuzzleError(Reason.NO_RETURN, "it never returns a value")


def _check_parameters(spec: ast.arguments) -> None:
    if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs:
        raise PuzzleError(
            Reason.SIGNATURE, "it has *, **, keyword-only or positional-only parameters"
        )
    required = len(spec.args) - len(spec.defaults)
    if required != 1:
        raise PuzzleError(
            Reason.SIGNATURE,
            f"{required} parameters have no default, and exactly the first must not",
        )


def _inputs(source: str, spec: ast.arguments) -> str:
    """Take the parameters after the first as written, or printed anew where they span lines."""
    if len(spec.args) == 1:
        return ""
    text = _inputs_as_written(source)
    if "\n" not in text:
        return text
    # A line break may hide a comment, which would swallow the parenthesis that closes g's head.
    rest = ast.arguments(
        posonlyargs=[], args=spec.args[1:], kwonlyargs=[], kw_defaults=[], defaults=spec.defaults
    )
    return unparse(rest)


def _inputs_as_written(source: str) -> str:
    """Cut what lies between the first top-level comma of the head and its closing parenthesis."""
    start, end = _place_of_inputs(source)
    assert start is not None
    return _between(source.split("\n"), start, end).strip().rstrip(",").rstrip()


def _place_of_inputs(source: str) -> tuple[tuple[int, int] | None, tuple[int, int]]:
    """Find line and column behind the head's first top-level comma, and of its last parenthesis.

    There is no comma where f has no inputs.
    """
    depth = 0
    start: tuple[int, int] | None = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.OP:
            continue
        if token.string in "([{":
            depth += 1
        elif token.string in ")]}":
            depth -= 1
            if depth == 0:
                return start, token.start
        elif token.string == "," and depth == 1 and start is None:
            start = token.end
    raise AssertionError("a parsed definition has a closing parenthesis")


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    middle = lines[start[0] : end[0] - 1]
    return "\n".join([lines[start[0] - 1][start[1] :], *middle, lines[end[0] - 1][: end[1]]])
