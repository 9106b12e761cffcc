"""Read a canonical literal: a syntax tree becomes values with their types, and nothing is run.

The notation is that of the judge's answers: Python's literals, with `float('nan')`, `complex(a,
b)`, `set()` and `frozenset({...})`, and long ints in hexadecimal. A result written by hand may say
`nan` and `inf`. No list, set or dict is built, so that a key which Python cannot hash, or a million
that collide, does no harm. Not here: which values are equal (results.py).
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

SEQUENCES = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}


@dataclass(frozen=True, slots=True)
class Value:
    """A literal that was read."""

    type: str
    """Name of its type, such as `int` or `list`."""
    content: bool | int | float | complex | str | bytes | tuple[Value, ...] | None
    """A plain value, or its elements as they stand; those of a dict are key, value, key, value."""


class Unreadable(ValueError):
    """The text is no literal of the notation."""


def read(literal: str) -> Value:
    """Read a literal; raise Unreadable, also where more than 200 brackets nest."""
    try:
        with warnings.catch_warnings():
            # One written by hand may hold "\d", of which the parser complains on the terminal.
            warnings.simplefilter("ignore")
            tree = ast.parse(literal.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # A ValueError is a NUL, or half a surrogate pair that is not escaped.
        raise Unreadable(f"{type(error).__name__} in {literal[:40]!r}") from None
    return _value(tree.body)


def _value(node: ast.expr) -> Value:
    match node:
        case ast.Constant(content):
            return _constant(content)
        case ast.Name("nan" | "inf" as number):
            return Value("float", float(number))
        case ast.UnaryOp(ast.USub(), ast.Constant() | ast.Name() as operand):
            return _negative(_value(operand))
        case ast.List() | ast.Tuple() | ast.Set():
            return Value(SEQUENCES[type(node)], tuple(map(_value, node.elts)))
        case ast.Dict():
            return _dictionary(node)
        case ast.Call(ast.Name(name), arguments, []):
            return _called(name, arguments)
    raise Unreadable(f"{type(node).__name__} is no literal")


def _constant(content: object) -> Value:
    if content is None or isinstance(content, bool | int | float | complex | str | bytes):
        return Value(type(content).__name__, content)
    raise Unreadable("... is no plain value")


def _negative(value: Value) -> Value:
    if value.type in ("int", "float"):
        assert isinstance(value.content, int | float)
        return Value(value.type, -value.content)
    raise Unreadable(f"- before {value.type}")


def _dictionary(node: ast.Dict) -> Value:
    halves: list[Value] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise Unreadable("** in a dict")
        halves += (_value(key), _value(value))
    return Value("dict", tuple(halves))


def _called(name: str, arguments: list[ast.expr]) -> Value:
    """Read what has no literal of its own in Python."""
    match name, arguments:
        case "float", [ast.Constant("nan" | "inf" | "-inf" as number)]:
            return Value("float", float(number))
        case "complex", [real, imaginary]:
            parts = [_value(part).content for part in (real, imaginary)]
            numbers = [part for part in parts if type(part) is float]
            if len(numbers) == 2:
                return Value("complex", complex(*numbers))
        case "set" | "frozenset", []:
            return Value(name, ())
        case "frozenset", [ast.Set(elements)]:
            return Value(name, tuple(map(_value, elements)))
    raise Unreadable(f"a call of {name}")
