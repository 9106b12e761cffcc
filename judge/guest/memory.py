"""Leaves the memory of the snapshot so that a fresh instance writes to few pages.

An instance shares the snapshot's pages until it writes to one, and pays for each that it does;
that was a quarter of the time of a small program. Importing leaves memory full of holes, and small
objects that fall into them touch a page each. So the holes are filled here, and what comes later
lies side by side at the end. Not here: anything that a program can notice.
"""

import gc
from typing import Any

LARGE = (*range(1 << 18, 1 << 12, -1024), *range(1 << 12, 256, -8))
SMALL = range(256, 0, -8)
"""Sizes of holes, in bytes. Ints up to 256 exist already: making one leaves no hole again."""
FREE_LIST_ITEMS = 300
"""More than the interpreter keeps of each kind of small object for the next one to use."""
FILLINGS: list[Any] = []


def settle() -> None:
    """Collect garbage, fill the holes, and keep the collector away from what exists."""
    gc.collect()
    end = id(bytes(1 << 20))
    FILLINGS.append(fill(LARGE, end))
    # What making these fillings left in the interpreter's own free lists would be given back
    # before the snapshot, as holes: use it up, and fill what that leaves.
    FILLINGS.append([fill(SMALL, end), small_objects(), fill(SMALL, end), small_objects()])
    gc.freeze()


def fill(sizes: Any, end: int) -> Any:
    """Allocate in every hole below the address end; return what was allocated, as a chain."""
    chain: Any = None
    for size in sizes:
        while id(filling := bytes(size)) < end:
            chain = (chain, filling)
    return chain


def small_objects() -> list[Any]:
    """Make many small objects of the kinds that have a free list."""
    numbers = range(1000, 1000 + FREE_LIST_ITEMS)
    return [[(number, {}, [number]) for number in numbers], [(0,) * k for k in range(20)] * 100]
