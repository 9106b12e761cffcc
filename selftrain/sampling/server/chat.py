"""How a chat model is made to go on with a text, and which part of its reply goes on with it.

A prompt becomes one user message: a request to go on, then the prompt. The reply is kept from where
it goes on: what stands before that (a greeting, an opening fence, the head of the definition once
more) is dropped, and nothing after it is touched. A closing fence and what is said behind it stand
in column 0, where puzzles/cut.py ends a definition anyhow. Nothing is asked here.
"""

import re

INSTRUCTION = (
    "Below is a Python file that breaks off within a function. Go on with it: write that "
    "function once more from its `def` on, and write it to its end. Answer with code alone, "
    "without examples, tests or explanations. Define nothing else.\n\n"
)
"""What a chat model is told before the prompt; without it, it talks about the code."""
MORE_TOKENS = 48
"""Tokens a reply may have beyond `max_new_tokens`: a fence, and the head that is repeated."""
TEMPLATE_TOKENS = 32
"""Tokens kept free for what a server's chat template puts around a message."""
_DEFINITION = re.compile(r"^def ([A-Za-z_]\w*)\(", re.MULTILINE)
_SIGNATURE_END = re.compile(r"\)\s{0,80}(?:->[^\n:]{0,200})?:")
_FENCE = re.compile(
    r"^[ \t]*```(?:[A-Za-z]\w*[ \t]*\n|[ \t]*\n(?=(?s:.*)^[ \t]*```))", re.MULTILINE
)
"""An opening one: it names a language, or another one follows."""


def message(prompt: str) -> str:
    """Write the user message that asks to go on with a prompt."""
    return INSTRUCTION + prompt


def continuation(prompt: str, reply: str) -> str:
    """Give the part of a reply that goes on where the prompt ends, unchanged.

    Where the reply repeats the definition that the prompt breaks off in, under its name with or
    without its number, that part begins behind the `(` or the signature, as far as the prompt goes;
    a docstring that it repeats stays, as an expression. Else it begins behind the first opening
    fence; else it is the reply. A body that begins in its first line gets the line end that the
    prompt's head lacks.
    """
    opened = list(_DEFINITION.finditer(prompt))
    if opened:
        name = opened[-1][1]
        for known in (name, name.rstrip("0123456789")):
            head = re.search(rf"^[ \t]*def {re.escape(known)}\(", reply, re.MULTILINE)
            if head is None:
                continue
            if opened[-1].end() == len(prompt):
                return reply[head.end() :]
            if end := _SIGNATURE_END.search(reply, head.end() - 1):
                return reply[end.end() :]
    fence = _FENCE.search(reply)
    rest = reply[fence.end() :] if fence else reply
    begins_body = prompt.endswith(":") and rest[:1] in (" ", "\t")
    return f"\n{rest}" if begins_body else rest
