"""Reasoning: what a model thinks before it answers, `<think>...</think>`. It is no answer."""

import re

_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """Take reasoning out of a reply.

    What is inside a block that never ends goes, since nothing in it was meant as an answer; so does
    all before an end without a beginning, since templates open the block in the prompt. A text that
    begins with a bracket is an answer from there on, whatever its texts quote.
    """
    kept: list[str] = []
    depth = place = 0
    for tag in _TAG.finditer(text):
        if depth == 0 and (piece := text[place : tag.start()]).strip():
            kept.append(piece)
        if tag[1]:
            if depth == 0 and kept and kept[0].lstrip()[0] not in ("{", "["):
                kept.clear()
            depth = max(0, depth - 1)
        else:
            depth += 1
        place = tag.end()
    if depth == 0:
        kept.append(text[place:])
    return "".join(kept)
