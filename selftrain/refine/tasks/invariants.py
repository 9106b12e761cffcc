"""Invariants that a row declares of its task, checked as text. Nothing is run.

    {"name": "empty", "predicate": "answer == 0", "inputs": [[[]], "([],)"]}
    {"name": "linear", "growth": {"make": "(list(range(n)),)", "sizes": [100, 200, 400],
                                  "max_exponent": 1.3}}

An input of a function is the list of its arguments, or a text with the Python literal of such a
list or tuple; of a program it is its standard input. A predicate is over `inputs`, the tuple of
arguments or the standard input, and `answer`; what makes an input of a size, over `n`.
"""

import ast
import builtins
import difflib
import symtable
import warnings
from collections.abc import Iterable, Sequence

from puzzles.syntax import parse
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.calls import expression
from selftrain.refine.tasks.kinds import NOT_PLAIN, kind_of, named
from selftrain.refine.tasks.literals import as_tuple, canonical_value, elements
from selftrain.refine.tasks.slips import check_call
from selftrain.refine.tasks.task import Growth, Invariant, Kind, RefineTask
from selftrain.refine.texts import is_encodable

KEYS = ("name", "predicate", "inputs", "growth")
GROWTH_KEYS = ("make", "sizes", "max_exponent")
FEWEST_SIZES = 3
LARGEST_SIZE = 10**7
PREDICATE_NAMES = ("inputs", "answer")
MAKE_NAMES = ("n",)


GATES_OWN = (
    *("parses", "signature", "imports", "streams", "solved", "examples"),
    *("plain_answer", "resources", "same_answer", "hidden"),
)
"""Names of what the gate checks of every task."""


def invariants_of(value: object, task: RefineTask, where: str) -> tuple[Invariant, ...]:
    """Read a row's invariants; raise UsageError, which names the file, the line and the key."""
    if not isinstance(value, list):
        raise UsageError(f"{where}: invariants is {value!r:.60}. Make it a list of objects.")
    found: dict[str, Invariant] = {}
    for number, one in enumerate(value):
        place = f"{where}: invariants[{number}]"
        invariant = _invariant(_object(one, KEYS, place), task, place)
        name = invariant.name.lower()
        if name in found or name in GATES_OWN:
            raise UsageError(
                f"{place}.name is {invariant.name!r}, as another's or the gate's own. Name each "
                "anew."
            )
        found[name] = invariant
    return tuple(found.values())


def arguments_of(value: object) -> tuple[str, ...] | None:
    """Give the canonical literals of arguments, a JSON list or the text of a literal; else None.

    Raises ValueError where one is no plain data.
    """
    if isinstance(value, str):
        return elements(value)
    return tuple(map(canonical_value, value)) if isinstance(value, list) else None


def _invariant(row: Row, task: RefineTask, place: str) -> Invariant:
    name = row.get("name")
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise UsageError(f"{place}.name is {name!r:.60}. Give a short name of its own, as text.")
    predicate = (
        None
        if row.get("predicate") is None
        else _expression(row, "predicate", PREDICATE_NAMES, place)
    )
    growth = None if row.get("growth") is None else _growth(row["growth"], task, f"{place}.growth")
    inputs = _inputs(row.get("inputs", []), task, f"{place}.inputs")
    if predicate is None and growth is None:
        raise UsageError(f"{place} has neither 'predicate' nor 'growth'. Say what must hold.")
    if predicate is not None and growth is None and not inputs:
        raise UsageError(f"{place} has a predicate but no 'inputs'. Give at least one edge input.")
    if predicate is None and inputs:
        raise UsageError(f"{place} has inputs but no 'predicate'. Say what must hold of answers.")
    if predicate is not None and task.kind is Kind.function:
        widths = [len(elements(one) or ()) for one in inputs]
        if growth is not None and (made := _elements(growth.make)) is not None:
            widths.append(len(made))
        _check_reach(predicate, widths, f"{place}.predicate")
    return Invariant(name, inputs, predicate, growth)


def _check_reach(predicate: str, widths: Sequence[int], place: str) -> None:
    """Raise UsageError where a predicate asks for an argument that some inputs have not.

    One that looks at `inputs` in another way, or binds it anew, may know how many there are.
    """
    nodes = list(ast.walk(parse(predicate)))
    indexes = [index for node in nodes if (index := _index(node)) is not None]
    named_so = [node for node in nodes if isinstance(node, ast.Name) and node.id == "inputs"]
    is_argument = any(isinstance(node, ast.arg) and node.arg == "inputs" for node in nodes)
    if len(indexes) < len(named_so) or is_argument or not widths:
        return
    fewest = min(widths)
    for index in indexes:
        if not -fewest <= index < fewest:
            arguments = "1 argument" if fewest == 1 else f"{fewest} arguments"
            raise UsageError(
                f"{place} asks for inputs[{index}] of {arguments}. The first is inputs[0]."
            )


def _index(node: ast.AST) -> int | None:
    """Give which of the inputs an expression asks for, where it is a number."""
    match node:
        case ast.Subscript(ast.Name("inputs"), ast.Constant(int(index))):
            return index
        case ast.Subscript(ast.Name("inputs"), ast.UnaryOp(ast.USub(), ast.Constant(int(index)))):
            return -index
    return None


def _growth(value: object, task: RefineTask, place: str) -> Growth:
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
    if sizes[-1] > LARGEST_SIZE:
        raise UsageError(
            f"{place}.sizes has {sizes[-1]:,}, and an input of more than {LARGEST_SIZE:,} is not "
            "made. Choose smaller sizes: the growth shows at hundreds."
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
    make = _expression(row, "make", MAKE_NAMES, place)
    _check_made(make, task, f"{place}.make")
    return Growth(make, tuple(sizes), float(exponent))


def _check_made(make: str, task: RefineTask, place: str) -> None:
    """Raise UsageError where an expression gives, as far as its text tells, no input of the task.

    What only a run can tell is for the gate.
    """
    kind = kind_of(_parsed(make), {"n": "int"})
    if task.kind is Kind.program:
        if kind is not None and kind != "str":
            raise UsageError(f"{place} gives {named(kind)}. Give the standard input, as text.")
        return
    if kind is not None and kind != "tuple":
        raise UsageError(
            f"{place} gives {named(kind)}. Give the tuple of arguments, with a comma where it is "
            "one: (list(range(n)),)"
        )
    arguments = _elements(make)
    if arguments is None:
        return
    check_call(task, len(arguments), place)
    for argument in arguments:
        kind = kind_of(argument, {"n": "int"})
        if kind is not None and kind in NOT_PLAIN:
            raise UsageError(
                f"{place} gives an argument that is {named(kind)}, which is no plain data. Give a "
                "list of it."
            )


def _elements(make: str) -> list[ast.expr] | None:
    """Give the elements of an expression that is a tuple as it stands; else None."""
    match _parsed(make):
        case ast.Tuple(elements) if not any(isinstance(one, ast.Starred) for one in elements):
            return elements
    return None


def _parsed(text: str) -> ast.expr:
    """Parse an expression that is known to be one."""
    node = expression(text)
    assert node is not None
    return node


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


def _inputs(value: object, task: RefineTask, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{place} is {value!r:.60}. Make it a list.")
    if task.kind is Kind.program:
        return _texts(value, place)
    return tuple(_arguments(one, task, f"{place}[{number}]") for number, one in enumerate(value))


def _texts(value: Iterable[object], place: str) -> tuple[str, ...]:
    found = []
    for number, one in enumerate(value):
        if not isinstance(one, str) or not is_encodable(one):
            raise UsageError(f"{place}[{number}] is {one!r:.60}. Give a standard input, as text.")
        found.append(one)
    return tuple(found)


def _arguments(one: object, task: RefineTask, place: str) -> str:
    try:
        found = arguments_of(one)
    except ValueError as error:
        raise UsageError(f"{place} is {one!r:.60}, which is no plain data ({error}).") from None
    if found is None:
        raise UsageError(
            f"{place} is {one!r:.60}. Give the list of arguments, or as text a Python literal of "
            "it, such as '([(1, 2)],)'."
        )
    check_call(task, len(found), place)
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
