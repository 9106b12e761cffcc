"""Judging with several inputs: a g must be right on all, and the first failure is the verdict."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from judge import Limits, Verdict
from puzzles import Puzzle, puzzle_from_source
from selftrain.config import JudgeConfig
from selftrain.judge import Judged, Judging, judge_candidates, judged_from_row, judged_to_row
from selftrain.progress import Progress
from selftrain.references import failures
from selftrain.sampling import Completion, FinishReason
from selftrain.solve import Candidate

DRAWN = Completion("", FinishReason.STOP, 9, -1.0)
SQUARE = puzzle_from_source(
    "def f(x: int, n=9):\n    return x * x == n and x >= 0",
    name="square",
    more_inputs=("n=0", "n=144"),
    solutions=("def g(n=9):\n    return int(n ** 0.5)", "def g(n=9):\n    return 3"),
)
PLAIN = puzzle_from_source("def f(x: int):\n    return x == 701", name="plain")


@pytest.fixture(params=["strict", "screen"])
def judging(request: pytest.FixtureRequest) -> Judging:
    return Judging(Limits(fuel=1_000_000_000), request.param, True, JudgeConfig(num_workers=1))


def candidate(puzzle: Puzzle, body: str) -> Candidate:
    g = f"def g({puzzle.inputs}):\n    {body}"
    return Candidate(puzzle.id, puzzle.f, 0, DRAWN, g, "", "", puzzle.more_inputs)


BODIES = ["return int(n ** 0.5)", "return 3", "return 4", "return 3 if n == 9 else 1 / n"]


def test_a_candidate_passes_only_where_it_is_right_on_every_input(judging: Judging) -> None:
    candidates = [
        candidate(PLAIN, "return 701"),
        *[candidate(SQUARE, body) for body in BODIES],
        candidate(PLAIN, "return 700"),
    ]
    judged = list(judge_candidates(candidates, judging, advance=lambda _: None))
    assert [(one.outcome, one.detail) for one in judged] == [
        ("passed", ""),
        ("passed", ""),
        ("wrong_answer", "on inputs 2: f returned False"),
        ("wrong_answer", "f returned False"),
        ("raised", "on inputs 2: ZeroDivisionError: division by zero"),
        ("wrong_answer", "f returned False"),
    ]
    assert [one.candidate for one in judged] == candidates
    assert [judged_from_row(judged_to_row(one)) for one in judged] == judged


def test_a_row_says_of_a_verifier_only_where_one_had_a_say() -> None:
    plain = Judged(candidate(PLAIN, "return 701"), "passed", True, "701", "", 9)
    ordered = replace(plain, rank=0, ordered=True)
    assert {"rank", "ordered"} & set(judged_to_row(plain)) == set()
    assert judged_from_row(judged_to_row(ordered)) == ordered


def test_the_fuel_is_that_of_all_inputs() -> None:
    judging = Judging(Limits(fuel=1_000_000_000), "strict", False, JudgeConfig(num_workers=1))
    right = candidate(SQUARE, BODIES[0])
    (judged,) = judge_candidates([right], judging, advance=lambda _: None)
    sources = [SQUARE.f, *(SQUARE.f.replace("n=9", inputs) for inputs in SQUARE.more_inputs)]
    assert right.g is not None
    alone = [verdict.fuel for f in sources for verdict in judging.judge([(f, right.g)])]
    assert judged.fuel == sum(alone) > 3 * min(alone) / 2


def test_further_inputs_are_asked_about_only_while_a_candidate_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    judge = Judging.judge

    def noted(judging: Judging, pairs: Iterable[tuple[str, str]]) -> Iterator[Verdict]:
        pairs = list(pairs)
        asked.extend(g.split("\n    ")[1] for _, g in pairs)
        return judge(judging, pairs)

    monkeypatch.setattr(Judging, "judge", noted)
    judging = Judging(Limits(fuel=1_000_000_000), "strict", False, JudgeConfig(num_workers=1))
    candidates = [candidate(SQUARE, body) for body in BODIES]
    assert len(list(judge_candidates(candidates, judging, advance=lambda _: None))) == 4
    assert [BODIES.index(body) for body in asked] == [0, 1, 2, 3, 0, 1, 3, 0]


def test_a_reference_solution_must_be_right_on_every_input(judging: Judging) -> None:
    (failed,) = failures([SQUARE], judging, Progress())
    assert str(failed) == "'square': solution 2: wrong_answer on inputs 2: f returned False"
