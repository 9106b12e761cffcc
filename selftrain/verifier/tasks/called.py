"""The calls that a test makes of a function, so that a verifier can read what a program returns.

They are those that the test makes of the reference solution, at most 16 distinct ones. Before that
each assert is replaced by its two sides, every one evaluated: so neither what is expected nor
whether it was returned decides which calls there are. Without a reference solution, they are the
calls with literal arguments that stand in the test. Not here: running programs on them
(from_functions.py).
"""

import ast
from dataclasses import replace

from judge import FunctionProblem, Limits, calls_of
from puzzles.syntax import SyntaxFailure, parse, unparse

MOST_CALLS = 16
"""As `judge.calls_of` records."""
MOST_CHARACTERS = 10_000
"""A call whose arguments are longer is left out: its value would say as little."""


def calls_in(problem: FunctionProblem, reference: str | None, limits: Limits) -> list[str]:
    """Give the calls, each the literal of (positional arguments, keyword arguments).

    There may be none. Raises `judge.JudgeError`.
    """
    found: list[str] = []
    if reference is not None:
        found = calls_of(replace(problem, test=without_asserts(problem.test)), reference, limits)
    # A reference that doesn't load is called by nobody.
    if not found:
        found = literal_calls(problem.test, problem.entry_point)
    return [call for call in found if len(call) <= MOST_CHARACTERS]


def without_asserts(test: str) -> str:
    """Let every assert of a test evaluate both its sides, and none end the test.

    A test that cannot be read here, in another Python than the judge's, stays as it is.
    """
    try:
        return unparse(ast.fix_missing_locations(_Evaluate().visit(parse(test))))
    except SyntaxFailure:
        return test


class _Evaluate(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        return [_attempt(side) for side in _sides(node.test)]


def _sides(condition: ast.expr) -> list[ast.expr]:
    """Give the parts of a condition none of which is skipped for another's sake."""
    match condition:
        case ast.BoolOp():
            parts = condition.values
        case ast.Compare():
            parts = [condition.left, *condition.comparators]
        case ast.UnaryOp(ast.Not(), operand):
            parts = [operand]
        case _:
            return [condition]
    return [side for part in parts for side in _sides(part)]


def _attempt(side: ast.expr) -> ast.stmt:
    attempt = ast.parse("try: 0\nexcept Exception: pass").body[0]
    assert isinstance(attempt, ast.Try)
    attempt.body = [ast.Expr(side)]
    return attempt


def literal_calls(test: str, name: str) -> list[str]:
    """Give the first distinct calls of `candidate`, or of the name, with literal arguments."""
    try:
        nodes = [node for node in ast.walk(parse(test)) if isinstance(node, ast.Call)]
    except SyntaxFailure:
        return []
    found: dict[str, None] = {}
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node.func, ast.Name) and node.func.id in ("candidate", name):
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            if all(map(_is_literal, values)) and all(keyword.arg for keyword in node.keywords):
                found[_written(node)] = None
    return list(found)[:MOST_CALLS]


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _written(call: ast.Call) -> str:
    positional = "".join(f"{unparse(value)}, " for value in call.args)
    keywords = ", ".join(f"{word.arg!r}: {unparse(word.value)}" for word in call.keywords)
    return f"(({positional}), {{{keywords}}})"
