"""Families whose answer is a float. Constants are quarters where f compares exactly, so that rounding decides nothing."""

from random import Random

from puzzles.builtin.family import Family, Value
from puzzles.builtin.words import quarters


def _sum(random: Random) -> dict[str, Value]:
    return {"a": quarters(random, 10, 99), "b": quarters(random, 200, 900)}


def _ratio(random: Random) -> dict[str, Value]:
    return {"a": quarters(random, 2, 20), "b": quarters(random, 200, 900)}


FAMILIES = (
    Family("add-float", "easy", "float", _sum, "", "return $b == $x + $a", "return $b - $a"),
    Family(
        "multiply-float", "easy", "float", _ratio,
        "a=$a, b=$b", "return abs($x * a - b) < 0.001", "return b / a",
    ),
    Family(
        "divide-float", "easy", "float",
        lambda random: {"a": random.randint(3, 60), "b": quarters(random, 10, 90)},
        "", "return $x / $a == $b", "return $a * $b",
    ),
    Family(
        "root-float", "medium", "float", lambda random: {"c": random.randint(101, 999)},
        "c=$c", "return abs($x ** 2 - c) < 0.001", "return c ** 0.5",
    ),
    Family(
        "mean", "medium", "float",
        lambda random: {"nums": [quarters(random, 10, 400) for _ in range(random.randint(3, 5))]},
        "nums=$nums", "return abs($x * len(nums) - sum(nums)) < 0.001", "return sum(nums) / len(nums)",
    ),
    Family(
        "linear-float", "medium", "float",
        lambda random: {**_ratio(random), "c": quarters(random, 1000, 2000)},
        "a=$a, b=$b, c=$c", "return abs(a * $x + b - c) < 0.001", "return (c - b) / a", held_out=True,
    ),
    Family(
        "cube-root", "medium", "float", lambda random: {"c": random.randint(101, 999)},
        "c=$c", "return abs($x * $x * $x - c) < 0.001", "return c ** (1 / 3)", held_out=True,
    ),
)  # fmt: skip
