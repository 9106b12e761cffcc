"""Withholding the checker from the candidate too: no result may carry what f said.

g runs beside f, so a g that calls f could return its verdict. Such a g is run anew beside an f of
the same inputs that knows nothing. Told by the names in g alone: whatever might reach f by a
detour counts, since being run anew costs a moment and a verdict in a result costs the measurement.
Not here: running, and the label, which is that of the true f.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from puzzles.syntax import SyntaxFailure, parse, unparse

_DETOUR = re.compile(
    r"\bf\b"
    r"|^(eval|exec|compile|globals|locals|vars|dir|getattr|breakpoint)$"
    # What has an underscore before it, frames, and the modules that hand out either.
    r"|\b_\w|^(f|gi|cr|ag|tb)_\w+$|\b(sys|gc|inspect|importlib|builtins|traceback|types)\b"
)
_BODY = "raise NameError(\"name 'f' is not defined\")"


@lru_cache(maxsize=16_384)
def may_ask(g: str) -> bool:
    """Tell whether a program might reach a function f that it did not define."""
    try:
        return any(_DETOUR.search(name) for name in _names(parse(g)))
    except SyntaxFailure:
        return True


@lru_cache(maxsize=1_024)
def withheld(f: str) -> str:
    """Give f with its inputs, and a body that fails as if there were no f.

    Raises `puzzles.syntax.SyntaxFailure` where f is no Python.
    """
    tree = parse(f)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            function.body = ast.parse(_BODY).body
    return unparse(tree)


def _names(tree: ast.Module) -> Iterator[str]:
    """Give what a program names: names, attributes, imports, and texts, which may be looked up."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
