"""GPT-Neo with shared prefixes: its class has an attention of its own, which takes no other.

Each of its layers is given a forward pass that attends by shared_prefix.py where the cache is that
one, and its own otherwise. Every second layer sees some tokens back only.
"""

from functools import partial
from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.models.gpt_neo.modeling_gpt_neo import GPTNeoSelfAttention

from selftrain.sampling.local.shared_prefix import SharedPrefixCache, attend_shared


def share(model: PreTrainedModel) -> bool:
    """Let a GPT-Neo share prefixes; give whether it is one."""
    layers = [layer for layer in model.modules() if isinstance(layer, GPTNeoSelfAttention)]
    for layer in layers:
        layer.layer_idx = layer.layer_id
        layer.forward = partial(_forward, layer)  # type: ignore[method-assign]
    return bool(layers)


def _forward(
    layer: GPTNeoSelfAttention,
    hidden_states: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    layer_past: object = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    if not isinstance(layer_past, SharedPrefixCache):
        own: Any = GPTNeoSelfAttention.forward
        return own(layer, hidden_states, attention_mask, layer_past, **kwargs)  # type: ignore[no-any-return]
    shape = (*hidden_states.shape[:2], layer.num_heads, layer.head_dim)
    query, key, value = (
        project(hidden_states).view(shape).transpose(1, 2)
        for project in (layer.q_proj, layer.k_proj, layer.v_proj)
    )
    key, value = layer_past.update(key, value, layer.layer_id)
    # Without a mask of ours the model makes one that only says what is causal.
    given = attention_mask is not None and attention_mask.dtype == torch.bool
    out, _ = attend_shared(
        layer,
        query,
        key,
        value,
        attention_mask if given else None,
        scaling=1.0,
        shared_prefix=layer_past,
        sliding_window=layer.config.window_size if layer.attention_type == "local" else None,
    )
    out = layer.out_proj(out.reshape(*hidden_states.shape[:2], -1))
    return layer.resid_dropout(out), None
