"""How much each round does: arithmetic on a configuration, lengths of texts, and rates.

The same arithmetic gives what is expected and the most there can be; only what goes in differs.
Nothing is measured here, and nothing is said of time or bytes.
"""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from selftrain.config import Config, of_round
from selftrain.held_out import num_measured

MOST_TRIVIAL_ANSWERS = 111
"""Trivial answers of the type that has most, int (appendix C)."""
KEPT_BY_THE_PAPER = 0.5
"""Share of proposals that survive the filter: the paper lost about half."""
PAIRS_AN_ATTEMPT = 0.1
"""Distinct right solutions an attempt, up to m a puzzle, as the release's costs imply: 1,000,000
pairs in 2,500 GPU hours, at 1.1 (making data) to 1.6 (evaluating) attempts a second."""
TEXT_AROUND_AN_EXAMPLE = 40
"""Tokens of `def g():`, of the assertion and of end-of-text, at most."""


@dataclass(frozen=True, slots=True)
class Splits:
    """How many puzzles a run begins with."""

    train: int
    dev: int
    held_out: int
    same_type: float
    """Held-out puzzles whose answer has the type of a train puzzle's, on average."""
    most_same_type: int
    """The most for any type."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of a run's texts: means, or the most there can be."""

    propose_prompt: float
    proposal: float
    solve_prompt: float
    solution: float
    held_out_prompt: float
    example: float
    """A pair as it is trained on, with its end-of-text token."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What becomes of proposals and attempts: assumed, measured, or the most there can be."""

    kept: float
    """Share of the proposals that survive the filter."""
    pairs: float
    """Pairs that a kept puzzle gives."""
    trivial_answers: float
    """Trivial answers that are judged of a proposal, whether or not it is kept."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What one round does, or several together; every field can be added up."""

    proposals: int = 0
    puzzles: int = 0
    """Proposals that survive the filter."""
    attempts: int = 0
    evaluations: int = 0
    """Completions for held-out and dev puzzles, greedy ones among them."""
    sampled_proposing: int = 0
    """Tokens, as in the five below."""
    sampled_solving: int = 0
    sampled_evaluating: int = 0
    read_proposing: int = 0
    """Prompts are read once for all their samples in a batch."""
    read_solving: int = 0
    read_evaluating: int = 0
    read_embedding: int = 0
    trivial_answers: int = 0
    """Judged by the filter; attempts and evaluations are judged once each."""
    compared: int = 0
    """Answers that are tried on a held-out puzzle, and solutions called with its inputs."""
    pairs: int = 0
    """New pairs that are trained on."""
    examples: int = 0
    """Pairs at hand, those of earlier rounds and those held back among them."""
    blocks: int = 0
    epochs: int = 0
    steps: int = 0
    trained: int = 0
    """Tokens that are trained on, in all epochs, without what pads the blocks."""
    models: int = 0
    """Models that are kept on disk."""


def lengths_at_most(config: Config, context_tokens: int) -> Lengths:
    """Give the longest texts that a configuration lets pass, in tokens."""
    proposal, solution = config.propose.max_new_tokens, config.solve.max_new_tokens
    return Lengths(
        propose_prompt=context_tokens - proposal,
        proposal=proposal,
        solve_prompt=context_tokens - solution,
        solution=solution,
        held_out_prompt=context_tokens - solution,
        # The head of g repeats f's inputs, which may be nearly all of f.
        example=2 * proposal + solution + TEXT_AROUND_AN_EXAMPLE,
    )


def rates_at_most(config: Config) -> Rates:
    """Say that every proposal is kept, and solved as often as may be."""
    pairs = min(config.curate.max_solutions, config.solve.num_attempts)
    return Rates(kept=1.0, pairs=pairs, trivial_answers=MOST_TRIVIAL_ANSWERS)


def assumed_rates(config: Config, mean_trivial_answers: float) -> Rates:
    """Say what happens where nothing was measured, by the costs of the paper's release.

    Of unverified pairs, a puzzle is taken to have as many as may be kept.
    """
    most = rates_at_most(config).pairs
    pairs = min(most, PAIRS_AN_ATTEMPT * config.solve.num_attempts)
    if config.curate.verdicts != "verified":
        pairs = most
    return Rates(KEPT_BY_THE_PAPER, pairs, KEPT_BY_THE_PAPER * mean_trivial_answers)


def expected_proposals(config: Config, number: int, rates: Rates) -> int:
    """Give the proposals after which round `number` has its pairs, at most those that are tried."""
    most = of_round(config.propose.num_proposals, number)
    if config.propose.num_pairs is None:
        return most
    needed = of_round(config.propose.num_pairs, number) / (rates.kept * rates.pairs)
    shard = config.propose.shard_size
    return min(most, shard * math.ceil(needed / shard))


def count_rounds(
    config: Config, splits: Splits, lengths: Lengths, rates: Rates, *, at_most: bool
) -> list[Counts]:
    """Count what each round does, round 0 first."""
    rounds = [_evaluation(config, splits, lengths, 0)]
    examples = 0
    for number in range(1, config.rounds + 1):
        proposals = (
            of_round(config.propose.num_proposals, number)
            if at_most
            else expected_proposals(config, number, rates)
        )
        new = _pairs(config, number, proposals * rates.kept * rates.pairs, rates)
        examples = new + (examples if config.finetune.start == "base" else 0)
        parts = (
            _inventing(config, proposals, lengths, rates),
            _comparing(config, new, splits, at_most=at_most),
            _training(config, new, examples, lengths, at_most=at_most),
            _evaluation(config, splits, lengths, number),
        )
        rounds.append(add_up(parts))
    return rounds


def add_up(parts: Sequence[Counts]) -> Counts:
    """Add counts field by field."""
    return Counts(*(sum(values) for values in zip(*map(astuple, parts), strict=True)))


def prompt_reads(completions: int, a_prompt: int, batch_size: int) -> int:
    """Give how many prompts are read for completions of which `a_prompt` share one.

    A prompt whose completions lie in two batches is read in both; where batches hold whole prompts,
    none does.
    """
    prompts = math.ceil(completions / a_prompt)
    if batch_size % a_prompt == 0:
        return prompts
    return min(completions, prompts + math.ceil(completions / batch_size))


def count_blocks(examples: int, tokens: float, block_tokens: int) -> int:
    """Give the blocks that so many examples of so many tokens fill; none is split but a long one.

    With the longest example's tokens, no packing in order needs more.
    """
    if tokens > block_tokens:
        return examples * math.ceil(tokens / block_tokens)
    return math.ceil(examples / math.floor(block_tokens / tokens))


def _pairs(config: Config, number: int, pairs: float, rates: Rates) -> int:
    if config.propose.num_pairs is not None:
        # The last shard may bring more than was wanted.
        last = config.propose.shard_size * rates.kept * rates.pairs
        pairs = min(pairs, of_round(config.propose.num_pairs, number) - 1 + last)
    if config.curate.max_pairs is not None:
        pairs = min(pairs, of_round(config.curate.max_pairs, number))
    return math.ceil(pairs)


def _inventing(config: Config, proposals: int, lengths: Lengths, rates: Rates) -> Counts:
    puzzles = math.ceil(proposals * rates.kept)
    attempts = puzzles * config.solve.num_attempts
    proposer = config.propose.model or config.model
    solver = config.solve.model or config.model
    shown = prompt_reads(proposals, config.propose.num_samples, proposer.batch_size)
    embedded = min(puzzles, config.diversity.max_embedded) if config.diversity.embeddings else 0
    tried = prompt_reads(attempts, config.solve.num_attempts, solver.batch_size)
    return Counts(
        proposals=proposals,
        puzzles=puzzles,
        attempts=attempts,
        sampled_proposing=math.ceil(proposals * lengths.proposal),
        sampled_solving=math.ceil(attempts * lengths.solution),
        read_proposing=math.ceil(shown * lengths.propose_prompt),
        read_solving=math.ceil(tried * lengths.solve_prompt),
        read_embedding=math.ceil(embedded * lengths.proposal),
        trivial_answers=math.ceil(proposals * rates.trivial_answers),
    )


def _comparing(config: Config, new: int, splits: Splits, *, at_most: bool) -> Counts:
    """Count how often decontamination asks the judge: by a pair's answer, at most by its g too."""
    if "behaviour" not in config.decontaminate.checks:
        return Counts()
    times = 2 * splits.most_same_type if at_most else splits.same_type
    return Counts(compared=math.ceil(new * times))


def _training(
    config: Config, new: int, examples: int, lengths: Lengths, *, at_most: bool
) -> Counts:
    """Count what is learnt: at most all, as the puzzles that are held back may have few pairs."""
    c = config.finetune
    learnt = examples if at_most else math.ceil(examples * (1 - c.held_back))
    num_blocks = count_blocks(learnt, lengths.example, c.block_tokens)
    return Counts(
        pairs=new,
        examples=examples,
        blocks=num_blocks,
        epochs=c.epochs,
        steps=c.epochs * math.ceil(num_blocks / c.batch_size),
        trained=math.ceil(c.epochs * learnt * lengths.example),
        models=1 if config.evaluate.epochs == "last" else c.epochs,
    )


def _evaluation(config: Config, splits: Splits, lengths: Lengths, number: int) -> Counts:
    """Count the evaluations after a round; the base model has no epochs."""
    epochs = config.finetune.epochs if number else 1
    held_out = num_measured(splits.held_out, config) * (
        epochs if config.evaluate.epochs == "all" else 1
    )
    dev = splits.dev * (epochs if config.evaluate.epochs == "dev" else 1)
    puzzles, samples = held_out + dev, config.evaluate.num_samples
    reads = prompt_reads(puzzles * samples, samples, config.model.batch_size) + puzzles
    return Counts(
        evaluations=puzzles * (samples + 1),
        sampled_evaluating=math.ceil(puzzles * (samples + 1) * lengths.solution),
        read_evaluating=math.ceil(reads * lengths.held_out_prompt),
    )
