"""A sampler that writes puzzles and solutions by a script, as a model would at a plausible funnel.

What it writes depends on prompt and seed alone, and nothing of it is kept: what a round holds is
the round's own. A puzzle is a chain of steps on a number, or on a list, with constants as inputs;
its solution undoes them. New ones are alike only by chance, and have many thousands of shapes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.completion import Tell, ignore

NAMES = ("a", "b", "c", "d", "k", "m", "n", "p", "q", "r", "s", "t", "u", "v", "w", "z")
UNDONE = {"+": "-", "-": "+", "*": "//", "^": "^"}
BROKEN = (
    "x: int, a=3):\n    return x ==",
    "x: dict, a=3):\n    return x == {}",
    "x: int, a=3):\n    return a == 3",
    "x: int, a=3):\n    print(x)",
)
"""Endings that the filter rejects before it asks the judge."""
STEP = re.compile(r"^    (\w+) = (\w+) ([-+*^]) (\w+)$", re.MULTILINE)
HEAD = re.compile(r"^def f\d*\((\w+): (int|List\[int\])")
WRONG = ("return 0", "return 1 / 0", "return [", "return None", "return 12345")
COUNT = 8
"""Numbers in the list of a puzzle on lists."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Of all proposals; of all attempts. What is left of the proposals is new and kept."""

    broken: float = 0.5
    repeated: float = 0.25
    trivial: float = 0.1
    unsolved: float = 0.5
    """Puzzles that no attempt solves."""
    wrong: float = 0.6
    """Attempts at the others that are wrong."""


class Script:
    """Keeps the Protocol `Sampler`, and nothing else."""

    context_tokens = 600

    def __init__(self, shares: Shares = Shares()) -> None:
        self.shares = shares

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count as if a token had three characters."""
        return [len(text) // 3 + 1 for text in texts]

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        """Write one completion a request."""
        del temperature, max_new_tokens
        done = []
        for place, request in enumerate(requests):
            done.append(self._complete(request))
            tell(place, done[-1])
            advance(1)
        return done

    def _complete(self, request: Request) -> Completion:
        random = Random(request.seed)
        proposes = request.prompt.endswith("(")
        text = (
            propose(random, self.shares) if proposes else solve(random, request.prompt, self.shares)
        )
        return Completion(text, FinishReason.STOP, len(text) // 3, -random.random() * len(text))


def propose(random: Random, shares: Shares) -> str:
    """Write what follows `def f(`."""
    kind = random.random()
    if kind < shares.broken:
        text = random.choice(BROKEN)
    elif kind < shares.broken + shares.repeated:
        text = puzzle(Random(random.randrange(200)), is_trivial=False)
    else:
        is_trivial = kind < shares.broken + shares.repeated + shares.trivial
        text = puzzle(random, is_trivial=is_trivial)
    return f"{text}\n\ndef"


def puzzle(random: Random, *, is_trivial: bool) -> str:
    """Write a chain of steps and what must come out; `is_trivial` ones are solved by 0 to 100."""
    num_steps = 1 if is_trivial else random.randint(2, 6)
    names = random.sample(NAMES, num_steps)
    numbers = [random.randint(2, 999) for _ in names]
    value = random.randint(0, 100) if is_trivial else random.randint(1_000, 10**6)
    of_list = not is_trivial and random.random() < 0.3
    item = "y" if of_list else "x"
    lines = [f"    {item} = x[0]"] if of_list else []
    for name, number in zip(names, numbers, strict=True):
        operator = random.choice("+-*^")
        value = _apply(operator, value, number)
        lines.append(f"    {item} = {item} {operator} {name}")
    rest = f" and x == [x[0] + i * {names[0]} for i in range({COUNT})]" if of_list else ""
    inputs = ", ".join(f"{n}={number}" for n, number in zip(names, numbers, strict=True))
    head = f"x: {'List[int]' if of_list else 'int'}, {inputs}):"
    return "\n".join([head, *lines, f"    return {item} == {value}{rest}"])


def _apply(operator: str, value: int, number: int) -> int:
    return {"+": value + number, "-": value - number, "*": value * number, "^": value ^ number}[
        operator
    ]


def solve(random: Random, prompt: str, shares: Shares) -> str:
    """Write the body of a `g` for the last puzzle of a prompt; a right one in one of four ways."""
    f = prompt.split("\n\n")[-2]
    head, target = HEAD.match(f), re.search(r"return [xy] == (-?\d+)", f)
    wrong = 1.0 if Random(f).random() < shares.unsolved else shares.wrong
    if head is None or target is None or random.random() < wrong:
        return f"\n    {random.choice(WRONG)}\n\nassert"
    name, short = random.choice(("y", "value")), random.random() < 0.5
    steps = STEP.findall(f)
    lines = [f"{name} = {target[1]}"]
    for _, _, operator, number in reversed(steps):
        undone = UNDONE[operator]
        lines.append(
            f"{name} {undone}= {number}" if short else f"{name} = {name} {undone} {number}"
        )
    of_list = head[2] != "int"
    found = f"[{name} + i * {steps[0][3]} for i in range({COUNT})]" if of_list else name
    body = "\n    ".join([*lines, f"return {found}"])
    return f"\n    {body}\n\nassert"
