"""How a candidate's instructions grow with the size of its input.

Counted, not timed, so that the same program has the same growth everywhere. Of what a call takes,
what a stub takes for the same input is taken off, and what it takes to load the candidate: the rest
is the candidate's own work. Its exponent is a fit; a bound on it is no proof.
"""

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression

from judge import Execution
from selftrain.judge import Judging
from selftrain.refine.gate.running import How, Ran, Run, Told, calls_of, run_all
from selftrain.refine.gate.words import failed
from selftrain.refine.tasks.task import Growth, Kind, RefineTask

TOLERANCE = 0.3
"""By how much a fitted exponent may exceed the bound. Over sizes of a few hundred, n log n fits to
1.0 to 1.2 and a square to 1.9 to 2.1; what is taken off is known to some 50,000 instructions."""
FLOOR = 100_000
"""Instructions below which work is as good as none, for the same reason: a loop of 150 turns."""
NO_KEYWORDS = ", {})"
"""What stands after the tuple of positional arguments, where there are no others."""
MAKE = """
def g():
    n = {size}
    return (
{make}
    )
"""


@dataclass(frozen=True, slots=True)
class Grown:
    """What one candidate took at each size."""

    load: int
    """Instructions to load it."""
    runs: tuple[Run, ...]
    ran: tuple[Ran, ...]
    """One a size, up to the first that fails."""

    @property
    def is_whole(self) -> bool:
        """Tell whether it returned at every size."""
        returned = [told.how is How.returned for ran in self.ran for told in ran.told]
        return len(returned) == len(self.runs) and all(returned)

    @property
    def calls(self) -> list[tuple[str, Told]]:
        """Give the inputs, and what they gave."""
        pairs = zip(self.runs, self.ran, strict=False)
        return [call for run, ran in pairs for call in calls_of(run, ran)]


def make_inputs(asked: Sequence[tuple[RefineTask, Growth]], judging: Judging) -> list[list[str]]:
    """Make the inputs of each growth, an instance a size; fewer than sizes where one cannot be.

    Raises `judge.JudgeError`.
    """
    programs = [
        (MAKE.format(size=size, make=growth.make), None)
        for _, growth in asked
        for size in growth.sizes
    ]
    executions = iter(list(judging.execute(programs)))
    return [
        [literal for _ in growth.sizes if (literal := _input(task, next(executions))) is not None]
        for task, growth in asked
    ]


def _input(task: RefineTask, made: Execution) -> str | None:
    """Turn what `make` gives into an input; None where it is none."""
    if made.answer is None:
        return None
    if task.kind is Kind.program:
        text = made.answer
        if text[0] not in "'\"":
            return None
        given = str(ast.literal_eval(text))
        return given if _is_encodable(given) else None
    if not made.answer.startswith("("):
        return None
    return f"({made.answer}{NO_KEYWORDS}"


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def grow_all(
    asked: Sequence[tuple[RefineTask, str, Sequence[str]]], judging: Judging
) -> list[Grown]:
    """Run each candidate on its inputs, the smallest first, each in an instance of its own.

    One that fails at a size is not run at a larger one. Raises `judge.JudgeError`.
    """
    # Where a program begins to work is not known: it reads its input itself.
    loads = {Run(task, source, ()): 0 for task, source, _ in asked if task.kind is not Kind.program}
    for load, ran in zip(loads, run_all(list(loads), judging), strict=True):
        loads[load] = ran.fuel
    found: list[list[Ran]] = [[] for _ in asked]
    runs = [[Run(task, source, (given,)) for given in inputs] for task, source, inputs in asked]
    for number in range(max(map(len, runs), default=0)):
        going = [
            place
            for place, some in enumerate(runs)
            if number < len(some) and all(ran.told[0].how is How.returned for ran in found[place])
        ]
        wanted = [runs[place][number] for place in going]
        for place, ran in zip(going, run_all(wanted, judging), strict=True):
            found[place].append(ran)
    return [
        Grown(loads.get(Run(task, source, ()), 0), tuple(some), tuple(ran))
        for (task, source, _), some, ran in zip(asked, runs, found, strict=True)
    ]


def exponent(sizes: Sequence[int], grown: Grown, stub: Grown) -> float:
    """Fit the k with which a candidate's own instructions grow as n to the k: least squares."""
    own = [
        max(FLOOR, (ran.fuel - grown.load) - (other.fuel - stub.load))
        for ran, other in zip(grown.ran, stub.ran, strict=True)
    ]
    return linear_regression(list(map(math.log, sizes)), list(map(math.log, own))).slope


def failure_of(growth: Growth, grown: Grown, stub: Grown) -> str | None:
    """Say why a candidate does not keep to the bound; None where it does."""
    for size, (_, told) in zip(growth.sizes, grown.calls, strict=False):
        if told.how is not How.returned:
            return f"at n = {size} it {failed(told)}"
    found = exponent(growth.sizes, grown, stub)
    if found <= growth.max_exponent + TOLERANCE:
        return None
    sizes = ", ".join(map(str, growth.sizes))
    return (
        f"instructions grow as n to the {found:.1f}, and may grow as n to the "
        f"{growth.max_exponent:g} (n = {sizes})"
    )
