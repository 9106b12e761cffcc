"""A table for a terminal: plain text, names to the left, numbers to the right."""

from collections.abc import Sequence


def text_table(rows: Sequence[Sequence[str]], *, numbers: bool = True) -> str:
    """Align rows of as many cells each, heads first, with two blanks between columns.

    Without `numbers` every column stands to the left.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    align = str.rjust if numbers else str.ljust
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(align, row[1:], widths[1:])]).rstrip()
        for row in rows
    )
