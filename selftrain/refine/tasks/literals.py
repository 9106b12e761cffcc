"""Canonical literals of what a task file holds: examples and edge inputs. Nothing is run.

JSON has lists alone; where a tuple or a set is meant, a file gives a text with a Python literal.
"""

from judge.literal import Tagged, Tree, canonical
from selftrain.refine.texts import is_encodable
from selftrain.verifier.tasks.literals import Unreadable, Value, read

MOST_DEPTH = 100
"""Levels of nesting, as the judge has it."""
LONG_INT = 1 << 64
"""From there on an int is written as the judge's guests write it, whatever its length."""
TAGS = {"tuple": "t", "set": "s", "frozenset": "z"}


def canonical_text(text: str) -> str:
    """Write a Python literal as the judge writes an answer.

    It may say `nan` and `inf`. Raises ValueError where it is no literal, nests too deep or holds
    what cannot be hashed.
    """
    return canonical(_tree(read(text)), MOST_DEPTH).literal


def canonical_value(value: object) -> str:
    """Write a JSON value, lists as lists; the rest is as in `canonical_text`."""
    return canonical_text(repr(value))


def elements(text: str) -> tuple[str, ...] | None:
    """Give the canonical elements of a literal that is a list or tuple; None where it is neither.

    Raises ValueError where it is no literal.
    """
    value = read(text)
    if value.type not in ("list", "tuple") or not isinstance(value.content, tuple):
        return None
    return tuple(canonical(_tree(item), MOST_DEPTH).literal for item in value.content)


def as_tuple(items: tuple[str, ...]) -> str:
    """Write literals as the literal of a tuple of them."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _tree(value: Value) -> Tree:
    """Turn a literal that was read into what the judge writes."""
    content = value.content
    match content:
        case tuple():
            return _container(value.type, content)
        case bool() | None:
            return content
        case int(number):
            return number if abs(number) < LONG_INT else Tagged("i", f"{number:x}")
        case float(number):
            return _float(number)
        case complex(real=real, imag=imaginary):
            return Tagged("c", [_float(real), _float(imaginary)])
        case bytes(octets):
            return Tagged("b", octets.hex())
        case str(text):
            if text.isascii() or is_encodable(text):
                return text
            return Tagged("u", [ord(letter) for letter in text])
    raise Unreadable(f"{value.type} is no plain type")


def _container(kind: str, content: tuple[Value, ...]) -> Tree:
    items = [_tree(item) for item in content]
    if kind == "list":
        return items
    if kind == "dict":
        pairs: list[Tree] = [[key, item] for key, item in zip(items[::2], items[1::2], strict=True)]
        return Tagged("d", pairs)
    return Tagged(TAGS[kind], items)


def _float(number: float) -> Tree:
    finite = number - number == 0
    return number if finite else Tagged("f", str(number))
