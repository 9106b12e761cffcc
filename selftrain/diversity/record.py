"""What is known of one round's diversity, as its file holds it."""

from dataclasses import dataclass
from pathlib import Path

from selftrain.diversity.kinds import Kinds
from selftrain.files import Row, read_json, write_json


@dataclass(frozen=True, slots=True)
class Frequent:
    """A shape that many definitions of a round have."""

    f: str
    """The first definition of that shape, as proposed."""
    count: int
    """Definitions that have it."""


@dataclass(frozen=True, slots=True)
class Point:
    """One puzzle on the map."""

    round: int
    """The round that proposed it; 0 for a train puzzle."""
    name: str
    """The puzzle's name; of a proposed one, its id."""
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Diversity:
    """One round's diversity."""

    number: int
    """The round."""
    metrics: Row
    """Flat metrics, as in metrics.json."""
    normal_forms: Kinds
    """How often normal forms were proposed."""
    families: Kinds
    """How often shapes were proposed."""
    frequent: tuple[Frequent, ...]
    """The shapes proposed most often, the most frequent first."""
    points: tuple[Point, ...]
    """The map of train puzzles and of all rounds so far; empty where nothing was embedded."""
    warnings: tuple[str, ...]
    """What fell since the round before, a sentence each."""


def write_diversity(path: Path, diversity: Diversity) -> None:
    """Write the file, there whole or not at all."""
    row = {
        "round": diversity.number,
        "warnings": list(diversity.warnings),
        "metrics": diversity.metrics,
        "normal_forms": _spelt(diversity.normal_forms),
        "families": _spelt(diversity.families),
        "frequent": [{"count": one.count, "f": one.f} for one in diversity.frequent],
        "map": [
            {"round": one.round, "name": one.name, "x": one.x, "y": one.y}
            for one in diversity.points
        ],
    }
    write_json(path, row)


def read_diversity(path: Path) -> Diversity:
    """Read what `write_diversity` wrote."""
    row = read_json(path)
    return Diversity(
        number=row["round"],
        metrics=row["metrics"],
        normal_forms=_kinds(row["normal_forms"]),
        families=_kinds(row["families"]),
        frequent=tuple(Frequent(**one) for one in row["frequent"]),
        points=tuple(Point(**one) for one in row["map"]),
        warnings=tuple(row["warnings"]),
    )


def _spelt(kinds: Kinds) -> str:
    """Spell each count as `TIMESxKINDS`: 1x900 says that 900 kinds were met once."""
    pairs = zip(kinds.times, kinds.num_kinds, strict=True)
    return " ".join(f"{times}x{num_kinds}" for times, num_kinds in pairs)


def _kinds(spelt: str) -> Kinds:
    pairs = [pair.split("x") for pair in spelt.split()]
    return Kinds(tuple(int(a) for a, _ in pairs), tuple(int(b) for _, b in pairs))
