"""Training that was cut short goes on from its checkpoint, with the losses of an undisturbed one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lessons import losses, pack, paths_in, settings, train

from selftrain.config import ModelConfig
from selftrain.files import read_json, write_json
from selftrain.finetune.lessons import Lessons
from selftrain.finetune.train import fine_tune
from selftrain.models import load_for_training

KILLED_AT = {
    "writing a manifest": "open state/step-00000002.unfinished/checkpoint.json.unfinished",
    "saving an epoch": "open state/epoch-01/adapter_config.json",
    "a checkpoint takes its name": "rename state/step-00000004",
    "the one before is removed": "rmtree state/step-00000002",
    "linking an epoch": "mkdir model.unfinished/epoch-02",
    "the model takes its name": "rename model",
    "the state is removed": "rmtree state",
}
"""A point of each kind, in the order in which they are passed."""


class _CutShort(Exception):
    pass


def cut_short(config: ModelConfig, folder: Path, after: int) -> None:
    """Begin a training as `go_on` does, and leave it after so many steps."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if done == after:
            raise _CutShort

    how = settings(epochs=3, checkpoint_steps=2)
    model = load_for_training(config, "full", None)
    with pytest.raises(_CutShort):
        fine_tune(
            model, Lessons(pack(config, how)), how, 7, paths_in(folder), say=print, advance=advance
        )


def go_on(config: ModelConfig, folder: Path) -> tuple[list[float], list[str], int]:
    """Go on with a training; give its losses, what it said, and the steps that it made."""
    how = settings(epochs=3, checkpoint_steps=2)
    said: list[str] = []
    advances: list[int] = []
    model = load_for_training(config, "full", None)
    lessons = Lessons(pack(config, how))
    fine_tune(model, lessons, how, 7, paths_in(folder), say=said.append, advance=advances.append)
    return losses(folder), said, sum(advances[1:])


@pytest.fixture(scope="module")
def undisturbed(tiny_config: ModelConfig, tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    return train(tiny_config, tmp_path_factory.mktemp("undisturbed"), epochs=3, checkpoint_steps=99)


def test_a_training_goes_on_in_the_middle_of_an_epoch(
    tiny_config: ModelConfig, tmp_path: Path, undisturbed: list[float]
) -> None:
    cut_short(tiny_config, tmp_path, after=6)
    assert [path.name for path in paths_in(tmp_path).state.iterdir()] == ["step-00000004"]
    found, said, made = go_on(tiny_config, tmp_path)
    assert found == undisturbed
    assert (said, made) == ([], len(undisturbed) - 4)
    assert 4 % (len(undisturbed) // 3) > 0, "else an epoch would begin there"


@pytest.mark.parametrize("name", ["optimizer.bin", "trained.safetensors", "checkpoint.json"])
def test_a_damaged_checkpoint_is_told_of_and_not_used(
    tiny_config: ModelConfig, tmp_path: Path, undisturbed: list[float], name: str
) -> None:
    cut_short(tiny_config, tmp_path, after=3)
    path = paths_in(tmp_path).state / "step-00000002"
    content = bytearray((path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (path / name).write_bytes(content)
    found, said, made = go_on(tiny_config, tmp_path)
    assert found == undisturbed
    assert said == [
        f"{path}: the checkpoint is damaged; training goes on from the one before, if any"
    ]
    assert made == len(undisturbed)


def test_a_checkpoint_in_shares_is_told_of_and_not_used_without_fsdp(
    tiny_config: ModelConfig, tmp_path: Path, undisturbed: list[float]
) -> None:
    cut_short(tiny_config, tmp_path, after=3)
    path = paths_in(tmp_path).state / "step-00000002"
    manifest = read_json(path / "checkpoint.json")
    assert manifest["in_shares"] is False
    write_json(path / "checkpoint.json", manifest | {"in_shares": True})
    found, said, made = go_on(tiny_config, tmp_path)
    assert found == undisturbed
    assert said == [
        f"{path}: the checkpoint was made with FSDP, unlike what goes on; training goes on from "
        "the one before, if any"
    ]
    assert made == len(undisturbed)


def test_of_two_checkpoints_the_whole_one_is_used(
    tiny_config: ModelConfig, tmp_path: Path, undisturbed: list[float]
) -> None:
    state = paths_in(tmp_path).state
    cut_short(tiny_config, tmp_path, after=3)
    shutil.copytree(state / "step-00000002", tmp_path / "kept")
    cut_short(tiny_config, tmp_path, after=5)
    shutil.move(tmp_path / "kept", state / "step-00000002")
    (state / "step-00000004" / "scheduler.bin").unlink()
    found, said, made = go_on(tiny_config, tmp_path)
    assert found == undisturbed
    assert (len(said), made) == (1, len(undisturbed) - 2)


def test_a_training_killed_again_and_again_ends_with_the_same_bytes(
    tmp_path: Path, tiny_model: Path
) -> None:
    program = Path(__file__).with_name("killed_training.py")
    env = os.environ | {"PYTHONPATH": str(program.parents[1])}
    done = subprocess.run(
        [sys.executable, program, tiny_model, tmp_path, *KILLED_AT.values()],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=env,
    )
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["again"], result["differing"]) == (0, [])
    assert result["killed_at"] == list(KILLED_AT.values())
    assert {"model/training.jsonl", "model/epoch-02/adapter_model.safetensors"} <= set(
        result["files"]
    )
    assert not any(name.startswith("state") for name in result["files"])
