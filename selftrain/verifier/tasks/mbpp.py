"""Rows of MBPP as problems whose test calls a function. Nothing is run here.

A row has a list of asserts that call the function by its own name; the judge wants a check that
calls a candidate. Its parts are moved as syntax, never as text.
"""

import ast
import builtins
from collections.abc import Iterator

from judge import FunctionProblem
from puzzles.syntax import SyntaxFailure, parse, unparse
from selftrain.errors import UsageError
from selftrain.files import Row


def mbpp_problem(row: Row, where: str) -> FunctionProblem:
    """Make the problem of a row: its setup is the prompt, a program is whole. Raises UsageError."""
    tests, imports = _texts(row, "test_list", where), _texts(row, "test_imports", where)
    if not tests:
        raise UsageError(f"{where}: give the asserts in 'test_list'.")
    setup = text_or_none(row, "test_setup_code", where) or ""
    code = text_or_none(row, "code", where)
    prompt = "".join(f"{line}\n" for line in (*imports, setup) if line.strip())
    try:
        tree = parse("\n".join(tests))
        name = _entry_point(tree, _tree(code), _tree(prompt))
        if name is None:
            raise UsageError(f"{where}: test_list calls no function of the task's own.")
        return FunctionProblem(prompt, name, _check(tree, name))
    except SyntaxFailure as failure:
        raise UsageError(f"{where}: test_list is no Python ({failure}).") from None


def text_or_none(row: Row, key: str, where: str) -> str | None:
    """Give a text that a row may lack, or have as null; raise UsageError for anything else."""
    value = row.get(key)
    if not isinstance(value, str | None):
        raise UsageError(f"{where}: {key} is {value!r:.60}. Give it as text, or leave it out.")
    return value


def signature(code: str | None, name: str) -> str:
    """Give the head of the function as the reference has it, without annotations.

    They may name what a program that is sampled doesn't import. Without a reference the head ends
    where its parameters begin.
    """
    for node in _tree(code).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
            return f"def {name}({unparse(node.args)}):\n"
    return f"def {name}("


def _texts(row: Row, key: str, where: str) -> list[str]:
    value = row.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UsageError(f"{where}: {key} is {value!r:.60}. Make it a list of texts.")
    return value


def _tree(code: str | None) -> ast.Module:
    """Parse what may be missing, or no Python, as a module without anything in it."""
    try:
        return parse(code or "")
    except SyntaxFailure:
        return ast.Module([], [])


def _entry_point(tests: ast.Module, code: ast.Module, setup: ast.Module) -> str | None:
    """Find the name that the tests call and the code defines; else the first of nobody else's."""
    called = [
        node.func.id
        for node in sorted(_calls(tests), key=lambda node: (node.lineno, node.col_offset))
        if isinstance(node.func, ast.Name)
    ]
    own = set(_defined(code))
    others = {*dir(builtins), *_defined(setup), *_defined(tests)}
    return next((name for name in called if (name in own if own else name not in others)), None)


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _defined(tree: ast.Module) -> Iterator[str]:
    """Give the names that a module's own statements bind by def, class or import."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)


def _check(tests: ast.Module, name: str) -> str:
    """Put the asserts into a check in which the function's name is the candidate's."""
    module = parse(f"def check(candidate):\n    {name} = candidate")
    check = module.body[0]
    assert isinstance(check, ast.FunctionDef)
    asserts = [node for node in tests.body if isinstance(node, ast.Assert | ast.Expr)]
    check.body += asserts
    module.body[:0] = [node for node in tests.body if node not in asserts]
    return unparse(module)
