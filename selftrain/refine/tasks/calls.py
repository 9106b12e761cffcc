"""Read and write calls, and read what they give: only literals count. Nothing is run."""

import ast
from collections.abc import Sequence

from puzzles.syntax import SyntaxFailure, parse, unparse
from selftrain.refine.tasks.literals import canonical_text

MOST_CHARACTERS = 4_000
"""Of a call, or of what it returns."""
_WORDS = {"true": "True", "false": "False"}


def arguments_in(source: str, name: str) -> str | None:
    """Give the canonical literal of (positional, keyword arguments) of a call of the name.

    None where it is another expression, or an argument is no literal.
    """
    node = expression(source)
    if not isinstance(node, ast.Call) or any(word.arg is None for word in node.keywords):
        return None
    if not isinstance(node.func, ast.Name) or node.func.id != name:
        return None
    keywords = {str(word.arg): word.value for word in node.keywords}
    return _written(node.args, keywords)


def arguments_by_name(text: str, names: Sequence[str]) -> str | None:
    """Give the same of all arguments of a function with these parameters, each positional.

    The text is a list of them, such as `[1, 2], 3`, or `n = 3, lst = [1, 2]` in any order.
    """
    node = expression(f"f({text})")
    if not isinstance(node, ast.Call):
        return None
    given = {word.arg: word.value for word in node.keywords}
    if node.args and not given and len(node.args) == len(names):
        return _written(node.args, {})
    if not node.args and given and given.keys() == set(names):
        return _written([given[name] for name in names], {})
    return None


def parts_of(arguments: str) -> tuple[list[ast.expr], dict[str, ast.expr]]:
    """Split the literal of (positional, keyword arguments); raise ValueError where it is none."""
    match expression(arguments):
        case ast.Tuple([ast.Tuple(elts=positional), ast.Dict(keys=keys, values=values)]):
            pairs = zip(keys, values, strict=True)
            words = {
                key.value: value
                for key, value in pairs
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
            return positional, words
    raise ValueError("no arguments")


def written(arguments: str) -> str:
    """Write that literal as it stands in a call, `[1, 2], n=3`; raise ValueError."""
    positional, words = parts_of(arguments)
    return ", ".join(
        [*map(unparse, positional), *(f"{word}={unparse(value)}" for word, value in words.items())]
    )


def literal_in(text: str) -> str | None:
    """Give the canonical literal that a text is; None where it is anything else."""
    text = text.strip()
    try:
        return canonical_text(_WORDS.get(text, text)) if len(text) <= MOST_CHARACTERS else None
    except ValueError:
        return None


def expression(source: str) -> ast.expr | None:
    """Parse one expression; None where the text is anything else."""
    try:
        body = parse(source).body
    except SyntaxFailure:
        return None
    only = body[0] if len(body) == 1 else None
    return only.value if isinstance(only, ast.Expr) else None


def _written(positional: Sequence[ast.expr], keywords: dict[str, ast.expr]) -> str | None:
    try:
        first = "".join(f"{unparse(value)}, " for value in positional)
        second = ", ".join(f"{word!r}: {unparse(value)}" for word, value in keywords.items())
        return canonical_text(f"(({first}), {{{second}}})")
    except ValueError:  # One is no literal.
        return None
