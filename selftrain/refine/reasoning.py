"""Reasoning: what a model thinks before it answers, `<think>...</think>`. It is no answer."""

import re

_NAMES = r"(?:think|thinking|thought|reasoning)"
_TAG = re.compile(
    rf"<(?:(?:seed|antml):)?{_NAMES}>|\[{_NAMES}\]|◁{_NAMES}▷"
    rf"|(?P<end><(?:/(?:seed:|antml:)?|(?:seed|antml):/){_NAMES}>|\[/{_NAMES}\]|◁/{_NAMES}▷)",
    re.IGNORECASE,
)
"""As Qwen and DeepSeek, Seed, Mistral and Kimi write it."""
_CHANNEL = re.compile(
    r"<\|channel\|>(?!final\b).*?(?:<\|(?:end|call|return)\|>|(?=<\|channel\|>)|\Z)", re.DOTALL
)
_CHANNEL_MARKS = re.compile(r"<\|start\|>(?:assistant)?|<\|channel\|>final\s*<\|message\|>")
"""gpt-oss writes channels: all but the final one are reasoning."""


def without_reasoning(text: str) -> str:
    """Take reasoning out of a reply.

    What is inside a block that never ends goes, since nothing in it was meant as an answer; so does
    all before an end without a beginning, since templates open the block in the prompt. A text that
    begins with a bracket is an answer from there on, whatever its texts quote.
    """
    text = _CHANNEL_MARKS.sub("", _CHANNEL.sub("", text))
    kept: list[str] = []
    depth = place = 0
    for tag in _TAG.finditer(text):
        if depth == 0 and (piece := text[place : tag.start()]).strip():
            kept.append(piece)
        if not tag["end"]:
            depth += 1
        elif depth:
            depth -= 1
        elif kept and kept[0].lstrip()[0] in ("{", "["):
            kept.append(tag[0])
        else:
            kept.clear()
        place = tag.end()
    if depth == 0:
        kept.append(text[place:])
    return "".join(kept)
