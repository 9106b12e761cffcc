"""The report as Markdown, without drawings: the tables beside them hold their numbers."""

import re

from selftrain.report.blocks import Block, Heading, Page, Paragraph, Table, Verbatim
from selftrain.report.verbatim import visible


def to_markdown(page: Page) -> str:
    """Write the page as CommonMark with tables."""
    parts = [f"# {_escaped(page.kind)}", f"**{_prose(page.headline)}**", *map(_prose, page.facts)]
    for section in page.sections:
        parts.append(f"## {_prose(section.title)}")
        parts += [text for text in map(_block, section.blocks) if text]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _prose(block.text)
    if isinstance(block, Heading):
        return f"### {_prose(block.text)}"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Verbatim):
        return _verbatim(block)
    return ""


def _table(table: Table) -> str:
    lines = [
        _line(table.columns),
        "|" + " --- |" + " ---: |" * (len(table.columns) - 1),
        *map(_line, table.rows),
    ]
    return "\n\n".join(
        part for part in (_prose(table.caption), "\n".join(lines), _prose(table.note)) if part
    )


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _verbatim(verbatim: Verbatim) -> str:
    parts = [f"#### {_escaped(verbatim.title)}"]
    for passage in verbatim.passages:
        note = f"\n\n{_escaped(passage.note)}" if passage.note else ""
        parts.append(f"{_escaped(passage.label)}:\n\n{_fenced(passage.text)}{note}")
    return "\n\n".join(parts)


def _fenced(text: str) -> str:
    """Put a text between fences longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _prose(text: str) -> str:
    """Escape a text, but for what stands between two backticks."""
    pieces = text.split("`")
    return "".join(
        f"`{piece}`" if index % 2 else _escaped(piece) for index, piece in enumerate(pieces)
    )


def _escaped(text: str) -> str:
    one_line = " ".join(visible(text).split())
    # Blanks at the ends belong to the sentence around a piece of code.
    before, after = " " * text.startswith(" "), " " * (text.endswith(" ") and bool(one_line))
    return before + re.sub(r"([\\`*_\[\]<>|#~&])", r"\\\1", one_line) + after
