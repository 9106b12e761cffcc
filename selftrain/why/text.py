"""Lay out what `selftrain why` says: headings, indented texts, tables. All text is made visible."""

from collections.abc import Iterator, Sequence

from selftrain.report.text_table import text_table
from selftrain.report.verbatim import visible

WIDTH = 60
"""Most characters of a cell."""


def headed(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Give a heading, the lines beneath it, and an empty line."""
    yield title
    yield from (f"  {visible(line)}" for line in lines)
    yield ""


def block(text: str) -> list[str]:
    """Give the lines of a model's text, a step further in, and whole."""
    return [f"    {line}" for line in text.split("\n")]


def short(text: str | None) -> str:
    """Give a text on one line, shortened; a dash where there is none."""
    if text is None:
        return "-"
    line = " ".join(visible(text[: 4 * WIDTH]).split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Align cells to the left, a row a line."""
    return text_table([head, *rows], numbers=False).split("\n")
