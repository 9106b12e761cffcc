"""Judges a whole program by its standard output for given standard inputs.

Each case runs in an instance of its own, as `__main__`. Exit status 0 is a normal end. Outputs are
compared line by line, white space at the ends of lines and of the text aside.
"""

import ast
from dataclasses import dataclass, replace

from judge.pair import run_text, timed
from judge.records import DEFAULT_LIMITS, Limits, Outcome, Verdict
from judge.stack import deep


@dataclass(frozen=True, slots=True)
class Case:
    """One input, and the output that is right."""

    input: str
    """Standard input."""
    output: str
    """Standard output."""

    def __post_init__(self) -> None:
        # Raises UnicodeEncodeError, a ValueError: surrogates cannot be sent.
        (self.input + self.output).encode()


@dataclass(frozen=True, slots=True)
class TextProblem:
    """A program that is tested by its output."""

    cases: tuple[Case, ...]
    """At least one."""

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError("a TextProblem needs at least one case to judge a program by")


@deep
@timed
def judge_text(problem: TextProblem, source: str, limits: Limits = DEFAULT_LIMITS) -> Verdict:
    """Run a program on each case, until one fails; each has the whole budget of fuel.

    The answer of the verdict is the last output. Raises JudgeError if the judge cannot run.
    """
    fuel = 0
    for number, case in enumerate(problem.cases, start=1):
        verdict = judge_case(source, case, limits)
        fuel += verdict.fuel
        if not verdict.passed:
            verdict = replace(verdict, detail=f"case {number}: {verdict.detail}")
            break
    return replace(verdict, fuel=fuel)


def judge_case(source: str, case: Case, limits: Limits) -> Verdict:
    """Run a program on one case."""
    ran = run_text(source, case.input, limits)
    if ran.answer is None:
        assert ran.failure is not None
        return Verdict(ran.failure, None, ran.detail, ran.fuel)
    text = ast.literal_eval(ran.answer)
    if lines(text) == lines(case.output):
        return Verdict(Outcome.passed, ran.answer, "", ran.fuel)
    return Verdict(Outcome.wrong_answer, ran.answer, difference(text, case.output), ran.fuel)


def lines(text: str) -> list[str]:
    """Return the lines that are compared."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


def difference(found: str, expected: str) -> str:
    """Name the first line that differs."""
    pairs = zip([*lines(found), "(end)"], [*lines(expected), "(end)"], strict=False)
    for number, (left, right) in enumerate(pairs, start=1):
        if left != right:
            return f"line {number} is {left[:60]!r}, not {right[:60]!r}"
    return "the output has another length"
