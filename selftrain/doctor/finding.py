"""What a check found, and the lines in which it is told. Nothing is looked for here."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_INDENT = 17
"""Width of check and state together, below which longer lines go on."""


class State(StrEnum):
    """What a finding asks of its reader."""

    FINE = "fine"
    """Nothing."""
    NOTE = "note"
    """To know of it; nothing need or can be done."""
    MEND = "mend"
    """To do something before a run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    check: str
    """What was looked at, in a word or two."""
    state: State
    """What it asks for."""
    found: str
    """What was found, without a full stop."""
    advice: str = ""
    """What to do, or what follows from it: a sentence; empty where all is fine."""


def tell(findings: Sequence[Finding], width: int | None) -> str:
    """Give a line a finding, folded where a terminal has a `width` in characters."""
    return "\n".join(_fold(finding, width) for finding in findings)


def _fold(finding: Finding, width: int | None) -> str:
    line = f"{finding.check:<11}{finding.state:<6}{finding.found}."
    if finding.advice:
        line += f" {finding.advice}"
    if width is None or len(line) <= width:
        return line
    return textwrap.fill(
        line,
        max(width, 2 * _INDENT),
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def last_line(name: str, findings: Sequence[Finding]) -> str:
    """Sum up."""
    mend = sum(finding.state is State.MEND for finding in findings)
    if mend == 0:
        return f"{name}: {len(findings)} checks, nothing to do"
    return f"{name}: {len(findings)} checks, {mend} to mend"
