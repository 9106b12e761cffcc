"""Attention over prompts that many rows share: computed once for all of them, then merged.

A row's keys lie in three places: what all prompts begin with, the rest of its own prompt, which its
other samples share, and what was drawn for it alone. Each place is attended to by itself, as one
matrix product over all rows that share it (attention_parts.py). Nothing is copied from row to row
or from step to step. A layer that sees some tokens back only finds the others hidden.

This is a cache and an attention function of transformers. It draws nothing (sampler.py), and it
does not know whether a class of models takes it: `can_share` in decoding.py tries that out.
"""

from typing import Any

import torch
from transformers import AttentionInterface, Cache
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from selftrain.sampling.local.attention_parts import (
    KeysValues,
    RowsByPrompt,
    attend,
    attend_as_one,
    hide,
    merge,
)

NAME = "shared_prefix"
"""Of the attention function, as transformers knows it."""
_FIRST_CAPACITY = 32


class SharedPrefixCache(Cache):
    """Keys and values of a batch. Prompts are read into it first, once each; then rows are drawn.

    `begin_reading` says where the tokens stand that are read next, `begin_drawing` which row has
    which prompt.
    """

    def __init__(self, common: list[KeysValues] | None = None) -> None:
        super().__init__(layers=[])
        self.common = common or []
        """A layer each: what all prompts begin with, a single row."""
        self.prompts: list[KeysValues] = []
        """A layer each: the rest of the prompts, a row each, padded on the left."""
        self._drawn: list[_Drawn] = []
        self._rows: RowsByPrompt | None = None
        self._lengths = torch.zeros(0, dtype=torch.long)
        self._padding: torch.Tensor | None = None
        self._positions = torch.zeros(0, 0, dtype=torch.long)
        self._hidden: dict[tuple[int, int], torch.Tensor | None] = {}
        self.heard_of_window = False
        """Whether a layer has said that it sees some tokens back only."""

    @property
    def is_drawing(self) -> bool:
        """Tell whether all prompts are read."""
        return self._rows is not None

    def begin_reading(self, positions: torch.Tensor) -> None:
        """Say where tokens stand (prompts x tokens), in their prompts, that are read next."""
        self._positions = positions

    def begin_drawing(self, owner: torch.Tensor, mask: torch.Tensor) -> None:
        """Let rows have the prompts numbered in `owner` (rows), of which `mask` (prompts x tokens)
        is 0 where padding stands.
        """
        self._rows = RowsByPrompt(owner, mask.shape[0])
        self._lengths = mask.sum(dim=1)
        self._padding = hide(mask[:, None, None].bool(), self.prompts[0].keys.dtype)

    def keep_rows(self, kept: torch.Tensor) -> None:
        """Drop all rows but these."""
        assert self._rows is not None
        owner = self._rows.owner[kept]
        left, owner = torch.unique(owner, return_inverse=True)
        if len(left) < len(self.prompts[0].keys):
            self.prompts = [KeysValues(k[left], v[left]) for k, v in self.prompts]
            self._lengths = self._lengths[left]
            self._padding = None if self._padding is None else self._padding[left]
        self._rows = RowsByPrompt(owner, len(left))
        self._hidden = {}
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
        window: int | None,
    ) -> torch.Tensor:
        """Attend from the newest token of each row (rows x heads x 1 x head size) to all its keys,
        or to the last `window` ones.

        Gives rows x 1 x heads x head size.
        """
        assert self._rows is not None
        num_rows, num_heads = query.shape[:2]
        # Heads that share keys are queries of one key head.
        query = query.reshape(num_rows, drawn.keys.shape[1], -1, query.shape[-1])
        own = self.prompts[layer]
        num_drawn, num_own = drawn.keys.shape[2], own.keys.shape[2]
        # Padded on the left, all prompts end where drawing begins: what is too far back in one is
        # so in all.
        unseen = 0 if window is None else num_own + num_drawn - window
        parts = [attend(query, drawn.since(unseen - num_own), scaling)]
        if unseen < num_own:
            padding = self._padding
            padding = None if padding is None else padding[..., max(unseen, 0) :]
            parts.append(self._rows.attend(query, own.since(unseen), scaling, padding))
        if self.common:
            hidden = self._hidden_of_common(layer, num_drawn, window)
            parts.append(attend_as_one(query, self.common[layer], scaling, hidden))
        return merge(parts).reshape(num_rows, 1, num_heads, -1)

    def _hidden_of_common(
        self, layer: int, num_drawn: int, window: int | None
    ) -> torch.Tensor | None:
        """Say which row does not see which of the common tokens: the same in all layers of a step.

        A row that sees none of them gets a part of no weight.
        """
        assert self._rows is not None
        if window is None:
            return None
        if (num_drawn, window) not in self._hidden:
            self._hidden = {key: old for key, old in self._hidden.items() if key[0] == num_drawn}
            keys = self.common[layer].keys
            tokens = torch.arange(keys.shape[2], device=keys.device)
            newest = len(tokens) + self._lengths[self._rows.owner] + num_drawn - 1
            self._hidden[num_drawn, window] = hide(newest[:, None] - tokens < window, keys.dtype)
        return self._hidden[num_drawn, window]

    def sees_while_reading(self, mask: torch.Tensor | None, window: int) -> torch.Tensor:
        """Narrow what the tokens being read see (rows x 1 x tokens x keys) to a window."""
        start = self.common[0].keys.shape[2] if self.common else 0
        common = torch.arange(start, device=self._positions.device)
        keys = torch.cat([common.expand(len(self._positions), -1), self._positions], dim=1)
        back = self._positions[:, None, :, None] - keys[:, None, None]
        return (back < window) & ((back >= 0) if mask is None else mask)


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


def _room(like: torch.Tensor, tokens: int) -> torch.Tensor:
    return like.new_empty(*like.shape[:2], tokens, like.shape[3])


def attend_shared(
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
        shared_prefix.heard_of_window = True
    if shared_prefix is None:
        kwargs["sliding_window"] = sliding_window
    elif shared_prefix.is_drawing:
        layer = module.layer_idx
        assert isinstance(layer, int)
        kept = KeysValues(key, value)
        return shared_prefix.attend(layer, query, kept, scaling, sliding_window), None
    elif sliding_window is not None:
        attention_mask = shared_prefix.sees_while_reading(attention_mask, sliding_window)
    return sdpa_attention_forward(
        module, query, key, value, attention_mask, scaling=scaling, **kwargs
    )


AttentionInterface.register(NAME, attend_shared)  # type: ignore[no-untyped-call]
