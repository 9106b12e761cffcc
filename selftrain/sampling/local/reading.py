"""Prompts as a model reads them before it draws or is told what follows. Nothing is drawn here."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from transformers import DynamicCache, PreTrainedModel


class ReadPrompts(NamedTuple):
    """What a model made of a batch of prompts, a row each."""

    logits: torch.Tensor
    """Those after each prompt: rows x vocabulary."""
    cache: DynamicCache
    """Keys and values of all rows."""
    mask: torch.Tensor
    """1 where a token stands, 0 where padding does: rows x longest prompt."""


def read_prompts(model: PreTrainedModel, prompts: Sequence[list[int]]) -> ReadPrompts:
    """Read a prompt's tokens once for all the rows beside each other that have it; pad on the left.

    What was read is then copied to its rows. Prompts have a token at least.
    """
    groups = [(prompt, len(list(group))) for prompt, group in groupby(prompts)]
    longest = max(len(prompt) for prompt, _ in groups)
    ids = torch.zeros(len(groups), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, (prompt, _) in enumerate(groups):
        ids[i, longest - len(prompt) :] = torch.tensor(prompt)
        mask[i, longest - len(prompt) :] = 1
    counts = torch.tensor([count for _, count in groups])
    owner = torch.arange(len(groups)).repeat_interleave(counts).to(model.device)
    ids, mask = ids.to(model.device), mask.to(model.device)
    cache = DynamicCache(config=model.config)
    out = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=(mask.cumsum(dim=1) - 1).clamp(min=0),
        cache=cache,
        use_cache=True,
        logits_to_keep=1,
    )
    cache.batch_select_indices(owner)
    return ReadPrompts(out.logits[:, -1][owner], cache, mask[owner])
