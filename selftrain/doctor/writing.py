"""How a tokenizer writes programs: whether they come back whole, and numbers and indentation.

A tokenizer can lose what it has no token for, as T5's loses braces and line ends.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from selftrain.doctor.finding import Finding, State
from selftrain.doctor.texts import Text

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PROBES = (
    "x = {'a': [1, 2]}\n",
    "if x:\n\ty = 1\n\t\tz = 2\n",
    "x = 1\r\ny = 2\r\n",
    "def f(x):\n        return x\n\n\n",
    "s = 'é ≤ 日本 😀'\n",
    '`~!@#$%^&*|\\"<>?;',
)
"""Texts beyond the puzzles' that a program may hold."""
NUMBERS = ("42", "365", "1234", "12345", "123456", "1234567")
_PLACES = {
    "after a blank": "x == {}",
    "in brackets": "f({})",
    "in a list": "[{}, x]",
    "negative": "-{}",
}
_BLANKS = (4, 8)


def round_trip(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[Text]) -> Finding:
    """Look for programs that do not come back from their tokens as they were."""
    programs = [text.prompt + text.completion for text in texts if text.kind == "example"]
    damaged = [program for program in programs if _decoded(tokenizer, program) != program]
    if damaged:
        return Finding(
            "writing",
            State.MEND,
            f"{len(damaged):,} of {len(programs):,} examples do not come back from their tokens: "
            + _damage(tokenizer, damaged),
            "No training mends that: take a model whose tokenizer was made for code.",
        )
    probes = [probe for probe in PROBES if _decoded(tokenizer, probe) != probe]
    if probes:
        return Finding(
            "writing",
            State.NOTE,
            f"each of {len(programs):,} examples comes back from its tokens, but not all else: "
            + _damage(tokenizer, probes),
            "Puzzles with such text cannot be learnt.",
        )
    return Finding(
        "writing", State.FINE, f"each of {len(programs):,} examples comes back from its tokens"
    )


def numbers(tokenizer: "PreTrainedTokenizerBase") -> Finding:
    """Look for numbers in uneven parts, or in other parts in another place."""
    parts = {number: _parts(tokenizer, number) for number in NUMBERS}
    if all(set(map(len, split)) == {1} for places in parts.values() for split in places.values()):
        return Finding("numbers", State.FINE, "each digit is a token")
    oddities = list(_oddities(parts))
    if not oddities:
        shown = "+".join(parts["1234567"]["after a blank"])
        return Finding("numbers", State.FINE, f"in equal parts everywhere, 1234567 as {shown}")
    return Finding(
        "numbers",
        State.NOTE,
        "; ".join(oddities),
        "Sums of long numbers are harder to learn so; nothing can be set.",
    )


def indentation(tokenizer: "PreTrainedTokenizerBase") -> Finding:
    """Count the tokens that an indentation takes."""
    four, eight = (_num_blank_tokens(tokenizer, blanks) for blanks in _BLANKS)
    found = f"tokens of a line's end and 4 blanks: {four}, of 8 blanks: {eight}"
    if eight < _BLANKS[-1] - 1:
        return Finding("indent", State.FINE, found)
    return Finding(
        "indent",
        State.NOTE,
        f"{found}: each blank is a token",
        "Programs are long in tokens: mind max_new_tokens of propose and solve.",
    )


def _decoded(tokenizer: "PreTrainedTokenizerBase", text: str) -> str:
    """Write a text back as sampling does, which decodes without more settings."""
    tokens = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return str(tokenizer.decode(tokens))


def _damage(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str]) -> str:
    """Say what is lost of some texts, most frequent first; or what became of the first."""
    lost: Counter[str] = Counter()
    for text in texts:
        lost += Counter(text) - Counter(_decoded(tokenizer, text))
    if lost:
        return "lost are " + " ".join(repr(character) for character, _ in lost.most_common(6))
    return f"{texts[0][:20]!r} becomes {_decoded(tokenizer, texts[0])[:20]!r}"


def _parts(tokenizer: "PreTrainedTokenizerBase", number: str) -> dict[str, tuple[str, ...]]:
    """Split a number as each place makes the tokenizer split it."""
    split = {}
    for place, form in _PLACES.items():
        tokens = tokenizer(form.format(number), add_special_tokens=False, verbose=False)[
            "input_ids"
        ]
        digits = (re.sub(r"\D", "", str(tokenizer.decode([token]))) for token in tokens)
        split[place] = tuple(part for part in digits if part)
    return split


def _oddities(parts: dict[str, dict[str, tuple[str, ...]]]) -> Iterator[str]:
    """Name one number in uneven parts, and one whose parts depend on where it stands."""
    for number, places in parts.items():
        split = places["after a blank"]
        if len(set(map(len, split))) > 1:
            yield f"{number} is {'+'.join(split)}"
            break
    for number, places in parts.items():
        usual = places["after a blank"]
        for place, split in places.items():
            if split != usual:
                yield f"{number} is {'+'.join(usual)} after a blank, {'+'.join(split)} {place}"
                return


def _num_blank_tokens(tokenizer: "PreTrainedTokenizerBase", blanks: int) -> int:
    """Count the tokens of a line's end and an indentation that hold nothing else."""
    return sum(token.isspace() for token in _tokens(tokenizer, f"x\n{' ' * blanks}return"))


def _tokens(tokenizer: "PreTrainedTokenizerBase", text: str) -> list[str]:
    """Give the text of each token."""
    tokens = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return [str(tokenizer.decode([token])) for token in tokens]
