"""Which k a table shows: all, or the first, powers of ten, and the last."""

import pytest

from selftrain.report.columns import shown_ks


@pytest.mark.parametrize(
    ("ks", "most", "shown"),
    [
        ([16, 1, 16], 6, [1, 16]),
        (range(1, 7), 6, [1, 2, 3, 4, 5, 6]),
        (range(1, 8), 6, [1, 7]),
        (range(1, 101), 6, [1, 10, 100]),
        (range(256, 0, -1), 4, [1, 10, 100, 256]),
        (range(2, 20_001), 6, [2, 10, 100, 1000, 10_000, 20_000]),
        (range(2, 20_001), 4, [2, 10, 100, 20_000]),
    ],
)
def test_of_many_k_the_first_powers_of_ten_and_the_last_are_shown(
    ks: list[int], most: int, shown: list[int]
) -> None:
    assert shown_ks(ks, most) == shown
