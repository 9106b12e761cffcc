"""Parse Python that a model wrote, without ever running it.

Whatever the text, `parse` gives a tree or raises `SyntaxFailure`: no other exception, no warning on
the terminal, and no lasting change to the interpreter. It is no judge: a tree says nothing about
what the program does.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

MAX_CHARACTERS = 50_000
"""Longest source that is read. P3's longest puzzle has 14,157 characters, its longest solution
fewer; beyond this, one huge integer literal alone would take a noticeable time to parse."""

_settings = threading.RLock()


class SyntaxFailure(ValueError):
    """A text that is no Python we can read; the message is one sentence."""


@contextmanager
def digit_limit_lifted() -> Iterator[None]:
    """Let integers of any length be read and printed inside, and put the limit back after.

    The limit belongs to the whole interpreter, hence the lock: two threads that overlapped would
    each restore what the other had set.
    """
    with _settings:
        before = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            yield
        finally:
            sys.set_int_max_str_digits(before)


def parse(source: str) -> ast.Module:
    """Parse `source`, or raise `SyntaxFailure` with the line and what is wrong there."""
    if len(source) > MAX_CHARACTERS:
        raise SyntaxFailure(f"{len(source):,} characters, and at most {MAX_CHARACTERS:,} are read")
    with digit_limit_lifted(), warnings.catch_warnings():
        # A model's "\d" or "1if x" warns; under -W error the warning would become a SyntaxError.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except SyntaxError as error:
            where = f"line {error.lineno}: " if error.lineno else ""
            raise SyntaxFailure(f"{where}{error.msg}") from None
        except (RecursionError, MemoryError):
            raise SyntaxFailure("it nests too deep to be parsed") from None
        except ValueError as error:  # NUL bytes, lone surrogates
            raise SyntaxFailure(f"no Python text: {error}") from None


def unparse(tree: ast.AST) -> str:
    """Print a tree as Python, or raise `SyntaxFailure` where it nests too deep."""
    with digit_limit_lifted():
        try:
            return ast.unparse(tree)
        except (RecursionError, MemoryError):
            raise SyntaxFailure("it nests too deep to be printed") from None
        except ValueError as error:  # an f-string that cannot be quoted before Python 3.12
            raise SyntaxFailure(f"it cannot be printed: {error}") from None


def is_docstring(statement: ast.stmt) -> bool:
    """Tell whether a statement is a bare string, as a docstring is."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def unix_lines(text: str) -> str:
    r"""Turn `\r\n` and `\r` into `\n`, as Python's own reader does, so that positions agree."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class Positions:
    """Where in a source a tree's nodes lie, in characters (Python counts in UTF-8 bytes)."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Give the index into the source of a line (from 1) and a column (in bytes, from 0)."""
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode("utf-8", "replace")[:column].decode("utf-8", "replace"))
        return self._starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> tuple[int, int]:
        """Give start and end of a node as indexes into the source."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )


def without_docstring(source: str, tree: ast.Module) -> str:
    """Cut the docstring of the first function out of `source`, changing no other character.

    A bare string after it goes too, since it would be the docstring of what is left. A function
    that is only a docstring is left as it is: it would no longer parse.
    """
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or len(function.body) == 1:
        return source
    if not is_docstring(function.body[0]):
        return source
    without = _without_first_statement(source, function)
    return without_docstring(without, parse(without))


def _without_first_statement(source: str, function: ast.FunctionDef) -> str:
    start, end = Positions(source).span(function.body[0])
    rest = source[end:]
    if to_line_end := re.match(r"[ \t]*;?[ \t]*(#[^\n]*)?\n([ \t]*\n)*", rest):
        return source[: source.rfind("\n", 0, start) + 1] + rest[to_line_end.end() :]
    # Another statement shares the docstring's line: it takes the docstring's place.
    return source[:start] + re.sub(r"^[ \t]*;[ \t]*", "", rest)
