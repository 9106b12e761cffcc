"""A candidate of the forward model, as its reply gives it. How a reply is read is in reading.py."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """What one reply came to."""

    source: str | None
    """The whole source, as it would stand in a file of its own; None where there is none."""
    no_source: str = ""
    """Why there is none: empty, refused, cut, no_code, prompt_too_long, or a `puzzles` Reason."""
    proofs: tuple[tuple[str, str], ...] = ()
    """Names of invariants and what the reply says to show that each holds. They are kept and shown;
    they decide nothing."""
