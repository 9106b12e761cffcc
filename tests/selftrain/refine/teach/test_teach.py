"""Teaching: what it tries, what it leaves, and that it goes on where it was killed."""

from pathlib import Path

import pytest
from scripted import ScriptedSampler, few_held_out, few_train

from puzzles import Puzzle
from selftrain.config_file import load_config
from selftrain.errors import RunError
from selftrain.experiment import Experiment
from selftrain.files import read_rows
from selftrain.progress import Progress
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.teach import teach as module
from selftrain.refine.teach.teach import teach

SETTINGS = (
    "refine.teach=true",
    "refine.arms=[forward, critic]",
    "refine.critic=rules",
    "refine.wording=continue",
    "solve.num_attempts=4",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "finetune.block_tokens=256",
    "evaluate.epochs=all",
)
TAUGHT = few_train()[:6]


def experiment(
    folder: Path, model: Path, sampler: ScriptedSampler, train: list[Puzzle] = TAUGHT
) -> Experiment:
    config = load_config(None, [*SETTINGS, f"model.name={model}", "model.device=cpu"])
    directory = RefineDirectory(folder)
    folder.mkdir(exist_ok=True)
    return Experiment(
        config=config,
        run=directory.run,
        train=train,
        held_out=few_held_out(),
        progress=Progress(directory.run.log),
        load=lambda trained: sampler,
        load_other=lambda other: sampler,
    )


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> RefineDirectory:
    """Give a folder in which a model was taught, to be looked at only."""
    folder = tmp_path_factory.mktemp("taught") / "refine"
    teach(experiment(folder, tiny_model, ScriptedSampler()), RefineDirectory(folder))
    return RefineDirectory(folder)


def test_first_tries_and_triples_of_train_puzzles_are_learnt(taught: RefineDirectory) -> None:
    rows = list(read_rows(taught.taught.examples))
    is_triple = ["\n# 1. " in row["prompt"] for row in rows]
    assert True in is_triple and False in is_triple
    assert {row["name"] for row in rows} <= {puzzle.name for puzzle in TAUGHT}
    for row in rows:
        assert row["prompt"].startswith(row["f"]) and row["prompt"].endswith("):")
        assert row["completion"].endswith("\n\nassert f(g())")


def test_the_model_that_was_taught_can_be_loaded(taught: RefineDirectory) -> None:
    names = {path.name for path in taught.taught.model.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "training.jsonl"} <= names


def test_every_try_is_kept_with_its_verdict_and_nothing_is_left_under_way(
    taught: RefineDirectory,
) -> None:
    rows = list(read_rows(taught.taught.candidates))
    assert len(rows) == 4 * len(TAUGHT)
    assert {row["passed"] for row in rows} == {True, False}
    assert not (taught.taught.path / "shards").exists()


@pytest.mark.parametrize("stage", ["train", "decontaminate", "judge_candidates"])
def test_what_was_tried_before_a_kill_is_not_tried_again(
    stage: str,
    tmp_path: Path,
    tiny_model: Path,
    taught: RefineDirectory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = RefineDirectory(tmp_path / "refine")
    with monkeypatch.context() as patch:
        patch.setattr(module, stage, killed)
        with pytest.raises(KeyboardInterrupt):
            teach(experiment(folder.path, tiny_model, ScriptedSampler()), folder)
    sampler = ScriptedSampler()
    teach(experiment(folder.path, tiny_model, sampler), folder)
    assert sampler.requests == []
    for path in (folder.taught.examples, folder.taught.candidates, folder.taught.training_log):
        same = taught.path / path.relative_to(folder.path)
        assert path.read_bytes() == same.read_bytes()


def test_a_model_that_was_taught_is_not_taught_again(
    tiny_model: Path, taught: RefineDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "train", killed)
    sampler = ScriptedSampler()
    model = teach(experiment(taught.path, tiny_model, sampler), taught)
    assert (model, sampler.requests) == (taught.taught.model, [])


def test_a_puzzle_that_is_held_out_too_teaches_nothing(tmp_path: Path, tiny_model: Path) -> None:
    folder = RefineDirectory(tmp_path / "refine")
    sampler = ScriptedSampler()
    x = experiment(folder.path, tiny_model, sampler, train=few_held_out())
    with pytest.raises(RunError, match=r"1-taught: .*no tries.*solve\.num_attempts"):
        teach(x, folder)
    assert sampler.requests == [] and not folder.taught.model.exists()
