"""Families whose answer is a list, or a list of lists."""

from random import Random

from puzzles.builtin.family import Family, Value
from puzzles.builtin.words import numbers, word, words


def _size_and_sum(random: Random) -> dict[str, Value]:
    return {"size": random.randint(3, 40), "total": random.randint(100, 999)}


def _numbers(random: Random) -> dict[str, Value]:
    return {"nums": numbers(random)}


def _shifted(random: Random) -> dict[str, Value]:
    return {"nums": numbers(random), "a": random.randint(3, 60)}


def _two_sum(random: Random) -> dict[str, Value]:
    # Indices 4 and 5 of 10 are none that the triviality filter tries, from either end, and no other pair will do.
    while True:
        nums = numbers(random, 10, 99, 10, 10)
        total = nums[4] + nums[5]
        if sum(total - number in nums and 2 * number != total for number in nums) == 2:
            return {"nums": nums, "total": total}


def _rows(random: Random) -> dict[str, Value]:
    return {"rows": random.randint(3, 30), "size": random.randint(3, 30)}


FAMILIES = (
    Family(
        "size-and-sum", "medium", "List[int]", _size_and_sum,
        "size=$size, total=$total", "return len($x) == size and sum($x) == total",
        "return [total] + [0] * (size - 1)",
    ),
    Family(
        "reversed-list", "easy", "List[int]", _numbers, "", "return $x[::-1] == $nums", "return $nums[::-1]"
    ),
    Family(
        "shifted-list", "easy", "List[int]", _shifted,
        "nums=$nums, a=$a", "return [i + a for i in $x] == nums", "return [i - a for i in nums]",
    ),
    Family(
        "multiples", "medium", "List[int]",
        lambda random: {"size": random.randint(4, 40), "step": random.randint(3, 99)},
        "size=$size, step=$step", "return len($x) == size and all($x[i] == i * step for i in range(size))",
        "return [i * step for i in range(size)]",
    ),
    Family(
        "falling", "medium", "List[int]", _numbers,
        "nums=$nums", "return sorted($x) == sorted(nums) and $x == sorted($x)[::-1]",
        "return sorted(nums, reverse=True)",
    ),
    Family(
        "two-sum", "hard", "List[int]", _two_sum,
        "nums=$nums, total=$total", "i, j = $x\nreturn i != j and nums[i] + nums[j] == total",
        "return next([i, j] for i in range(10) for j in range(10) if i != j and nums[i] + nums[j] == total)",
    ),
    Family(
        "running-sum", "hard", "List[int]", _numbers,
        "nums=$nums", "return len($x) == len(nums) and all($x[i] == sum(nums[:i + 1]) for i in range(len(nums)))",
        "return [sum(nums[:i + 1]) for i in range(len(nums))]",
    ),
    Family(
        "evens", "medium", "List[int]", lambda random: {"nums": numbers(random, 10, 99, 6, 9), "m": random.randint(2, 4)},
        "nums=$nums, m=$m", "return $x == [i for i in nums if i % m == 0] + nums",
        "return [i for i in nums if i % m == 0] + nums",
    ),
    Family(
        "joined-words", "easy", "List[str]", lambda random: {"b": " ".join(words(random))},
        "b=$b", 'return " ".join($x) == b and len($x) > 2', "return b.split()",
    ),
    Family(
        "distinct-with-prefix", "medium", "List[str]",
        lambda random: {"a": word(random), "size": random.randint(3, 40)},
        "", "return len(set($x)) == $size and all(i.startswith($a) for i in $x)",
        "return [$a + str(i) for i in range($size)]",
    ),
    Family(
        "reversed-words", "easy", "List[str]", lambda random: {"parts": words(random)},
        "parts=$parts", "return [i[::-1] for i in $x] == parts", "return [i[::-1] for i in parts]",
    ),
    Family(
        "sorted-by-length", "hard", "List[str]", lambda random: {"parts": [word(random, i, i) for i in random.sample(range(1, 6), 4)]},
        "parts=$parts", "return sorted($x) == sorted(parts) and all(len($x[i]) <= len($x[i + 1]) for i in range(len(parts) - 1))",
        "return sorted(parts, key=len)",
    ),
    Family(
        "above", "easy", "List[bool]",
        lambda random: {"nums": numbers(random), "a": random.randint(30, 70)},
        "nums=$nums, a=$a", "return $x == [i > a for i in nums]", "return [i > a for i in nums]",
    ),
    Family(
        "grid", "medium", "List[List[int]]", _rows,
        "", "return len($x) == $rows and all(len(row) == $size for row in $x)",
        "return [[0] * $size for i in range($rows)]",
    ),
    Family(
        "columns", "medium", "List[List[int]]",
        lambda random: {"a": (a := numbers(random, least=3, most=5)), "b": numbers(random, least=len(a), most=len(a))},
        "a=$a, b=$b", "return [i[0] for i in $x] == a and [i[1] for i in $x] == b",
        "return [[i, j] for i, j in zip(a, b)]",
    ),
    Family(
        "row-sums", "medium", "List[List[int]]", lambda random: {"nums": numbers(random)},
        "nums=$nums", "return [sum(row) for row in $x] == nums", "return [[i] for i in nums]",
    ),
    Family(
        "doubled-and-shifted", "medium", "List[int]",
        lambda random: {"nums": [2 * i for i in numbers(random)], "a": 2 * random.randint(3, 20)},
        "nums=$nums, a=$a", "return [2 * i + a for i in $x] == nums", "return [(i - a) // 2 for i in nums]",
        held_out=True,
    ),
    Family(
        "distinct-with-suffix", "medium", "List[str]",
        lambda random: {"a": word(random), "size": random.randint(3, 40)},
        "a=$a, size=$size", "return len(set($x)) == size and all(i.endswith(a) for i in $x)",
        "return [str(i) + a for i in range(size)]", held_out=True,
    ),
    Family(
        "reversed-rows", "medium", "List[List[int]]",
        lambda random: {"a": numbers(random, least=3, most=4), "b": numbers(random, least=3, most=4)},
        "a=$a, b=$b", "return [row[::-1] for row in $x] == [a, b]", "return [a[::-1], b[::-1]]", held_out=True,
    ),
    Family(
        "three-sum", "hard", "List[int]",
        lambda random: {"nums": (nums := numbers(random, 10, 99, 8, 8)), "total": sum(nums[3:6])},
        "nums=$nums, total=$total", "return len($x) == 3 and sum($x) == total and all(i in nums for i in $x)",
        "return next([i, j, k] for i in nums for j in nums for k in nums if i + j + k == total)", held_out=True,
    ),
)  # fmt: skip
