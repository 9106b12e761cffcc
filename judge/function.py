"""Judges a function against a test that calls it: the format of HumanEval.

The candidate lives in an instance of its own. The test runs in another, which has the prompt
without the candidate, and each of its calls crosses as plain data through the host. So a candidate
reaches neither the test nor what the test compares with; an answer that is no plain data (an
object that equals everything, say) is the wrong type. Arguments are copies: a candidate that
changes them changes nothing for the test.
"""

import json
import time
from dataclasses import dataclass, replace

from judge.engine import Reply, World
from judge.identity import Kind
from judge.pair import failure_of_f, failure_of_g, read_answer, source_failure
from judge.records import DEFAULT_LIMITS, Limits, Outcome, Verdict
from judge.stack import deep


@dataclass(frozen=True, slots=True)
class FunctionProblem:
    """A function that is described by a prompt and tested by calls."""

    prompt: str
    """Python that ends in the head of the function; what a completion continues."""
    entry_point: str
    """Name of the function."""
    test: str
    """Python that defines `check(candidate)`, which raises where the function is wrong."""


class Stopped(Exception):
    """The candidate failed in a way that ends the test, whatever the test would make of it."""


class Candidate:
    """The instance of the candidate, called by the checker's instance through the host."""

    def __init__(self, problem: FunctionProblem, limits: Limits, world: World) -> None:
        self.name = problem.entry_point
        self.limits = limits
        self.world = world
        self.failure: Verdict | None = None
        self.last_answer: str | None = None

    def call(self, arguments: str) -> str:
        """Call the function on tagged arguments; return what the checker's stand-in reads."""
        sizes = self.limits.answer_bytes, self.limits.answer_depth
        reply = self.world.call("call", self.name, arguments, *sizes)
        answer = read_answer(reply, self.limits)
        if answer is not None:
            self.last_answer = answer.literal
            return f'["answer",{answer.tagged}]'
        outcome = failure_of_g(reply)
        self.failure = Verdict(outcome, None, reply.detail, 0)
        # Only an exception that a test may expect goes on into the test.
        if outcome is not Outcome.raised or self.world.broken or is_exit(reply.detail):
            raise Stopped
        return json.dumps(["raised", reply.detail])


@deep
def judge_function(
    problem: FunctionProblem, completion: str, limits: Limits = DEFAULT_LIMITS
) -> Verdict:
    """Judge a completion of the problem's prompt; all calls of the test share one budget of fuel.

    Failures that begin with f_ are the test's own. Raises JudgeError if the judge cannot run.
    """
    begun = time.perf_counter()
    verdict = decide_function(problem, completion, limits)
    return replace(verdict, seconds=time.perf_counter() - begun)


def decide_function(problem: FunctionProblem, completion: str, limits: Limits) -> Verdict:
    """Judge without a clock."""
    if not isinstance(completion, str):
        kind = type(completion).__name__
        return Verdict(Outcome.syntax_error, None, f"the completion is of type {kind}", 0)
    source = problem.prompt + completion
    for text in (source, problem.test):
        too_long = source_failure(text, limits)
        if too_long is not None:
            outcome = failure_of_g(too_long) if text is source else failure_of_f(too_long)
            return Verdict(outcome, None, too_long.detail, 0)
    with World(limits) as world:
        reply = world.call("define", source)
        if reply.tag != "loaded":
            return Verdict(failure_of_g(reply), None, reply.detail, world.fuel_spent)
        candidate = Candidate(problem, limits, world)
        with World(limits, Kind.checker, candidate.call) as checker:
            try:
                said = checker.call("check", problem.prompt, problem.entry_point, problem.test)
            except Stopped:
                said = Reply(Outcome.raised, "")
            fuel = world.fuel_spent + checker.fuel_spent
    return read(said, candidate, fuel)


def read(said: Reply, candidate: Candidate, fuel: int) -> Verdict:
    """Say whose failure it is, the candidate's own before the test's."""
    if said.tag == Outcome.passed:
        return Verdict(Outcome.passed, candidate.last_answer, "", fuel)
    if candidate.failure is not None:
        return replace(candidate.failure, fuel=fuel)
    outcome = Outcome.wrong_answer if said.tag == Outcome.wrong_answer else failure_of_f(said)
    return Verdict(outcome, candidate.last_answer, said.detail, fuel)


def is_exit(detail: str) -> bool:
    """Say whether what was raised is no Exception, by its name."""
    return detail.split(":")[0] in ("SystemExit", "KeyboardInterrupt", "GeneratorExit")
