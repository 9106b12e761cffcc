"""Read the proofs that stand beside a candidate: what a reply says for each invariant, by name.

They are kept and shown. They decide nothing, and nobody checks them.
"""

import re
from collections.abc import Sequence

from selftrain.refine.forward.invariants import invariant_names
from selftrain.refine.tasks.task import RefineTask
from selftrain.refine.texts import one_line

MOST_PROOF_CHARACTERS = 400
"""Of a longer proof the rest is not kept."""
PROOF_BEGINS = re.compile(r"[\s#>*_`+\-\d.]*+proof\b", re.IGNORECASE)
"""Matches a line with which a proof may begin, whatever it is of."""
_FENCE = re.compile(r"[ \t]*+(?:```|~~~)")


def read_proofs(task: RefineTask, text: str) -> tuple[tuple[str, str], ...]:
    """Collect what is said behind `Proof (NAME):`, to the end of its paragraph, by name.

    Names that were not asked for are no proofs, nor is a text without a word, such as `...`.
    """
    asked = {name.lower(): name for name in invariant_names(task)}
    names = "|".join(re.escape(name) for name in sorted(asked, key=len, reverse=True))
    begins = re.compile(
        rf"[\s#>*_`+\-\d.]*+proof(?:\s+(?:of|for))?[\s(\[*_`\"':]*(?:declared:)?({names})(?!\w)"
        r"[\s)\]*_`\"':.=–—-]*(.*)",
        re.IGNORECASE,
    )
    found: list[tuple[str, list[str]]] = []
    current: list[str] | None = None
    in_comment = False
    for line in text.split("\n"):
        is_comment = line.lstrip().startswith("#")
        if begun := begins.match(line):
            # With nothing behind it, `# Proof (NAME)` is a heading.
            current, in_comment = [begun[2]], is_comment and bool(begun[2])
            found.append((asked[begun[1].lower()], current))
        elif _ends_proof(line, current, is_comment=is_comment, in_comment=in_comment):
            current = None
        elif current is not None:
            current.append(line.lstrip("# \t"))
    said: dict[str, str] = {}
    for name, parts in found:
        proof = one_line(" ".join(parts)).strip("*_ ")[:MOST_PROOF_CHARACTERS]
        if re.search(r"\w", proof):
            said.setdefault(name, proof)
    return tuple((name, said[name]) for name in invariant_names(task) if name in said)


def _ends_proof(
    line: str, current: Sequence[str] | None, *, is_comment: bool, in_comment: bool
) -> bool:
    if current is None or not line.strip():
        # A blank line may stand between a heading and its proof.
        return current is not None and any(map(str.strip, current))
    is_new = _FENCE.match(line) is not None or PROOF_BEGINS.match(line) is not None
    return is_new or is_comment is not in_comment
