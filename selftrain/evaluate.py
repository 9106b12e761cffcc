"""Evaluate: n samples and one greedy solution of every held-out puzzle, each judged alone."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from judge import Limits
from puzzles import Puzzle
from selftrain.config import EvaluateConfig, SolveConfig
from selftrain.files import Row
from selftrain.judge import judge_candidates, judged_to_row
from selftrain.sampling import Sampler
from selftrain.solve import solve

GREEDY = -1
"""Index of the greedy candidate; the sampled ones have 0 to n - 1."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation needs besides the model, the same for every shard."""

    sampling: EvaluateConfig
    solving: SolveConfig
    limits: Limits
    num_workers: int
    """Processes that judge."""
    few_shot: Sequence[Puzzle]
    """Train puzzles shown with their reference solutions."""
    seed: int
    round_number: int


def evaluate(
    sampler: Sampler, puzzles: Sequence[Puzzle], evaluation: Evaluation, advance: Callable[[int], object]
) -> list[Row]:
    """Solve and judge held-out puzzles; give their candidates as rows, puzzle by puzzle, the greedy one last."""

    def draw(num_attempts: int, temperature: float, stage: str) -> list[Row]:
        candidates = solve(
            sampler,
            puzzles,
            num_attempts=num_attempts,
            temperature=temperature,
            max_new_tokens=evaluation.solving.max_new_tokens,
            few_shot=evaluation.few_shot,
            seed=evaluation.seed,
            place=(evaluation.round_number, stage),
            advance=advance,
        )
        judged = judge_candidates(
            candidates, evaluation.limits, num_workers=evaluation.num_workers, advance=lambda _: None
        )
        return [judged_to_row(one) for one in judged]

    n = evaluation.sampling.num_samples
    sampled = draw(n, evaluation.sampling.temperature, "evaluate")
    greedy = draw(1, 0.0, "greedy")
    rows: list[Row] = []
    for i, puzzle in enumerate(puzzles):
        own = [*sampled[i * n : (i + 1) * n], {**greedy[i], "index": GREEDY}]
        rows += [{"name": puzzle.name, **row} for row in own]
    return rows


def count_correct(
    rows: Iterable[Row], puzzles: Sequence[Puzzle], known_families: Collection[str]
) -> Iterator[Row]:
    """Count each held-out puzzle's candidates: n, num_correct and outcomes of the samples, the greedy one apart."""
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
            "outcomes": dict(sorted(Counter(row["outcome"] for row in samples).items())),
            "greedy_passed": any(row["passed"] for row in candidates if row["index"] == GREEDY),
        }
