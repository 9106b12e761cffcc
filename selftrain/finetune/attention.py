"""Attention within each piece of a packed row, registered with transformers under a name of ours.

Projections, norms and feed-forward layers see every token of the row once. Here alone tokens are
laid out piece by piece, so that a plain causal mask keeps pieces apart and no mask of row x row is
ever made. It is no kernel: scaled_dot_product_attention of torch does the work.
"""

from typing import Any

import torch
from torch.nn.functional import embedding, scaled_dot_product_attention
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from selftrain.finetune.batch import Paths

WITHIN_PIECES = "selftrain_within_pieces"
"""Its name among transformers' implementations. There is no mask of that name, so none is made."""


def attend_within_pieces(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float | None = None,
    dropout: float = 0.0,
    paths: Paths | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attend as transformers asks: query, key and value are 1 x heads x tokens x size.

    Raises NotImplementedError for what torch's function does not do.
    """
    if softcap is not None or s_aux is not None:
        raise NotImplementedError("logits of attention that are capped, or sinks")
    if paths is None:
        return sdpa_attention_forward(
            module, query, key, value, None, dropout=dropout, scaling=scaling, is_causal=True
        )
    rows = [x[0].transpose(0, 1) for x in (query, key, value)]
    attended = []
    for group in paths.groups:
        q, k, v = (_laid_out(x, group) for x in rows)
        window = _window(group.shape[1], sliding_window, query.device)
        out = scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=window,
            dropout_p=dropout,
            scale=scaling,
            is_causal=window is None,
            enable_gqa=q.shape[1] != k.shape[1],
        )
        attended.append(out.transpose(1, 2).flatten(0, 1))
    laid = torch.cat(attended)
    return embedding(paths.inverse, laid.flatten(1)).view(1, -1, *laid.shape[1:]), None


def _laid_out(row: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    """Copy tokens x heads x size to pieces x heads x longest x size; its gradient adds up."""
    # `embedding` and not indexing: its backward pass is the fast one, on a CPU by far.
    pieces = embedding(group, row.flatten(1))
    return pieces.view(*group.shape, *row.shape[1:]).transpose(1, 2)


def _window(length: int, size: int | None, device: torch.device) -> torch.Tensor | None:
    """Give the mask of a sliding window, where a piece is longer than it."""
    if size is None or length <= size:
        return None
    places = torch.arange(length, device=device)
    ahead = places[:, None] - places[None, :]
    return (ahead >= 0) & (ahead < size)


AttentionInterface.register(WITHIN_PIECES, attend_within_pieces)
