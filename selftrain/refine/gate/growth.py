"""How a candidate's instructions grow with the size of its input.

Counted, not timed, so that the same program has the same growth everywhere. Of what a call takes,
what a stub takes for the same input is taken off, and what it takes to load the candidate: the rest
is the candidate's own work. Its exponent is fitted twice: to that work, and to what it has more
from size to size, in which nothing constant has a say, neither a table that each call makes nor
what a candidate only pretends to need for loading. A bound on it is no proof: work that does not
show at the declared sizes, or is balanced there by other work on purpose, is not seen. Where what
is constant is nearly all, growth is left open.
"""

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import linear_regression

from judge import Execution
from selftrain.judge import Judging
from selftrain.refine.gate.running import CallEnd, CallResult, Ran, Run, calls_of, run_all
from selftrain.refine.gate.words import failed
from selftrain.refine.tasks.task import Growth, Kind, RefineTask
from selftrain.refine.texts import is_encodable

TOLERANCE = 0.3
"""By how much a fitted exponent may exceed the bound. Over sizes of a few hundred, n log n fits to
1.0 to 1.2 and a square to 1.9 to 2.1; what is taken off is known to some 50,000 instructions."""
FLOOR = 100_000
"""Instructions below which work is as good as none, for the same reason: a loop of 150 turns."""
LEAST_RISE = 2 * FLOOR
"""The same of a difference of two."""
LEAST_SHARE = 0.02
"""A rise that is a smaller part of what is constant tells nothing."""
LUMP = 1.75
"""By how much a slope may exceed an earlier one since a table of Python's grew in the last step: of
sets, dicts and lists of 200 to 20,000 elements, 1.64 was the most."""
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
    """Instructions to load it where the smallest input is given; of a program it is not known."""
    runs: tuple[Run, ...]
    ran: tuple[Ran, ...]
    """One a size, up to the first that fails."""

    @property
    def is_whole(self) -> bool:
        """Tell whether it returned at every size."""
        returned = [told.how is CallEnd.returned for ran in self.ran for told in ran.told]
        return len(returned) == len(self.runs) and all(returned)

    @property
    def calls(self) -> list[tuple[str, CallResult]]:
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
        return given if is_encodable(given) else None
    if not made.answer.startswith("("):
        return None
    return f"({made.answer}{NO_KEYWORDS}"


def grow_all(
    asked: Sequence[tuple[RefineTask, str, Sequence[str]]], judging: Judging
) -> list[Grown]:
    """Run each candidate on its inputs, the smallest first, each in an instance of its own.

    One that fails at a size is not run at a larger one. Raises `judge.JudgeError`.
    """
    # Where a program begins to work is not known: it reads its input itself.
    loads = [_load(*one) for one in asked]
    wanted = list(dict.fromkeys(load for load in loads if load is not None))
    fuel = {load: ran.fuel for load, ran in zip(wanted, run_all(wanted, judging), strict=True)}
    found: list[list[Ran]] = [[] for _ in asked]
    runs = [[Run(task, source, (given,)) for given in inputs] for task, source, inputs in asked]
    for number in range(max(map(len, runs), default=0)):
        going = [
            place
            for place, some in enumerate(runs)
            if number < len(some)
            and all(ran.told[0].how is CallEnd.returned for ran in found[place])
        ]
        wanted = [runs[place][number] for place in going]
        for place, ran in zip(going, run_all(wanted, judging), strict=True):
            found[place].append(ran)
    return [
        Grown(0 if load is None else fuel[load], tuple(some), tuple(ran))
        for load, some, ran in zip(loads, runs, found, strict=True)
    ]


def _load(task: RefineTask, source: str, inputs: Sequence[str]) -> Run | None:
    """Give what only loads a candidate, which cannot tell by its inputs that no call follows."""
    if task.kind is Kind.program or not inputs:
        return None
    return Run(task, source, (inputs[0],), is_called=False)


def own_work(grown: Grown, stub: Grown) -> list[int]:
    """Give the instructions at each size that are a candidate's own."""
    return [
        (ran.fuel - grown.load) - (other.fuel - stub.load)
        for ran, other in zip(grown.ran, stub.ran, strict=True)
    ]


def exponent(sizes: Sequence[int], own: Sequence[int]) -> float:
    """Fit the k with which work grows as n to the k: least squares."""
    least = [math.log(max(FLOOR, one)) for one in own]
    return linear_regression(list(map(math.log, sizes)), least).slope


@dataclass(frozen=True, slots=True)
class Rise:
    """How the last rise, from a size to the next, compares with an earlier one."""

    exponent: float
    """The k of which both would be, whatever is constant."""
    least: float
    """The same where the last step has as much more as LUMP allows."""


def rises(sizes: Sequence[int], own: Sequence[int]) -> list[Rise]:
    """Compare the last rise with each earlier one; with none where it is as good as none.

    A rise over the width of its step is the slope in the middle, which grows as n to the k - 1.
    """
    (*_, last_but_one, last) = own
    if last - last_but_one <= LEAST_RISE:
        return []
    steps = [
        (math.log(size + after), math.log(max(LEAST_RISE, more - less)) - math.log(after - size))
        for (size, after), (less, more) in zip(pairwise(sizes), pairwise(own), strict=True)
    ]
    (*earlier, (place, steepest)) = steps
    return [
        Rise(
            1 + (steepest - slope) / (place - middle),
            1 + (steepest - slope - math.log(LUMP)) / (place - middle),
        )
        for middle, slope in earlier
    ]


def failure_of(growth: Growth, grown: Grown, stub: Grown) -> str | None:
    """Say why a candidate does not keep to the bound; None where it does."""
    for size, (_, told) in zip(growth.sizes, grown.calls, strict=False):
        if told.how is not CallEnd.returned:
            return f"at n = {size} it {failed(told)}"
    own = own_work(grown, stub)
    found, most = exponent(growth.sizes, own), _most(growth)
    clear = [rise.exponent for rise in rises(growth.sizes, own) if rise.least > most]
    if found <= most and not clear:
        return None
    found = found if found > most else clear[-1]
    sizes = ", ".join(map(str, growth.sizes))
    return (
        f"instructions grow as n to the {found:.1f}, and may grow as n to the "
        f"{growth.max_exponent:g} (n = {sizes})"
    )


def hidden_by(growth: Growth, grown: Grown, stub: Grown) -> str:
    """Say what hides the growth of a candidate that returned at all sizes; empty where it shows."""
    own = own_work(grown, stub)
    constant, rise = own[0], own[-1] - own[0]
    is_flat = rise < LEAST_SHARE * constant and LEAST_SHARE * constant > LEAST_RISE
    steepest = max((one.exponent for one in rises(growth.sizes, own)), default=0.0)
    if not is_flat and not (steepest > _most(growth) and constant > rise):
        return ""
    return f"a constant part of {constant:,} instructions hides the growth: declare larger sizes"


def _most(growth: Growth) -> float:
    return growth.max_exponent + TOLERANCE
