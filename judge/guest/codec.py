"""Plain data as tagged JSON: how an answer leaves one guest and enters another.

Plain data are None, bool, int, float, complex, str, bytes, list, tuple, dict, set and frozenset,
of exactly these types, nested. Anything else, a subclass included, has no encoding. Not here: the
host's reader of the same format (judge/literal.py), which trusts nothing that leaves a guest.

    None, bool, str, list            themselves
    int, float                       a number; a float with a point or an exponent
    {"i": "-ff"}                     int beyond 64 bits, in hexadecimal (linear in its length)
    {"f": "nan"}                     nan, inf, -inf
    {"c": [re, im]}                  complex, of floats as above
    {"u": [code points]}             str with surrogates, which JSON would join in pairs
    {"b": "00ff"}                    bytes
    {"t": [..]}  {"s": [..]}  {"z": [..]}    tuple, set, frozenset
    {"d": [[key, value], ..]}        dict
"""

# Bound as globals, so that a program that patches builtins does not change how its answer is read.
from builtins import (  # noqa: UP029
    UnicodeEncodeError,
    all,
    bytes,
    complex,
    dict,
    float,
    frozenset,
    int,
    len,
    list,
    map,
    max,
    min,
    ord,
    set,
    str,
    sum,
    tuple,
    type,
)
from json import JSONDecoder
from json.encoder import encode_basestring_ascii as quote
from typing import Any

SMALL_INT = 1 << 63
int_repr = int.__repr__
float_repr = float.__repr__
isascii = str.isascii
to_bytes = str.encode
hexadecimal = int.__format__
loads = JSONDecoder().decode
name_of = type.__dict__["__name__"].__get__
"""The name of a type, whatever a metaclass of a program's own makes of it."""


class NotPlain(Exception):
    """The value, or one inside it, is not of an exact built-in type."""


class TooLarge(Exception):
    """The value is too long or too deeply nested."""


class Encoder:
    """Writes one value, stopping as soon as it is known to be too large."""

    def __init__(self, max_bytes: int, max_depth: int) -> None:
        self.max_bytes = max_bytes
        self.left = max_bytes
        self.max_depth = max_depth

    def encode(self, value: Any, depth: int = 0) -> str:
        """Return value as tagged JSON; raise NotPlain or TooLarge."""
        kind = type(value)
        if kind is int:
            return self.spend(self.integer(value))
        if kind is str:
            return self.text(value)
        if value is None:
            return self.spend("null")
        if value is True:
            return self.spend("true")
        if value is False:
            return self.spend("false")
        if kind is float:
            return self.spend(self.floating(value))
        if kind is list:
            return "[" + self.items(value, depth) + "]"
        if kind is tuple:
            return '{"t":[' + self.items(value, depth) + "]}"
        if kind is set:
            return '{"s":[' + self.items(value, depth) + "]}"
        if kind is frozenset:
            return '{"z":[' + self.items(value, depth) + "]}"
        if kind is dict:
            return '{"d":[' + self.pairs(value, depth) + "]}"
        if kind is bytes:
            self.fit(2 * len(value))
            return self.spend('{"b":"' + value.hex() + '"}')
        if kind is complex:
            return self.spend(
                '{"c":[' + self.floating(value.real) + "," + self.floating(value.imag) + "]}"
            )
        raise NotPlain(name_of(kind))

    def fit(self, size: int) -> None:
        """Raise TooLarge unless size more bytes fit."""
        if size > self.left:
            raise TooLarge("the answer is longer than " + int_repr(self.max_bytes) + " bytes")

    def spend(self, written: str) -> str:
        """Count what is written, with a comma."""
        self.left -= len(written) + 1
        if self.left < 0:
            self.fit(1)
        return written

    def integer(self, value: int) -> str:
        if -SMALL_INT <= value < SMALL_INT:
            return int_repr(value)
        self.fit(value.bit_length() // 4)
        return '{"i":"' + hexadecimal(value, "x") + '"}'

    def floating(self, value: float) -> str:
        written = float_repr(value)
        return '{"f":"' + written + '"}' if written[-1] in "nf" else written

    def text(self, value: str) -> str:
        self.fit(len(value))
        if not isascii(value):
            try:
                self.fit(len(to_bytes(value)))
            except UnicodeEncodeError:
                return self.spend('{"u":' + list.__repr__(list(map(ord, value))) + "}")
        return self.spend(quote(value))

    def items(self, values: Any, depth: int) -> str:
        if depth >= self.max_depth:
            raise TooLarge(
                "the answer is nested more than " + int_repr(self.max_depth) + " levels deep"
            )
        self.fit(len(values))
        self.spend("[]")
        if len(values) > 8:
            quick = self.quick_items(values)
            if quick is not None:
                return self.spend(quick)
        # Read through the types' own iterators: a value of exact type has no others.
        return ",".join([self.encode(value, depth + 1) for value in values])

    def quick_items(self, values: Any) -> str | None:
        """Write items that are all small ints, or all ASCII texts, in C; None for others."""
        kinds = set(map(type, values))
        if kinds == {int} and min(values) >= -SMALL_INT and max(values) < SMALL_INT:
            return ",".join(map(int_repr, values))
        if kinds == {str} and all(map(isascii, values)):
            self.fit(sum(map(len, values)))
            return ",".join(map(quote, values))
        return None

    def pairs(self, values: Any, depth: int) -> str:
        return self.items([[key, item] for key, item in dict.items(values)], depth)


def decode(text: str) -> Any:
    """Return the value of tagged JSON that the host has checked."""
    return build(loads(text))


def build(tree: Any) -> Any:
    """Return the value of a parsed tree."""
    kind = type(tree)
    if kind is list:
        kinds = set(map(type, tree))
        if list in kinds or dict in kinds:
            return [build(item) for item in tree]
        return tree
    if kind is not dict:
        return tree
    ((tag, body),) = tree.items()
    if tag == "i":
        return int(body, 16)
    if tag == "f":
        return float(body)
    if tag == "c":
        return complex(build(body[0]), build(body[1]))
    if tag == "u":
        return "".join([chr(point) for point in body])
    if tag == "b":
        return bytes.fromhex(body)
    if tag == "d":
        return {build(key): build(item) for key, item in body}
    items = [build(item) for item in body]
    return tuple(items) if tag == "t" else set(items) if tag == "s" else frozenset(items)
