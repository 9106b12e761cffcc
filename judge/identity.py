"""What a verdict depends on besides the programs: which guest, which engine.

A run writes both down, so that the verdicts of two machines can be compared. Not here: building
either (build.py).
"""

from pathlib import Path

from judge.records import JudgeError

GUEST = Path(__file__).parent / "guest"
SOURCES = ("app.py", "annotations.py", "codec.py", "surroundings.py", "guest.wit")


def guest_hash() -> str:
    """Return a digest of the guest's sources and of the version of componentize-py."""
    import hashlib

    digest = hashlib.sha256(version("componentize-py").encode())
    for name in SOURCES:
        # Line ends may differ between checkouts.
        digest.update(
            b"\0" + name.encode() + b"\0" + (GUEST / name).read_bytes().replace(b"\r", b"")
        )
    return digest.hexdigest()[:16]


def guest_fingerprint() -> str:
    """Return a digest of how this machine's guest behaves; starts the engine.

    Two machines with the same fingerprint order their sets and count their fuel alike.
    """
    import hashlib

    from judge.pair import run

    program = "def g(): return [hash('a'), id(g), list({str(i) for i in range(100)})]"
    execution = run(program)
    return hashlib.sha256(repr(execution).encode()).hexdigest()[:16]


def engine_version() -> str:
    """Return the name and version of the engine."""
    return f"wasmtime {version('wasmtime')}"


def version(distribution: str) -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise JudgeError(f"{distribution} is not installed; run `make setup`") from None
