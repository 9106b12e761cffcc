"""Solve: the model tries its own puzzles (section 3.2 of the paper), and the held-out ones.

Whether a solution is right is decided in judge.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from puzzles import Puzzle, Rejection
from puzzles.cut import cut_solution
from selftrain.files import Format, Row
from selftrain.prompts import solve_head, solve_prompt
from selftrain.propose import completion_from_row
from selftrain.sampling import Completion, FinishReason, Request, Sampler
from selftrain.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Candidate:
    """One attempt at a puzzle: parsed where it can be, not proven."""

    puzzle_id: str
    f: str
    """Source of the puzzle, so that the row stands alone."""
    index: int
    """Number of the attempt, from 0."""
    completion: Completion
    g: str | None
    """Source of the solution cut from the completion, or null where there is none."""
    no_g: str
    """Why there is none; empty where there is one."""
    detail: str
    """The reason in a sentence; empty where there is one."""
    more_inputs: tuple[str, ...] = ()
    """Other inputs of f on which g must be right too, as in `Puzzle.more_inputs`."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """How puzzles are tried."""

    count: int
    """Attempts a puzzle."""
    temperature: float
    """Sampling temperature; 0 is greedy."""
    max_new_tokens: int
    few_shot: Sequence[Puzzle]
    """Train puzzles shown with their reference solutions."""
    seed: int
    """Seed of the run."""
    place: tuple[int | str, ...]
    """Round and stage, from which each attempt's own seed is derived."""


def solve(
    sampler: Sampler,
    puzzles: Sequence[Puzzle],
    attempts: Attempts,
    *,
    advance: Callable[[int], object],
) -> list[Candidate]:
    """Draw the candidates of each puzzle, in order.

    Each has its own seed, from the run's seed, the place, the puzzle's id and the attempt's number.
    """
    pairs = [(puzzle, index) for puzzle in puzzles for index in range(attempts.count)]
    prompts = {puzzle.f: solve_prompt(puzzle, attempts.few_shot) for puzzle in puzzles}
    completions = sampler.sample(
        [
            Request(
                prompts[puzzle.f], derive_seed(attempts.seed, *attempts.place, puzzle.id, index)
            )
            for puzzle, index in pairs
        ],
        temperature=attempts.temperature,
        max_new_tokens=attempts.max_new_tokens,
        advance=advance,
    )
    number = len(attempts.few_shot) + 1 if attempts.few_shot else None
    return [
        _cut(puzzle, number, index, completion)
        for (puzzle, index), completion in zip(pairs, completions, strict=True)
    ]


def _cut(puzzle: Puzzle, number: int | None, index: int, completion: Completion) -> Candidate:
    def candidate(g: str | None, no_g: str, detail: str) -> Candidate:
        return Candidate(
            puzzle.id, puzzle.f, index, completion, g, no_g, detail, puzzle.more_inputs
        )

    if completion.finish_reason is FinishReason.PROMPT_TOO_LONG:
        reason = completion.finish_reason
        return candidate(None, reason, "prompt and new tokens exceed the context")
    g = cut_solution(solve_head(puzzle, number), completion.text)
    if isinstance(g, Rejection):
        return candidate(None, g.reason, g.detail)
    return candidate(g, "", "")


def candidate_to_row(candidate: Candidate) -> Row:
    """Flatten a candidate."""
    return {
        "puzzle_id": candidate.puzzle_id,
        "f": candidate.f,
        "more_inputs": list(candidate.more_inputs),
        "index": candidate.index,
        **asdict(candidate.completion),
        "g": candidate.g,
        "no_g": candidate.no_g,
        "detail": candidate.detail,
    }


def candidate_from_row(row: Row) -> Candidate:
    """Rebuild what `candidate_to_row` flattened."""
    return Candidate(
        row["puzzle_id"],
        row["f"],
        row["index"],
        completion_from_row(row),
        row["g"],
        row["no_g"],
        row["detail"],
        tuple(row["more_inputs"]),
    )


CANDIDATES = Format("solve", candidate_to_row, candidate_from_row)
