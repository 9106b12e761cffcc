"""Invariants that a row declares of its task, checked as text. Nothing is run.

    {"name": "empty", "predicate": "answer == 0", "inputs": [[[]], "([],)"]}
    {"name": "linear", "growth": {"make": "(list(range(n)),)", "sizes": [100, 200, 400],
                                  "max_exponent": 1.3}}

An input of a function is the list of its arguments, or a text with the Python literal of such a
list or tuple; of a program it is its standard input. A predicate is over `inputs`, the tuple of
arguments or the standard input, and `answer`; what makes an input of a size, over `n`.
"""

import builtins
import difflib
import symtable
import warnings
from collections.abc import Iterable

from puzzles.syntax import parse
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.literals import as_tuple, canonical_value, elements
from selftrain.refine.tasks.task import Growth, Invariant, Kind

KEYS = ("name", "predicate", "inputs", "growth")
GROWTH_KEYS = ("make", "sizes", "max_exponent")
FEWEST_SIZES = 3
PREDICATE_NAMES = ("inputs", "answer")
MAKE_NAMES = ("n",)


def invariants_of(value: object, kind: Kind, where: str) -> tuple[Invariant, ...]:
    """Read a row's invariants; raise UsageError, which names the file, the line and the key."""
    if not isinstance(value, list):
        raise UsageError(f"{where}: invariants is {value!r:.60}. Make it a list of objects.")
    found: dict[str, Invariant] = {}
    for number, one in enumerate(value):
        place = f"{where}: invariants[{number}]"
        invariant = _invariant(_object(one, KEYS, place), kind, place)
        if invariant.name in found:
            raise UsageError(f"{place}.name is {invariant.name!r}, as another's. Name each anew.")
        found[invariant.name] = invariant
    return tuple(found.values())


def arguments_of(value: object) -> tuple[str, ...] | None:
    """Give the canonical literals of arguments, a JSON list or the text of a literal; else None.

    Raises ValueError where one is no plain data.
    """
    if isinstance(value, str):
        return elements(value)
    return tuple(map(canonical_value, value)) if isinstance(value, list) else None


def _invariant(row: Row, kind: Kind, place: str) -> Invariant:
    name = row.get("name")
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise UsageError(f"{place}.name is {name!r:.60}. Give a short name of its own, as text.")
    predicate = (
        None
        if row.get("predicate") is None
        else _expression(row, "predicate", PREDICATE_NAMES, place)
    )
    growth = None if row.get("growth") is None else _growth(row["growth"], f"{place}.growth")
    inputs = _inputs(row.get("inputs", []), kind, f"{place}.inputs")
    if predicate is None and growth is None:
        raise UsageError(f"{place} has neither 'predicate' nor 'growth'. Say what must hold.")
    if predicate is not None and growth is None and not inputs:
        raise UsageError(f"{place} has a predicate but no 'inputs'. Give at least one edge input.")
    if predicate is None and inputs:
        raise UsageError(f"{place} has inputs but no 'predicate'. Say what must hold of answers.")
    return Invariant(name, inputs, predicate, growth)


def _growth(value: object, place: str) -> Growth:
    row = _object(value, GROWTH_KEYS, place)
    sizes = row.get("sizes")
    if (
        not isinstance(sizes, list)
        or len(sizes) < FEWEST_SIZES
        or not all(type(size) is int and size > 0 for size in sizes)
        or sorted(set(sizes)) != sizes
    ):
        raise UsageError(
            f"{place}.sizes is {sizes!r:.60}. Give at least three whole numbers above 0, each "
            "larger than the one before."
        )
    exponent = row.get("max_exponent")
    if (
        isinstance(exponent, bool)
        or not isinstance(exponent, int | float)
        or not 0 <= exponent < 99
    ):
        raise UsageError(
            f"{place}.max_exponent is {exponent!r:.60}. Give the most k for which the time may "
            "grow as n to the k."
        )
    return Growth(_expression(row, "make", MAKE_NAMES, place), tuple(sizes), float(exponent))


def _expression(row: Row, key: str, names: tuple[str, ...], place: str) -> str:
    """Give an expression over these names, which compiles; it is not evaluated."""
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{place}.{key} is {value!r:.60}. Give a Python expression, as text.")
    text = value.strip()
    try:
        parse(text)  # Says well what is wrong, where it is no Python at all.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = symtable.symtable(text, "<expression>", "eval")
            compile(text, "<expression>", "eval", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{place}.{key} is no Python expression ({error}).") from None
    # A slip here would look like a fault of every candidate.
    for name in sorted(_free(table) - {*names, *dir(builtins)}):
        raise UsageError(
            f"{place}.{key} uses {name}, which it does not know. It is given {' and '.join(names)}."
        )
    return text


def _free(table: symtable.SymbolTable) -> set[str]:
    """Give the names that an expression reads and does not bind itself."""
    found = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_global() or (table.get_type() == "module" and symbol.is_referenced())
    }
    bound = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
    return found.union(*map(_free, table.get_children())) - bound


def _inputs(value: object, kind: Kind, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{place} is {value!r:.60}. Make it a list.")
    if kind is Kind.program:
        return _texts(value, place)
    return tuple(_arguments(one, f"{place}[{number}]") for number, one in enumerate(value))


def _texts(value: Iterable[object], place: str) -> tuple[str, ...]:
    found = []
    for number, one in enumerate(value):
        if not isinstance(one, str) or not _is_encodable(one):
            raise UsageError(f"{place}[{number}] is {one!r:.60}. Give a standard input, as text.")
        found.append(one)
    return tuple(found)


def _arguments(one: object, place: str) -> str:
    try:
        found = arguments_of(one)
    except ValueError as error:
        raise UsageError(f"{place} is {one!r:.60}, which is no plain data ({error}).") from None
    if found is None:
        raise UsageError(
            f"{place} is {one!r:.60}. Give the list of arguments, or as text a Python literal of "
            "it, such as '([(1, 2)],)'."
        )
    return as_tuple(found)


def _object(value: object, keys: tuple[str, ...], place: str) -> Row:
    """Check that a value is an object with no other keys."""
    if not isinstance(value, dict):
        raise UsageError(f"{place} is {value!r:.60}. Make it an object.")
    for key in value:
        if key not in keys:
            close = difflib.get_close_matches(key, keys, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"There is: {', '.join(keys)}."
            raise UsageError(f"{place}: {key!r} is no key here. {hint}")
    return value


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
