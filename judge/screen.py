"""Screens many attempts at one puzzle: cheap rejections, and every pass confirmed alone.

All attempts run in one instance, and f judges the distinct answers in one other. Whatever f
accepts there is judged again, each in instances of its own (pair.py), so that nothing passes here
that would not pass there. An attempt whose code might leave something behind, or that ends oddly,
is judged alone from the start (guest/confined.py says which). Accept or reject is the same as in
pair.py; the detail and the fuel of a rejection may depend on the attempts before it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from judge.engine import Reply, World
from judge.literal import Answer
from judge.pair import failure_of_g, read_answer, says, source_failure
from judge.records import Limits, Outcome, Verdict

MARGIN = 16
"""Attempts get this fraction more fuel than alone: memory that others used may slow them."""
CERTAIN = (Outcome.raised, Outcome.wrong_type, Outcome.too_large, Outcome.syntax_error)
"""Failures, besides running out of fuel, that an attempt would have alone as well."""
SPOILING = (Outcome.out_of_memory, Outcome.too_large, Outcome.wrong_type)
"""Replies after which memory may be short: what was returned may be large, and hangs together."""
ADDRESS = " at 0x"
"""What the name of an object has in it, which is another beside others."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attempt came to in the shared instance."""

    verdict: Verdict | None = None
    """Its rejection, where that is certain."""
    answer: Answer | None = None
    """What it returned, where it did; where there is neither, it is to be judged alone."""
    fuel: int = 0
    """Instructions it used."""
    seconds: float = 0.0
    """How long it took here."""


def screen(
    f: str, gs: Sequence[str], limits: Limits, judge_alone: Callable[[str, str], Verdict]
) -> list[Verdict]:
    """Judge the attempts gs at f, in order; `judge_alone` has the last word on every pass."""
    distinct = list(dict.fromkeys(g for g in gs if source_failure(g, limits) is None))
    if len(distinct) < 2 or source_failure(f, limits):
        return [judge_alone(f, g) for g in gs]
    attempts = dict(zip(distinct, Shared(f, limits).attempts(distinct), strict=True))
    answers = {a.answer.tagged: a.answer for a in attempts.values() if a.answer}
    asked = dict(zip(answers, Shared(f, limits).ask(list(answers.values())), strict=True))
    verdicts = {g: rejection(attempt, asked) for g, attempt in attempts.items()}
    return [verdicts.get(g) or judge_alone(f, g) for g in gs]


def rejection(attempt: Attempt, asked: dict[str, Attempt]) -> Verdict | None:
    """Return why an attempt is rejected; None where only judging it alone can tell."""
    if attempt.answer is None:
        return attempt.verdict
    said = asked[attempt.answer.tagged].verdict
    if said is None or said.passed:
        return None
    seconds = attempt.seconds + said.seconds
    return Verdict(said.outcome, said.answer, said.detail, attempt.fuel + said.fuel, seconds)


class Shared:
    """An instance with f in it, made anew whenever a program has spoilt it."""

    def __init__(self, f: str, limits: Limits) -> None:
        self.f = f
        self.limits = limits
        self.world: World | None = None
        self.refused = False

    def attempts(self, gs: Sequence[str]) -> list[Attempt]:
        """Run each g."""
        with self.closing():
            return [self.attempt(g) for g in gs]

    def ask(self, answers: Sequence[Answer]) -> list[Attempt]:
        """Ask f about each answer."""
        with self.closing():
            return [self.opinion(answer) for answer in answers]

    def attempt(self, g: str) -> Attempt:
        """Run one g."""
        begun = time.perf_counter()
        limits = self.limits
        reply, fuel = self.call("attempt", g, limits.answer_bytes, limits.answer_depth)
        seconds = time.perf_counter() - begun
        answer = read_answer(reply, limits)
        if answer is not None and ADDRESS not in answer.literal:
            return Attempt(answer=answer, fuel=fuel, seconds=seconds)
        if answer is not None or not is_certain(reply):
            return Attempt()
        return Attempt(Verdict(failure_of_g(reply), None, reply.detail, fuel, seconds))

    def opinion(self, answer: Answer) -> Attempt:
        """Ask f about one answer."""
        begun = time.perf_counter()
        reply, fuel = self.call("ask", answer.tagged)
        if reply.tag not in (Outcome.passed, Outcome.wrong_answer) and not is_certain(reply):
            return Attempt()
        said = says(reply, answer, fuel)
        return Attempt(replace(said, seconds=time.perf_counter() - begun))

    def call(self, export: str, *arguments: str | int) -> tuple[Reply, int]:
        """Call the guest; return its reply and the instructions it took."""
        if self.world is None and not self.refused:
            self.world = World(self.limits)
            self.refused = self.world.call("share", self.f).tag != "loaded"
        if self.refused or self.world is None:
            return Reply("alone", ""), 0
        before = self.world.fuel_spent
        self.world.refuel(self.limits.fuel + self.limits.fuel // MARGIN)
        reply = self.world.call(export, *arguments)
        spent = min(self.world.fuel_spent - before, self.limits.fuel)
        if self.world.broken or reply.tag in SPOILING:
            self.drop()
        elif spent > self.limits.fuel // (4 * MARGIN):
            # Dropping what much work made costs much, and is not the next one's to pay.
            self.world.refuel(self.limits.fuel)
            if self.world.call("restore").tag != "loaded":
                self.drop()
        return reply, spent

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Close the instance at the end."""
        try:
            yield
        finally:
            self.drop()

    def drop(self) -> None:
        """Close the instance; the next call makes another."""
        if self.world is not None:
            self.world.close()
        self.world = None


def is_certain(reply: Reply) -> bool:
    """Say whether a program that failed so beside others would fail alone."""
    if reply.tag == Outcome.no_g or reply.tag == Outcome.timed_out:
        return True
    # How deep a program may recurse depends on what called it.
    return reply.tag in CERTAIN and not reply.detail.startswith(("RecursionError", "MemoryError"))
