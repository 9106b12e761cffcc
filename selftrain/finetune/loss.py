"""Cross entropy of a vocabulary's head, computed and differentiated a chunk of tokens at a time.

The scores of all tokens against the whole vocabulary, the largest tensor of a small model, are
never held: each chunk's gradient is taken while its scores are at hand, as the loss is linear in
what is asked of it later. The gradient is exact. torch's own linear_cross_entropy goes by chunks
too, but where each token has a weight it computes the scores twice; liger-kernel's needs a GPU.
"""

from typing import Any

import torch
from torch.nn.functional import linear

CHUNK = 2**24
"""Scores held at once."""


def linear_cross_entropy(
    hidden: torch.Tensor, head: torch.nn.Linear, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Sum the cross entropies of `head(hidden)`, tokens x size, with `targets`, each weighted."""
    inputs = (hidden, head.weight, head.bias, targets, weights)
    loss: torch.Tensor = _LinearCrossEntropy.apply(*inputs)  # type: ignore[no-untyped-call]
    return loss


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        targets: torch.Tensor,
        weights: torch.Tensor,
    ) -> torch.Tensor:
        """Sum the loss, and take the gradients of those inputs that need one."""
        inputs = (hidden, weight, bias)
        grads = [
            torch.zeros_like(x, dtype=_summed_in(x)) if want and x is not None else None
            for x, want in zip(inputs, ctx.needs_input_grad[:3], strict=True)
        ]
        # Autocast would turn the head anew for each chunk.
        dtype = _computed_in(hidden)
        hidden, weight = hidden.to(dtype), weight.to(dtype)
        bias = None if bias is None else bias.to(dtype)
        total = torch.zeros((), device=hidden.device)
        size = max(1, CHUNK // len(weight))
        for start in range(0, len(hidden), size):
            part = slice(start, start + size)
            scores = linear(hidden[part], weight, bias).float()
            total += _loss_to_gradient(scores, targets[part], weights[part])
            _add_gradients(grads, scores.to(dtype), hidden[part], weight, part)
        ctx.save_for_backward(*map(_like, grads, inputs))
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Scale the gradients."""
        grads = (None if grad is None else grad.mul_(upstream[0]) for grad in ctx.saved_tensors)
        return (*grads, None, None)


def _computed_in(hidden: torch.Tensor) -> torch.dtype:
    """Give the type that autocast asks for, else that of what comes in."""
    device = hidden.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype


def _summed_in(x: torch.Tensor) -> torch.dtype:
    """Give the type that gradients of chunks are added up in: float32 at least."""
    return torch.promote_types(x.dtype, torch.float32)


def _like(grad: torch.Tensor | None, x: torch.Tensor | None) -> torch.Tensor | None:
    """Round a gradient to the type of what it is of, once, however many chunks there were."""
    return grad if grad is None or x is None else grad.to(x.dtype)


def _loss_to_gradient(
    scores: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Give the weighted loss of some scores, and put its gradient in their place."""
    own = scores.gather(1, targets[:, None])[:, 0]
    logsumexp = scores.logsumexp(1)
    scores.sub_(logsumexp[:, None]).exp_()
    scores[torch.arange(len(scores), device=scores.device), targets] -= 1
    scores.mul_(weights[:, None])
    return ((logsumexp - own) * weights).sum()


def _add_gradients(
    grads: list[torch.Tensor | None],
    of_scores: torch.Tensor,
    hidden: torch.Tensor,
    weight: torch.Tensor,
    part: slice,
) -> None:
    of_hidden, of_weight, of_bias = grads
    if of_hidden is not None:
        of_hidden[part] = of_scores @ weight
    if of_weight is not None:
        of_weight += of_scores.T @ hidden
    if of_bias is not None:
        of_bias += of_scores.sum(0)
