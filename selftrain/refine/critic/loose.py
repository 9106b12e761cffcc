"""Loose JSON: what a model meant as JSON, with no doubt hidden about what it left unfinished.

Trailing and missing commas, single, typographic and missing quotes, quotes within a text, Python's
True and None, and comments are read. What is cut off, or has something out of place in or behind
it, is unsound, and a key that is given twice stays there twice: what that means is the reader's to
say (reading.py). Libraries that mend JSON close what is cut and keep the last of two keys, and so
make a whole reply of half a one.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from selftrain.refine.critic.doubts import is_harmless, says_none

MOST_DEPTH = 12
"""Brackets that nest; what nests deeper is no reply."""
MOST_CHARACTERS = 100_000
"""Characters that are read again and again for brackets without an end, as in `[0, n)`."""
_CLOSES = {"{": "}", "[": "]"}
_BRACKET = re.compile(r"[{\[]")
_GAP = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_CLOSERS = {
    opener: re.compile(rf"\\.|[{closers}]", re.DOTALL)
    for opener, closers in {
        '"': '"',
        "'": "'",
        "“": '”“"',
        "”": '”"',
        "„": '“”"',
        "‘": "’'",
    }.items()
}
"""What ends a text that begins with a quote; an escape is passed over."""
_KEY = r"[\"'“”‘][\w /.&-]{1,40}[\"'“”’]\s*:"
_BEHIND = re.compile(rf"[ \t\r]*(?:[,:}}\]\n]|\Z|//|#|/\*|{_KEY})")
"""What stands behind the end of a text; before anything else, a quote is part of the text."""
_KEY_WORD = re.compile(r"[^:{}\[\]\n,]*")
_VALUE_WORD = re.compile(r"[^{}\[\]\n,]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Loose:
    """A value."""

    kind: Literal["object", "list", "text", "word"]
    """A text has quotes, a word has none: a number, `true`, or what should have had quotes."""
    text: str = ""
    """Of a text or a word."""
    pairs: "tuple[tuple[str, Loose], ...]" = ()
    """Of an object, in its order; of a list, with keys that are empty."""
    is_sound: bool = True
    """Whether it ends, and nothing is out of place in it or behind it."""
    is_cut: bool = False
    """Whether the text ends before it does, or where a word may have been meant to go on."""
    start: int = 0
    """Where an object or a list begins in the text."""
    end: int = 0
    """Where it ends."""

    @property
    def is_scalar(self) -> bool:
        """Tell whether it is a text or a word."""
        return self.kind in ("text", "word")

    @property
    def values(self) -> "tuple[Loose, ...]":
        """Give the elements of a list, or the values of an object."""
        return tuple(value for _, value in self.pairs)


def read_loose(text: str, is_meant: Callable[[Loose], bool] = lambda _: False) -> list[Loose]:
    """Read the objects and lists in a text, in their order.

    What stands inside one is its own; but where one does not end, and is not what is meant, its
    bracket was a letter, and what stands inside is looked at. Takes time linear in the length of
    the text.
    """
    found: list[Loose] = []
    place = num_read = 0
    while num_read < MOST_CHARACTERS and (bracket := _BRACKET.search(text, place)) is not None:
        parser = _Parser(text, bracket.start())
        try:
            value = parser.value()
        except _TooDeep:
            value = None
        if value is not None and (not value.is_cut or is_meant(value)):
            place = parser.place
            found.append(value)
            continue
        num_read += parser.place - bracket.start()
        place = bracket.end()
    return found


def texts_in(text: str) -> Iterator[str]:
    """Yield what stands in quotes as a value in the objects and lists of a text."""
    waiting = read_loose(text, lambda _: True)[::-1]
    while waiting:
        value = waiting.pop()
        if value.kind == "text":
            yield value.text
        waiting.extend(reversed(value.values))


class _TooDeep(Exception):
    """Brackets nest too deep to be a reply."""


class _Parser:
    """Reads one value. What lives between its calls is the place, and which brackets are open."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.ends: list[str] = []
        """Of the open brackets, the outermost first."""
        self.is_cut = False
        """Whether the text ended before a bracket did."""
        self.has_doubt = False
        """Whether a comment that was just passed over may take back what stands there."""

    def value(self) -> Loose:
        """Read the value that begins here; a word that is empty where there is none."""
        opener = self.text[self.place : self.place + 1]
        if opener not in _CLOSES:
            return self._scalar(_VALUE_WORD)
        if len(self.ends) == MOST_DEPTH:
            raise _TooDeep
        start = self.place
        self.place += 1
        self.ends.append(_CLOSES[opener])
        pairs, is_sound = self._inside(self.ends[-1])
        self.ends.pop()
        kind: Literal["object", "list"] = "object" if opener == "{" else "list"
        return Loose(kind, "", tuple(pairs), is_sound, self.is_cut, start, self.place)

    def _inside(self, end: str) -> tuple[list[tuple[str, Loose]], bool]:
        """Read to the end of a bracket; say whether all of it fits."""
        pairs: list[tuple[str, Loose]] = []
        is_sound = True
        while True:
            mark = self._next()
            fits = not self.has_doubt
            self.has_doubt = False
            pair = None
            if mark in ("", ",", ":", "}", "]"):
                fits &= mark in (",", end)
            else:
                pair = self._pair() if end == "}" else ("", self.value())
                fits &= pair is not None
            is_sound &= fits
            if not fits and mark != "":
                # What stands before it may not be what was meant.
                pairs[-1:] = [(key, replace(value, is_sound=False)) for key, value in pairs[-1:]]
            if pair is not None:
                pairs.append(pair)
            elif mark in ("", *self.ends):
                # The end; or that of a bracket around this one, whose own end is missing.
                self.is_cut |= mark == ""
                self.place += mark == end
                return pairs, is_sound
            elif mark in (",", ":", "}", "]"):
                self.place += 1

    def _pair(self) -> tuple[str, Loose] | None:
        """Read a key and its value; None for what stands there without a key."""
        if self.text[self.place] in _CLOSES:
            self.value()
            return None
        key = self._scalar(_KEY_WORD)
        if self._next() != ":":
            return None
        self.place += 1
        self._next()
        return key.text, self.value()

    def _next(self) -> str:
        """Pass over white space and comments; give the letter that follows, if any."""
        gap = _GAP.match(self.text, self.place)
        assert gap is not None
        comment = gap[0].strip()
        self.has_doubt |= bool(comment) and not (says_none(comment) or is_harmless(comment))
        self.place = gap.end()
        return self.text[self.place : self.place + 1]

    def _scalar(self, word: re.Pattern[str]) -> Loose:
        start = self.place
        closers = _CLOSERS.get(self.text[start : start + 1])
        if closers is None:
            found = word.match(self.text, start)
            assert found is not None
            self.place = found.end()
            is_cut = self.place == len(self.text)
            is_sound = not is_cut and found[0] != ""
            return Loose("word", found[0].strip(), is_sound=is_sound, is_cut=is_cut)
        for closer in closers.finditer(self.text, start + 1):
            if closer[0][0] != "\\" and _BEHIND.match(self.text, closer.end()):
                self.place = closer.end()
                return Loose("text", _unescaped(self.text[start + 1 : closer.start()]))
        self.place = len(self.text)
        return Loose("text", _unescaped(self.text[start + 1 :]), is_sound=False, is_cut=True)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(lambda found: _letter(found[1], found[2]), text)
    # Two halves of a surrogate pair become one letter, and one half is replaced.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _letter(code: str | None, letter: str) -> str:
    return _ESCAPED.get(letter, letter) if code is None else chr(int(code, 16))
