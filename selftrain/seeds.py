"""Seeds: every draw of a run comes from one seed and the place where it is drawn.

Nothing is drawn here.
"""

import hashlib


def derive_seed(seed: int, *place: int | str) -> int:
    """Derive a 63-bit seed from the run's seed and a place such as (round, stage, id, index).

    A hash, not `hash()`: the same on every machine and in every process.
    """
    text = "/".join(str(part) for part in (seed, *place))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
