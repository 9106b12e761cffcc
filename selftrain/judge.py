"""Judge: candidates get their verdicts. The judge itself is the package `judge`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from judge import (
    Execution,
    FunctionProblem,
    Limits,
    Mode,
    TextProblem,
    Verdict,
    call_many,
    judge_completions,
    judge_many,
    run_many,
    run_texts,
)
from puzzles import sources
from selftrain.config import JudgeConfig
from selftrain.files import Format, Row
from selftrain.solve import Candidate, candidate_from_row

T = TypeVar("T")
R = TypeVar("R")

NOT_JUDGED = "not_judged"
"""Outcome of a candidate that no checker has seen, since enough others of its puzzle had passed.

It is no verdict: it labels nothing and counts among no attempts.
"""


@dataclass(frozen=True, slots=True)
class Judging:
    """How programs are judged, and where."""

    limits: Limits
    mode: Mode
    confirm: bool
    """Whether what passes must pass in a second guest too."""
    config: JudgeConfig
    """Where: processes, backend, address."""

    def judge(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Verdict]:
        """Judge (f, g) pairs in order. Raises `judge.JudgeError`."""
        return judge_many(
            pairs,
            self.limits,
            self.config.num_workers,
            mode=self.mode,
            confirm=self.confirm,
            backend=self.config.backend,
            address=self.config.address,
        )

    def judge_on_all(self, programs: Sequence[tuple[Sequence[str], str]]) -> Iterator[Verdict]:
        """Judge each g by the sources of one f at all its inputs, in order.

        The first source judges every g, each further one only what passed so far. The first
        failing verdict is the verdict; fuel and time are those of all. Raises `judge.JudgeError`.
        """
        first = self.judge((fs[0], g) for fs, g in programs)
        depth = max((len(fs) for fs, _ in programs), default=1)
        return first if depth == 1 else iter(self._further(programs, list(first), depth))

    def _further(
        self, programs: Sequence[tuple[Sequence[str], str]], verdicts: list[Verdict], depth: int
    ) -> list[Verdict]:
        for number in range(1, depth):
            asked = [
                i for i, (fs, _) in enumerate(programs) if verdicts[i].passed and number < len(fs)
            ]
            if not asked:
                break
            pairs = [(programs[i][0][number], programs[i][1]) for i in asked]
            for i, verdict in zip(asked, self.judge(pairs), strict=True):
                verdicts[i] = _and_then(verdicts[i], verdict, number + 1)
        return verdicts

    def execute(
        self, programs: Iterable[tuple[str, str | None]], *, second: bool = False
    ) -> Iterator[Execution]:
        """Run each g on the inputs of its f, in order; f is asked nothing else.

        With `second`, in the guest that has another hash seed. Raises `judge.JudgeError`.
        """
        return run_many(
            programs,
            self.limits,
            self.config.num_workers,
            second=second,
            backend=self.config.backend,
            address=self.config.address,
        )

    def execute_texts(
        self, programs: Iterable[tuple[str, str]], *, second: bool = False
    ) -> Iterator[Execution]:
        """Run each whole program on its standard input, in order; an answer is its output.

        With `second`, in the guest that has another hash seed. Raises `judge.JudgeError`.
        """
        return run_texts(
            programs,
            self.limits,
            self.config.num_workers,
            second=second,
            backend=self.config.backend,
            address=self.config.address,
        )

    def call(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Call what judges by itself, a pure function, on each item, in order. Raises
        `judge.JudgeError`.
        """
        return call_many(
            function,
            items,
            self.config.num_workers,
            backend=self.config.backend,
            address=self.config.address,
        )

    def judge_completions(
        self, samples: Iterable[tuple[FunctionProblem | TextProblem, str]]
    ) -> Iterator[Verdict]:
        """Judge completions of problems in order, each alone. Raises `judge.JudgeError`."""
        return judge_completions(
            samples,
            self.limits,
            self.config.num_workers,
            backend=self.config.backend,
            address=self.config.address,
        )


def _and_then(before: Verdict, now: Verdict, number: int) -> Verdict:
    """Join the verdicts on earlier inputs, all passed, with that on the inputs of this number."""
    verdict = before if now.passed else replace(now, detail=f"on inputs {number}: {now.detail}")
    return replace(verdict, fuel=before.fuel + now.fuel, seconds=before.seconds + now.seconds)


def judging_in_rounds(config: JudgeConfig) -> Judging:
    """Say how attempts are judged that may be trained on: a pass by luck is left out."""
    limits = Limits(fuel=config.fuel, memory_bytes=config.memory_bytes)
    return Judging(limits, config.mode, True, config)


def judging_in_evaluation(config: JudgeConfig) -> Judging:
    """Say how held-out attempts are judged: each alone, with more time."""
    limits = Limits(fuel=config.evaluation_fuel, memory_bytes=config.memory_bytes)
    return Judging(limits, "strict", False, config)


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and its verdict."""

    candidate: Candidate
    outcome: str
    """A `judge.Outcome`, why no g could be cut from the completion, or NOT_JUDGED."""
    passed: bool
    answer: str | None
    """What g returned, as a Python literal; on the first inputs, or on those where it failed."""
    detail: str
    fuel: int
    """Instructions used."""
    rank: int | None = None
    """Place of its g among the puzzle's in a verifier's order, from 0; None where none ordered."""
    ordered: bool = False
    """Whether its puzzle was judged in that order, and only until enough had passed."""
    way: str = ""
    """How it came about after all attempts had failed: an arm of `refine`; empty for an attempt."""


def judge_candidates(
    candidates: Sequence[Candidate],
    judging: Judging,
    *,
    advance: Callable[[int], object],
) -> Iterator[Judged]:
    """Judge in order; a candidate without a g never reaches the judge.

    The reason why it has none is its outcome. Raises `judge.JudgeError` where the judge
    cannot run; that is no verdict.
    """
    verdicts = judging.judge_on_all(
        [
            (sources(candidate.f, candidate.more_inputs), candidate.g)
            for candidate in candidates
            if candidate.g is not None
        ]
    )
    for candidate in candidates:
        yield (
            without_g(candidate) if candidate.g is None else with_verdict(candidate, next(verdicts))
        )
        advance(1)


def without_g(candidate: Candidate) -> Judged:
    """Say of a candidate without a g why it has none."""
    return Judged(candidate, candidate.no_g, False, None, candidate.detail, 0)


def with_verdict(candidate: Candidate, verdict: Verdict) -> Judged:
    """Give a candidate its verdict."""
    return Judged(
        candidate, verdict.outcome, verdict.passed, verdict.answer, verdict.detail, verdict.fuel
    )


def judged_to_row(judged: Judged) -> Row:
    """Flatten a judged candidate: a row of the candidates file."""
    candidate = judged.candidate
    return {
        "puzzle_id": candidate.puzzle_id,
        "f": candidate.f,
        "more_inputs": list(candidate.more_inputs),
        "index": candidate.index,
        **asdict(candidate.completion),
        "g": candidate.g,
        "outcome": judged.outcome,
        "passed": judged.passed,
        "answer": judged.answer,
        "detail": judged.detail,
        "fuel": judged.fuel,
        # Only where a verifier had a say: other runs keep their bytes.
        **({} if judged.rank is None else {"rank": judged.rank}),
        **({"ordered": True} if judged.ordered else {}),
        # Only where rounds refine, for the same reason.
        **({"way": judged.way} if judged.way else {}),
    }


def judged_from_row(row: Row) -> Judged:
    """Rebuild what `judged_to_row` flattened."""
    no_g = row["outcome"] if row["g"] is None else ""
    candidate = candidate_from_row({**row, "no_g": no_g, "detail": row["detail"] if no_g else ""})
    return Judged(
        candidate,
        row["outcome"],
        row["passed"],
        row["answer"],
        row["detail"],
        row["fuel"],
        row.get("rank"),
        row.get("ordered", False),
        row.get("way", ""),
    )


def is_attempt(row: Row) -> bool:
    """Tell whether a row of the candidates file is an attempt at its puzzle.

    Else it is what refinement came to after all of these had failed: it tells no solve rate.
    """
    return "way" not in row


JUDGED = Format("judge", judged_to_row, judged_from_row)
