"""How long a run's texts and rows are, measured on the puzzles it begins with.

The train puzzles and their reference solutions stand for what the model will write; a probe
replaces them by what it did write. Nothing is sampled here.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean

from puzzles import Puzzle, to_row
from puzzles.trivial import trivial_answers
from selftrain.config import Config
from selftrain.curate import Example
from selftrain.difficulty import difficulties
from selftrain.evaluate import count_correct
from selftrain.files import Row
from selftrain.filter import Filtered, filtered_to_row
from selftrain.judge import Judged, judged_to_row
from selftrain.plan.counts import Lengths
from selftrain.prompts import (
    example_completion,
    example_prompt,
    few_shot_puzzles,
    propose_prompt,
    solve_prompt,
)
from selftrain.propose import Proposal
from selftrain.sampling import Completion, FinishReason
from selftrain.solve import Candidate

Count = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of each text."""
CHARACTERS_A_TOKEN = 3.0
"""Assumed where no tokenizer is at hand; code has 2.5 to 3.5 in the vocabularies of today."""


@dataclass(frozen=True, slots=True)
class RowBytes:
    """Mean bytes of a row of each file."""

    proposal: float
    puzzle: float
    candidate: float
    difficulty: float
    example: float
    evaluation_candidate: float
    evaluation: float
    step: float
    """A row of the training log."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote in each stage, or what stands for it."""

    proposals: Sequence[Filtered]
    attempts: Sequence[Judged]
    examples: Sequence[Example]


def count_roughly(texts: Sequence[str]) -> list[int]:
    """Count tokens by characters, where there is no tokenizer."""
    return [round(len(text) / CHARACTERS_A_TOKEN) for text in texts]


def mean_trivial_answers(puzzles: Sequence[Puzzle]) -> float:
    """Give how many trivial answers a puzzle's type has, on average; a bool's are not judged."""
    return fmean(
        0 if puzzle.answer_type == "bool" else len(trivial_answers(puzzle.answer_type))
        for puzzle in puzzles
    )


def stand_in(train: Sequence[Puzzle], config: Config, context_tokens: int, count: Count) -> Written:
    """Take the train puzzles and their solutions for what a model writes.

    Puzzles without a solution are proposed only.
    """
    names = tuple(p.name for p in train[: _num_shown(train, config, context_tokens, count)])
    proposals, attempts, examples = [], [], []
    for puzzle in train:
        proposal = Proposal("001-000000", names, _completion(puzzle.f, count))
        proposals.append(Filtered(proposal, puzzle.f, puzzle))
        for g in puzzle.solutions[:1]:
            completion = _completion(example_completion(puzzle, g), count)
            candidate = Candidate(puzzle.id, puzzle.f, 0, completion, g, "", "")
            attempts.append(Judged(candidate, "passed", True, "[1, 2, 3]", "", 10_000_000))
            examples.append(_example(puzzle, g))
    return Written(proposals, attempts, examples)


def measure_lengths(
    written: Written,
    train: Sequence[Puzzle],
    held_out: Sequence[Puzzle],
    config: Config,
    context_tokens: int,
    count: Count,
) -> Lengths:
    """Average the tokens of what was written, and of the prompts that go with it."""
    few_shot = few_shot_puzzles(train, config.solve.num_few_shot)
    proposals = [one.proposal.completion.num_tokens for one in written.proposals]
    solutions = [one.candidate.completion.num_tokens for one in written.attempts]
    examples = [one.prompt + one.completion for one in written.examples]
    kept = [one.result for one in written.proposals if isinstance(one.result, Puzzle)] or train
    return Lengths(
        propose_prompt=_propose_prompt(train, config, context_tokens, count),
        proposal=_mean(proposals, config.propose.max_new_tokens),
        solve_prompt=fmean(count([solve_prompt(puzzle, few_shot) for puzzle in kept])),
        solution=_mean(solutions, config.solve.max_new_tokens),
        held_out_prompt=fmean(count([solve_prompt(puzzle, few_shot) for puzzle in held_out])),
        example=1 + fmean(count(examples or [puzzle.f for puzzle in kept])),
    )


def measure_rows(written: Written, train: Sequence[Puzzle]) -> RowBytes:
    """Average the bytes of the rows that a run would write of what was written."""
    proposals = [_without_puzzle(filtered_to_row(one)) for one in written.proposals]
    kept = [one.result for one in written.proposals if isinstance(one.result, Puzzle)] or train
    attempts = [judged_to_row(one) for one in written.attempts]
    named = [{"name": train[0].name, **row} for row in attempts]
    counted = count_correct(named, train, {puzzle.family for puzzle in train})
    step = {"step": 1000, "loss": 0.1234567890123456, "learning_rate": 4.987654321e-06}
    return RowBytes(
        proposal=_bytes(proposals),
        puzzle=_bytes(to_row(replace(puzzle, solutions=())) for puzzle in kept),
        candidate=_bytes(attempts),
        difficulty=_bytes(difficulties(attempts)),
        example=_bytes(asdict(one) for one in written.examples),
        evaluation_candidate=_bytes(named),
        evaluation=_bytes(counted),
        step=_bytes([step]),
    )


def _num_shown(train: Sequence[Puzzle], config: Config, context_tokens: int, count: Count) -> int:
    """Give how many train puzzles a prompt to propose shows, about."""
    room = context_tokens - config.propose.max_new_tokens
    return max(1, min(len(train), round(room / _mean_shown(train, count))))


def _mean_shown(train: Sequence[Puzzle], count: Count) -> float:
    return fmean(count([f"{puzzle.f}\n\n" for puzzle in train]))


def _propose_prompt(
    train: Sequence[Puzzle], config: Config, context_tokens: int, count: Count
) -> float:
    """Give the tokens of a prompt: all train puzzles, or what fits less half of one that did not.

    A single puzzle longer than the room is cut to it.
    """
    room = context_tokens - config.propose.max_new_tokens
    half = min(room, _mean_shown(train, count)) / 2
    return min(count([propose_prompt(train)])[0], room - half)


def _completion(text: str, count: Count) -> Completion:
    return Completion(text, FinishReason.STOP, count([text])[0], -12.3456789)


def _example(puzzle: Puzzle, g: str) -> Example:
    prompt, completion = example_prompt(puzzle), example_completion(puzzle, g)
    name = "001-000000"
    return Example(1, puzzle.id, prompt, completion, name, 0, puzzle.f, g, "[1, 2, 3]", 8, 4)


def _mean(tokens: Sequence[int], most: int) -> float:
    """Average, none taken for longer than may be sampled; where there are none, half of that."""
    return fmean(min(number, most) for number in tokens) if tokens else most / 2


def _without_puzzle(row: Row) -> Row:
    return {key: value for key, value in row.items() if key != "puzzle"}


def _bytes(rows: Iterable[Row]) -> float:
    """Average the bytes of rows as they are written; none weighs nothing."""
    sizes = [len(json.dumps(row)) + 1 for row in rows]
    return fmean(sizes) if sizes else 0.0
