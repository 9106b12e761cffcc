"""What is learnt from, and where a training lies. No model is read here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selftrain.config import FinetuneConfig
from selftrain.files import Row
from selftrain.finetune.blocks import Block, blocks, count_steps
from selftrain.finetune.pieces import hold_back, texts_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is learnt from."""

    learnt: Sequence[Block]
    held_back: Sequence[Block] = ()
    """Blocks that are not learnt but measured after each epoch."""

    def num_steps(self, config: FinetuneConfig) -> int:
        """Give the optimizer steps that they take."""
        return count_steps(len(self.learnt), config)


@dataclass(frozen=True, slots=True)
class TrainingPaths:
    """Where a training lies."""

    model: Path
    """Gets the model or adapter and `training.jsonl`; with `keep_epochs` the model after each epoch
    lies in `epoch-01`, `epoch-02`, ... instead."""
    state: Path
    """Holds what training goes on from when it was cut short. It may be removed once `model` is in
    its place."""
    tracker: Path
    """Where a tracker that writes files does."""


def read_lessons(
    tokenizer: "PreTrainedTokenizerBase", rows: Iterable[Row], config: FinetuneConfig, seed: int
) -> Lessons:
    """Read an examples file, whose rows are given; the seed chooses what is held back.

    Raises RunError where nothing would be left to learn.
    """
    learnt, held_back = hold_back(texts_of(rows), config, seed)
    return Lessons(blocks(tokenizer, learnt, config), blocks(tokenizer, held_back, config))
