"""Attention to some of a row's keys at a time, and the average of such parts, which is exact.

The weights of the average come from the parts' log-sum-exps (Hydragen, Juravsky et al. 2024,
section 3.1; flash attention merges its blocks so). Which keys lie where is known in
shared_prefix.py.
"""

from typing import NamedTuple

import torch


class KeysValues(NamedTuple):
    """Keys and values of one layer."""

    keys: torch.Tensor
    """rows x key heads x tokens x head size"""
    values: torch.Tensor
    """The same."""

    def since(self, token: int) -> "KeysValues":
        """Leave out the tokens before this one."""
        return (
            self if token <= 0 else KeysValues(self.keys[:, :, token:], self.values[:, :, token:])
        )


class Part(NamedTuple):
    """What attention to some of the keys came to."""

    out: torch.Tensor
    """rows x key heads x queries x head size"""
    log_sum: torch.Tensor
    """Logarithm of the sum of exponentiated scores: rows x key heads x queries, float32."""


class RowsByPrompt:
    """Which row has which prompt, and where its queries lie when they are laid out by prompt."""

    def __init__(self, owner: torch.Tensor, num_prompts: int) -> None:
        self.owner = owner
        """Prompt of each row."""
        numbers = torch.arange(len(owner), device=owner.device)
        counts = torch.bincount(owner, minlength=num_prompts)
        firsts = counts.cumsum(0) - counts
        order = torch.argsort(owner, stable=True)
        self._place = torch.empty_like(owner)
        self._place[order] = numbers - firsts[owner[order]]
        # A prompt with fewer rows than the most has places left, whose answers nobody reads.
        self._row = owner.new_zeros(num_prompts, int(counts.max()))
        self._row[owner, self._place] = numbers

    def attend(
        self, query: torch.Tensor, prompts: KeysValues, scaling: float, hidden: torch.Tensor | None
    ) -> Part:
        """Attend from each row (rows x key heads x queries x head size) to its own prompt's keys.

        `hidden` (prompts x 1 x 1 x tokens) is added to the scores.
        """
        num_prompts, most = self._row.shape
        _, num_heads, group, size = query.shape
        by_prompt = query[self._row].transpose(1, 2).reshape(num_prompts, num_heads, -1, size)
        part = attend(by_prompt, prompts, scaling, hidden)
        out = part.out.reshape(num_prompts, num_heads, most, group, -1)
        log_sum = part.log_sum.reshape(num_prompts, num_heads, most, group)
        return Part(
            out.transpose(1, 2)[self.owner, self._place],
            log_sum.transpose(1, 2)[self.owner, self._place],
        )


def attend_as_one(
    query: torch.Tensor, shared: KeysValues, scaling: float, hidden: torch.Tensor | None = None
) -> Part:
    """Attend from all rows to keys that all of them share: the rows are queries of one.

    `hidden` (rows x tokens) is added to the scores.
    """
    num_rows, num_heads, group, size = query.shape
    if hidden is not None:
        hidden = hidden.repeat_interleave(group, dim=0)[None, None]
    part = attend(query.transpose(0, 1).reshape(1, num_heads, -1, size), shared, scaling, hidden)
    return Part(
        part.out.reshape(num_heads, num_rows, group, -1).transpose(0, 1),
        part.log_sum.reshape(num_heads, num_rows, group).transpose(0, 1),
    )


def attend(
    query: torch.Tensor, to: KeysValues, scaling: float, hidden: torch.Tensor | None = None
) -> Part:
    """Attend from every query to every key; `hidden` is added to the scores."""
    if query.device.type == "cpu":
        # What scaled_dot_product_attention calls, which keeps the log-sum-exp to itself.
        mask = None if hidden is None else hidden.expand(-1, -1, query.shape[2], -1)
        out, log_sum = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, to.keys, to.values, 0.0, False, attn_mask=mask, scale=scaling
        )
        return Part(out, log_sum)
    return by_products(query, to, scaling, hidden)


def by_products(
    query: torch.Tensor, to: KeysValues, scaling: float, hidden: torch.Tensor | None = None
) -> Part:
    """Do what `attend` does, by matrix products in float32, on any device."""
    scores = torch.matmul((query * scaling).float(), to.keys.float().transpose(2, 3))
    if hidden is not None:
        scores += hidden
    log_sum = scores.logsumexp(dim=-1)
    weights = torch.exp(scores - log_sum[..., None]).to(query.dtype)
    return Part(torch.matmul(weights, to.values), log_sum)


def merge(parts: list[Part]) -> torch.Tensor:
    """Average parts of attention to different keys."""
    weights = torch.softmax(torch.stack([part.log_sum for part in parts]), dim=0)[..., None]
    merged = sum(part.out * weight for part, weight in zip(parts, weights, strict=True))
    assert isinstance(merged, torch.Tensor)
    return merged.to(parts[0].out.dtype)


def hide(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor | None:
    """Turn what is seen into what is added to scores; None where all is seen."""
    if seen.all():
        return None
    hidden = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
    return hidden.masked_fill_(~seen, torch.finfo(dtype).min)
