"""Judge: candidates get their verdicts. The judge itself is the package `judge`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from judge import Limits, judge_many
from selftrain.files import Format, Row
from selftrain.solve import Candidate, candidate_from_row


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and its verdict."""

    candidate: Candidate
    outcome: str
    """A `judge.Outcome`, or why no g could be cut from the completion."""
    passed: bool
    answer: str | None
    """What g returned, as a Python literal."""
    detail: str
    fuel: int
    """Instructions used."""


def judge_candidates(
    candidates: Sequence[Candidate],
    limits: Limits,
    num_workers: int,
    *,
    advance: Callable[[int], object],
) -> Iterator[Judged]:
    """Judge in order; a candidate without a g never reaches the judge.

    The reason why it has none is its outcome. Raises `judge.JudgeError` where the judge
    cannot run; that is no verdict.
    """
    verdicts = judge_many(
        [(candidate.f, candidate.g) for candidate in candidates if candidate.g is not None],
        limits,
        num_workers,
    )
    for candidate in candidates:
        if candidate.g is None:
            yield Judged(candidate, candidate.no_g, False, None, candidate.detail, 0)
        else:
            verdict = next(verdicts)
            yield Judged(
                candidate,
                verdict.outcome,
                verdict.passed,
                verdict.answer,
                verdict.detail,
                verdict.fuel,
            )
        advance(1)


def judged_to_row(judged: Judged) -> Row:
    """Flatten a judged candidate: a row of the candidates file."""
    candidate = judged.candidate
    return {
        "puzzle_id": candidate.puzzle_id,
        "f": candidate.f,
        "index": candidate.index,
        **asdict(candidate.completion),
        "g": candidate.g,
        "outcome": judged.outcome,
        "passed": judged.passed,
        "answer": judged.answer,
        "detail": judged.detail,
        "fuel": judged.fuel,
    }


def judged_from_row(row: Row) -> Judged:
    """Rebuild what `judged_to_row` flattened."""
    no_g = row["outcome"] if row["g"] is None else ""
    candidate = candidate_from_row({**row, "no_g": no_g, "detail": row["detail"] if no_g else ""})
    return Judged(
        candidate, row["outcome"], row["passed"], row["answer"], row["detail"], row["fuel"]
    )


JUDGED = Format("judge", judged_to_row, judged_from_row)
