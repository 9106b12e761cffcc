"""Rename the functions a source refers to (f6 to f, sol to g) and no other text."""

from __future__ import annotations

import ast
import re

from puzzles import scopes
from puzzles.syntax import Positions, SyntaxFailure, parse


def rename_global(source: str, names: dict[str, str]) -> str:
    """Rename top-level definitions and the free uses of their names; local variables stay.

    Raises `SyntaxFailure` where the text is no Python, and where a new name would be captured by a
    local variable of the same name.
    """
    tree = parse(source)
    if not any(name in source for name in names):
        return source
    found = [use for use in scopes.uses(tree) if use.name in names]
    positions = Positions(source)
    edits: list[tuple[int, int, str]] = []
    for use in found:
        if use.owner is not None and use.owner.kind != "module":
            continue
        new = names[use.name]
        captured = use.scope.owner(new)
        if captured is not None and captured.kind != "module":
            raise SyntaxFailure(f"it refers to {use.name} where {new} is a variable of its own")
        if isinstance(use.node, ast.Name):
            edits.append((*positions.span(use.node), new))
        elif isinstance(use.node, ast.FunctionDef):
            start, end = positions.span(use.node)
            if header := re.compile(r"def[\s\\]+(\w+)").match(source, start, end):
                edits.append((*header.span(1), new))
    for start, end, new in sorted(edits, reverse=True):
        source = source[:start] + new + source[end:]
    return source
