"""Embeddings of puzzles by a causal language model: the mean of its last hidden state over f.

They tell which puzzles are alike to the model; nothing is trained for it, so a distance means
something beside another one of the same model only. The distances are in diversity/.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from accelerate.utils.memory import clear_device_cache
from numpy.typing import NDArray

from selftrain.config import ModelConfig
from selftrain.models import context_tokens, load_model, load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def embed(
    config: ModelConfig,
    texts: Sequence[str],
    *,
    advance: Callable[[int], object] = lambda _: None,
) -> NDArray[np.float32]:
    """Load the model, embed the texts, at least one, and give the model's memory back.

    Gives float32 of shape (texts, hidden size), row by row in the order of the texts. A row does
    not depend on the other texts, but for rounding: 1e-5 in float32, the third digit in bfloat16.
    A text beyond the model's context counts by its beginning. `advance` is told how many texts were
    just done.
    """
    distinct = sorted(set(texts))
    model, tokenizer = load_model(config), load_tokenizer(config)
    model.eval()  # type: ignore[no-untyped-call]
    rows = np.empty((len(distinct), _hidden_size(model)), dtype=np.float32)
    longest = context_tokens(model, config)
    for places, batch in _batches(tokenizer, distinct, longest, config.batch_size):
        rows[places] = _mean_states(model, batch)
        advance(len(places))
    del model
    clear_device_cache(garbage_collection=True)  # Fine-tuning needs it next.
    place = {text: number for number, text in enumerate(distinct)}
    return rows[[place[text] for text in texts]]


_Batch = list[tuple[list[int], list[int]]]
"""A text's tokens, and for each 1 where it is the text's own and 0 where the tokenizer adds it."""


def _batches(
    tokenizer: "PreTrainedTokenizerBase", texts: list[str], longest: int, size: int
) -> Iterator[tuple[list[int], _Batch]]:
    """Batch texts of like length, longest first: what is too large for memory fails at once."""
    read = tokenizer(texts, return_special_tokens_mask=True, verbose=False)
    tokens = [ids[:longest] for ids in read["input_ids"]]
    own = [[1 - mark for mark in marks[:longest]] for marks in read["special_tokens_mask"]]
    order = sorted(range(len(texts)), key=lambda i: (-len(tokens[i]), i))
    for start in range(0, len(order), size):
        places = order[start : start + size]
        yield places, [(tokens[i], own[i]) for i in places]


@torch.inference_mode()
def _mean_states(model: "PreTrainedModel", batch: _Batch) -> NDArray[np.float32]:
    """Average the last hidden state, after the final norm, over each text's own tokens.

    A token that every text begins with would make all texts alike, so it is left out. Pads on the
    right, where no token of a causal model looks.
    """
    longest = max(len(tokens) for tokens, _ in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    read, counted = torch.zeros_like(ids), torch.zeros_like(ids)
    for i, (tokens, own) in enumerate(batch):
        ids[i, : len(tokens)] = torch.tensor(tokens)
        read[i, : len(tokens)] = 1
        counted[i, : len(tokens)] = torch.tensor(own)
    ids, read, counted = (part.to(model.device) for part in (ids, read, counted))
    out = model.base_model(input_ids=ids, attention_mask=read, use_cache=False)
    states: torch.Tensor = out.last_hidden_state.float()
    weights = counted[:, :, None].float()
    means = (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    embedded: NDArray[np.float32] = means.cpu().numpy()
    return embedded


def _hidden_size(model: "PreTrainedModel") -> int:
    size: int = model.config.get_text_config().hidden_size
    return size
