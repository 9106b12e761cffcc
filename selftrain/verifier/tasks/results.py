"""Results: what a program returned, as text, and when two results are the same one.

A result is the canonical literal of the judge, or `ERROR: kind: reason`. A table of SQL is a list
of tuples; gold results are written in the same notation. By `result_key` two results are the same
where their values are, type by type:

- ints are exact; `1`, `1.0` and `True` are three results, and `0.1 + 0.2` is not `0.3`;
- `nan` equals `nan`, since nobody could tell them apart, and `-0.0` equals `0.0`, as in Python;
- sets and dicts are equal whatever their order; lists and tuples keep theirs, and so do the rows
  of a table; list and tuple, set and frozenset, str and bytes are apart;
- all of a value counts, however long it is;
- an error, or what cannot be read, is the same as nothing, itself included: it has no key.

Not here: which result is right (labels), and how programs are run (execute.py).
"""

from __future__ import annotations

import hashlib
import re

from judge import Execution
from selftrain.verifier.tasks.literals import Unreadable, Value, read

ERROR = "ERROR: "
"""What the result of a program that returned nothing begins with; no literal does."""
MOST_DETAIL_CHARACTERS = 200
"""An error's detail is cut there: a program chooses how long its own messages are."""
MOST_TYPE_CHARACTERS = 160
"""What type_of writes at most."""
MOST_TYPE_DEPTH = 4
"""Levels of nesting that type_of tells."""
MOST_NAMED_ELEMENTS = 16
"""Elements of a tuple whose types are told one by one; more than most tables have columns."""
OF_CHECKER = ("passed", "wrong_answer", "flaky")
"""Outcomes that say what a checker thinks of an answer."""
KIND = re.compile(r"ERROR:\s*(\w+)(?::|$)")


def result_of(execution: Execution) -> str:
    """Return what a program returned, as a literal, or why it did not."""
    if execution.failure is None:
        assert execution.answer is not None
        return execution.answer
    return error_of(execution.failure, execution.detail)


def error_of(outcome: str, detail: str) -> str:
    """Return the result of a program without an answer: its kind, such as `timed_out`, and why.

    Where f could not be loaded, nothing is told of why, since f is the checker. Raises ValueError
    for an outcome that only a checker can know.
    """
    if outcome in OF_CHECKER:
        raise ValueError(f"{outcome} is what a checker says, and no result. Give what was returned")
    if outcome.startswith("f_"):
        return f"{ERROR}not_run: its inputs could not be made"
    # A message may hold line ends, and half surrogate pairs, which no tokenizer reads.
    plain = "".join(letter if letter.isprintable() else " " for letter in detail)
    line = " ".join(plain.split())
    if len(line) > MOST_DETAIL_CHARACTERS:
        line = f"{line[: MOST_DETAIL_CHARACTERS - 1]}…"
    return f"{ERROR}{outcome}: {line}" if line else f"{ERROR}{outcome}"


def is_error(result: str | None) -> bool:
    """Tell whether a result says that the program returned nothing; an unknown one does not."""
    return result is not None and result.startswith(ERROR.rstrip())


def result_key(result: str) -> str | None:
    """Return a text that equal results share and no others, by the rules above.

    None for an error and for what cannot be read: such a result is merged with nothing. A megabyte
    takes seconds, so keep a key that is needed again.
    """
    try:
        return _digest(read(result), whole=False)
    except Unreadable:
        return None


def same_value(a: str, b: str) -> bool:
    """Tell whether two results are the same, where a whole float is the same as its int.

    For labels of questions, whose gold result says 18 where a program may say 18.0. Nothing is the
    same as an error, or as what cannot be read.
    """
    try:
        return _digest(read(a), whole=True) == _digest(read(b), whole=True)
    except Unreadable:
        return False


def type_of(result: str) -> str:
    """Return the type of a result, such as `dict[str, list[int]]`, in few characters.

    Elements are told together: a table is a `list[tuple[int, NoneType|str]]`. Of an error it is
    `ERROR: kind`, and `unknown` of what cannot be read.
    """
    if is_error(result):
        kind = KIND.match(result)
        return f"{ERROR}{kind[1]}" if kind else ERROR.rstrip(": ")
    try:
        told = _types([read(result)], MOST_TYPE_DEPTH)
    except Unreadable:
        return "unknown"
    return told if len(told) <= MOST_TYPE_CHARACTERS else f"{told[: MOST_TYPE_CHARACTERS - 1]}…"


def shown(result: str, most_characters: int) -> str:
    """Return a result whole, or its head, its tail and how long it is, in so many characters."""
    if len(result) <= most_characters:
        return result
    length = f" ({len(result):,} characters)"
    room = most_characters - len(" … ") - len(length)
    if room < 2:
        return result[:most_characters]
    # The head tells more: an error's kind stands there.
    tail = room // 3
    return f"{result[: room - tail]} … {result[len(result) - tail :]}{length}"


def _digest(value: Value, *, whole: bool) -> str:
    return hashlib.sha256(_encoded(value, whole).encode("utf-8", "surrogatepass")).hexdigest()


def _encoded(value: Value, whole: bool) -> str:
    """Write a value so that equal ones have one text, and others another.

    Each text begins with its type, and where it ends follows from what it begins with. With
    `whole`, a whole float is written as its int.
    """
    if not isinstance(value.content, tuple):
        return _encoded_scalar(value, whole)
    items = [_encoded(element, whole) for element in value.content]
    if value.type == "dict":
        items = [f"{key}:{item}" for key, item in zip(items[::2], items[1::2], strict=True)]
    if value.type in ("dict", "set", "frozenset"):
        items.sort()
    return f"{value.type}[{','.join(items)}]"


def _encoded_scalar(value: Value, whole: bool) -> str:
    match value.content:
        case bool() | None:
            return f"{value.content}"
        case int(number):
            return f"int {number:x}"
        case float(number):
            if whole and number.is_integer():
                return f"int {int(number):x}"
            return f"float {_number(number)}"
        case complex(real=real, imag=imaginary):
            return f"complex {_number(real)} {_number(imaginary)}"
        case str(text):
            return f"str {len(text)} {text}"
        case bytes(octets):
            return f"bytes {octets.hex()}"
    raise AssertionError(value.type)


def _number(number: float) -> str:
    """Write a float exactly, minus zero as zero."""
    return (number or 0.0).hex()


def _types(values: list[Value], depth: int) -> str:
    """Tell the types of some values together, those of their elements too, to some depth."""
    kinds: dict[tuple[str, int], list[Value]] = {}
    for value in values:
        # Tuples of one length are told element by element.
        length = len(value.content) if isinstance(value.content, tuple) else 0
        kind = value.type, length if value.type == "tuple" else 0
        kinds.setdefault(kind, []).append(value)
    return "|".join(_type(alike, depth) for _, alike in sorted(kinds.items()))


def _type(alike: list[Value], depth: int) -> str:
    """Tell the type of values of one kind."""
    name = alike[0].type
    contents = [value.content for value in alike if isinstance(value.content, tuple)]
    if not contents or depth == 0:
        return name
    more = ""
    if name == "dict":
        parts = [[half for halves in contents for half in halves[start::2]] for start in (0, 1)]
    elif name == "tuple" and len(contents[0]) <= MOST_NAMED_ELEMENTS:
        parts = [list(column) for column in zip(*contents, strict=True)]
    else:
        parts = [[element for elements in contents for element in elements]]
        more = ", ..." if name == "tuple" else ""
    told = [_types(part, depth - 1) for part in parts if part]
    return f"{name}[{', '.join(told)}{more}]"
