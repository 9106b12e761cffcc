"""Families whose answer is a string."""

from random import Random

from puzzles.builtin.family import Family, Value
from puzzles.builtin.words import word, words


def _affix(random: Random) -> dict[str, Value]:
    a, rest = word(random), word(random)
    return {"a": a, "b": a + rest}


def _suffix(random: Random) -> dict[str, Value]:
    a, rest = word(random), word(random)
    return {"a": a, "b": (rest + a).upper()}


def _two_words(random: Random) -> dict[str, Value]:
    return {"a": word(random), "b": word(random)}


def _doubled(random: Random) -> dict[str, Value]:
    return {"b": word(random) * 2}


def _mixed_case(random: Random) -> dict[str, Value]:
    return {"a": word(random).title() + word(random).upper()}


def _counted(random: Random) -> dict[str, Value]:
    num = random.randint(4, 20)
    return {"c": random.choice("bcdfgh"), "num": num, "size": num + random.randint(2, 20)}


FAMILIES = (
    Family("prefix", "easy", "str", _affix, "", "return $a + $x == $b", "return $b[len($a):]"),
    Family(
        "prefix-inputs", "easy", "str", _affix, "a=$a, b=$b", "return b == a + $x", "return b[len(a):]"
    ),
    Family(
        "reversed", "easy", "str", lambda random: {"a": word(random, 3, 4)},
        "", "return $x[::-1] == $a", "return $a[::-1]",
    ),
    Family("doubled", "medium", "str", _doubled, "b=$b", "return b == $x * 2", "return b[:len(b) // 2]"),
    Family(
        "letter-count", "medium", "str", _counted,
        "", "return $x.count($c) == $num and len($x) == $size", 'return $c * $num + "a" * ($size - $num)',
    ),
    Family(
        "ends", "easy", "str", _two_words,
        "", "return $x.startswith($a) and $x.endswith($b)", "return $a + $b",
    ),
    Family(
        "swapped-case", "easy", "str", _mixed_case,
        "", "return $x.swapcase() == $a", "return $a.swapcase()",
    ),
    Family(
        "split-words", "easy", "str", lambda random: {"parts": words(random)},
        "parts=$parts", "return $x.split() == parts", 'return " ".join(parts)',
    ),
    Family(
        "split-by", "easy", "str",
        lambda random: {"parts": words(random), "sep": random.choice(("-", ",", "/", ";", "+"))},
        "parts=$parts, sep=$sep", "return $x.split(sep) == parts", "return sep.join(parts)",
    ),
    Family(
        "part-of-length", "medium", "str",
        lambda random: {"b": word(random, 5, 7), "size": random.randint(4, 8)},
        "b=$b, size=$size", "return $x in b and len($x) == size", "return b[:size]",
    ),
    Family(
        "digits-of-length", "medium", "str", lambda random: {"size": random.randint(5, 99)},
        "size=$size", "return len($x) == size and $x.isdigit()", 'return "1" * size',
    ),
    Family(
        "replaced", "easy", "str",
        lambda random: {"a": random.choice("xyqw"), "b": word(random, 3, 4)},
        "a=$a, b=$b", "return $x.replace(a, b[0]) == b and a in $x", "return b.replace(b[0], a)",
    ),
    Family(
        "first-letters", "hard", "str", lambda random: {"parts": words(random, 4, 6)},
        "parts=$parts", "return len($x) == len(parts) and all(c == part[0] for c, part in zip($x, parts))",
        'return "".join(part[0] for part in parts)',
    ),
    Family(
        "suffix-upper", "easy", "str", _suffix,
        "a=$a, b=$b", "return ($x + a).upper() == b", "return b[:-len(a)]", held_out=True,
    ),
    Family(
        "prefix-of-reversed", "medium", "str", _affix,
        "a=$a, b=$b", "return a + $x[::-1] == b", "return b[len(a):][::-1]", held_out=True,
    ),
    Family(
        "rotated", "medium", "str", lambda random: {"a": word(random, 3, 4)},
        "", "return $x[1:] + $x[0] == $a", "return $a[-1] + $a[:-1]", held_out=True,
    ),
    Family(
        "last-letters", "hard", "str", lambda random: {"parts": words(random, 4, 6)},
        "parts=$parts", "return [part[-1] for part in parts] == list($x)",
        'return "".join(part[-1] for part in parts)', held_out=True,
    ),
)  # fmt: skip
