"""What the judge remembers: verdicts, executions, what f said of an answer. Bounded by its size.

Each is a pure function of its programs and limits, so what is remembered is what would be found
again; only the seconds are those of the first time.
"""

import hashlib
import threading
from collections.abc import Sequence
from functools import cache
from typing import Generic, TypeVar

from judge.identity import Kind
from judge.literal import Answer
from judge.pair import check
from judge.records import Execution, Limits, Verdict

VERDICTS_BYTES = 64_000_000
"""What the verdicts that are remembered may weigh, about, in the process that hands them out."""
ANSWERS_BYTES = 16_000_000
"""What f's opinions of answers may weigh, in each process that judges."""
VERDICT_BYTES = 400
"""What one weighs, besides its answer."""
LOCK = threading.Lock()
Found = TypeVar("Found", Verdict, Execution)
"""What one call of the judge finds."""


class Memory(Generic[Found]):
    """Verdicts, or executions, by what they are of: the latest used ones."""

    def __init__(self, max_bytes: int) -> None:
        from cachetools import LRUCache

        self.max_bytes = max_bytes
        self.known: LRUCache[bytes, list[Found]] = LRUCache(max_bytes, getsizeof=weight)

    def get(self, key: bytes) -> list[Found] | None:
        """Return what is remembered of a key."""
        with LOCK:
            return self.known.get(key)

    def put(self, key: bytes, found: list[Found]) -> None:
        """Remember what was found, unless it weighs more than all may."""
        with LOCK:
            if weight(found) <= self.max_bytes:
                self.known[key] = found


def weight(found: Sequence[Verdict | Execution]) -> int:
    """Estimate the memory of verdicts or executions, in bytes."""
    return sum(VERDICT_BYTES + 4 * len(one.answer or "") for one in found)


def key(thing: object) -> bytes:
    """Give a thing few bytes that no other has; a row of JSON can hold anything as a source."""
    return hashlib.sha256(repr(thing).encode("utf-8", "surrogatepass")).digest()


@cache
def answers() -> Memory[Verdict]:
    """Return what this process remembers of f's opinions."""
    return Memory(ANSWERS_BYTES)


def ask_once(f: str, answer: Answer, limits: Limits, kind: Kind) -> Verdict:
    """Ask f about an answer, in an instance of its own, unless it was asked before."""
    name = key((f, answer.tagged, limits, kind))
    known = answers().get(name)
    if known is None:
        known = [check(f, answer, limits, kind)]
        answers().put(name, known)
    return known[0]
