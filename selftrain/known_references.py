"""Reference solutions that this judge has accepted before: no start of a command judges them again.

A verdict is a pure function of the programs, the limits and the judge, so what passed would pass
again; it is known by a hash of all of them. Only passes are kept, in the user's cache folder: what
fails is judged at every start, and `selftrain check` judges everything. Nothing is judged here.
"""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from judge import Limits, engine_version, guest_fingerprint, guest_hash, judge_hash
from judge.build import default_cache_dir

MOST_BYTES = 20_000_000
"""From here on the file begins anew: it holds some 300,000 solutions, 65 bytes each."""


def known_file() -> Path:
    """Give the file that holds the names of what passed, a line each."""
    return default_cache_dir() / "references.txt"


def name_of(fs: Sequence[str], g: str, limits: Limits) -> str:
    """Name a solution and all that its verdict depends on: f at all its inputs, limits, judge."""
    judge = judge_hash(), guest_hash(), guest_fingerprint(), engine_version()
    text = repr((judge, limits, tuple(fs), g))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_known(file: Path) -> set[str]:
    """Read the names of what passed before; a line that a kill cut short is the name of nothing."""
    try:
        return set(file.read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return set()


def add_known(file: Path, names: Iterable[str]) -> None:
    """Write down what has passed now; where that cannot be kept, it is judged again next time."""
    # A newline first, so that a line which was cut short spoils none of these.
    text = "".join(f"\n{name}" for name in names)
    with suppress(OSError):
        is_full = file.exists() and file.stat().st_size > MOST_BYTES
        with file.open("w" if is_full else "a", encoding="ascii") as lines:
            lines.write(f"{text}\n")
