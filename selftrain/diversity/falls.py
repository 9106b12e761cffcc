"""Whether a round is less varied than the one before, and what to do about it.

Only measures that an unchanged model would keep are compared. Novelty against all earlier rounds is
not among them: it falls by itself, the more was proposed before.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from selftrain.diversity.kinds import variety_at
from selftrain.diversity.record import Diversity

FEWEST = 100
"""Definitions, and puzzles embedded, from which on chance alone moves a measure by a fifth in fewer
than one round of a hundred (LOG.md)."""

FEWEST_BEYOND = 300
"""The same for definitions beyond the train families, whose number is what a Poisson's would be."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A measure that is lower than in the round before."""

    name: str
    """What was measured, in words."""
    before: float
    """Its value in the round before, at the size of the smaller round."""
    now: float
    """Its value in this round, at that size."""


def falls(before: Diversity, now: Diversity, warn_below: float) -> list[Fall]:
    """List what fell below `warn_below` times the round before's."""
    return [one for one in _compared(before, now) if one.now < warn_below * one.before]


def warning(before: Diversity, now: Diversity, warn_below: float) -> str | None:
    """Say in one sentence what fell, by how much, and what to do; None where nothing did."""
    fallen = falls(before, now, warn_below)
    if not fallen:
        return None
    what = ", ".join(
        f"{one.name} {one.before:.3g} -> {one.now:.3g} ({100 * one.now / one.before:.0f}%)"
        for one in fallen
    )
    return (
        f"round {now.number} is less varied than round {before.number}: {what}; warned below "
        f"{100 * warn_below:.0f}% (diversity.warn_below). If it goes on, later rounds learn "
        "nothing new: raise propose.temperature, lower propose.num_samples for more prompts, or "
        "run fewer rounds."
    )


def _compared(before: Diversity, now: Diversity) -> Iterator[Fall]:
    size = min(before.families.size, now.families.size)
    if size >= FEWEST:
        forms = [variety_at(one.normal_forms, size).num_distinct for one in (before, now)]
        yield Fall("distinct normal forms", *forms)
        families = [variety_at(one.families, size).effective_number for one in (before, now)]
        yield Fall("effective families", *families)
        yield _metric("effective syntax", "diversity/effective_syntax", before, now)
        if before.metrics["diversity/beyond_train"] * size >= FEWEST_BEYOND:
            yield _metric("share beyond the train families", "diversity/beyond_train", before, now)
    if all(one.metrics.get("diversity/num_embedded", 0) >= FEWEST for one in (before, now)):
        yield _metric("mean distance of embeddings", "diversity/mean_distance", before, now)


def _metric(name: str, key: str, before: Diversity, now: Diversity) -> Fall:
    return Fall(name, before.metrics[key], now.metrics[key])
