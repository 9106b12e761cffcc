"""The pairs that arms draw from, of a pool written by hand: whose verdicts count, and for what."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from scripted import few_held_out

from puzzles import Puzzle, puzzle_from_source, to_row
from selftrain.ablation.arms import Arm, Generator
from selftrain.ablation.data import read_slots, write_pairs
from selftrain.ablation.directory import AblationDirectory
from selftrain.ablation.draw import in_order
from selftrain.ablation.pipeline import make_data
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.curate import curate
from selftrain.experiment import Experiment
from selftrain.files import Row, read_rows, write_json, write_rows
from selftrain.judge import Judged, judged_to_row
from selftrain.progress import Progress
from selftrain.run_directory import RoundDirectory
from selftrain.sampling import Completion, FinishReason, Sampler
from selftrain.solve import Candidate

OWN = Generator("", Config().model)
DRAWN = Completion("", FinishReason.STOP, 1, 0.0)
TIMES = [
    puzzle_from_source(
        f"def f(x: int, a={number}):\n    return x == a * 7 + {number}", name=f"p{number}"
    )
    for number in range(2, 8)
]


def attempts(puzzle: Puzzle, passed: Sequence[bool]) -> list[Judged]:
    """Give an attempt a verdict, each with a g of its own."""
    return [
        Judged(
            Candidate(
                puzzle.id, puzzle.f, i, DRAWN, f"def g({puzzle.inputs}):\n    return {i}", "", ""
            ),
            "passed" if right else "wrong_answer",
            right,
            str(i),
            "",
            0,
        )
        for i, right in enumerate(passed)
    ]


JUDGED = [
    one
    for number, puzzle in enumerate(TIMES)
    for one in attempts(puzzle, [i <= number for i in range(6)])
]
"""The first puzzle was solved once in six attempts, the last always."""


def experiment(folder: Path, *settings: str, train: Sequence[Puzzle] = ()) -> Experiment:
    """Give one that samples nothing."""

    def load(_: object) -> Sampler:
        raise AssertionError("nothing is sampled")

    here = AblationDirectory(folder)
    config = load_config(None, ["decontaminate.checks=[text, syntax]", *settings])
    log = Progress(here.run.log)
    return Experiment(config, here.run, train, few_held_out(), log, load, load)


def write_pool(pool: RoundDirectory, judged: Sequence[Judged], num_removed: int = 0) -> None:
    """Write a pool that is complete; of what passed, the last ones are removed as too near."""
    verified = [asdict(one) for one in curate(TIMES, judged, Config().curate, 0, 1)]
    kept = len(verified) - num_removed
    near = {"reason": "behaviour", "held_out": "h", "detail": "its answer solves h"}
    write_rows(pool.puzzles, map(to_row, TIMES))
    write_rows(pool.candidates, map(judged_to_row, judged))
    write_rows(pool.examples, verified[:kept])
    write_rows(pool.removed, ({**row, **near} for row in verified[kept:]))
    write_json(pool.metrics, {})


def pairs(folder: Path, judged: Sequence[Judged], kind: str, *settings: str) -> list[Row]:
    """Write the pairs of a kind of such a pool, and give them in the order that an arm takes."""
    x, here, arm = experiment(folder, *settings), AblationDirectory(folder), Arm(kind, OWN)
    write_pool(here.pool(OWN, 0), judged)
    write_pairs(x, here, OWN, here.pool(OWN, 0), [arm])
    found = list(read_rows(here.pairs(kind, OWN, 0)))
    return [found[slot.number] for slot in in_order(arm, read_slots(here, arm, 0), x.config)]


@pytest.mark.parametrize(
    "settings",
    [
        ("curate.drop_always_solved=true",),
        ("curate.choose=middle_first",),
        ("curate.choose=middle_first", "curate.max_pairs=7", "curate.drop_always_solved=true"),
    ],
)
def test_other_verdicts_change_no_unverified_pair(
    tmp_path: Path, settings: tuple[str, ...]
) -> None:
    few = ("curate.max_solutions=2", *settings)
    verdicts = {
        "as judged": [one.passed for one in JUDGED],
        "turned": [not one.passed for one in JUDGED],
        "all wrong": [False for _ in JUDGED],
    }
    chosen = []
    for name, passed in verdicts.items():
        outcomes = ["passed" if right else "wrong_answer" for right in passed]
        judged = [
            replace(one, passed=right, outcome=outcome)
            for one, right, outcome in zip(JUDGED, passed, outcomes, strict=True)
        ]
        found = pairs(tmp_path / name, judged, "unverified", *few)
        chosen.append([(row["name"], row["g"]) for row in found])
    assert chosen[0] == chosen[1] == chosen[2]
    assert len(chosen[0]) == (7 if "curate.max_pairs=7" in settings else 12)


def test_wrong_pairs_come_middle_first_where_asked(tmp_path: Path) -> None:
    found = pairs(tmp_path, JUDGED, "wrong", "curate.choose=middle_first")
    distance = [abs(row["num_correct"] / row["num_attempts"] - 0.5) for row in found]
    assert distance == sorted(distance) and distance[0] < distance[-1]


def test_what_a_pool_removed_of_its_verified_pairs_no_arm_draws(tmp_path: Path) -> None:
    x, here = experiment(tmp_path, "decontaminate.checks=[]"), AblationDirectory(tmp_path)
    pool = here.pool(OWN, 0)
    write_pool(pool, JUDGED, num_removed=3)
    write_pairs(x, here, OWN, pool, [Arm("verified", OWN)])
    kept, removed = (list(read_rows(p("verified", OWN, 0))) for p in (here.pairs, here.removed))
    assert [row["g"] for row in kept] == [row["g"] for row in read_rows(pool.examples)]
    assert len(kept) == 18 and all(row["num_tokens"] > 20 and row["passed"] for row in kept)
    assert [(row["index"], row["reason"]) for row in removed] == [
        (row["index"], "behaviour") for row in read_rows(pool.removed)
    ]


@pytest.mark.parametrize(("max_solutions", "same"), [(6, True), (2, False)])
def test_seeds_of_a_shared_pool_have_the_same_wrong_pairs_where_none_is_left_out(
    tmp_path: Path, max_solutions: int, same: bool
) -> None:
    shared = ("ablate.pool=shared", "solve.num_attempts=6", f"curate.max_solutions={max_solutions}")
    x, here = experiment(tmp_path, *shared), AblationDirectory(tmp_path)
    write_pool(here.pool(OWN, 0), JUDGED)
    for seed in (0, 1):
        own = replace(x, config=x.config.model_copy(update={"seed": seed}))
        make_data(x, own, here, OWN, [Arm("wrong", OWN)])
    found = [here.pairs("wrong", OWN, seed).read_text() for seed in (0, 1)]
    assert (found[0] == found[1]) == same


def test_a_reference_solution_must_pass_on_all_inputs_of_its_puzzle(tmp_path: Path) -> None:
    puzzle = puzzle_from_source(
        "def f(x: int, a=3):\n    return x - a == 100",
        name="minus",
        more_inputs=("a=4",),
        solutions=("def g(a=3):\n    return a + 100", "def g(a=3):\n    return 103"),
    )
    x = experiment(tmp_path, "judge.num_workers=1", train=[puzzle])
    here = AblationDirectory(tmp_path)
    write_pairs(x, here, None, None, [Arm("human", None)])
    assert [row["g"] for row in read_rows(here.pairs("human", None, 0))] == [
        "def g(a=3):\n    return a + 100"
    ]
