"""Tables, as queries give them: the literal of a list of tuples. When two are equal, and gold ones.

A cell is None, a number, a text or bytes. Equality is that of values: 18 is 18.0, as SQLite itself
has it, and True, which SQL lacks, is 1. Not here: which result is right (from_questions.py), and
the keys that group results (results.py), which keep 18 and 18.0 apart.
"""

from collections.abc import Sequence

from selftrain.verifier.tasks.literals import Unreadable, Value, read
from selftrain.verifier.tasks.sql import literal
from selftrain.verifier.tasks.sql_guard import Cell

Table = Sequence[tuple[Cell, ...]]


def as_table(gold: str) -> str | None:
    """Return a gold result as a table: rows, a list of values, a row, or a value; else None."""
    try:
        value = read(gold)
        items = value.content if value.type == "list" else (value,)
        assert isinstance(items, tuple)
        return "[" + ", ".join(literal(_row(item)) for item in items) + "]"
    except Unreadable:
        return None


def same_table(a: str, b: str, *, ordered: bool) -> bool:
    """Tell whether two results are tables of the same rows, in the same order where that counts.

    An error equals nothing. Repeated rows count as often as they are there.
    """
    one, other = _table(a), _table(b)
    if one is None or other is None:
        return False
    return one == other if ordered else sorted(one, key=_rank) == sorted(other, key=_rank)


def _rank(row: tuple[Cell, ...]) -> tuple[tuple[int, Cell], ...]:
    """Rank rows whose cells are of several types; equal ones alike."""
    kinds = (type(None), int | float, str, bytes)
    return tuple(
        next((n, cell if n else 0) for n, kind in enumerate(kinds) if isinstance(cell, kind))
        for cell in row
    )


def _table(result: str) -> Table | None:
    try:
        value = read(result)
        if value.type != "list":
            return None
        assert isinstance(value.content, tuple)
        return [_row(item) for item in value.content]
    except Unreadable:
        return None


def _row(value: Value) -> tuple[Cell, ...]:
    """Read a row, or one cell as a row of it."""
    if value.type in ("list", "tuple"):
        assert isinstance(value.content, tuple)
        return tuple(_cell(cell) for cell in value.content)
    return (_cell(value),)


def _cell(value: Value) -> Cell:
    if isinstance(value.content, complex | tuple):
        raise Unreadable(f"a {value.type} is no cell of a table")
    return value.content
