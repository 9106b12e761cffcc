"""What a verdict depends on besides the programs: guest, engine, and the code beside them.

A run writes all of it down, so that the verdicts of two machines can be compared. Not here:
building either (build.py).
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from judge.records import JudgeError
from judge.stack import deep

GUEST = Path(__file__).parent / "guest"


class Kind(StrEnum):
    """Which of the guests."""

    candidate = "candidate"
    """Runs what a model wrote."""
    second = "second"
    """The same with another hash seed and other random numbers: what passes in both is no luck."""
    checker = "checker"
    """Runs the test of a function that it never sees."""


@cache
def guest_hash() -> str:
    """Return a digest of what the guests are built from, componentize-py's version included."""
    sources = sorted(path for path in GUEST.iterdir() if path.suffix in (".py", ".wit"))
    return _digest(version("componentize-py"), [GUEST.with_name("componentize.py"), *sources])


@cache
def judge_hash() -> str:
    """Return a digest of the judge's code beside the guests.

    It says what a type is, what answers are equal, what a trap means, and what counts as a pass.
    """
    return _digest("", sorted(GUEST.parent.glob("*.py")))


def _digest(start: str, sources: Sequence[Path]) -> str:
    import hashlib

    digest = hashlib.sha256(start.encode())
    for path in sources:
        # Line ends may differ between checkouts.
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r", b"") + b"\0")
    return digest.hexdigest()[:16]


@cache
@deep
def guest_fingerprint() -> str:
    """Return a digest of how this machine's guests behave; starts the engine.

    Two machines with the same fingerprint order their sets and count their fuel alike.
    """
    import hashlib

    from judge.function import FunctionProblem, judge_function
    from judge.pair import run_g
    from judge.records import DEFAULT_LIMITS

    body = "    return [hash('a'), id(list), list({str(i) for i in range(100)})]\n"
    kinds = (Kind.candidate, Kind.second)
    ran = [run_g("", f"def g():\n{body}", DEFAULT_LIMITS, kind, has_f=False)[0] for kind in kinds]
    test = f"def h():\n{body}def check(g):\n    assert g() is None, h()\n"
    checked = judge_function(FunctionProblem("def g():\n", "g", test), body)
    return hashlib.sha256(repr((ran, checked)).encode()).hexdigest()[:16]


def engine_version() -> str:
    """Return the name and version of the engine."""
    return f"wasmtime {version('wasmtime')}"


def version(distribution: str) -> str:
    """Return the version of an installed distribution; raise JudgeError where there is none."""
    import importlib.metadata

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise JudgeError(f"{distribution} is not installed; run `make setup`") from None
