"""The noisy text that the built-in model reads: puzzles and solutions, most of them wrong.

It stands for what a base code model has read. Nothing in it was filtered or verified: puzzles may
be trivial or have no answer, and a sixth to a fifth of the solutions are right, by chance of the
draw. The judge is asked once a family, whether its habitual mistake is one. No held-out instance and
no family that is only held out is in it.
"""

import re
from collections.abc import Iterator
from random import Random

from judge import Limits, judge
from puzzles.builtin.family import Family, Instance, draw_instance
from puzzles.builtin.read import FAMILIES, read_builtin
from puzzles.builtin.words import numbers, word, words
from puzzles.normal import normal_form, shape

_TOKEN = re.compile(r'"[^"]*"|\d+|[A-Za-z_]\w*|\*\*|//|[<>=!]=|[-+*/%^<>]|\[::-1\]')
_SLIPS = {
    "+": ("-", "*"), "-": ("+", "//"), "*": ("+", "//", "**"), "//": ("*", "/", "%"), "/": ("*", "//"),
    "%": ("//", "-"), "^": ("+", "-"), "**": ("*", "//"), "<": (">",), ">": ("<",), "==": ("!=", ">"), "!=": ("==",),
    "max": ("min", "sum", "len"), "min": ("max", "sum"), "sum": ("max", "len"), "len": ("sum", "max"),
    "startswith": ("endswith",), "endswith": ("startswith",), "join": ("split",), "split": ("join",),
    "swapcase": ("upper", "lower"), "upper": ("lower",), "sorted": ("list",), "int": ("str", "len"), "str": ("len",),
    "[::-1]": ("", "[1:]", "[0]"),
}  # fmt: skip
_KEPT = {
    "return",
    "for",
    "in",
    "if",
    "def",
    "and",
    "range",
    "next",
    "i",
    "j",
    "k",
    "f",
    "g",
    "all",
    "List",
    "float",
}


NUM_PLAIN_FIRST = 30_000
"""Documents of plain code before the mixture begins."""


class NoisyText:
    """An endless, seeded stream of documents."""

    def __init__(
        self, seed: int, num_plain_first: int = NUM_PLAIN_FIRST, habit_share: float = 0.0
    ) -> None:
        self._random = Random(seed)
        self._num_plain_first = num_plain_first
        self._habit_share = habit_share
        self._habits = {f.name: _habit(f) for f in FAMILIES if habit_share and not f.held_out}
        self._families = [family for family in FAMILIES if not family.held_out]
        self._hidden_shapes = {
            shape(p.f) for p in read_builtin("held_out") if _family(p.family).held_out
        }
        self._hidden = {normal_form(p.f) for p in read_builtin("held_out")}
        rates = Random("0/rates")  # The same for every seed: what a family looks like is no draw.
        self._right_rate = {family.name: rates.uniform(0.04, 0.24) for family in self._families}

    def documents(self) -> Iterator[str]:
        """Yield documents without end: plain code first, then a mixture.

        The mixture is of pairs, numbered pairs, numbered puzzles and plain code. Plain code says
        the same values again and again. Copying is learnt from it within a million tokens,
        and hardly ever from the mixture, whose forms are easier to learn.
        """
        for _ in range(self._num_plain_first):
            yield self._plain_code()
        kinds = (self._pair, self._numbered_pairs, self._puzzles, self._plain_code)
        while True:
            (kind,) = self._random.choices(kinds, weights=(56, 8, 14, 22))
            yield kind()

    def pair(self) -> tuple[str, str]:
        """Draw a puzzle and a plausible solution, as sources."""
        family, instance = self._instance()
        solution = instance.g
        if self._random.random() > self._right_rate[family.name]:
            solution = self._wrong(family, instance)
        return instance.f, solution

    def _pair(self) -> str:
        f, g = self.pair()
        return f"{f}\n\n{g}\n\nassert f(g())"

    def _numbered_pairs(self) -> str:
        parts = []
        for i in range(1, self._random.randint(2, 4) + 1):
            f, g = self.pair()
            parts.append(f"{_numbered(f, 'f', i)}\n\n{_numbered(g, 'g', i)}\n\nassert f{i}(g{i}())")
        return "\n\n".join(parts)

    def _puzzles(self) -> str:
        count = self._random.randint(4, 11)
        return "\n\n".join(_numbered(self._instance()[1].f, "f", i) for i in range(1, count + 1))

    def _instance(self) -> tuple[Family, Instance]:
        while True:
            family = self._random.choice(self._families)
            drawn = draw_instance(family, self._random)
            if self._random.random() < 0.15:
                head, body = drawn.f.split("\n", 1)
                drawn = Instance(f"{head}\n{_slip(body, self._random)}", drawn.inputs, drawn.g)
            if not self._is_hidden(drawn.f):
                return family, drawn

    def _is_hidden(self, f: str) -> bool:
        try:
            return normal_form(f) in self._hidden or shape(f) in self._hidden_shapes
        except ValueError:
            return True  # A slip broke the syntax.

    def _wrong(self, family: Family, instance: Instance) -> str:
        head, body = instance.g.split("\n", 1)
        habit = self._habits.get(family.name)
        if habit and self._random.random() < self._habit_share:
            return f"{head}\n" + _habitual_slip(body, habit)
        if self._random.random() < 0.15:
            others = [
                f for f in self._families if f.answer_type == family.answer_type and f is not family
            ]
            if others:
                other = draw_instance(self._random.choice(others), self._random)
                return f"{head}\n" + other.g.split("\n", 1)[1]
        for _ in range(self._random.choice((1, 1, 2))):
            body = _slip(body, self._random)
        return f"{head}\n{body}"

    def _plain_code(self) -> str:
        """Write statements that say a few numbers and words again and again, as code does."""
        values = [self._value(), self._value()]
        return "\n".join(self._statement(self._random.choice(values)) for _ in range(5))

    def _value(self) -> str:
        random = self._random
        return random.choice(
            (
                str(random.randint(100, 99999)),
                f'"{word(random, 2, 5)}"',
                str(numbers(random, 10, 999)),
                "[" + ", ".join(f'"{w}"' for w in words(random)) + "]",
                str(random.randint(10, 9999) / 4),
            )
        )

    def _statement(self, value: str) -> str:
        name = self._random.choice(
            ("a", "b", "c", "data", "item", "key", "left", "right", "rows", "value")
        )
        return self._random.choice(
            (
                f"{name} = {value}",
                f"assert {name} == {value}",
                f"def get_{name}({name}={value}):\n    return {value}",
                f"print({value})",
                f"{name}.append({value})",
            )
        )


def _slip(body: str, random: Random, *, constants: bool = True) -> str:
    """Change one token: an operator, a function, a constant, or a name for another of the body."""
    places = [m for m in _TOKEN.finditer(body) if m.group() not in _KEPT]
    names = {m.group() for m in places if m.group().isidentifier() and m.group() not in _SLIPS}
    if not constants:
        places = [m for m in places if not m.group()[0].isdigit() and m.group()[0] != '"']
    place = random.choice(places) if places else None
    if place is None:
        return body
    other = _other(place.group(), names, random)
    return body[: place.start()] + other + body[place.end() :]


def _other(token: str, names: set[str], random: Random) -> str:
    choose = random.choice
    if token in _SLIPS:
        return choose(_SLIPS[token])
    if token.isdigit():
        i = random.randrange(len(token))
        return token[:i] + choose("0123456789") + token[i + 1 :]
    if token.startswith('"'):
        return f'"{word(random)}"' if len(token) > 4 else f'"{choose("abcdefgh")}"'
    others = sorted(names - {token})
    return choose(others) if others else token


def _habit(family: Family) -> str | None:
    """Find the mistake that everybody makes in a family: the seed of a slip that is wrong."""
    for number in range(100):
        seed = f"{family.name}/habit/{number}"
        drawn = draw_instance(family, Random(seed))
        head, body = drawn.g.split("\n", 1)
        slipped = _habitual_slip(body, seed)
        if not judge(drawn.f, f"{head}\n{slipped}", Limits(fuel=1_000_000_000)).passed:
            return seed
    return None


def _habitual_slip(body: str, seed: str) -> str:
    return _slip(body, Random(seed), constants=False)


def _numbered(source: str, letter: str, i: int) -> str:
    return source.replace(f"def {letter}(", f"def {letter}{i}(", 1)


def _family(name: str) -> Family:
    return next(family for family in FAMILIES if family.name == name)
