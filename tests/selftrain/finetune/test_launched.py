"""Two processes of `accelerate launch` learn as one does with the same steps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from lessons import paths_in
from safetensors.torch import load_file

from selftrain.files import read_rows
from selftrain.finetune.log import read_training

HERE = Path(__file__).parent
CONFIGS = Path(__file__).parents[3] / "configs" / "accelerate"
CASES = ("in parts", "one block a step", "adapter")
TWO = ("--num_processes", "2", "--num_machines", "1", "--main_process_port", "0")
SAME = ("--mixed_precision", "no", "--dynamo_backend", "no")


def run(program: str, model: Path, folder: Path, *launch: str) -> Path:
    """Run a program, by `accelerate launch` where it is given arguments; give its folder."""
    command = ["-m", "accelerate.commands.launch", *TWO, *SAME, *launch] if launch else []
    env = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{HERE.parent}{os.pathsep}{HERE}"}
    done = subprocess.run(
        [sys.executable, *command, HERE / program, model, folder],
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> tuple[Path, Path]:
    """Train all cases in one process and in two."""
    one, two = (tmp_path_factory.mktemp(name) for name in ("one", "two"))
    # accelerate's name for several processes of one machine; each takes the CPU, as the model does.
    program = "launched_training.py"
    return run(program, tiny_model, one), run(program, tiny_model, two, "--multi_gpu")


def test_there_are_two_processes(folders: tuple[Path, Path]) -> None:
    one, two = (paths_in(folder / "in parts").state for folder in folders)
    assert not list(one.glob("step-*/random_states_1.pkl"))
    assert list(two.glob("step-*/random_states_1.pkl"))


@pytest.mark.parametrize("case", CASES)
def test_two_processes_have_the_losses_of_one(folders: tuple[Path, Path], case: str) -> None:
    one, two = (read_training(paths_in(path / case).model / "training.jsonl") for path in folders)
    assert len(one.steps) > 3
    assert [row["loss"] for row in two.steps] == pytest.approx(
        [row["loss"] for row in one.steps], rel=1e-4
    )
    for row, other in zip(two.evaluations, one.evaluations, strict=True):
        assert row == pytest.approx(other, rel=1e-4)
    assert [row["learning_rate"] for row in two.steps] == [
        row["learning_rate"] for row in one.steps
    ]


def test_two_processes_leave_the_files_of_one(folders: tuple[Path, Path]) -> None:
    one, two = (
        sorted(
            str(path.relative_to(folder)) for path in folder.rglob("*") if "step-" not in str(path)
        )
        for folder in folders
    )
    assert one == two
    assert "one block a step/model/epoch-02/model.safetensors" in two
    (rows,) = {
        len(list(read_rows(path / "adapter" / "model" / "training.jsonl"))) for path in folders
    }
    assert rows > 3


def test_weights_in_shares_have_the_losses_of_one_process_and_are_saved_whole(
    folders: tuple[Path, Path], tmp_path: Path, tiny_model: Path
) -> None:
    config = str(CONFIGS / "fsdp.yaml")
    program = "launched_fsdp.py"
    run(program, tiny_model, tmp_path, "--config_file", config)
    for case in ("in parts", "adapter"):
        ours, theirs = (paths_in(path / case).model for path in (tmp_path, folders[0]))
        found, wanted = (read_training(path / "training.jsonl") for path in (ours, theirs))
        losses = [row["loss"] for row in wanted.steps]
        assert [row["loss"] for row in found.steps] == pytest.approx(losses, rel=1e-4)
        (name,) = (path.name for path in ours.glob("*.safetensors"))
        saved, whole = (load_file(path / name) for path in (ours, theirs))
        assert saved.keys() == whole.keys()
        for key, weight in saved.items():
            torch.testing.assert_close(weight, whole[key], rtol=1e-3, atol=1e-3)
    assert [*(tmp_path / "in parts" / "state").glob("step-*/pytorch_model_fsdp_0/__1_0.distcp")]
