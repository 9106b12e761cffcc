"""The unbiased estimator of Pass@k, in exact integers. It averages nothing and knows no puzzle."""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def pass_at_k(n: npt.ArrayLike, num_correct: npt.ArrayLike, k: int) -> Floats:
    """Estimate, puzzle by puzzle, the chance that at least one of k samples is right.

    Unbiased: 1 - C(n - c, k) / C(n, k), equation 1 of Chen et al. 2021 (arXiv 2107.03374). The
    binomials are exact integers, so each value is right to the last bit. Raises ValueError where k
    is not from 1 to n.
    """
    ns, corrects = np.broadcast_arrays(
        np.asarray(n, dtype=np.int64), np.asarray(num_correct, dtype=np.int64)
    )
    if k < 1:
        raise ValueError(f"Pass@k needs a k of at least 1; found {k}.")
    if ns.size and k > ns.min():
        raise ValueError(
            f"Pass@{k} needs at least {k} samples of every puzzle; the fewest found are {ns.min()}."
        )
    if np.any((corrects < 0) | (corrects > ns)):
        raise ValueError(
            "num_correct must lie between 0 and n for every puzzle; a row has it outside."
        )
    pairs = list(zip(ns.ravel().tolist(), corrects.ravel().tolist(), strict=True))
    known = {pair: _exact_pass_at_k(*pair, k) for pair in set(pairs)}
    return np.array([known[pair] for pair in pairs], dtype=np.float64).reshape(ns.shape)


def _exact_pass_at_k(n: int, num_correct: int, k: int) -> float:
    draws = math.comb(n, k)
    return (draws - math.comb(n - num_correct, k)) / draws
