"""How many bytes a round leaves on disk, file by file. The names are run_directory.py's."""

import math
from pathlib import Path

from selftrain.config import Config
from selftrain.held_out import num_measured
from selftrain.plan.counts import Counts, Splits
from selftrain.plan.texts import RowBytes
from selftrain.run_directory import RoundDirectory


def round_files(
    config: Config, counts: Counts, splits: Splits, rows: RowBytes, saved_bytes: int
) -> dict[str, int]:
    """Give the bytes of each of a round's files, by name; `saved_bytes` are those of one model.

    Left out is what is small beside them: metrics, reports, tokenizers, what was removed and why.
    """
    here = RoundDirectory(Path(), 0)
    # Of earlier epochs, the counts stay and the candidates go.
    measured = num_measured(splits.held_out, config)
    candidates = measured * (config.evaluate.num_samples + 1)
    counted = measured + splits.dev
    sizes = {
        here.proposals.name: counts.proposals * rows.proposal,
        here.puzzles.name: counts.puzzles * rows.puzzle,
        here.candidates.name: counts.attempts * rows.candidate,
        here.difficulties.name: counts.puzzles * rows.difficulty,
        here.examples.name: counts.examples * rows.example,
        here.model.name: counts.models * saved_bytes + counts.steps * rows.step,
        here.evaluation_candidates.name: candidates * rows.evaluation_candidate,
        here.evaluation.name: counted * max(1, counts.models) * rows.evaluation,
    }
    return {name: math.ceil(size) for name, size in sizes.items()}


def shard_bytes(counts: Counts, rows: RowBytes) -> int:
    """Give what lies beside a round's files until the round is complete, at its end."""
    sizes = (
        counts.proposals * rows.proposal,
        counts.puzzles * (rows.puzzle + rows.difficulty),
        2 * counts.attempts * rows.candidate,  # with and without the verdict
        counts.pairs * rows.example,
        counts.evaluations * rows.evaluation_candidate,
    )
    return math.ceil(sum(sizes))
