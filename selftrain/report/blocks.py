"""What a report is made of: small records of plain text, numbers already spelt out.

How they look is said elsewhere. All text is plain; only `Paragraph` knows a mark: what stands
between two backticks is code, and `plain` keeps data out of that.
"""

from dataclasses import dataclass

ABSENT = "—"
"""The cell of a number that there is none of."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph."""

    text: str
    """Plain text; words between backticks are code."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; the first column holds names, the others numbers."""

    caption: str
    """What the table shows, one sentence."""
    columns: tuple[str, ...]
    """Heads, one a column."""
    rows: tuple[tuple[str, ...], ...]
    """Cells, as many as there are columns."""
    note: str = ""
    """What a reader must know to read the cells right."""
    folded: bool = False
    """True where a figure already shows it: a page may fold the table away."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing, for the page alone; a table beside it holds the numbers."""

    caption: str
    """What the figure shows."""
    svg: str
    """Inline SVG that takes its colours from the page."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One text a model wrote, as it is shown."""

    label: str
    """What the text is: puzzle, solution, completion."""
    text: str
    """The text, made visible and shortened by `verbatim.passage`."""
    note: str = ""
    """What was left out; empty where nothing was."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """One thing a model wrote, with what became of it."""

    title: str
    """Which puzzle or proposal it is, and its fate."""
    passages: tuple[Passage, ...]
    """The texts that belong to it."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the section's."""

    text: str
    """A few words."""


Block = Paragraph | Table | Figure | Verbatim | Heading


@dataclass(frozen=True, slots=True)
class Section:
    """One question and what answers it."""

    title: str
    """A few words."""
    blocks: tuple[Block, ...]
    """In reading order."""


@dataclass(frozen=True, slots=True)
class Page:
    """The whole report."""

    headline: str
    """The result in one sentence."""
    facts: tuple[str, ...]
    """How it was measured, a sentence each."""
    sections: tuple[Section, ...]
    """In reading order."""
    kind: str = "Self-training report"
    """What the page is, above the headline."""


def plain(value: object) -> str:
    """Spell a value of the data so that a paragraph can hold it: no backtick, one line."""
    return " ".join(str(value).replace("`", "'").split())


def count(value: float) -> str:
    """Spell a whole number: 12,345."""
    return f"{value:,.0f}"


def percent(value: float) -> str:
    """Spell a share: 12.3%."""
    return f"{100 * value:.1f}%"


def share(part: float, whole: float) -> str:
    """Spell a count with its share of a whole: 123 (4.5%)."""
    return f"{count(part)} ({percent(part / whole)})" if whole else count(part)


def points(value: float) -> str:
    """Spell a difference of shares in points: +3.2."""
    return f"{100 * value:+.1f}".replace("-", "\u2212")


def p_value(value: float) -> str:
    """Spell a p-value; none is zero."""
    return "<0.0001" if value < 0.00005 else f"{value:.4f}"


def interval(value: float, low: float, high: float) -> str:
    """Spell a share with its interval, in percent: 12.3 [10.1, 14.5]."""
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
