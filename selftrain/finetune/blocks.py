"""Blocks: pieces packed in order, the unit that steps and processes share out. No model is read.

TRL packs too, but reads a prompt anew for each of its solutions, and keeps examples apart by
kernels that need a GPU.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from selftrain.config import FinetuneConfig
from selftrain.finetune.pieces import Piece, Text, pieces

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Block = tuple[Piece, ...]
"""Pieces that follow each other in the examples file, of at most `block_tokens` tokens together."""


def blocks(
    tokenizer: "PreTrainedTokenizerBase", texts: Sequence[Text], config: FinetuneConfig
) -> list[Block]:
    """Pack texts into blocks, in order; drop none, and cut one that is longer than a block."""
    return list(_packed(pieces(tokenizer, texts, config), config.block_tokens))


def _packed(some: Iterable[Piece], block_tokens: int) -> Iterator[Block]:
    block: list[Piece] = []
    used = 0
    for piece in some:
        if used + len(piece.tokens) > block_tokens:
            yield tuple(block)
            block, used = [], 0
        block.append(piece)
        used += len(piece.tokens)
    if block:
        yield tuple(block)


def num_learnt(some: Iterable[Block]) -> int:
    """Count the tokens of blocks that are predicted."""
    return sum(piece.num_learnt for block in some for piece in block)


def count_steps(num_blocks: int, config: FinetuneConfig) -> int:
    """Give the optimizer steps that so many blocks take."""
    return config.epochs * steps_of_epoch(num_blocks, config)


def steps_of_epoch(num_blocks: int, config: FinetuneConfig) -> int:
    """Give the optimizer steps of one pass; the last may have fewer blocks."""
    return -(-num_blocks // config.batch_size)


def deal(
    step: Sequence[Block], num_processes: int, process: int, num_parts: int
) -> Iterator[Sequence[Block]]:
    """Give the parts of a step that one process computes one after another.

    Every process gets as many, since all meet after each; empty ones where blocks do not go
    round.
    """
    going_round = -(-len(step) // num_processes)
    for part in range(min(num_parts, going_round)):
        yield step[process + part * num_processes :: num_processes * min(num_parts, going_round)]
