"""Curate: choose the pairs that are trained on, at most m distinct solutions a puzzle.

The verdicts are given in judge.py, and what lies too near a held-out puzzle is found in
decontaminate.py. Nothing is judged here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

from judge import Outcome
from puzzles import Puzzle
from selftrain.config import CurateConfig, of_round
from selftrain.files import Row
from selftrain.judge import NOT_JUDGED, Judged
from selftrain.prompts import example_completion, example_prompt
from selftrain.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Example:
    """A pair as it is trained on; verified, unless the configuration asks for other pairs."""

    round: int
    puzzle_id: str
    prompt: str
    """The puzzle, and the head of the solution."""
    completion: str
    """The body of the solution, and the call that asserts it."""
    name: str
    """Name of the puzzle: of a proposed one, the proposal's id."""
    index: int
    """Number of the attempt that was kept; behind the attempts, what refinement came to."""
    f: str
    g: str
    answer: str | None
    """What g returned, as a Python literal; None where it returned nothing that is data."""
    num_attempts: int
    """Attempts at the puzzle that were judged."""
    num_correct: int
    """Attempts that passed."""


def curate(
    puzzles: Sequence[Puzzle],
    judged: Iterable[Judged],
    config: CurateConfig,
    seed: int,
    round_number: int,
) -> Iterator[Example]:
    """Make examples of judged candidates, which come puzzle by puzzle in the order of `puzzles`.

    What refinement came to is verified or left out, and counts among no attempts. `seed` is the
    run's.
    """
    by_id = {puzzle.id: puzzle for puzzle in puzzles}
    for puzzle_id, group in groupby(judged, key=lambda one: one.candidate.puzzle_id):
        candidates = [one for one in group if one.outcome != NOT_JUDGED]
        attempts = [one for one in candidates if not one.way]
        num_correct = sum(one.passed for one in attempts)
        if config.drop_always_solved and num_correct == len(attempts):
            continue
        random = Random(derive_seed(seed, round_number, "curate", puzzle_id))
        puzzle = by_id[puzzle_id]
        choices = candidates if config.verdicts == "verified" else attempts
        for one in _chosen(choices, config, random):
            g = one.candidate.g
            assert g is not None, "only what was cut is chosen"
            yield Example(
                round=round_number,
                puzzle_id=puzzle_id,
                prompt=example_prompt(puzzle),
                completion=example_completion(puzzle, g),
                name=puzzle.name,
                index=one.candidate.index,
                f=puzzle.f,
                g=g,
                answer=one.answer,
                num_attempts=len(attempts),
                num_correct=num_correct,
            )


def chosen_pairs(
    solve_rates: Sequence[float], config: CurateConfig, seed: int, round_number: int
) -> list[int]:
    """Choose which of a round's pairs are kept, at most `max_pairs`, by their solve rates.

    With `middle_first` come first those whose puzzle's solve rate is nearest to one half, equal
    ones in an order drawn; else the pairs keep their order.
    """
    order = list(range(len(solve_rates)))
    Random(derive_seed(seed, round_number, "choose")).shuffle(order)
    if config.choose == "middle_first":
        order.sort(key=lambda i: abs(solve_rates[i] - 0.5))
    limit = None if config.max_pairs is None else of_round(config.max_pairs, round_number)
    return order[:limit] if config.choose == "middle_first" else sorted(order[:limit])


def chosen_rows(
    read: Callable[[], Iterator[Row]], config: CurateConfig, seed: int, round_number: int
) -> Iterator[Row]:
    """Give the rows of a round's examples that are kept, as `chosen_pairs` chooses and orders them.

    `read` streams all of them, twice where there is something to choose.
    """
    if config.max_pairs is None and config.choose == "random":
        return read()
    rates = [row["num_correct"] / row["num_attempts"] for row in read()]
    chosen = chosen_pairs(rates, config, seed, round_number)
    wanted = set(chosen)
    # Only what is kept is held in memory, to be put in order.
    rows = {number: row for number, row in enumerate(read()) if number in wanted}
    return (rows[number] for number in chosen)


def _chosen(attempts: Sequence[Judged], config: CurateConfig, random: Random) -> list[Judged]:
    """Choose among one puzzle's attempts, each solution once, the first of equal ones."""
    if config.verdicts == "verified":
        distinct = _distinct(one for one in attempts if one.passed)
        return sorted(distinct, key=_preference)[: config.max_solutions]
    if config.verdicts == "wrong":
        # What passed by luck is neither right nor wrong.
        wrong = (one for one in attempts if not one.passed and one.outcome != Outcome.flaky)
        distinct = _distinct(wrong)
    else:
        distinct = _distinct(attempts)
    return random.sample(distinct, min(config.max_solutions, len(distinct)))


def _distinct(attempts: Iterable[Judged]) -> list[Judged]:
    first: dict[str, Judged] = {}
    for one in attempts:
        if one.candidate.g is not None:
            first.setdefault(one.candidate.g, one)
    return list(first.values())


def _preference(one: Judged) -> tuple[int, int, str]:
    """Put first what a verifier put first, where one ordered the puzzle's candidates; then the
    shortest.
    """
    g = one.candidate.g
    assert g is not None, "only what was cut is chosen"
    return one.rank or 0, len(g), g
