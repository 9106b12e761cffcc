"""Evaluate: n samples and one greedy solution of every held-out puzzle, each judged alone.

Pass@k is worked out from the counts in statistics/.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from puzzles import Puzzle
from selftrain.config import Config
from selftrain.files import Format, Row
from selftrain.judge import Judging, judge_candidates, judged_to_row, judging_in_evaluation
from selftrain.sampling import FinishReason, Sampler
from selftrain.solve import Attempts, solve

GREEDY = -1
"""Index of the greedy candidate; the sampled ones have 0 to n - 1."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How held-out puzzles are tried and judged."""

    samples: Attempts
    greedy: Attempts
    judging: Judging


def evaluation_of(config: Config, few_shot: Sequence[Puzzle], round_number: int) -> Evaluation:
    """Say how a configuration evaluates the model of a round; round 0 is the base model."""
    samples = Attempts(
        count=config.evaluate.num_samples,
        temperature=config.evaluate.temperature,
        max_new_tokens=config.solve.max_new_tokens,
        few_shot=few_shot,
        seed=config.seed,
        place=(round_number, "evaluate"),
    )
    return Evaluation(
        samples=samples,
        greedy=replace(samples, count=1, temperature=0.0),
        judging=judging_in_evaluation(config.judge),
    )


def evaluate(
    sampler: Sampler,
    puzzles: Sequence[Puzzle],
    evaluation: Evaluation,
    *,
    advance: Callable[[int], object],
) -> list[Row]:
    """Solve and judge held-out puzzles; give their candidates as rows, each greedy one last."""
    rows: list[Row] = []
    for attempts in (evaluation.samples, evaluation.greedy):
        candidates = solve(sampler, puzzles, attempts, advance=advance)
        judged = judge_candidates(candidates, evaluation.judging, advance=lambda _: None)
        rows += [judged_to_row(one) for one in judged]
    n = evaluation.samples.count
    sampled, greedy = rows[: n * len(puzzles)], rows[n * len(puzzles) :]
    return [
        {"name": puzzle.name, **row}
        for i, puzzle in enumerate(puzzles)
        for row in [*sampled[i * n : (i + 1) * n], {**greedy[i], "index": GREEDY}]
    ]


def count_correct(
    rows: Iterable[Row], puzzles: Sequence[Puzzle], known_families: Collection[str]
) -> Iterator[Row]:
    """Count what each held-out puzzle's samples came to, and its greedy candidate apart.

    `num_cut` of the samples had not ended at the most new tokens; a longer one might have passed.
    """
    by_name = {puzzle.name: puzzle for puzzle in puzzles}
    for name, group in groupby(rows, key=lambda row: row["name"]):
        candidates = list(group)
        samples = [row for row in candidates if row["index"] != GREEDY]
        puzzle = by_name[name]
        yield {
            "name": name,
            "puzzle_id": puzzle.id,
            "family": puzzle.family,
            "known_family": puzzle.family in known_families,
            "category": puzzle.category,
            "difficulty": puzzle.difficulty,
            "n": len(samples),
            "num_correct": sum(row["passed"] for row in samples),
            "first_correct": next((row["index"] for row in samples if row["passed"]), None),
            "num_cut": sum(row["finish_reason"] == FinishReason.LENGTH for row in samples),
            "outcomes": dict(sorted(Counter(row["outcome"] for row in samples).items())),
            "greedy_passed": any(row["passed"] for row in candidates if row["index"] == GREEDY),
        }


EVALUATED: Format[Row] = Format("evaluate", lambda row: row, lambda row: row)
