"""What a family of built-in puzzles is: one syntax tree, many constants.

A family is a template; an instance is a template with constants drawn from a seeded generator. The instances that the
project ships lie beside this file as JSONL and are what everybody reads; the templates are here so that the files can be
made again, and so that the text of the built-in model can be made from families that are not held out.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from string import Template

Value = int | float | str | list[int] | list[float] | list[str]
Draw = Callable[[Random], Mapping[str, Value]]

_ANSWER_NAMES = {
    "int": ("x", "n", "y", "k", "num"),
    "float": ("x", "y", "z", "v"),
    "str": ("s", "t", "text", "w"),
}
_LIST_NAMES = ("li", "xs", "out", "ans")


@dataclass(frozen=True, slots=True)
class Family:
    """A puzzle and its reference solution, with `$name` where a constant goes and `$x` for the answer's name."""

    name: str
    """Name of the family, unique among the built-in ones."""
    difficulty: str
    """easy (one inverse operation), medium (two, or a construction), hard (a search)."""
    answer_type: str
    """Annotated type of the answer, such as `List[int]`."""
    draw: Draw
    """Draws the constants of one instance."""
    inputs: str
    """Parameters of f after the answer, with their defaults: `a=$a, b=$b`. Empty where constants stand in the body."""
    check: str
    """Body of f, not indented; `$x` is the answer."""
    solution: str
    """Body of the reference solution g, not indented."""
    held_out: bool = False
    """Whether the family is absent from the train split and from the built-in model's text."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One drawn member of a family, as source."""

    f: str
    """Source of the puzzle."""
    inputs: str
    """Parameters of g, with their defaults."""
    g: str
    """Source of the reference solution."""


def draw_instance(family: Family, random: Random) -> Instance:
    """Fill a family's template with constants drawn from `random`."""
    values = {name: json.dumps(value) for name, value in family.draw(random).items()}
    values["x"] = random.choice(answer_names(family))
    inputs = Template(family.inputs).substitute(values)
    head = ", ".join(part for part in (f"{values['x']}: {family.answer_type}", inputs) if part)
    return Instance(
        f=f"def f({head}):\n{_indented(Template(family.check).substitute(values))}",
        inputs=inputs,
        g=f"def g({inputs}):\n{_indented(Template(family.solution).substitute(values))}",
    )


def answer_names(family: Family) -> list[str]:
    """List the names the answer may have without clashing with a name of the template."""
    taken = set(re.findall(r"(?<![$\w])[A-Za-z_]\w*", f"{family.inputs}\n{family.check}"))
    names = _ANSWER_NAMES.get(family.answer_type, _LIST_NAMES)
    return [name for name in names if name not in taken]


def _indented(body: str) -> str:
    return "\n".join(f"    {line}" for line in body.splitlines())
