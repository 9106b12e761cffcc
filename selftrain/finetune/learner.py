"""The learner: a causal model that answers a batch with its loss, by the shortest way it takes.

The loss is computed inside of `forward`, where DDP and FSDP expect all use of the weights. Two
short cuts are tried on a few tokens first: attention within pieces of a packed row, and the
vocabulary's head applied here. A model that answers otherwise by one of them does without it.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from peft import PeftModel
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from selftrain.finetune.attention import WITHIN_PIECES
from selftrain.finetune.batch import Batch, Shape, packed, padded
from selftrain.finetune.loss import linear_cross_entropy
from selftrain.finetune.pieces import Piece

TRIED_TOKENS = 12
"""Tokens of a piece that short cuts are tried on."""
TOLERANCE = 1e-3
"""Largest difference of a logit, as a share of the largest logit, that is taken for rounding."""


class Learner(torch.nn.Module):
    """A model, and how it is asked."""

    def __init__(self, model: PreTrainedModel | PeftModel) -> None:
        super().__init__()
        self.model = model
        # By this name FSDP asks which layers to share out one by one.
        self._no_split_modules = self.transformer._no_split_modules
        self.packs = False
        """Whether batches are packed, each token read once for pieces that share it."""
        self.own_head = False
        """Whether the head is applied here, to the tokens that something is learnt at."""

    @property
    def shape(self) -> Shape:
        """How batches are to be made for it."""
        return packed if self.packs else padded

    def forward(self, batch: Batch) -> torch.Tensor:
        """Give the sum of the weighted losses of a batch's predictions, a scalar."""
        if self.own_head:
            return linear_cross_entropy(
                self.hidden(batch), self._head, batch.targets, batch.weights
            )
        losses = cross_entropy(self.logits(batch).float(), batch.targets, reduction="none")
        return (losses * batch.weights).sum()

    def hidden(self, batch: Batch) -> torch.Tensor:
        """Give the last hidden states that something is predicted from: predictions x size."""
        out = self.transformer.base_model(**self._inputs(batch))
        hidden: torch.Tensor = out.last_hidden_state.flatten(0, 1)[batch.predicted_at]
        return hidden

    def logits(self, batch: Batch) -> torch.Tensor:
        """Give the model's own scores for the predictions: predictions x vocabulary."""
        if self.own_head:
            scores: torch.Tensor = self._head(self.hidden(batch))
            return scores
        own: torch.Tensor = self.transformer(**self._inputs(batch)).logits
        return own.flatten(0, 1)[batch.predicted_at]

    def _inputs(self, batch: Batch) -> dict[str, object]:
        if batch.paths is None:
            return {"input_ids": batch.ids, "use_cache": False}
        return {
            "input_ids": batch.ids,
            "position_ids": batch.positions,
            "use_cache": False,
            "paths": batch.paths,
        }

    @property
    def transformer(self) -> PreTrainedModel:
        """The model without PEFT's shell; its adapters are layers within."""
        model = self.model
        if not isinstance(model, PeftModel):
            return model
        inner = model.get_base_model()
        assert isinstance(inner, PreTrainedModel), "what was given an adapter is such a model"
        return inner

    @property
    def _head(self) -> torch.nn.Linear:
        head = self.transformer.get_output_embeddings()  # type: ignore[no-untyped-call]
        if type(head) is not torch.nn.Linear:
            raise NotImplementedError("a head that is no plain matrix")
        return head


def try_shortcuts(learner: Learner, pieces: Sequence[Piece]) -> str:
    """Try both short cuts on the beginnings of some pieces, and take those that are right.

    Gives a sentence where attention within pieces is not, else an empty one.
    """
    first, last = (Piece(piece.tokens[:TRIED_TOKENS], 1) for piece in (pieces[0], pieces[-1]))
    # One beginning twice, with two ends: what is shared and what is apart are both seen.
    tried = [first, last, Piece((*first.tokens[: TRIED_TOKENS // 2], *last.tokens), 1)]
    learner.eval()
    with torch.no_grad():
        alone = _alone(learner, tried)
        learner.own_head = True
        learner.own_head = _agrees(partial(_alone, learner, tried), alone)
        transformer, before = learner.transformer, learner.transformer.config._attn_implementation
        learner.packs = _agrees(partial(_together, learner, tried), alone)
        if not learner.packs:
            transformer.set_attn_implementation(before)
    learner.train()
    name = type(transformer).__name__
    return "" if learner.packs else f"{name} cannot be told what to attend to: a row an example"


def _alone(learner: Learner, pieces: Sequence[Piece]) -> torch.Tensor:
    """Score what follows each beginning of the pieces, read one by one; equal beginnings once."""
    scores: dict[tuple[int, ...], torch.Tensor] = {}
    for piece in pieces:
        found = learner.logits(padded([piece], 1.0).to(learner.transformer.device))
        for place, row in enumerate(found, start=2):
            scores.setdefault(piece.tokens[:place], row)
    return torch.stack(list(scores.values()))


def _together(learner: Learner, pieces: Sequence[Piece]) -> torch.Tensor:
    """Score the same, read as one row."""
    learner.transformer.set_attn_implementation(WITHIN_PIECES)
    return learner.logits(packed(pieces, 1.0).to(learner.transformer.device))


def _agrees(score: Callable[[], torch.Tensor], expected: torch.Tensor) -> bool:
    try:
        difference = (score() - expected).abs().max()
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError):
        # Classes differ in what they take, and in how they refuse it.
        return False
    return bool(difference <= TOLERANCE * expected.abs().max())
