"""What a verifier spares the judge, or has kept, in one shard; its scores are written down here."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from judge import Execution, Limits, Verdict
from puzzles import Puzzle, puzzle_from_source
from selftrain.config import Config, CurateConfig, JudgeConfig, VerifierConfig
from selftrain.curate import curate
from selftrain.experiment import Experiment
from selftrain.judge import NOT_JUDGED, Judged, Judging
from selftrain.progress import Progress
from selftrain.run_directory import RunDirectory
from selftrain.sampling import Completion, FinishReason
from selftrain.solve import Candidate
from selftrain.verifier.ranking.rank import Scored
from selftrain.verifier.rounds import judge_in_round as deciding
from selftrain.verifier.rounds.judge_in_round import is_explored, judge_in_round, judge_until
from selftrain.verifier.tasks.task import Task

ODD, BIG = "def f(x: int):\n    return x % 2 == 1", "def f(x: int):\n    return x > 90"
PUZZLE = puzzle_from_source(ODD, name="odd")
LIKELIHOODS = {"1": -9.0, "3 + 0": -1.0, "4": -0.5, "2 // 0": -0.1, "5": -2.0}
"""What g returns, and the verifier's log-odds: the likeliest are wrong."""


def candidate(puzzle: Puzzle, answer: object, index: int) -> Candidate:
    drawn = Completion("", FinishReason.STOP, 9, -1.0)
    g = None if answer is None else f"def g():\n    return {answer}"
    return Candidate(puzzle.id, puzzle.f, index, drawn, g, "" if g else "syntax", "")


def test_candidates_are_judged_in_order_until_enough_of_them_passed() -> None:
    judging = Judging(Limits(fuel=1_000_000_000), "screen", True, JudgeConfig(num_workers=1))
    big = puzzle_from_source(BIG, name="big")
    orders = [
        [candidate(PUZZLE, answer, index) for index, answer in enumerate((4, 1, 6, 3, 5, 8))],
        [candidate(big, answer, index) for index, answer in enumerate((1, 2, 99, 3))],
        [candidate(PUZZLE, answer, index) for index, answer in enumerate((7, 9, 11))],
        [],
    ]
    passed = [[v.passed for v in own] for own in judge_until(orders, 2, judging)]
    assert passed == [
        [False, True, False, True],
        [False, False, True, False],
        [True, True],
        [],
    ]


def test_about_a_share_of_puzzles_is_explored_whatever_the_others_are() -> None:
    names = [f"puzzle {number}" for number in range(2000)]
    explored = [name for name in names if is_explored(3, 2, name, 0.25)]
    assert 400 < len(explored) < 600
    assert all(is_explored(3, 2, name, 0.5) for name in explored)
    assert all(is_explored(3, 2, name, 1.0) for name in names)
    assert explored != [name for name in names if is_explored(3, 3, name, 0.25)]


class Watched:
    """A shard judged, with what met the judge on the way."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, **settings: Any) -> None:
        run = RunDirectory(folder)
        run.round(1).verifier.mkdir(parents=True)
        config = Config(
            verifier=VerifierConfig(enabled=True, **({"explore": 1e-9} | settings)),
            curate=CurateConfig(max_solutions=1),
            judge=JudgeConfig(num_workers=1, fuel=1_000_000_000),
        )
        self.x = Experiment(config, run, [], [], Progress(), _no_model, _no_model)
        self.judged: list[str] = []
        self.executed: list[str] = []
        patch.setattr(deciding, "score", _score)
        judge, execute = Judging.judge, Judging.execute

        def judge_noted(how: Judging, pairs: Iterable[tuple[str, str]]) -> Iterator[Verdict]:
            pairs = list(pairs)
            self.judged += [g.rpartition("return ")[2] for _, g in pairs]
            return judge(how, pairs)

        def execute_noted(
            how: Judging, programs: Iterable[tuple[str, str | None]]
        ) -> Iterator[Execution]:
            programs = list(programs)
            self.executed += [g.rpartition("return ")[2] for g, _ in programs]
            return execute(how, programs)

        patch.setattr(Judging, "judge", judge_noted)
        patch.setattr(Judging, "execute", execute_noted)

    def outcomes(self, answers: Sequence[object]) -> list[tuple[str, int | None]]:
        return [(one.outcome, one.rank) for one in self.shard(answers)]

    def shard(self, answers: Sequence[object]) -> list[Judged]:
        candidates = [candidate(PUZZLE, answer, i) for i, answer in enumerate(answers)]
        here = self.x.run.round(2)
        return list(judge_in_round(self.x, here, [PUZZLE], candidates, advance=lambda _: None))


def _no_model(_: object) -> Any:
    raise AssertionError("no model is loaded here")


def _score(_: Experiment, __: Path, tasks: Sequence[Task]) -> list[Scored]:
    def odds(program: str) -> float:
        return LIKELIHOODS[program.rpartition("return ")[2]]

    return [Scored(task, tuple(odds(one.program) for one in task.candidates)) for task in tasks]


ANSWERS = ["1", "3 + 0", None, "4", "2 // 0", "3 + 0", "5"]


def test_a_verifier_that_reads_results_spares_calls_of_f(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = Watched(tmp_path, monkeypatch, use="judge", groups=False)
    assert shard.outcomes(ANSWERS) == [
        (NOT_JUDGED, 4),
        ("passed", 2),
        ("syntax", None),
        ("wrong_answer", 1),
        ("raised", 0),
        ("passed", 2),
        (NOT_JUDGED, 3),
    ]
    assert shard.executed == ["1", "3 + 0", "4", "2 // 0", "5"]
    assert shard.judged == ["4", "3 + 0"]  # 2 // 0 failed before, and needs no call


def test_one_that_reads_none_executes_nothing_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = Watched(tmp_path, monkeypatch, use="judge", results="none")
    found = [outcome for outcome, _ in shard.outcomes(ANSWERS)]
    assert found == [
        NOT_JUDGED, "passed", "syntax", "wrong_answer", "raised", "passed", NOT_JUDGED,
    ]  # fmt: skip
    assert (shard.executed, shard.judged) == ([], ["2 // 0", "4", "3 + 0"])


def test_the_fuel_is_that_of_executing_and_of_judging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Watched(tmp_path / "a", monkeypatch, use="judge", groups=False).shard(ANSWERS)
    alone = Watched(tmp_path / "b", monkeypatch, use="judge", results="none").shard(ANSWERS)
    assert first[0].fuel > alone[0].fuel == 0
    assert first[1].fuel > alone[1].fuel > 0


def test_to_keep_the_likeliest_all_are_judged_and_the_best_that_passed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = Watched(tmp_path, monkeypatch, use="keep", groups=False)
    judged = shard.shard(ANSWERS)
    assert [one.outcome for one in judged] == [
        "passed", "passed", "syntax", "wrong_answer", "raised", "passed", "passed",
    ]  # fmt: skip
    assert not any(one.ordered for one in judged)
    kept = curate([PUZZLE], judged, shard.x.config.curate, 0, 2)
    assert [one.g for one in kept] == ["def g():\n    return 3 + 0"]


@pytest.mark.parametrize("judge_all", [{"use": "watch"}, {"use": "judge", "explore": 1.0}])
def test_a_verifier_that_watches_or_a_puzzle_explored_spares_no_call(
    judge_all: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = Watched(tmp_path, monkeypatch, **judge_all)
    judged = shard.shard(ANSWERS)
    assert not any(one.outcome == NOT_JUDGED or one.ordered for one in judged)
    assert shard.executed == []
