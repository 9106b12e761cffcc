"""Drawing a token a row from logits and from random numbers of the row's own.

What comes out depends on nothing else in the batch, but for rounding in the last bit of a
probability.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from selftrain.errors import RunError

RUN_TOKENS = 128
"""Tokens of the vocabulary whose probabilities are summed together."""


def uniforms_of(seed: int, count: int) -> NDArray[np.float64]:
    """Draw a row's random numbers from its seed alone, by a counter-based generator."""
    return np.random.Generator(np.random.Philox(key=seed)).random(count)


def draw(
    logits: torch.Tensor, uniforms: NDArray[np.float64], temperature: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw a token a row by inverting the cumulative distribution.

    Temperature 0 takes the likeliest. Gives the tokens, and their log-probabilities at
    temperature 1. Raises RunError where logits are no numbers.
    """
    logits = logits.float()
    if logits.device.type == "mps":
        logits = logits.cpu()  # mps has no float64
    whole = logits.logsumexp(dim=-1)
    if not whole.isfinite().all():
        raise RunError(
            "the model's scores are no numbers: its weights hold NaN or infinity. Was it trained "
            "with too high a learning rate, or does it compute in too coarse a precision?"
        )
    if temperature == 0:
        tokens = logits.argmax(dim=-1)
    else:
        weights = torch.softmax((logits - logits.amax(dim=-1, keepdim=True)) / temperature, dim=-1)
        tokens = _invert(weights, torch.from_numpy(uniforms).to(logits.device))
    chosen = logits.gather(1, tokens[:, None])[:, 0].double() - whole.double()
    return tokens.cpu().numpy(), chosen.cpu().numpy()


def _invert(weights: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """Find in each row (rows x tokens) where its cumulative sum passes its share of the whole.

    First among runs of tokens, then within one: to sum them all in float64 takes longer than a
    small model takes to make them.
    """
    rows = torch.arange(len(weights), device=weights.device)
    missing = -weights.shape[1] % RUN_TOKENS
    if missing:
        weights = torch.nn.functional.pad(weights, (0, missing))
    runs = weights.view(len(weights), -1, RUN_TOKENS)
    sums = runs.sum(dim=-1).double()
    ends = sums.cumsum(dim=-1)
    aims = uniforms * ends[:, -1]
    run = _first_above(ends, aims)
    begun = ends[rows, run] - sums[rows, run]
    within = runs[rows, run].double().cumsum(dim=-1)
    return run * RUN_TOKENS + _first_above(within, aims - begun)


def _first_above(ends: torch.Tensor, aims: torch.Tensor) -> torch.Tensor:
    """Find in each row of rising numbers the first above its aim; rounding never finds none."""
    aims = torch.minimum(aims, ends[:, -1] * (1 - 1e-15))
    return torch.searchsorted(ends, aims[:, None], right=True)[:, 0]
