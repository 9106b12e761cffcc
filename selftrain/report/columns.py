"""Which columns a table of Pass@k has room for."""

from collections.abc import Sequence


def shown_ks(ks: Sequence[int], most: int) -> list[int]:
    """Choose at most `most` (two or more) of the k, lowest first.

    Where there are more, these are the first, the smallest powers of ten between, and the last.
    """
    every = sorted(set(ks))
    if len(every) <= most:
        return every
    between = [k for k in every[1:-1] if k == 10 ** (len(str(k)) - 1)]
    return [every[0], *between[: most - 2], every[-1]]
