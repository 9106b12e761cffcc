"""Epochs: which models are kept, measured and chosen, and that held-out puzzles choose nothing."""

from pathlib import Path

import pytest
from scripted import ScriptedSampler, few_held_out, few_train, write_puzzles

from selftrain import models
from selftrain.config_file import load_config
from selftrain.files import read_json, read_rows
from selftrain.run import run
from selftrain.run_directory import RoundDirectory, RunDirectory

SMALL = (
    "rounds=1",
    "propose.num_proposals=8",
    "solve.num_attempts=3",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "finetune.block_tokens=128",
    "finetune.epochs=3",
    "model.device=cpu",
)


class Loader:
    """Loads a scripted model that is the better, the later its epoch, or the earlier."""

    def __init__(self, best: str) -> None:
        self.best = best
        self.samplers: dict[str, ScriptedSampler] = {}

    def __call__(self, config: object, trained: Path | None = None) -> ScriptedSampler:
        name = trained.name if trained else "base"
        made = ScriptedSampler(bad_share=0.0, wrong_share=0.0 if name == self.best else 0.9)
        return self.samplers.setdefault(name, made)


def run_with(
    folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch, best: str, *settings: str
) -> tuple[RoundDirectory, Loader]:
    loader = Loader(best)
    monkeypatch.setattr(models, "load_sampler", loader)
    held_out = write_puzzles(folder / "held_out.jsonl", few_held_out())
    train = write_puzzles(folder / "train.jsonl", few_train())
    files = (f"puzzles.held_out={held_out}", f"puzzles.train={train}", f"model.name={model}")
    assert run(load_config(None, [*SMALL, *files, *settings]), folder / "run") == 0
    return RunDirectory(folder / "run").round(1), loader


def test_the_best_epoch_on_dev_becomes_the_rounds_model(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, loader = run_with(
        tmp_path, tiny_model, monkeypatch, "epoch-02", "evaluate.epochs=dev", "puzzles.num_dev=4"
    )
    assert read_json(here.metrics)["train/epoch"] == 2
    weights = [here.epoch_model(2) / "model.safetensors", here.model / "model.safetensors"]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    rates = {epoch: read_json(here.metrics)[f"dev/epoch-0{epoch}/pass@1"] for epoch in (1, 2, 3)}
    assert rates[2] == 1.0 > max(rates[1], rates[3])
    held_out = {puzzle.f for puzzle in few_held_out()}
    asked = [r.prompt for n in (1, 2, 3) for r in loader.samplers[f"epoch-0{n}"].requests]
    assert asked
    assert not any(f in prompt for f in held_out for prompt in asked)


def test_every_epoch_is_measured_where_asked_and_the_last_goes_on(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = run_with(tmp_path, tiny_model, monkeypatch, "epoch-01", "evaluate.epochs=all")
    assert read_json(here.metrics)["train/epoch"] == 3
    rows = list(read_rows(here.epoch_evaluation))
    assert {row["epoch"] for row in rows} == {1, 2, 3}
    assert [row["num_correct"] for row in rows if row["epoch"] == 1] == [2] * 4
    last = [{k: v for k, v in row.items() if k != "epoch"} for row in rows if row["epoch"] == 3]
    assert last == list(read_rows(here.evaluation))


def test_dev_puzzles_are_in_no_prompt_but_their_own(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = run_with(tmp_path, tiny_model, monkeypatch, "base", "puzzles.num_dev=4")
    dev = {row["name"] for row in read_rows(here.dev)}
    shown = {name for row in read_rows(here.proposals) for name in row["prompt_puzzles"]}
    assert len(dev) >= 4
    assert shown
    assert not dev & shown


def test_each_epochs_model_is_whole(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = run_with(tmp_path, tiny_model, monkeypatch, "epoch-01", "evaluate.epochs=all")
    for epoch in (1, 2, 3):
        names = {path.name for path in here.epoch_model(epoch).iterdir()}
        assert {"config.json", "model.safetensors", "tokenizer.json"} <= names
    first, last = (here.epoch_model(n) / "model.safetensors" for n in (1, 3))
    assert first.read_bytes() != last.read_bytes()
