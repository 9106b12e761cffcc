"""Judges a function against a test that calls it: the format of HumanEval.

The candidate lives in an instance of its own. The test runs in another, which has the prompt
without the candidate, and each of its calls crosses as plain data through the host. So a candidate
reaches neither the test nor what the test compares with; an answer that is no plain data (an
object that equals everything, say) is the wrong type. Arguments are copies: a candidate that
changes them changes nothing for the test.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from judge.engine import Reply, World
from judge.identity import Kind
from judge.literal import Malformed, canonical, parse
from judge.pair import failure_of_f, failure_of_g, read_answer, source_failure, timed
from judge.records import DEFAULT_LIMITS, JudgeError, Limits, Outcome, Verdict
from judge.stack import deep

MOST_CALLS = 16
"""Distinct calls of a test that are recorded."""
ARGUMENT_DEPTH = 100
"""Levels of nesting in a call, as the guest that makes it limits them (guest/checker.py)."""


@dataclass(frozen=True, slots=True)
class FunctionProblem:
    """A function that is described by a prompt and tested by calls."""

    prompt: str
    """Python that ends in the head of the function; what a completion continues."""
    entry_point: str
    """Name of the function."""
    test: str
    """Python that defines `check(candidate)`, which raises where the function is wrong."""

    def __post_init__(self) -> None:
        if not self.entry_point.isidentifier():
            raise ValueError(f"entry_point is {self.entry_point!r}; it must be a function's name")


class Candidate:
    """The instance of the candidate, called by the checker's instance through the host."""

    def __init__(self, problem: FunctionProblem, limits: Limits, world: World) -> None:
        self.name = problem.entry_point
        self.limits = limits
        self.world = world
        self.failure: Verdict | None = None
        self.error: JudgeError | None = None
        self.last_answer: str | None = None

    def call(self, arguments: str) -> str:
        """Call the function on tagged arguments; return what the checker's stand-in reads.

        Raises WasmtimeError, which ends the test, whatever it would make of the failure: the
        engine's Python keeps any other exception where other threads find it.
        """
        from wasmtime import WasmtimeError

        sizes = self.limits.answer_bytes, self.limits.answer_depth
        try:
            reply = self.world.call("call", self.name, arguments, *sizes)
        except JudgeError as error:
            self.error = error
            raise WasmtimeError("the judge cannot run") from None
        answer = read_answer(reply, self.limits)
        if answer is not None:
            self.last_answer = answer.literal
            return f'["answer",{answer.tagged}]'
        outcome = Outcome.raised if reply.tag == "ended" else failure_of_g(reply)
        self.failure = Verdict(outcome, None, reply.detail, 0)
        # Only an exception that a test may expect goes on into the test.
        if reply.tag != Outcome.raised or self.world.broken:
            raise WasmtimeError(reply.detail)
        return json.dumps(["raised", reply.detail])


@deep
@timed
def judge_function(
    problem: FunctionProblem, completion: str, limits: Limits = DEFAULT_LIMITS
) -> Verdict:
    """Judge a completion of the problem's prompt; all calls of the test share one budget of fuel.

    Failures that begin with f_ are the test's own. Raises JudgeError if the judge cannot run.
    """
    if not isinstance(completion, str):
        refused = source_failure(completion, limits)
        assert refused is not None
        return Verdict(failure_of_g(refused), None, refused.detail, 0)
    source = problem.prompt + completion
    for text in (source, problem.test):
        refused = source_failure(text, limits)
        if refused is not None:
            outcome = failure_of_g(refused) if text is source else failure_of_f(refused)
            return Verdict(outcome, None, refused.detail, 0)
    return run_test(problem, source, limits)


@deep
def calls_of(
    problem: FunctionProblem, completion: str, limits: Limits = DEFAULT_LIMITS
) -> list[str]:
    """Give the first 16 distinct calls that the test makes of a completion, however it ends.

    Each is the canonical literal of (positional arguments, keyword arguments), in the order of
    the calls; nothing of what the test expects is among them, unless it calls the function with
    that. A program that does not compile or load is called by nobody. Raises JudgeError.
    """
    source = problem.prompt + completion
    if any(source_failure(text, limits) is not None for text in (source, problem.test)):
        return []
    calls: dict[str, None] = {}

    def record(arguments: str) -> None:
        if len(calls) < MOST_CALLS:
            calls[arguments] = None

    run_test(problem, source, limits, record)
    try:
        return [canonical(parse(arguments), ARGUMENT_DEPTH).literal for arguments in calls]
    except Malformed as error:
        raise JudgeError(f"the test's guest sent a call that cannot be read: {error}") from None


def run_test(
    problem: FunctionProblem,
    source: str,
    limits: Limits,
    record: Callable[[str], object] = lambda _: None,
) -> Verdict:
    """Run the test in one instance on the function in another; `record` is told each call."""
    with World(limits) as world:
        reply = world.call("define", source)
        if reply.tag != "loaded":
            return Verdict(failure_of_g(reply), None, reply.detail, world.fuel_spent)
        candidate = Candidate(problem, limits, world)

        def call(arguments: str) -> str:
            record(arguments)
            return candidate.call(arguments)

        with World(limits, Kind.checker, call) as checker:
            said = checker.call("check", problem.prompt, problem.entry_point, problem.test)
            fuel = world.fuel_spent + checker.fuel_spent
    if candidate.error is not None:
        raise candidate.error
    return read(said, candidate, fuel)


def read(said: Reply, candidate: Candidate, fuel: int) -> Verdict:
    """Say whose failure it is, the candidate's own before the test's."""
    if said.tag == Outcome.passed:
        return Verdict(Outcome.passed, candidate.last_answer, "", fuel)
    if candidate.failure is not None:
        return replace(candidate.failure, fuel=fuel)
    outcome = Outcome.wrong_answer if said.tag == Outcome.wrong_answer else failure_of_f(said)
    return Verdict(outcome, candidate.last_answer, said.detail, fuel)
