r"""Cut the definition out of a raw completion: of f as proposed, of g as attempted.

A completion goes on until the model stops, so the definition ends at the first newline that is
followed by a non-blank character. Prompts number their functions (f4, g6); here the number is
dropped, from the head and from every call. What is cut parses; nothing is known about it otherwise.
"""

from __future__ import annotations

import ast
import re

from puzzles.reasons import Reason, Rejection
from puzzles.rename import rename_global
from puzzles.syntax import MAX_CHARACTERS, SyntaxFailure, parse, unix_lines

_COLUMN_ZERO = re.compile(r"\n(?=\S)")
_HEAD = re.compile(r"def ([fg])([0-9]*)\(")


def cut_puzzle(text: str) -> str | Rejection:
    """Cut `def f(...)` from the prompt's head and the completion: `"def f4(" + completion`."""
    return _cut(text, "f")


def cut_solution(head: str, completion: str) -> str | Rejection:
    """Cut `def g(...)` from the prompt's head, such as `def g6(a=17):`, and the completion."""
    return _cut(head + completion, "g")


def _cut(text: str, letter: str) -> str | Rejection:
    if len(text) > MAX_CHARACTERS:
        # Most of it may lie beyond the definition's end.
        text = text[: MAX_CHARACTERS + 1]
    source = _COLUMN_ZERO.split(unix_lines(text), maxsplit=1)[0].rstrip()
    if len(source) > MAX_CHARACTERS:
        return Rejection(Reason.TOO_LONG, f"the definition has over {MAX_CHARACTERS:,} characters")
    head = _HEAD.match(source)
    if head is None or head[1] != letter:
        return Rejection(Reason.NO_DEFINITION, f"the text does not start with 'def {letter}('")
    number = head[2]
    try:
        if number:
            source = rename_global(source, {f"f{number}": "f", f"g{number}": "g"})
        tree = parse(source)
    except SyntaxFailure as failure:
        return Rejection(Reason.SYNTAX, f"it does not parse: {failure}")
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return Rejection(Reason.NO_DEFINITION, "more than one statement stands in column 0")
    return source
