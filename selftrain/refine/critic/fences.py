"""Fences: code that a reply quotes is not what it says. A block that begins as JSON is."""

import re

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)([^\n]*)\n?", re.MULTILINE)


def without_code(text: str) -> str:
    """Take out fenced blocks of code, and the fences of blocks that begin with a bracket.

    What a candidate says of itself, in a comment, must not be read as said of it. A block that does
    not end goes on to the end of the text.
    """
    pieces: list[str] = []
    opener = ""
    place = 0
    for fence in _FENCE.finditer(text):
        if opener and not (fence[1].startswith(opener) and fence[2].strip("`~ \t\r") == ""):
            continue
        pieces.append(_kept(text[place : fence.start()], bool(opener)))
        opener = "" if opener else fence[1]
        place = fence.end()
    return "".join([*pieces, _kept(text[place:], bool(opener))])


def _kept(piece: str, is_fenced: bool) -> str:
    return piece if not is_fenced or piece.lstrip()[:1] in ("{", "[") else ""
