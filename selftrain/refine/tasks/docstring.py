"""The public examples of a function: calls that its docstring shows, and what they return.

Read are doctests; lines such as `f(1) == 2`, `f(1) ➞ 2`, `f(1) => 2`, `f(1) should return 2`; and
inputs by name, as in `Input: n = 1` above `Output: 2`, or `For n = 1 the output should be 2`. A
call counts only where all its arguments and what it returns are literals. Left out are expected
exceptions, calls inside other expressions (so results that the caller rounds), sums such as
`19 - 5 = 14`, and calls with two different results. A float is taken as it stands.

A docstring may be wrong, and nothing here can know that. Of HumanEval's 164, 150 show 428 calls
in all; four of them, in three tasks, are not what the reference returns: HumanEval/47, /116, /148.
Nothing is run.
"""

import doctest
import re
from collections.abc import Iterator, Sequence

from selftrain.refine.tasks.calls import (
    MOST_CHARACTERS,
    arguments_by_name,
    arguments_in,
    expression,
    literal_in,
)
from selftrain.refine.tasks.task import Example

_DOCTEST = re.compile(r"^(?=[ \t]*>>>)", re.MULTILINE)
_BEFORE = re.compile(r"(.*[:;,.]|\s*(>>>|[*•-]|for|assert|\d+[.)]))?\s*", re.IGNORECASE)
"""What may stand in the line before a call that stands for itself."""
_BETWEEN = re.compile(
    r"[ \t]*(?:#[ \t]*)?(==>|=>|==|-->|->|➞|→|⇒|=|(?:should[ \t]+|must[ \t]+)?returns?\b)"
    r"[ \t]*:?[ \t]*"
)
_NAMED = re.compile(
    r"Input:[ \t]*(?P<input>.+)\n\s*Output:[ \t]*(?P<output>.+)"
    r"|For[ \t]+(?P<given>\w+[ \t]*=.*?),?[ \t]*\bthe (?:output|result) should be (?P<result>.+)"
)


def examples_of(docstring: str, name: str, names: Sequence[str]) -> tuple[Example, ...]:
    """Give the examples of a function with these parameters, as they stand, each call once."""
    found: dict[str, set[str]] = {}
    for example in (*_with_calls(docstring, name), *_with_names(docstring, names)):
        found.setdefault(example.arguments, set()).add(example.answer)
    return tuple(Example(call, *answers) for call, answers in found.items() if len(answers) == 1)


def _with_calls(docstring: str, name: str) -> Iterator[Example]:
    # Piece by piece, since one that is not laid out as doctest wants it spoils the others.
    for piece in _DOCTEST.split(docstring):
        try:
            parts = doctest.DocTestParser().parse(piece)
        except ValueError:
            continue
        for part in parts:
            if isinstance(part, str):
                yield from _equations(part, name)
            elif part.exc_msg is None:
                yield from _of_doctest(part, name)


def _of_doctest(example: doctest.Example, name: str) -> Iterator[Example]:
    """Read a call and what is shown below it, or an equation that is shown to be True."""
    arguments = arguments_in(example.source.strip(), name)
    if arguments is None:
        if example.want.strip() in ("", "True"):
            yield from _equations(example.source, name)
        return
    # Where text goes on below a result without a blank line, doctest takes it for more result.
    answer = literal_in(example.want) or literal_in(example.want.partition("\n")[0])
    if answer is not None:
        yield Example(arguments, answer)


def _equations(text: str, name: str) -> Iterator[Example]:
    """Read lines that show a call and its result.

    A single `=` shows a result only where none defines the function, as `f(n) = n + f(n - 1)`
    does: there f(1) = 3 may be a term of a series.
    """
    found: list[tuple[str, Example | None]] = []
    for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\(", text):
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not _BEFORE.fullmatch(before):
            continue
        call = _call(text[match.start() :][:MOST_CHARACTERS])
        sign = _BETWEEN.match(text, match.start() + len(call))
        if call and sign:
            arguments = arguments_in(call, name)
            answer = _result(text[sign.end() :], sign[1])
            shown = arguments is not None and answer is not None
            found.append((sign[1], Example(arguments or "", answer or "") if shown else None))
    defines = any(sign == "=" and example is None for sign, example in found)
    yield from (one for sign, one in found if one is not None and not (sign == "=" and defines))


def _call(text: str) -> str:
    """Give the call that a text begins with; nothing where it never ends."""
    for end in re.finditer(r"\)", text):
        if expression(text[: end.end()]) is not None:
            return text[: end.end()]
    return ""


def _result(rest: str, sign: str) -> str | None:
    """Read the result that a text begins with: a line's rest, or lines until brackets close."""
    lines = rest[:MOST_CHARACTERS].split("\n")
    for end in range(1, len(lines) + 1):
        text = "\n".join(lines[:end]).strip()
        # In `should return 2.` the point is the sentence's.
        answer = literal_in(text.removesuffix(".") if sign[-1].isalpha() else text)
        if answer is not None:
            return answer
        if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")):
            return None
    return None


def _with_names(docstring: str, names: Sequence[str]) -> Iterator[Example]:
    """Read inputs that are shown by name, or alone, and the output."""
    for match in _NAMED.finditer(docstring):
        arguments = arguments_by_name(match["input"] or match["given"], names)
        answer = literal_in((match["output"] or match["result"]).strip().removesuffix("."))
        if arguments is not None and answer is not None:
            yield Example(arguments, answer)
