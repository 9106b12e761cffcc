"""Attention over prompts that many rows share: computed once for all of them, then merged.

A row's keys lie in three places: what all prompts begin with, the rest of its own prompt, which its
other samples share, and what was drawn for it alone. Each place is attended to by itself, as one
matrix product over all rows that share it, and the three answers are averaged by the weights that
their log-sum-exps give, which is exact (Hydragen, Juravsky et al. 2024, section 3.1; flash
attention's merging of blocks). Nothing is copied from row to row or from step to step.

This is a cache and an attention function of transformers. It draws nothing (local.py), and it does
not know whether a class of models takes it: `can_share` in decoding.py tries that out.
"""

import math
from typing import Any, NamedTuple

import torch
from transformers import AttentionInterface, Cache
from transformers.integrations.sdpa_attention import sdpa_attention_forward

NAME = "shared_prefix"
"""Of the attention function, as transformers knows it."""
_FIRST_CAPACITY = 32


class KeysValues(NamedTuple):
    """Keys and values of one layer."""

    keys: torch.Tensor
    """rows x key heads x tokens x head size"""
    values: torch.Tensor
    """The same."""


class _Part(NamedTuple):
    """What attention to some of the keys came to."""

    out: torch.Tensor
    """rows x key heads x queries x head size"""
    log_sum: torch.Tensor
    """Logarithm of the sum of exponentiated scores: rows x key heads x queries, float32."""


class SharedPrefixCache(Cache):
    """Keys and values of a batch. Prompts are read into it first, once each; then rows are drawn.

    `begin_drawing` says which row has which prompt.
    """

    def __init__(self, common: list[KeysValues] | None = None) -> None:
        super().__init__(layers=[])
        self.common = common or []
        """A layer each: what all prompts begin with, a single row."""
        self.prompts: list[KeysValues] = []
        """A layer each: the rest of the prompts, a row each, padded on the left."""
        self._drawn: list[_Drawn] = []
        self.window = math.inf
        """Fewest tokens back that a layer sees, as the model said when it read: here all are."""
        self._rows: _Rows | None = None
        self._padding: torch.Tensor | None = None

    @property
    def is_drawing(self) -> bool:
        """Tell whether all prompts are read."""
        return self._rows is not None

    def begin_drawing(self, owner: torch.Tensor, mask: torch.Tensor) -> None:
        """Let rows have the prompts numbered in `owner` (rows), of which `mask` (prompts x tokens)
        is 0 where padding stands.
        """
        self._rows = _Rows(owner, mask.shape[0])
        self._padding = None
        if not mask.all():
            dtype = self.prompts[0].keys.dtype
            hidden = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
            hidden.masked_fill_(mask == 0, torch.finfo(dtype).min)
            self._padding = hidden[:, None, None]

    def keep_rows(self, kept: torch.Tensor) -> None:
        """Drop all rows but these."""
        assert self._rows is not None
        owner = self._rows.owner[kept]
        left, owner = torch.unique(owner, return_inverse=True)
        if len(left) < len(self.prompts[0].keys):
            self.prompts = [KeysValues(k[left], v[left]) for k, v in self.prompts]
            self._padding = None if self._padding is None else self._padding[left]
        self._rows = _Rows(owner, len(left))
        for drawn in self._drawn:
            drawn.keep_rows(kept)

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        *_: Any,
        **__: Any,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Take in a layer's new keys and values; give all that prompts being read attend to, or
        what was drawn.
        """
        if self.is_drawing:
            if layer_idx == len(self._drawn):
                self._drawn.append(_Drawn(key_states, value_states))
            return self._drawn[layer_idx].append(key_states, value_states)
        new = KeysValues(key_states, value_states)
        if layer_idx == len(self.prompts):
            self.prompts.append(new)
        else:
            self.prompts[layer_idx] = KeysValues(
                *map(torch.cat, zip(self.prompts[layer_idx], new, strict=True))
            )
        if not self.common:
            return new
        shape = (len(key_states), -1, -1, -1)
        return KeysValues(
            *(
                torch.cat([old.expand(shape), states], dim=2)
                for old, states in zip(self.common[layer_idx], new, strict=True)
            )
        )

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Give 0: positions are always told, never counted from here."""
        return 0

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        drawn: KeysValues,
        scaling: float,
    ) -> torch.Tensor:
        """Attend from the newest token of each row (rows x heads x 1 x head size) to all its keys.

        Gives rows x 1 x heads x head size.
        """
        assert self._rows is not None
        num_rows, num_heads = query.shape[:2]
        # Heads that share keys are queries of one key head.
        query = query.reshape(num_rows, drawn.keys.shape[1], -1, query.shape[-1])
        parts = [
            _attend(query, drawn, scaling),
            self._rows.attend(query, self.prompts[layer], scaling, self._padding),
        ]
        if self.common:
            parts.append(_attend_as_one(query, self.common[layer], scaling))
        return _merge(parts).reshape(num_rows, 1, num_heads, -1)


class _Drawn:
    """Keys and values of what was drawn, in one layer, with room for more."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        self._length = 0
        self._buffers = [_room(keys, _FIRST_CAPACITY), _room(values, _FIRST_CAPACITY)]

    def append(self, *states: torch.Tensor) -> KeysValues:
        if self._length == self._buffers[0].shape[2]:
            for i, old in enumerate(self._buffers):
                self._buffers[i] = _room(old, 2 * self._length)
                self._buffers[i][:, :, : self._length] = old
        for buffer, new in zip(self._buffers, states, strict=True):
            buffer[:, :, self._length : self._length + 1] = new
        self._length += 1
        return KeysValues(*(buffer[:, :, : self._length] for buffer in self._buffers))

    def keep_rows(self, kept: torch.Tensor) -> None:
        self._buffers = [buffer[kept] for buffer in self._buffers]


class _Rows:
    """Which row has which prompt, and where its queries lie when they are laid out by prompt."""

    def __init__(self, owner: torch.Tensor, num_prompts: int) -> None:
        self.owner = owner
        numbers = torch.arange(len(owner), device=owner.device)
        counts = torch.bincount(owner, minlength=num_prompts)
        firsts = counts.cumsum(0) - counts
        order = torch.argsort(owner, stable=True)
        self._place = torch.empty_like(owner)
        self._place[order] = numbers - firsts[owner[order]]
        # A prompt with fewer rows than the most has places left, whose answers nobody reads.
        self._row = torch.zeros(
            num_prompts, int(counts.max()), dtype=torch.long, device=owner.device
        )
        self._row[owner, self._place] = torch.arange(len(owner), device=owner.device)

    def attend(
        self,
        query: torch.Tensor,
        prompts: KeysValues,
        scaling: float,
        padding: torch.Tensor | None,
    ) -> _Part:
        num_prompts, most = self._row.shape
        _, num_heads, group, size = query.shape
        by_prompt = query[self._row].transpose(1, 2).reshape(num_prompts, num_heads, -1, size)
        part = _attend(by_prompt, prompts, scaling, padding)
        out = part.out.reshape(num_prompts, num_heads, most, group, -1)
        log_sum = part.log_sum.reshape(num_prompts, num_heads, most, group)
        return _Part(
            out.transpose(1, 2)[self.owner, self._place],
            log_sum.transpose(1, 2)[self.owner, self._place],
        )


def _attend_as_one(query: torch.Tensor, shared: KeysValues, scaling: float) -> _Part:
    """Attend from all rows to keys that all of them share: the rows are queries of one."""
    num_rows, num_heads, group, size = query.shape
    part = _attend(query.transpose(0, 1).reshape(1, num_heads, -1, size), shared, scaling)
    return _Part(
        part.out.reshape(num_heads, num_rows, group, -1).transpose(0, 1),
        part.log_sum.reshape(num_heads, num_rows, group).transpose(0, 1),
    )


def _attend(
    query: torch.Tensor, to: KeysValues, scaling: float, padding: torch.Tensor | None = None
) -> _Part:
    """Attend from every query to every key, but those that `padding` (added to scores) hides."""
    if query.device.type == "cpu":
        # What scaled_dot_product_attention calls, which keeps the log-sum-exp to itself.
        mask = None if padding is None else padding.expand(-1, -1, query.shape[2], -1)
        out, log_sum = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, to.keys, to.values, 0.0, False, attn_mask=mask, scale=scaling
        )
        return _Part(out, log_sum)
    scores = (torch.matmul(query, to.keys.transpose(2, 3)) * scaling).float()
    if padding is not None:
        scores += padding
    log_sum = scores.logsumexp(dim=-1)
    weights = torch.exp(scores - log_sum[..., None]).to(query.dtype)
    return _Part(torch.matmul(weights, to.values), log_sum)


def _merge(parts: list[_Part]) -> torch.Tensor:
    weights = torch.softmax(torch.stack([part.log_sum for part in parts]), dim=0)[..., None]
    merged = sum(part.out * weight for part, weight in zip(parts, weights, strict=True))
    assert isinstance(merged, torch.Tensor)
    return merged.to(parts[0].out.dtype)


def _room(like: torch.Tensor, tokens: int) -> torch.Tensor:
    return like.new_empty(*like.shape[:2], tokens, like.shape[3])


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float,
    shared_prefix: SharedPrefixCache | None = None,
    sliding_window: int | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend as transformers asks of an attention function; `shared_prefix` comes through the
    model's own keyword arguments.
    """
    if shared_prefix is not None and sliding_window is not None:
        shared_prefix.window = min(shared_prefix.window, sliding_window)
    if shared_prefix is None or not shared_prefix.is_drawing:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
    layer = module.layer_idx
    assert isinstance(layer, int)
    return shared_prefix.attend(layer, query, KeysValues(key, value), scaling), None


AttentionInterface.register(NAME, _attention)  # type: ignore[no-untyped-call]
