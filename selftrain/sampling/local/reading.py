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
    distinct, owner = owners_of(prompts, model.device)
    ids, mask = pad_left(distinct, model.device)
    cache = DynamicCache(config=model.config)
    out = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions_of(mask),
        cache=cache,
        use_cache=True,
        logits_to_keep=1,
    )
    cache.batch_select_indices(owner)
    return ReadPrompts(out.logits[:, -1][owner], cache, mask[owner])


def owners_of(
    prompts: Sequence[list[int]], device: torch.device
) -> tuple[list[list[int]], torch.Tensor]:
    """Give the prompts, one of those beside each other that are equal, and each row's number."""
    groups = [(prompt, len(list(group))) for prompt, group in groupby(prompts)]
    counts = torch.tensor([count for _, count in groups], device=device)
    owner = torch.arange(len(groups), device=device).repeat_interleave(counts)
    return [prompt for prompt, _ in groups], owner


def pad_left(
    prompts: Sequence[Sequence[int]], device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Give the tokens (prompts x longest), and 1 where one stands, 0 where padding does."""
    longest = max(map(len, prompts))
    ids = torch.zeros(len(prompts), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, prompt in enumerate(prompts):
        ids[i, longest - len(prompt) :] = torch.tensor(prompt)
        mask[i, longest - len(prompt) :] = 1
    return ids.to(device), mask.to(device)


def positions_of(mask: torch.Tensor) -> torch.Tensor:
    """Number the tokens of rows that are padded on the left, from 0; padding has 0 too."""
    return (mask.cumsum(dim=1) - 1).clamp(min=0)
