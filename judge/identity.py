"""What a verdict depends on besides the programs: which guest, which engine.

A run writes both down, so that the verdicts of two machines can be compared. Not here: building
either (build.py).
"""

from pathlib import Path

from judge.records import JudgeError

GUEST = Path(__file__).parent / "guest"
SOURCES = ("app.py", "annotations.py", "codec.py", "surroundings.py", "guest.wit")


def guest_hash() -> str:
    """Return a digest of what the guest is built from, the version of componentize-py included."""
    import hashlib

    digest = hashlib.sha256(version("componentize-py").encode())
    for path in (Path(__file__).with_name("componentize.py"), *(GUEST / name for name in SOURCES)):
        # Line ends may differ between checkouts.
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r", b"") + b"\0")
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
    """Return the version of an installed distribution; raise JudgeError where there is none."""
    import importlib.metadata

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise JudgeError(f"{distribution} is not installed; run `make setup`") from None
