"""Batches: what a model reads at once, made of pieces in one of two shapes. Nothing is computed.

Packed, a batch is one row in which every token stands once for all the pieces that agree up to it:
a causal model's hidden state follows from the tokens up to it alone, so solutions of one puzzle
share their prompt. attention.py sees to it that each token sees just those before it in its piece.
Padded, a batch has a row a piece, for models whose attention cannot be told so.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from selftrain.finetune.blocks import Block
from selftrain.finetune.pieces import Piece

LIKE_LENGTH = 0.5
"""Pieces attend together that have at least this share of the longest one's length."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The pieces of a packed row, as places in it, for attention to lay out beside each other."""

    groups: tuple[torch.Tensor, ...]
    """Pieces x longest: where each token of pieces of like length stands; what fills up the shorter
    ones comes after their end, where no token of theirs looks."""
    inverse: torch.Tensor
    """For each token of the row, where it stands among all groups' tokens, laid end to end."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Tokens to read, and what to learn from them. The last token of a piece is only learnt."""

    ids: torch.Tensor
    """Rows x tokens."""
    positions: torch.Tensor
    """The same shape: how many tokens come before each in its piece."""
    paths: Paths | None
    """None in a padded batch."""
    predicted_at: torch.Tensor
    """Of each prediction the token, counted through all rows, that it is made at."""
    targets: torch.Tensor
    """The token that follows there."""
    weights: torch.Tensor
    """How much each counts; as often as pieces agree up to it, times a scale."""

    def to(self, device: torch.device) -> "Batch":
        """Move it to a device."""

        def move(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.to(device, non_blocking=True)

        paths = self.paths and Paths(tuple(map(move, self.paths.groups)), move(self.paths.inverse))
        return Batch(
            move(self.ids),
            move(self.positions),
            paths,
            move(self.predicted_at),
            move(self.targets),
            move(self.weights),
        )


Shape = Callable[[Sequence[Piece], float], Batch]


def batch_of(blocks: Sequence[Block], shape: Shape, scale: float) -> Batch:
    """Make a batch of all the pieces in some blocks; each prediction counts `scale`."""
    return shape([piece for block in blocks for piece in block], scale)


def packed(pieces: Sequence[Piece], scale: float) -> Batch:
    """Lay pieces into one row, each token once for every beginning that pieces share."""
    places: dict[tuple[int, int], int] = {}
    ids: list[int] = []
    positions: list[int] = []
    paths: list[list[int]] = []
    learnt: Counter[tuple[int, int]] = Counter()
    for piece in pieces:
        path: list[int] = []
        place = -1
        for position, token in enumerate(piece.tokens):
            if position >= piece.num_given:
                learnt[place, token] += 1
            if position == len(piece.tokens) - 1:
                break
            place = places.setdefault((place, token), len(ids))
            if place == len(ids):
                ids.append(token)
                positions.append(position)
            path.append(place)
        paths.append(path)
    return _batch([ids], [positions], _paths(paths, len(ids)), learnt, scale)


def padded(pieces: Sequence[Piece], scale: float) -> Batch:
    """Give each piece a row; what fills up the shorter ones comes after them, unseen."""
    longest = max(len(piece.tokens) for piece in pieces) - 1
    ids = [[*piece.tokens[:-1], *[0] * (longest - len(piece.tokens) + 1)] for piece in pieces]
    learnt: Counter[tuple[int, int]] = Counter()
    for row, piece in enumerate(pieces):
        for position in range(piece.num_given, len(piece.tokens)):
            learnt[row * longest + position - 1, piece.tokens[position]] += 1
    return _batch(ids, [list(range(longest))] * len(pieces), None, learnt, scale)


def _paths(paths: list[list[int]], num_tokens: int) -> Paths:
    groups: list[list[list[int]]] = []
    for path in sorted(paths, key=len, reverse=True):
        if not groups or len(path) < LIKE_LENGTH * len(groups[-1][0]):
            groups.append([])
        longest = len(groups[-1][0]) if groups[-1] else len(path)
        groups[-1].append([*path, *[path[-1]] * (longest - len(path))])
    tensors = tuple(map(torch.tensor, groups))
    inverse = [-1] * num_tokens
    for place, token in enumerate(torch.cat([tensor.flatten() for tensor in tensors]).tolist()):
        # What fills up repeats the token before it, so of equal ones the first is the real one.
        if inverse[token] < 0:
            inverse[token] = place
    return Paths(tensors, torch.tensor(inverse))


def _batch(
    ids: list[list[int]],
    positions: list[list[int]],
    paths: Paths | None,
    learnt: Counter[tuple[int, int]],
    scale: float,
) -> Batch:
    predicted_at, targets = zip(*learnt, strict=True)
    return Batch(
        ids=torch.tensor(ids),
        positions=torch.tensor(positions),
        paths=paths,
        predicted_at=torch.tensor(predicted_at),
        targets=torch.tensor(targets),
        weights=torch.tensor(list(learnt.values()), dtype=torch.float32) * scale,
    )
