"""Judges one pair: g in one instance, f on its answer in another that never saw g.

Only the answer passes between the two, rewritten by the host into canonical plain data. A pass
needs f's own True and the annotated type. The same sources and limits give the same verdict and
the same fuel on every run: a clock is read only to say how long it took. Not here: many pairs
(many.py), many attempts at one puzzle in one instance (screen.py).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import ParamSpec, TypeAlias

from judge.engine import Reply, World
from judge.identity import Kind
from judge.literal import Answer, Malformed, canonical
from judge.records import DEFAULT_LIMITS, Execution, Limits, NotText, Outcome, Probe, Verdict
from judge.stack import deep

OF_F = {
    Outcome.raised: Outcome.f_raised,
    Outcome.syntax_error: Outcome.f_syntax_error,
    Outcome.timed_out: Outcome.f_timed_out,
    Outcome.out_of_memory: Outcome.f_out_of_memory,
    Outcome.forbidden: Outcome.f_forbidden,
    Outcome.too_large: Outcome.f_too_large,
    Outcome.wrong_type: Outcome.f_wrong_type,
    Outcome.crashed: Outcome.f_crashed,
}
"""What a failure is called where f is to blame."""
OF_G = frozenset(OF_F) | {Outcome.no_g}
"""The failures that running g can have; another tag in a reply is a forgery."""
FIRST_PASS_SHARE = 20
"""A probe first gives every answer this fraction of the fuel, so that few slow ones cost little."""
MAX_SLOW_PROBES = 4
"""How many answers a probe then gives the whole fuel."""

Ask: TypeAlias = Callable[[str, Answer, Limits, Kind], Verdict]
"""How f is asked about an answer: `check`, or what remembers what `check` said."""
P = ParamSpec("P")


def timed(judging: Callable[P, Verdict]) -> Callable[P, Verdict]:
    """Let a function that judges say how long it took."""

    @wraps(judging)
    def call(*args: P.args, **kwargs: P.kwargs) -> Verdict:
        begun = time.perf_counter()
        verdict = judging(*args, **kwargs)
        return replace(verdict, seconds=time.perf_counter() - begun)

    return call


@deep
@timed
def judge(f: str, g: str, limits: Limits = DEFAULT_LIMITS) -> Verdict:
    """Judge the source of g by the source of f; raise JudgeError only if the judge cannot run."""
    return decide(f, g, limits)


def decide(
    f: str, g: str, limits: Limits, kind: Kind = Kind.candidate, ask: Ask | None = None
) -> Verdict:
    """Judge without a clock; `ask` asks f about the answer, as `check` does."""
    ran, answer = run_g(f, g, limits, kind)
    if answer is None:
        assert ran.failure is not None
        return Verdict(ran.failure, None, ran.detail, ran.fuel)
    checked = (ask or check)(f, answer, limits, kind)
    return replace(checked, fuel=ran.fuel + checked.fuel)


def check(f: str, answer: Answer, limits: Limits, kind: Kind = Kind.candidate) -> Verdict:
    """Ask f about an answer, in an instance that never saw where the answer is from."""
    with World(limits, kind) as world:
        reply = load(world, f) or world.call("check", answer.tagged)
        return says(reply, answer, world.fuel_spent)


def says(reply: Reply, answer: Answer, fuel: int) -> Verdict:
    """Read f's reply about an answer."""
    known = reply.tag in (Outcome.passed, Outcome.wrong_answer, Outcome.wrong_type)
    outcome = Outcome(reply.tag) if known else failure_of_f(reply)
    return Verdict(outcome, answer.literal, reply.detail, fuel)


def confirm(f: str, g: str, limits: Limits, verdict: Verdict, ask: Ask) -> Verdict:
    """Judge a pair that passed in the second guest too; `flaky` where it does not pass there.

    The second guest has another hash seed, another random seed and another day.
    """
    if not verdict.passed:
        return verdict
    again = decide(f, g, limits, Kind.second, ask)
    if again.passed:
        return verdict
    detail = f"in a second guest: {again.outcome} {again.detail}"
    return replace(verdict, outcome=Outcome.flaky, detail=detail)


@deep
def run(
    g: str, f: str | None = None, limits: Limits = DEFAULT_LIMITS, *, second: bool = False
) -> Execution:
    """Run g on f's inputs, or without any where there is no f, and return its answer.

    With `second`, in the guest that has another hash seed, other random numbers and another day.
    """
    return run_g(f or "", g, limits, kind_of(second), has_f=f is not None)[0]


def kind_of(second: bool) -> Kind:
    """Say which guest runs what a model wrote."""
    return Kind.second if second else Kind.candidate


@deep
def run_text(
    source: str, given: str, limits: Limits = DEFAULT_LIMITS, *, second: bool = False
) -> Execution:
    """Run a whole program on its standard input; its answer is the literal of its output."""
    refused = source_failure(source, limits)
    if refused is not None:
        return without_answer(failure_of_g, refused)
    with World(limits, kind_of(second)) as world:
        reply = world.call("run-text", source, given, limits.answer_bytes)
        answer = read_answer(reply, limits)
        if answer is None:
            return without_answer(failure_of_g, reply, world.fuel_spent)
        # A text with surrogates is a tree of its own; no other literal begins with a quote.
        if answer.literal[0] not in "'\"":
            return Execution(None, Outcome.crashed, "replied what is no text", world.fuel_spent)
        return Execution(answer.literal, None, "", world.fuel_spent)


@deep
def inputs(f: str, limits: Limits = DEFAULT_LIMITS) -> Execution:
    """Return f's inputs as the literal of a dict; runs f's source and defaults, never f."""
    refused = source_failure(f, limits)
    if refused is not None:
        return without_answer(failure_of_f, refused)
    with World(limits) as world:
        reply = load(world, f) or world.call("inputs", limits.answer_bytes, limits.answer_depth)
        answer = read_answer(reply, limits)
        if answer is not None:
            return Execution(answer.literal, None, "", world.fuel_spent)
        return without_answer(failure_of_f, reply, world.fuel_spent)


@deep
def first_true(f: str, answers: Sequence[str], limits: Limits = DEFAULT_LIMITS) -> Probe:
    """Find an answer (a Python literal) on which f returns True itself; types are not tested.

    All answers meet f in one instance, which is made anew after a trap. Each is given a twentieth
    of the fuel; the first four that need more get the whole of it afterwards. The first answer in
    order that makes f True wins, the slow ones after the others.
    """
    refused = source_failure(f, limits)
    if refused is not None:
        return Probe(None, failure_of_f(refused), refused.detail, 0, 0)
    quick = max(1, limits.fuel // FIRST_PASS_SHARE)
    first = probe_all(f, answers, range(len(answers)), quick, limits)
    if first.index is not None or first.failure is not None or not first.slow:
        return Probe(first.index, first.failure, first.detail, len(first.slow), first.fuel)
    second = probe_all(f, answers, first.slow[:MAX_SLOW_PROBES], limits.fuel, limits)
    undecided = len(first.slow[MAX_SLOW_PROBES:]) + len(second.slow)
    fuel = first.fuel + second.fuel
    return Probe(second.index, second.failure, second.detail, undecided, fuel)


@dataclass(slots=True)
class Pass:
    """What one pass over the answers of a probe has found so far."""

    index: int | None = None
    """Which answer makes f True."""
    failure: Outcome | None = None
    """Why f could not be asked."""
    detail: str = ""
    slow: list[int] = field(default_factory=list)
    """Which answers f did not decide within the fuel of this pass."""
    fuel: int = 0
    """Instructions used."""


def probe_all(
    f: str, answers: Sequence[str], indices: Sequence[int], fuel: int, limits: Limits
) -> Pass:
    """Call f on the answers of these indices, with so much fuel each, until one makes it True."""
    found = Pass()
    waiting = list(reversed(indices))
    while waiting and found.index is None:
        with World(limits) as world:
            failed = load(world, f)
            if failed is not None:
                found.failure, found.detail = failure_of_f(failed), failed.detail
                waiting.clear()
            probe_until_broken(world, answers, waiting, fuel, found)
            found.fuel += world.fuel_spent
    return found


def probe_until_broken(
    world: World, answers: Sequence[str], waiting: list[int], fuel: int, found: Pass
) -> None:
    """Take indices off waiting until f is True or the instance is of no more use."""
    while waiting:
        index = waiting.pop()
        world.refuel(fuel)
        reply = world.call("probe", answers[index])
        if reply.tag == Outcome.passed:
            found.index = index
            return
        if reply.tag == Outcome.timed_out:
            found.slow.append(index)
        if reply.tag not in (Outcome.wrong_answer, Outcome.raised) or world.broken:
            return


def run_g(
    f: str, g: str, limits: Limits, kind: Kind = Kind.candidate, *, has_f: bool = True
) -> tuple[Execution, Answer | None]:
    """Run g and read its answer; there is an answer exactly where there is no failure."""
    for source, name in ((f, failure_of_f), (g, failure_of_g)):
        refused = source_failure(source, limits)
        if refused is not None:
            return without_answer(name, refused), None
    with World(limits, kind) as world:
        failed = load(world, f) if has_f else None
        if failed is not None:
            return without_answer(failure_of_f, failed, world.fuel_spent), None
        reply = world.call("solve", g, limits.answer_bytes, limits.answer_depth)
        answer = read_answer(reply, limits)
        if answer is not None:
            return Execution(answer.literal, None, "", world.fuel_spent), answer
        return without_answer(failure_of_g, reply, world.fuel_spent), None


def without_answer(name: Callable[[Reply], Outcome], reply: Reply, fuel: int = 0) -> Execution:
    """Say why there is no answer; `name` knows whose failure the reply tells of."""
    return Execution(None, name(reply), reply.detail, fuel)


def load(world: World, f: str) -> Reply | None:
    """Load f into a fresh instance; return the reply only if that failed."""
    reply = world.call("load", f)
    return None if reply.tag == "loaded" else reply


def read_answer(reply: Reply, limits: Limits) -> Answer | None:
    """Return the answer in a reply, if there is one that can be read."""
    if reply.tag != "answer":
        return None
    try:
        return canonical(reply.tree, limits.answer_depth)
    except Malformed:
        return None


def failure_of_g(reply: Reply) -> Outcome:
    """Name a failure of g; a reply that g's guest never gives is one that g forged."""
    return Outcome(reply.tag) if reply.tag in OF_G else Outcome.crashed


def failure_of_f(reply: Reply) -> Outcome:
    """Name a failure of f; a reply that f's guest never gives is one that f forged."""
    return OF_F[Outcome(reply.tag)] if reply.tag in OF_F else Outcome.f_crashed


def source_failure(source: str | NotText, limits: Limits) -> Reply | None:
    """Say what is wrong with a source that never reaches the guest."""
    if not isinstance(source, str):  # a row of JSON can hold anything
        kind = source.kind if isinstance(source, NotText) else type(source).__name__
        return Reply(Outcome.syntax_error, f"the source is of type {kind}")
    try:
        size = len(source.encode())
    except UnicodeEncodeError as error:
        return Reply(Outcome.syntax_error, f"UnicodeEncodeError: {error.reason}")
    if size > limits.source_bytes:
        detail = f"the source has {size} bytes; the limit is {limits.source_bytes}"
        return Reply(Outcome.too_large, detail)
    return None
