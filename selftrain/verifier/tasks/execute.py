"""Execute: many programs run in the judge, each to its result. Nothing is labelled here.

A g runs in an instance of its own, with the budget of itself alone: one that loops or eats memory
is an `ERROR:` of its own and no other's.
"""

from collections.abc import Sequence

from selftrain.judge import Judging
from selftrain.verifier.tasks.results import result_of


def run_all(programs: Sequence[tuple[str, str | None]], judging: Judging) -> list[str]:
    """Run each (g, f) and return its results in order; equal pairs are run once.

    g is called on the inputs of f, which is not called; without an f, on none. Raises
    `judge.JudgeError` where the judge cannot run.
    """
    return [result_of(execution) for execution in judging.execute(programs)]
