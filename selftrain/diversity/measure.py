"""Measure one round: what it proposed, how new that is, and how it compares to the round before."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from puzzles import Puzzle
from selftrain.config import DiversityConfig
from selftrain.diversity.definitions import (
    Counted,
    Digests,
    count_definitions,
    draw_definitions,
    most_frequent,
    shapes_of,
)
from selftrain.diversity.falls import warning
from selftrain.diversity.kinds import variety
from selftrain.diversity.layout import lay_out
from selftrain.diversity.record import (
    Diversity,
    Frequent,
    Point,
    read_diversity,
    write_diversity,
)
from selftrain.diversity.vectors import (
    NOTHING,
    Embedded,
    Vectors,
    directions,
    mean_distance,
    nearest_distance,
    read_vectors,
    write_vectors,
)
from selftrain.files import Row
from selftrain.progress import Advance
from selftrain.run_directory import RoundDirectory
from selftrain.seeds import derive_seed

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Gives the embeddings of sources, shape (sources, hidden size)."""

NUM_FREQUENT = 5
NUM_POINTS = 200
"""Puzzles of each round on the map, which are a random draw of it."""


def measure_diversity(
    here: RoundDirectory,
    earlier: Sequence[RoundDirectory],
    train: Sequence[Puzzle],
    config: DiversityConfig,
    embed: Embed | None,
    seed: int,
    *,
    advance: Advance = lambda _: None,
) -> Row:
    """Measure a round once its proposals are written, and give its metrics, `diversity/...`.

    `earlier` are the rounds before it, oldest first; those that proposed nothing are passed over.
    `seed` is the run's. What an earlier process has measured is read. Warnings are in the file
    that `read_diversity` reads. `advance` is told of each definition counted.
    """
    if not here.diversity.exists():
        before = [one for one in earlier if one.diversity.exists()]
        counted = count_definitions(here.proposals, advance)
        past = [read_vectors(one.vectors) for one in before]
        embedded = _embed(here, not past, train, config, embed, seed)
        vectors = Vectors(counted.shapes, *embedded)
        diversity = _gather(here, counted, [*past, vectors], before, train, seed)
        if before:
            fell = warning(read_diversity(before[-1].diversity), diversity, config.warn_below)
            diversity = replace(diversity, warnings=(fell,) if fell else ())
        write_vectors(here.vectors, vectors)
        write_diversity(here.diversity, diversity)
    return read_diversity(here.diversity).metrics


def _embed(
    here: RoundDirectory,
    is_first: bool,
    train: Sequence[Puzzle],
    config: DiversityConfig,
    embed: Embed | None,
    seed: int,
) -> tuple[Embedded, Embedded]:
    """Embed some of the round's puzzles; with the first round's, some of the train puzzles."""
    if embed is None or not config.embeddings:
        return NOTHING, NOTHING
    place = derive_seed(seed, here.number, "diversity")
    rows = draw_definitions(here.proposals, config.max_embedded, place)
    shown = sorted(train, key=lambda puzzle: derive_seed(seed, "embed", puzzle.name))
    shown = shown[: config.max_embedded] if is_first else []
    texts = [*(row["f"] for row in rows), *(puzzle.f for puzzle in shown)]
    if not texts:
        return NOTHING, NOTHING
    found = directions(embed(texts))
    return (
        Embedded(tuple(row["id"] for row in rows), found[: len(rows)]),
        Embedded(tuple(puzzle.name for puzzle in shown), found[len(rows) :]),
    )


def _gather(
    here: RoundDirectory,
    counted: Counted,
    rounds: Sequence[Vectors],
    before: Sequence[RoundDirectory],
    train: Sequence[Puzzle],
    seed: int,
) -> Diversity:
    """Put together what is known of a round; the last of `rounds` is its own."""
    known = shapes_of(puzzle.f for puzzle in train)
    metrics = _varied(counted)
    metrics |= _new(counted, known, np.concatenate([known, *(one.shapes for one in rounds[:-1])]))
    metrics |= _apart(rounds)
    frequent = most_frequent(here.proposals, counted, NUM_FREQUENT)
    numbers = [*(one.number for one in before), here.number]
    return Diversity(
        number=here.number,
        metrics={
            key: round(value, 6) if isinstance(value, float) else value
            for key, value in metrics.items()
        },
        normal_forms=counted.normal_forms,
        families=counted.families,
        frequent=tuple(Frequent(f, count) for f, count in frequent),
        points=_map(rounds, numbers, seed),
        warnings=(),
    )


def _varied(counted: Counted) -> Row:
    """Give what a pool shows by itself: distinct normal forms, entropies, effective numbers."""
    forms, families = variety(counted.normal_forms), variety(counted.families)
    total = counted.num_definitions
    return {
        "diversity/num_definitions": total,
        "diversity/num_distinct": forms.num_distinct,
        "diversity/distinct_share": forms.num_distinct / max(1, total),
        "diversity/num_families": families.num_distinct,
        "diversity/family_bits": families.bits,
        "diversity/effective_families": families.effective_number,
        "diversity/syntax_bits": counted.syntax_bits,
        "diversity/effective_syntax": 2.0**counted.syntax_bits,
    }


def _new(counted: Counted, train: Digests, known: Digests) -> Row:
    """Give the share of shapes never seen before, and of definitions beyond the train shapes."""
    beyond = counted.counts[~np.isin(counted.shapes, train)].sum()
    num_new = int((~np.isin(counted.shapes, known)).sum())
    return {
        "diversity/num_new_families": num_new,
        "diversity/novelty": num_new / max(1, len(counted.shapes)),
        "diversity/beyond_train": float(beyond) / max(1, counted.num_definitions),
    }


def _apart(rounds: Sequence[Vectors]) -> Row:
    """Give distances of embeddings: among the round's puzzles, and to the nearest earlier one."""
    own = rounds[-1].puzzles.directions
    if len(own) < 2:
        return {}
    others = [rounds[0].train.directions, *(one.puzzles.directions for one in rounds[:-1])]
    metrics: Row = {
        "diversity/num_embedded": len(own),
        "diversity/mean_distance": mean_distance(own),
    }
    if any(len(other) for other in others):
        metrics["diversity/nearest_distance"] = nearest_distance(own, others)
    return metrics


def _map(rounds: Sequence[Vectors], numbers: Sequence[int], seed: int) -> tuple[Point, ...]:
    """Lay out some train puzzles and some of every round so far together."""
    groups = {
        0: rounds[0].train,
        **dict(zip(numbers, (one.puzzles for one in rounds), strict=True)),
    }
    shown = [
        (number, name, direction)
        for number, group in groups.items()
        for name, direction in zip(group.names[:NUM_POINTS], group.directions, strict=False)
    ]
    if not shown:
        return ()
    points = lay_out(np.array([direction for _, _, direction in shown]), "pca", seed).tolist()
    return tuple(
        Point(number, name, x, y) for (number, name, _), (x, y) in zip(shown, points, strict=True)
    )
