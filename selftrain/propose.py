"""Propose: read train puzzles without solutions, write the next (section 3.1 of the paper).

Whether what was written is a puzzle is decided in filter.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from random import Random

from puzzles import Puzzle
from selftrain.config import ProposeConfig
from selftrain.errors import UsageError
from selftrain.files import Format, Row
from selftrain.prompts import propose_prompt
from selftrain.sampling import Completion, FinishReason, Request, Sampler
from selftrain.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Proposal:
    """A completion that may hold a puzzle."""

    id: str
    """Round and number: `001-000012`."""
    prompt_puzzles: tuple[str, ...]
    """Names of the train puzzles in the prompt, in order."""
    completion: Completion
    """What the model wrote after `def f4(`."""


def propose(
    sampler: Sampler,
    train: Sequence[Puzzle],
    config: ProposeConfig,
    seed: int,
    round_number: int,
    indices: Sequence[int],
    *,
    advance: Callable[[int], object],
) -> list[Proposal]:
    """Draw the proposals with these numbers; every `num_samples` of them share a prompt."""
    shown = {
        group: choose_puzzles(
            sampler,
            train,
            config.max_new_tokens,
            Random(derive_seed(seed, round_number, "prompt", group)),
        )
        for group in dict.fromkeys(index // config.num_samples for index in indices)
    }
    groups = [shown[index // config.num_samples] for index in indices]
    completions = sampler.sample(
        [
            Request(propose_prompt(group), derive_seed(seed, round_number, "propose", index))
            for index, group in zip(indices, groups, strict=True)
        ],
        temperature=config.temperature,
        max_new_tokens=config.max_new_tokens,
        advance=advance,
    )
    return [
        Proposal(
            f"{round_number:03d}-{index:06d}", tuple(puzzle.name for puzzle in group), completion
        )
        for index, group, completion in zip(indices, groups, completions, strict=True)
    ]


def choose_puzzles(
    sampler: Sampler, train: Sequence[Puzzle], max_new_tokens: int, random: Random
) -> list[Puzzle]:
    """Take train puzzles in random order until the context less the new tokens is full.

    Raises UsageError where none fits.
    """
    room = sampler.context_tokens - max_new_tokens
    order = random.sample(train, len(train))
    # Sums of parts only estimate the whole, which is then counted; too long a guess is cut.
    sizes = sampler.count_tokens([f"{puzzle.f}\n\n" for puzzle in order[:200]])
    chosen: list[Puzzle] = []
    used = 0
    for puzzle, size in zip(order, sizes, strict=False):
        if used + size <= room:
            chosen.append(puzzle)
            used += size
        elif chosen:
            break
    if not chosen:
        raise UsageError(
            f"propose.max_new_tokens is {max_new_tokens} and the model reads "
            f"{sampler.context_tokens} tokens, so no train puzzle fits a prompt. Lower it."
        )
    while len(chosen) > 1 and sampler.count_tokens([propose_prompt(chosen)])[0] > room:
        chosen.pop()
    return chosen


def proposal_to_row(proposal: Proposal) -> Row:
    """Flatten a proposal."""
    return {
        "id": proposal.id,
        "prompt_puzzles": list(proposal.prompt_puzzles),
        **asdict(proposal.completion),
    }


def proposal_from_row(row: Row) -> Proposal:
    """Rebuild what `proposal_to_row` flattened."""
    return Proposal(row["id"], tuple(row["prompt_puzzles"]), completion_from_row(row))


def completion_from_row(row: Row) -> Completion:
    """Rebuild the completion that a row holds among other keys."""
    return Completion(
        row["text"], FinishReason(row["finish_reason"]), row["num_tokens"], row["sum_logprob"]
    )


PROPOSALS = Format("propose", proposal_to_row, proposal_from_row)
