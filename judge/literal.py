"""The host's reader of answers: from tagged JSON (guest/codec.py) to a canonical literal.

What comes in was written inside a guest by code that a hostile program may have replaced, so it
is read as text from a stranger: nothing is evaluated, no container is built whose keys the
stranger chose (colliding hashes cost quadratic time), and whatever is not exactly the format is
refused. What goes out is the canonical form of the same answer, twice: as JSON for the guest of
f, and as a Python literal for people and files. Sets are written in the order of their literals,
so that equal answers are equal texts.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

MAX_DECIMAL_BITS = 14_000
"""Longer ints are written in hexadecimal: Python reads no more than 4,300 decimal digits."""
HEX_INT = re.compile(r"-?[0-9a-f]+")
HEX_BYTES = re.compile(r"(?:[0-9a-f]{2})*")

SCALAR_TAGS = frozenset("ifcub")
SEQUENCE_TAGS = frozenset("tsz")
PLAIN = (int, str, bool, type(None))


class Malformed(ValueError):
    """The text is not a reply or an answer as the guest writes it."""


@dataclass(frozen=True, slots=True)
class Tagged:
    """A JSON object of the format: one tag, one body."""

    tag: str
    """Which type, in one letter."""
    body: "Tree"
    """Its content."""


Tree: TypeAlias = "bool | int | float | str | list[Tree] | Tagged | None"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer in its two canonical forms."""

    literal: str
    """As Python; nan and infinities as `float('nan')`, a long int in hexadecimal."""
    tagged: str
    """As tagged JSON, which the guest of f reads."""
    hashable: bool = True
    """Whether it may be a key, or an element of a set."""


def parse(text: str) -> Tree:
    """Return the JSON tree of a guest's reply; raise Malformed."""
    try:
        tree: Tree = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{type(error).__name__} in a reply of {len(text)} characters") from None
    return tree


def canonical(tree: Tree, max_depth: int) -> Answer:
    """Return the canonical forms of an answer's tree; raise Malformed."""
    if isinstance(tree, Tagged):
        if tree.tag in SCALAR_TAGS:
            return tagged_scalar(tree)
        if max_depth < 1 or not isinstance(tree.body, list):
            raise Malformed(f"bad body of tag {tree.tag!r}")
        if tree.tag == "d":
            return dictionary(tree.body, max_depth)
        if tree.tag in SEQUENCE_TAGS:
            return sequence(tree.tag, tree.body, max_depth)
        raise Malformed(f"unknown tag {tree.tag!r}")
    if isinstance(tree, list):
        return array(tree, max_depth)
    if isinstance(tree, float) and not math.isfinite(tree):
        raise Malformed("a float out of range")
    return Answer(repr(tree), json.dumps(tree))


def array(items: list[Tree], max_depth: int) -> Answer:
    """Write a list."""
    if max_depth < 1:
        raise Malformed("nested too deeply")
    if all(type(item) in PLAIN for item in items):
        return Answer(repr(items), json.dumps(items, separators=(",", ":")), hashable=False)
    answers = [canonical(item, max_depth - 1) for item in items]
    literal = ", ".join([answer.literal for answer in answers])
    tagged = ",".join([answer.tagged for answer in answers])
    return Answer(f"[{literal}]", f"[{tagged}]", hashable=False)


def sequence(tag: str, items: list[Tree], max_depth: int) -> Answer:
    """Write a tuple, or a set in the order of its literals."""
    answers = [canonical(item, max_depth - 1) for item in items]
    hashable = all(answer.hashable for answer in answers)
    if tag != "t":
        if not hashable:
            raise Malformed("a set of what cannot be hashed")
        answers.sort(key=lambda answer: answer.literal)
    literal = ", ".join([answer.literal for answer in answers])
    if tag == "t":
        literal = f"({literal},)" if len(answers) == 1 else f"({literal})"
    elif tag == "s":
        literal = f"{{{literal}}}" if answers else "set()"
    else:
        literal = f"frozenset({{{literal}}})" if answers else "frozenset()"
    tagged = ",".join([answer.tagged for answer in answers])
    return Answer(literal, f'{{"{tag}":[{tagged}]}}', hashable=hashable and tag != "s")


def dictionary(pairs: list[Tree], max_depth: int) -> Answer:
    """Write a dict, in its own order."""
    literals, tagged = [], []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Malformed("a dict of what are no pairs")
        # A pair is a level of its own, as in the guest's count.
        key, item = (canonical(half, max_depth - 2) for half in pair)
        if not key.hashable:
            raise Malformed("a key that cannot be hashed")
        literals.append(f"{key.literal}: {item.literal}")
        tagged.append(f"[{key.tagged},{item.tagged}]")
    return Answer(
        "{" + ", ".join(literals) + "}", '{"d":[' + ",".join(tagged) + "]}", hashable=False
    )


def tagged_scalar(tree: Tagged) -> Answer:
    """Write what JSON has no form of its own for."""
    tag, body = tree.tag, tree.body
    if tag == "i" and isinstance(body, str) and HEX_INT.fullmatch(body):
        number = int(body, 16)
        short = number.bit_length() <= MAX_DECIMAL_BITS
        return Answer(str(number) if short else hex(number), f'{{"i":"{number:x}"}}')
    if tag == "f" and body in ("nan", "inf", "-inf"):
        return Answer(f"float('{body}')", f'{{"f":"{body}"}}')
    if tag == "b" and isinstance(body, str) and HEX_BYTES.fullmatch(body):
        return Answer(repr(bytes.fromhex(body)), f'{{"b":"{body}"}}')
    if tag == "c" and isinstance(body, list) and len(body) == 2:
        real, imaginary = (canonical(part, 0) for part in body)
        if all(
            type(part) is float or (isinstance(part, Tagged) and part.tag == "f") for part in body
        ):
            literal = f"complex({real.literal}, {imaginary.literal})"
            return Answer(literal, f'{{"c":[{real.tagged},{imaginary.tagged}]}}')
    if tag == "u" and isinstance(body, list):
        points = [point for point in body if type(point) is int and 0 <= point <= 0x10FFFF]
        if len(points) == len(body):
            return Answer(repr("".join(map(chr, points))), f'{{"u":{json.dumps(points)}}}')
    raise Malformed(f"bad body of tag {tag!r}")


def refuse_constant(name: str) -> NoReturn:
    """Refuse the NaN and Infinity that Python's JSON would read."""
    raise Malformed(f"{name} in a reply")


def tag_pairs(pairs: list[tuple[str, Tree]]) -> Tagged:
    """Read a JSON object without building a dict of it."""
    if len(pairs) != 1:
        raise Malformed("an object with other than one tag")
    return Tagged(*pairs[0])


DECODER = json.JSONDecoder(object_pairs_hook=tag_pairs, parse_constant=refuse_constant)
