"""A verifier in the rounds of a run: what it spares, what it may not touch, and killed anywhere."""

from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from killing import run_program
from scripted import few_held_out, few_train, scripted_run, write_puzzles
from verifier.killed_verifiers import POINTS

from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.experiment import Experiment
from selftrain.files import Row, read_json, read_rows, write_rows
from selftrain.judge import NOT_JUDGED
from selftrain.progress import Progress
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.verifier.rounds.in_rounds import teach_verifier, whole_tasks

SMALL = (
    "rounds=2",
    "propose.num_proposals=24",
    "propose.shard_size=24",
    "solve.num_attempts=5",
    "solve.num_few_shot=0",
    "curate.max_solutions=1",
    "judge.num_workers=1",
    "evaluate.num_samples=3",
    "evaluate.k=[1]",
    "finetune.block_tokens=128",
    "finetune.learning_rate=1e-2",
    "diversity.embeddings=false",
    "model.device=cpu",
    "verifier.enabled=true",
    "verifier.explore=0.5",
    "verifier.steps=2",
    "verifier.check_every=1",
    "verifier.learning_rate=1e-3",
    "verifier.model.device=cpu",
)


@dataclass(frozen=True)
class Killed:
    """What became of a run that was killed again and again, and of one that was not."""

    result: dict[str, Any]
    undisturbed: RunDirectory


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Killed:
    root = tmp_path_factory.mktemp("killed")
    program = Path(__file__).with_name("killed_verifiers.py")
    result = run_program(program, root, *settings(root, tiny_model), "verifier.use=judge")
    return Killed(result, RunDirectory(root / "undisturbed"))


@pytest.fixture(scope="module")
def second(killed: Killed) -> RoundDirectory:
    """Give the round in which the first one's verifier decided what is judged."""
    return killed.undisturbed.round(2)


def settings(folder: Path, model: Path) -> list[str]:
    # Without reference solutions, which each of many starts would judge.
    train = [replace(puzzle, solutions=()) for puzzle in few_train()]
    held_out = [replace(puzzle, solutions=()) for puzzle in few_held_out()]
    return [
        *SMALL,
        f"puzzles.train={write_puzzles(folder / 'train.jsonl', train)}",
        f"puzzles.held_out={write_puzzles(folder / 'held_out.jsonl', held_out)}",
        f"model.name={model}",
        f"verifier.model.name={model}",
    ]


def experiment(run: RunDirectory) -> Experiment:
    def load(_: object) -> Any:
        raise AssertionError("no model is loaded here")

    return Experiment(load_config(run.config), run, [], [], Progress(), load, load)


def by_puzzle(here: RoundDirectory) -> dict[str, list[Row]]:
    rows = read_rows(here.candidates)
    return {name: list(group) for name, group in groupby(rows, lambda row: row["puzzle_id"])}


def test_killed_in_every_stage_of_a_verifier_a_run_ends_with_the_same_bytes(killed: Killed) -> None:
    assert killed.result["killed_at"] == list(POINTS.values())
    assert (killed.result["again"], killed.result["differing"]) == (0, [])
    assert {"round-002/5-verifier/calibrator.json", "round-002/6-verifier.json"} <= set(
        killed.result["files"]
    )


def test_some_candidates_are_spared_and_only_of_puzzles_not_judged_whole(
    second: RoundDirectory,
) -> None:
    spared = [row for row in read_rows(second.candidates) if row["outcome"] == NOT_JUDGED]
    assert spared
    assert all(row["ordered"] and not row["passed"] and row["answer"] is None for row in spared)


def test_in_the_first_round_all_are_judged(killed: Killed) -> None:
    rows = list(read_rows(killed.undisturbed.round(1).candidates))
    assert not any("ordered" in row or row["outcome"] == NOT_JUDGED for row in rows)


def test_a_puzzle_is_judged_until_enough_passed_or_none_is_left(second: RoundDirectory) -> None:
    for rows in by_puzzle(second).values():
        if rows[0].get("ordered"):
            passed = {row["g"] for row in rows if row["passed"]}
            spared = {row["g"] for row in rows if row["outcome"] == NOT_JUDGED}
            assert len(passed) == 1 or not (passed or spared)


def test_what_was_judged_comes_before_what_was_spared(second: RoundDirectory) -> None:
    for rows in by_puzzle(second).values():
        spared = [row["rank"] for row in rows if row["outcome"] == NOT_JUDGED]
        passed = [row["rank"] for row in rows if row["passed"] and row.get("ordered")]
        assert not spared or max(passed) < min(spared)


def test_equal_programs_have_one_fate(second: RoundDirectory) -> None:
    for rows in by_puzzle(second).values():
        fates = {(row["g"], row["outcome"], row["rank"]) for row in rows if row["g"] is not None}
        assert len(fates) == len({g for g, _, _ in fates})


def test_no_difficulty_is_told_of_a_puzzle_judged_in_order(second: RoundDirectory) -> None:
    whole = [name for name, rows in by_puzzle(second).items() if not rows[0].get("ordered")]
    told = [row["puzzle_id"] for row in read_rows(second.difficulties)]
    assert told == whole
    assert len(whole) < len(by_puzzle(second))


def test_a_kept_pair_has_passed_and_counts_no_spared_attempt(second: RoundDirectory) -> None:
    puzzles = by_puzzle(second)
    kept = [row for row in read_rows(second.examples) if row["round"] == 2]
    assert kept
    for example in kept:
        rows = puzzles[example["puzzle_id"]]
        assert [row["passed"] for row in rows if row["index"] == example["index"]] == [True]
        judged = [row for row in rows if row["outcome"] != NOT_JUDGED]
        assert example["num_attempts"] == len(judged)


def test_the_worth_counts_each_distinct_program_once(second: RoundDirectory) -> None:
    worth = read_json(second.verifier_worth)
    for name, ordered in (("whole", False), ("ordered", True)):
        groups = [r for r in by_puzzle(second).values() if r[0].get("ordered", False) is ordered]
        programs = [{row["g"]: row for row in rows if row["g"]} for rows in groups]
        distinct = [row for each in programs for row in each.values()]
        count = worth["judged"][name]
        assert (count["num_puzzles"], count["num_programs"]) == (len(groups), len(distinct))
        assert count["num_passed"] == sum(row["passed"] for row in distinct)
        assert count["num_not_judged"] == sum(row["outcome"] == NOT_JUDGED for row in distinct)
    assert worth["judged"]["whole"]["num_calls"] == sum(
        one["num_candidates"] for key, one in worth["calls"].items() if key == "LM sum"
    )


def test_only_puzzles_judged_whole_are_learnt_from(killed: Killed, second: RoundDirectory) -> None:
    tasks = whole_tasks(experiment(killed.undisturbed), second, most=1000)
    assert [task.task_id for task in tasks] == [
        name for name, rows in by_puzzle(second).items() if not rows[0].get("ordered")
    ]
    assert {one.label for task in tasks for one in task.candidates} == {True, False}


def test_of_too_many_puzzles_some_are_drawn_and_keep_their_order(
    killed: Killed, second: RoundDirectory
) -> None:
    x = experiment(killed.undisturbed)
    every = [task.task_id for task in whole_tasks(x, second, most=1000)]
    some = [task.task_id for task in whole_tasks(x, second, most=3)]
    assert len(some) == 3
    assert some == [name for name in every if name in some]


def test_where_all_candidates_are_wrong_no_verifier_is_trained_and_the_reason_is_said(
    tmp_path: Path, killed: Killed, capsys: pytest.CaptureFixture[str]
) -> None:
    here, x = RoundDirectory(tmp_path, 1), experiment(killed.undisturbed)
    first = killed.undisturbed.round(1)
    write_rows(here.puzzles, read_rows(first.puzzles))
    write_rows(here.candidates, ({**row, "passed": False} for row in read_rows(first.candidates)))
    teach_verifier(x, here)
    assert not here.verifier.exists()
    assert "no verifier is trained, since its" in capsys.readouterr().err


def test_choosing_at_random_is_pass_at_1_of_the_round(second: RoundDirectory) -> None:
    metrics = read_json(second.metrics)
    assert metrics["verifier/choose/random"] == pytest.approx(metrics["eval/pass@1"])
    assert metrics["verifier/choose/greedy"] == metrics["eval/greedy"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> dict[str, RunDirectory]:
    """Give a run without a verifier, and one that only watches one."""
    found = {}
    for name in ("false", "true"):
        folder = tmp_path_factory.mktemp("runs")
        mine = [one for one in settings(folder, tiny_model) if "held_out" not in one]
        scripted_run(folder, tiny_model, [*mine, f"verifier.enabled={name}"])
        found[name] = RunDirectory(folder / "run")
    return found


def test_to_watch_a_verifier_changes_nothing_else_of_a_run(runs: dict[str, RunDirectory]) -> None:
    for number in (1, 2):
        without, watched = runs["false"].round(number), runs["true"].round(number)
        names = {path.name for path in watched.path.iterdir()}
        assert names - {path.name for path in without.path.iterdir()} == {
            "5-verifier",
            "6-verifier.json",
        }
        for path in without.path.rglob("*"):
            if path.is_file() and path.name != "metrics.json":
                other = watched.path / path.relative_to(without.path)
                assert path.read_bytes() == other.read_bytes(), path
        found = read_json(watched.metrics)
        shared = {key: value for key, value in found.items() if not key.startswith("verifier/")}
        assert shared == read_json(without.metrics)
        assert shared != found


@pytest.mark.parametrize(
    "other",
    ["curate.verdicts=unverified", "curate.verdicts=wrong", "curate.drop_always_solved=true"],
)
def test_what_needs_every_verdict_is_refused_where_some_are_spared(other: str) -> None:
    with pytest.raises(UsageError, match=r"verifier.use is judge, .* needs one on each"):
        load_config(None, ["verifier.enabled=true", "verifier.use=judge", other])


@pytest.mark.parametrize("verdicts", ["unverified", "wrong"])
def test_to_keep_the_likeliest_is_refused_where_pairs_are_drawn_by_lot(verdicts: str) -> None:
    keeping = ["verifier.enabled=true", "verifier.use=keep"]
    with pytest.raises(UsageError, match=f"verifier.use is keep, .* curate.verdicts={verdicts}"):
        load_config(None, [*keeping, f"curate.verdicts={verdicts}"])
    load_config(None, [*keeping, "curate.drop_always_solved=true"])
