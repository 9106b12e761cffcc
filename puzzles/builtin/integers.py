"""Families whose answer is an integer. Answers lie outside -10..100, where the triviality filter looks."""

from random import Random

from puzzles.builtin.family import Family, Value
from puzzles.builtin.words import numbers


def _sum(random: Random) -> dict[str, Value]:
    a = random.randint(100, 999)
    return {"a": a, "b": a + random.randint(101, 2000)}


def _pair(random: Random) -> dict[str, Value]:
    return {"a": random.randint(100, 999), "b": random.randint(100, 999)}


def _difference(random: Random) -> dict[str, Value]:
    b = random.randint(50, 500)
    return {"a": b + random.randint(101, 900), "b": b}


def _product(random: Random) -> dict[str, Value]:
    a = random.randint(3, 60)
    return {"a": a, "b": a * random.randint(101, 400)}


def _linear(random: Random) -> dict[str, Value]:
    a, b = random.randint(2, 20), random.randint(10, 300)
    return {"a": a, "b": b, "c": a * random.randint(101, 400) + b}


def _linear_down(random: Random) -> dict[str, Value]:
    a, b = random.randint(2, 20), random.randint(10, 300)
    return {"a": a, "b": b, "c": a * random.randint(150, 400) - b}


def _remainder(random: Random) -> dict[str, Value]:
    m = random.randint(7, 60)
    return {"m": m, "r": random.randint(1, m - 1), "low": random.randint(150, 2000)}


def _square(random: Random) -> dict[str, Value]:
    return {"c": random.randint(101, 400) ** 2}


def _shifted_square(random: Random) -> dict[str, Value]:
    a = random.randint(10, 200)
    return {"a": a, "b": random.randint(101, 300) ** 2 + a}


def _numbers(random: Random) -> dict[str, Value]:
    return {"nums": numbers(random, 40, 300)}


def _wide_numbers(random: Random) -> dict[str, Value]:
    return {"nums": [*numbers(random, 10, 60, 2, 3), *numbers(random, 200, 400, 2, 3)]}


FAMILIES = (
    Family("add", "easy", "int", _sum, "", "return $x + $a == $b", "return $b - $a"),
    Family("subtract", "easy", "int", _pair, "", "return $x - $a == $b", "return $a + $b"),
    Family("multiply", "easy", "int", _product, "", "return $x * $a == $b", "return $b // $a"),
    Family("add-inputs", "easy", "int", _sum, "a=$a, b=$b", "return $x + a == b", "return b - a"),
    Family(
        "subtract-from", "easy", "int", _difference, "a=$a, b=$b", "return a - $x == b", "return a - b"
    ),
    Family(
        "floor-divide", "easy", "int",
        lambda random: {"a": random.randint(3, 40), "b": random.randint(40, 400)},
        "", "return $x // $a == $b", "return $a * $b",
    ),
    Family(
        "linear", "medium", "int", _linear,
        "a=$a, b=$b, c=$c", "return a * $x + b == c", "return (c - b) // a",
    ),
    Family(
        "remainder-search", "hard", "int", _remainder,
        "", "return $x % $m == $r and $x > $low",
        "return next(i for i in range($low + 1, $low + $m + 1) if i % $m == $r)",
    ),
    Family(
        "remainder-inputs", "medium", "int", _remainder,
        "m=$m, r=$r, low=$low", "return $x % m == r and $x >= low", "return low * m + r",
    ),
    Family(
        "digit-sum", "hard", "int", lambda random: {"total": random.randint(20, 90)},
        "total=$total", "return sum(int(d) for d in str($x)) == total",
        'return int(str(total % 9) + "9" * (total // 9))',
    ),
    Family(
        "digit-ends", "easy", "int",
        lambda random: {"a": str(random.randint(10, 999)), "b": str(random.randint(10, 999))},
        "", "return str($x).startswith($a) and str($x).endswith($b)", "return int($a + $b)",
    ),
    Family(
        "square-root", "medium", "int", _square,
        "", "return $x * $x == $c and $x > 0", "return int($c ** 0.5)",
    ),
    Family(
        "exclusive-or", "easy", "int", _pair, "a=$a, b=$b", "return $x ^ a == b + 1024", "return (b + 1024) ^ a"
    ),
    Family(
        "common-multiple", "medium", "int",
        lambda random: {"a": random.randint(13, 40), "b": random.randint(13, 40)},
        "a=$a, b=$b", "return $x % a == 0 and $x % b == 0 and $x > 100", "return 8 * a * b",
    ),
    Family(
        "triangle-number", "medium", "int", lambda random: {"limit": random.randint(20, 300)},
        "limit=$limit", "total = 0\nfor i in range(limit):\n    total += i\nreturn $x == total",
        "return sum(range(limit))",
    ),
    Family("sum-of-list", "easy", "int", _numbers, "nums=$nums", "return $x == sum(nums)", "return sum(nums)"),
    Family(
        "range-of-list", "easy", "int", _wide_numbers,
        "nums=$nums", "return $x + min(nums) == max(nums)", "return max(nums) - min(nums)",
    ),
    Family(
        "subtract-from-constant", "easy", "int", _difference,
        "", "return $a - $x == $b", "return $a - $b", held_out=True,
    ),
    Family(
        "linear-down", "medium", "int", _linear_down,
        "a=$a, b=$b, c=$c", "return a * $x - b == c", "return (b + c) // a", held_out=True,
    ),
    Family(
        "shifted-square", "medium", "int", _shifted_square,
        "a=$a, b=$b", "return $x * $x + a == b and $x > 0", "return int((b - a) ** 0.5)", held_out=True,
    ),
    Family(
        "two-remainders", "hard", "int",
        lambda random: {"a": random.choice((11, 13, 17)), "b": random.choice((19, 23, 29)), "r": random.randint(1, 10)},
        "a=$a, b=$b, r=$r", "return $x % a == r and $x % b == 0 and $x > 200",
        "return next(i for i in range(201, 1000) if i % a == r and i % b == 0)", held_out=True,
    ),
)  # fmt: skip
