"""Draws of constants: numbers, invented words and lists of them."""

from random import Random

_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u")


def word(random: Random, low: int = 2, high: int = 3) -> str:
    """Invent a word of `low` to `high` syllables."""
    num_syllables = random.randint(low, high)
    return "".join(random.choice(_ONSETS) + random.choice(_VOWELS) for _ in range(num_syllables))


def words(random: Random, low: int = 3, high: int = 5) -> list[str]:
    """Invent `low` to `high` distinct words."""
    chosen: list[str] = []
    size = random.randint(low, high)
    while len(chosen) < size:
        new = word(random)
        if new not in chosen:
            chosen.append(new)
    return chosen


def numbers(
    random: Random, low: int = 10, high: int = 99, least: int = 4, most: int = 6
) -> list[int]:
    """Draw `least` to `most` distinct integers from `low` to `high`."""
    return random.sample(range(low, high + 1), random.randint(least, most))


def quarters(random: Random, low: int, high: int) -> float:
    """Draw a multiple of a quarter that is no integer, so that sums and differences are exact in binary."""
    return random.randint(low, high) + random.choice((0.25, 0.5, 0.75))
