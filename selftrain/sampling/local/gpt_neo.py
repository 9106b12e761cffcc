"""GPT-Neo with shared prefixes: its class has an attention of its own, which takes no other.

Each of its layers attends by shared_prefix.py where the cache is that one, and by itself otherwise.
Every second layer sees some tokens back only.
"""

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
        # Not a forward of its own: what refers to itself outlives its last user for a while.
        layer.__class__ = _Sharing
    return bool(layers)


class _Sharing(GPTNeoSelfAttention):
    def forward(  # type: ignore[override]
        self,
        hidden_states: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        layer_past: object = None,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Attend from some tokens (rows x tokens x size) to the cache and to themselves."""
        if not isinstance(layer_past, SharedPrefixCache):
            own: Any = super().forward
            return own(hidden_states, attention_mask, layer_past, **kwargs)  # type: ignore[no-any-return]
        shape = (*hidden_states.shape[:2], self.num_heads, self.head_dim)
        query, key, value = (
            project(hidden_states).view(shape).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        key, value = layer_past.update(key, value, self.layer_id)
        # Without a mask of ours the model makes one that only says what is causal.
        given = attention_mask is not None and attention_mask.dtype == torch.bool
        out, _ = attend_shared(
            self,
            query,
            key,
            value,
            attention_mask if given else None,
            scaling=1.0,
            shared_prefix=layer_past,
            sliding_window=self.config.window_size if self.attention_type == "local" else None,
        )
        out = self.out_proj(out.reshape(*hidden_states.shape[:2], -1))
        return self.resid_dropout(out), None
