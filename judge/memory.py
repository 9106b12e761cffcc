"""What the judge remembers: verdicts, and what f said of an answer. Bounded by its size.

A verdict is a pure function of its programs and limits, so what is remembered is what would be
found again; only the seconds are those of the first time.
"""

import hashlib
import threading
from functools import cache

from judge.identity import Kind
from judge.literal import Answer
from judge.pair import check
from judge.records import Limits, Verdict

VERDICTS_BYTES = 64_000_000
"""What the verdicts that are remembered may weigh, about, in the process that hands them out."""
ANSWERS_BYTES = 16_000_000
"""What f's opinions of answers may weigh, in each process that judges."""
VERDICT_BYTES = 400
"""What one weighs, besides its answer."""
LOCK = threading.Lock()


class Memory:
    """Verdicts by what they are verdicts of, the latest used ones."""

    def __init__(self, max_bytes: int) -> None:
        from cachetools import LRUCache

        self.max_bytes = max_bytes
        self.known: LRUCache[bytes, list[Verdict]] = LRUCache(max_bytes, getsizeof=weight)

    def get(self, key: bytes) -> list[Verdict] | None:
        """Return what is remembered of a key."""
        with LOCK:
            return self.known.get(key)

    def put(self, key: bytes, verdicts: list[Verdict]) -> None:
        """Remember verdicts, unless they weigh more than all may."""
        with LOCK:
            if weight(verdicts) <= self.max_bytes:
                self.known[key] = verdicts


def weight(verdicts: list[Verdict]) -> int:
    """Estimate the memory of verdicts, in bytes."""
    return sum(VERDICT_BYTES + 4 * len(verdict.answer or "") for verdict in verdicts)


def key(thing: object) -> bytes:
    """Give a thing few bytes that no other has; a row of JSON can hold anything as a source."""
    return hashlib.sha256(repr(thing).encode("utf-8", "surrogatepass")).digest()


@cache
def answers() -> Memory:
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
