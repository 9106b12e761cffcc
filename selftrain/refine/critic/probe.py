"""A probe: one call of a candidate that a critic asked for, and what it gave. Nothing is run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Probe:
    """A call that was run."""

    call: str
    """Its source, all of whose arguments are literals."""
    result: str
    """What it returned, as a literal, or `ERROR: reason`; cut to `probe_characters`."""
