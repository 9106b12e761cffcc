"""The story of a puzzle that no attempt solved: refined or drawn again, iteration by iteration."""

from collections.abc import Iterator

from selftrain.files import Row
from selftrain.refine.forward.wording import edit_line
from selftrain.refine.trace import REFINED, Fate, Step
from selftrain.why.text import headed, table

_BECAME = {
    Fate.best: "accepted",
    Fate.current: "rejected, gone on from",
    Fate.discarded: "rejected",
}


def what_refinement_did(row: Row) -> str:
    """Say in a few words which way a puzzle went, and whether that solved it."""
    result = row["result"]
    return f"{result['arm']} {'solved it' if result['solved'] else 'did not solve it'}"


def refinement_lines(row: Row) -> Iterator[str]:
    """Tell of each iteration: what was asked for, what became of it, why it was rejected."""
    refined = REFINED.from_row(row)
    head = ("iteration", "candidate", "what it failed", "tokens")
    lines = table(head, [_cells(step) for step in refined.steps])
    for step in refined.steps:
        lines += [f"edit of iteration {step.iteration}: {edit_line(edit)}" for edit in step.edits]
    num_tokens = sum(used.total for used in refined.result.used.values())
    ended = f"ended: {refined.result.stop}, after {num_tokens:,} tokens"
    yield from headed(f"After all attempts had failed: {refined.result.arm}", [*lines, ended])


def _cells(step: Step) -> tuple[str, ...]:
    number = str(step.iteration) if step.iteration else "0, an attempt"
    became = _BECAME[step.fate] if step.fate else "none that is new"
    if step.candidate is not None and not step.has_candidate:
        became = "none, the prompt was too long"
    failures = ", ".join(one.invariant for one in step.report.failures) if step.report else ""
    num_tokens = sum(call.used.total for call in step.calls.values())
    return number, became, failures or "-", f"{num_tokens:,}"
