"""The loop, with a scripted sampler: what a round writes, when it ends, what it refuses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from scripted import NOT_KEPT, ScriptedSampler, few_held_out, write_puzzles

from puzzles.builtin.read import read_builtin
from selftrain import models
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.errors import RunError, UsageError
from selftrain.export import export
from selftrain.files import Row, read_json, read_rows
from selftrain.finetune.pieces import hold_back, texts_of
from selftrain.run import run
from selftrain.run_directory import RoundDirectory, RunDirectory

SMALL = (
    "rounds=2",
    "propose.num_proposals=16",
    "propose.shard_size=8",
    "solve.num_attempts=3",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "evaluate.shard_size=3",
    "finetune.block_tokens=128",
    "finetune.learning_rate=1e-2",
    "model.device=cpu",
)


@dataclass
class Runner:
    """Runs a small configuration, with settings on top, in a folder of its own."""

    folder: Path
    sampler: ScriptedSampler
    held_out: Path
    model: Path
    loaded: list[Path | None] = field(default_factory=list)

    def config(self, *settings: str) -> Config:
        here = (f"puzzles.held_out={self.held_out}", f"model.name={self.model}")
        return load_config(None, [*SMALL, *here, *settings])

    def run(self, *settings: str) -> RunDirectory:
        assert run(self.config(*settings), self.folder) == 0
        return RunDirectory(self.folder)


@pytest.fixture(scope="module")
def held_out_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_puzzles(tmp_path_factory.mktemp("puzzles") / "held_out.jsonl", few_held_out())


@pytest.fixture
def runner(
    tmp_path: Path, held_out_file: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> Runner:
    made = Runner(tmp_path / "run", ScriptedSampler(), held_out_file, tiny_model)

    def load(config: object, trained: Path | None = None) -> ScriptedSampler:
        made.loaded.append(trained)
        return made.sampler

    monkeypatch.setattr(models, "load_sampler", load)
    return made


def rows(path: Path) -> list[Row]:
    return list(read_rows(path))


def file_names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def two_rounds(
    tmp_path_factory: pytest.TempPathFactory, held_out_file: Path, tiny_model: Path
) -> RunDirectory:
    """Give a whole run, to be looked at only."""
    folder = tmp_path_factory.mktemp("runs") / "two"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "load_sampler", lambda *_: ScriptedSampler())
        return Runner(folder, ScriptedSampler(), held_out_file, tiny_model).run()


ROUND_FILES = {
    "1-proposals.jsonl",
    "2-diversity.json",
    "2-diversity.npz",
    "2-puzzles.jsonl",
    "3-candidates.jsonl",
    "3-difficulties.jsonl",
    "4-examples.jsonl",
    "4-removed.jsonl",
    "5-model/config.json",
    "5-model/generation_config.json",
    "5-model/model.safetensors",
    "5-model/tokenizer.json",
    "5-model/tokenizer_config.json",
    "5-model/training.jsonl",
    "6-eval-candidates.jsonl",
    "6-eval.jsonl",
    "6-near.jsonl",
    "metrics.json",
}


def test_a_round_leaves_its_files_and_no_others(two_rounds: RunDirectory) -> None:
    evaluated = {"6-eval-candidates.jsonl", "6-eval.jsonl", "metrics.json"}
    assert file_names(two_rounds.round(0).path) == evaluated
    assert file_names(two_rounds.round(1).path) == ROUND_FILES
    assert file_names(two_rounds.round(2).path) == ROUND_FILES


def test_a_run_leaves_its_files_and_no_others(two_rounds: RunDirectory) -> None:
    top = {path.name for path in two_rounds.path.iterdir() if path.is_file()} - {".lock"}
    assert top == {
        "config.yaml",
        "log.txt",
        "metrics.jsonl",
        "report.html",
        "report.md",
        "run.json",
        "timings.jsonl",
    }


def test_every_proposal_is_a_puzzle_or_has_a_reason(two_rounds: RunDirectory) -> None:
    here = two_rounds.round(1)
    proposals = rows(here.proposals)
    assert [row["id"] for row in proposals] == [f"001-{index:06d}" for index in range(16)]
    assert all((row["puzzle_id"] is None) == (row["rejection"] is not None) for row in proposals)
    kept = [row["puzzle_id"] for row in proposals if row["puzzle_id"]]
    assert [row["id"] for row in rows(here.puzzles)] == kept
    assert {row["rejection"]["reason"] for row in proposals if row["rejection"]} <= set(NOT_KEPT)


def test_every_puzzle_has_all_its_attempts(two_rounds: RunDirectory) -> None:
    here = two_rounds.round(1)
    attempts = [(row["puzzle_id"], row["index"]) for row in rows(here.candidates)]
    assert attempts == [(row["id"], index) for row in rows(here.puzzles) for index in range(3)]


def test_an_example_is_a_candidate_that_passed(two_rounds: RunDirectory) -> None:
    here = two_rounds.round(1)
    passed = {(row["puzzle_id"], row["g"]) for row in rows(here.candidates) if row["passed"]}
    for row in rows(here.examples):
        f, head = row["prompt"].rsplit("\n\n", 1)
        g = head + row["completion"].removesuffix("\n\nassert f(g())")
        assert (row["puzzle_id"], g) in passed
        assert f.startswith("def f(")


def test_no_puzzle_is_kept_twice_in_a_run(two_rounds: RunDirectory) -> None:
    ids = [row["id"] for number in (1, 2) for row in rows(two_rounds.round(number).puzzles)]
    assert len(ids) == len(set(ids)) > 8


def test_examples_are_cumulative(two_rounds: RunDirectory) -> None:
    first, both = (rows(two_rounds.round(number).examples) for number in (1, 2))
    assert both[: len(first)] == first
    assert {row["round"] for row in both[len(first) :]} == {2}


def test_metrics_have_a_row_a_round_with_the_keys_promised(two_rounds: RunDirectory) -> None:
    metrics = rows(two_rounds.metrics)
    assert [row["round"] for row in metrics] == [0, 1, 2]
    assert {"round", "eval/pass@1", "eval/pass@2", "eval/greedy"} <= set(metrics[0])
    funnel = ("completions", "parsed", "typed", "new", "non_trivial", "solved", "examples")
    for row in metrics[1:]:
        counts = [row[f"funnel/{name}"] for name in funnel]
        assert counts[0] == 16
        assert counts[:6] == sorted(counts[:6], reverse=True)
        assert all(isinstance(value, int | float | None) for value in row.values())
        assert sum(v for k, v in row.items() if k.startswith("rejected/")) == 16 - counts[4]
        assert sum(v for k, v in row.items() if k.startswith("outcome/")) == 3 * counts[4]
    assert metrics == [read_json(two_rounds.round(number).metrics) for number in range(3)]


def test_evaluation_counts_every_held_out_puzzle(two_rounds: RunDirectory) -> None:
    puzzles = few_held_out()
    evaluated = rows(two_rounds.round(1).evaluation)
    assert [row["name"] for row in evaluated] == [puzzle.name for puzzle in puzzles]
    assert [row["known_family"] for row in evaluated] == [True, True, False, False]
    for row in evaluated:
        assert row["n"] == 2
        assert row["outcomes"].get("passed", 0) == row["num_correct"]


def test_a_finished_run_run_again_changes_nothing(runner: Runner) -> None:
    directory = runner.run("rounds=1")
    paths = [path for path in directory.path.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in paths if path != directory.log}
    runner.loaded.clear()
    runner.run("rounds=1")
    assert {path: path.read_bytes() for path in before} == before
    assert runner.loaded == []


def test_num_pairs_ends_a_round_after_the_shard_that_reaches_it(runner: Runner) -> None:
    runner.sampler = ScriptedSampler(bad_share=0, wrong_share=0)
    directory = runner.run(
        "propose.num_proposals=40", "propose.shard_size=4", "propose.num_pairs=[9, 4]"
    )
    for number, wanted in ((1, 9), (2, 4)):
        here = directory.round(number)
        num_proposals = len(rows(here.proposals))
        examples = [row for row in rows(here.examples) if row["round"] == number]
        last = {row["id"] for row in rows(here.puzzles)[-4:]}
        assert num_proposals % 4 == 0
        assert num_proposals < 40
        assert len(examples) >= wanted
        assert sum(row["puzzle_id"] not in last for row in examples) < wanted


def test_one_value_a_round_holds_for_its_round(runner: Runner) -> None:
    directory = runner.run("propose.num_proposals=[10, 6]")
    assert [len(rows(directory.round(number).proposals)) for number in (1, 2)] == [10, 6]


def test_each_round_trains_from_the_base_and_samples_from_its_model(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = spy_on_training(monkeypatch)
    directory = runner.run()
    assert starts == [None, None]
    base, first, second = None, directory.round(1).model, directory.round(2).model
    # The base evaluates and proposes; the first round's model evaluates, and proposes in the second.
    assert [model for model, _ in groupby(runner.loaded)] == [base, first, second]


def test_start_previous_goes_on_from_the_last_round_with_new_examples_only(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = spy_on_training(monkeypatch)
    directory = runner.run("finetune.start=previous")
    assert starts == [None, directory.round(1).model]
    assert {row["round"] for row in rows(directory.round(2).examples)} == {2}


def test_an_example_that_is_held_back_is_not_counted_as_learnt(runner: Runner) -> None:
    directory = runner.run("finetune.held_back=0.3", "rounds=1")
    here = directory.round(1)
    config = runner.config("finetune.held_back=0.3")
    learnt, held = hold_back(texts_of(rows(here.examples)), config.finetune, config.seed)
    metrics = read_json(here.metrics)
    assert (len(learnt), len(held)) == (
        metrics["train/num_examples"],
        metrics["train/num_held_back"],
    )
    assert held
    assert export(directory.path, runner.folder.parent / "exported", None, merged=False) == 0


def spy_on_training(monkeypatch: pytest.MonkeyPatch) -> list[Path | None]:
    from selftrain.finetune import everywhere

    starts: list[Path | None] = []
    real: Callable[..., Any] = everywhere.load_for_training

    def load(config: object, method: str, trained: Path | None) -> Any:
        starts.append(trained)
        return real(config, method, trained)

    monkeypatch.setattr(everywhere, "load_for_training", load)
    return starts


@pytest.mark.parametrize("start", ["base", "previous"])
def test_rounds_of_adapters(runner: Runner, start: str) -> None:
    directory = runner.run(
        "finetune.method=lora", "finetune.lora.rank=2", f"finetune.start={start}"
    )
    names = {path.name for path in directory.round(2).model.iterdir()}
    assert {"adapter_config.json", "adapter_model.safetensors"} <= names
    assert "model.safetensors" not in names


def test_no_proposal_that_survives_ends_the_run_and_keeps_the_proposals(runner: Runner) -> None:
    runner.sampler = ScriptedSampler(bad_share=1)
    with pytest.raises(RunError, match="none of 16 proposals survived the filter") as caught:
        runner.run()
    assert "\n" not in str(caught.value)
    proposals = rows(RoundDirectory(runner.folder / "round-001", 1).proposals)
    assert len(proposals) == 16
    assert all(row["rejection"] for row in proposals)


def test_no_candidate_that_passes_ends_the_run_and_keeps_the_candidates(runner: Runner) -> None:
    runner.sampler = ScriptedSampler(wrong_share=1)
    with pytest.raises(RunError, match="passed the judge"):
        runner.run()
    assert len(rows(RoundDirectory(runner.folder / "round-001", 1).candidates)) > 10


def test_a_full_disk_budget_pauses_and_a_larger_one_goes_on(runner: Runner) -> None:
    directory = runner.run("limits.disk_gb=1e-7")
    assert "Paused: limits.disk_gb" in directory.log.read_text()
    assert directory.complete_rounds() == []
    runner.run("limits.disk_gb=1")
    assert len(directory.complete_rounds()) == 3


def test_spent_hours_pause_and_the_next_process_goes_on(runner: Runner) -> None:
    directory = runner.run("limits.hours=1e-9")
    assert "Paused: limits.hours" in directory.log.read_text()
    runner.run()
    assert len(directory.complete_rounds()) == 3


def test_a_paused_run_ends_with_the_bytes_of_an_undisturbed_one(
    runner: Runner, two_rounds: RunDirectory
) -> None:
    for kilobytes in (1, 3, 10, 40, 150):
        runner.run(f"limits.disk_gb={kilobytes}e-6")
    runner.run()
    names = file_names(two_rounds.path) - {"timings.jsonl", "log.txt", "run.json", "config.yaml"}
    assert file_names(runner.folder) >= names
    differing = [
        name
        for name in sorted(names)
        if (two_rounds.path / name).read_bytes() != (runner.folder / name).read_bytes()
    ]
    assert differing == []


def test_the_directory_of_another_configuration_is_refused(runner: Runner) -> None:
    runner.run("rounds=0")
    before = {name: (runner.folder / name).read_bytes() for name in file_names(runner.folder)}
    with pytest.raises(UsageError, match=r"\(judge\.fuel 4000000000, now 9\)"):
        runner.run("rounds=0", "judge.fuel=9")
    assert {name: (runner.folder / name).read_bytes() for name in before} == before


def test_changed_limits_are_no_other_configuration(runner: Runner) -> None:
    runner.run("rounds=0", "limits.hours=5")
    runner.run("rounds=0", "limits.hours=6", "limits.disk_gb=7")


def test_rounds_without_a_configuration_are_refused(runner: Runner) -> None:
    (runner.folder / "round-000").mkdir(parents=True)
    with pytest.raises(UsageError, match="holds a run but no config"):
        runner.run("rounds=0")


def test_two_processes_cannot_work_in_one_directory(runner: Runner) -> None:
    from filelock import FileLock

    runner.folder.mkdir()
    with (
        FileLock(RunDirectory(runner.folder).lock),
        pytest.raises(UsageError, match="another process is at work"),
    ):
        runner.run("rounds=0")


def test_no_reference_solution_reaches_a_prompt_or_an_example(runner: Runner) -> None:
    directory = runner.run()
    puzzles = [*read_builtin("train"), *few_held_out()]
    bodies = {g.split("\n", 1)[1] for puzzle in puzzles for g in puzzle.solutions}
    prompts = [request.prompt for request in runner.sampler.requests]
    assert len(prompts) > 100
    assert not [body for body in bodies for prompt in prompts if body in prompt]
    held_out = {puzzle.id for puzzle in few_held_out()}
    taught = rows(directory.round(2).examples)
    assert not held_out & {row["puzzle_id"] for row in taught}
    # A model may find a reference solution by itself, but only for a puzzle of its own.
    assert not {puzzle.id for puzzle in puzzles} & {row["puzzle_id"] for row in taught}


def test_a_prompt_to_propose_shows_as_many_train_puzzles_as_fit(runner: Runner) -> None:
    runner.run("rounds=1", "propose.max_new_tokens=100")
    prompts = {r.prompt for r in runner.sampler.requests if r.prompt.endswith("(")}
    assert len(prompts) == 16 // 4
    sizes = runner.sampler.count_tokens(sorted(prompts))
    assert all(150 < size <= 300 - 100 for size in sizes)


def test_few_shot_prompts_show_train_puzzles_only(runner: Runner) -> None:
    runner.run("rounds=0", "solve.num_few_shot=2")
    shown = [puzzle.f.split("\n")[1] for puzzle in read_builtin("train")]
    for request in runner.sampler.requests:
        first, second = request.prompt.split("\n\n")[1:5:3]
        assert first.split("\n")[1] in shown
        assert second.split("\n")[1] in shown
