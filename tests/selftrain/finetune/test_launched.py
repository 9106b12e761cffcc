"""Two processes of `accelerate launch` learn as one does with the same steps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lessons import places

from selftrain.files import read_rows
from selftrain.finetune.log import read_training

PROGRAM = Path(__file__).with_name("launched_training.py")
CASES = ("uneven", "in parts", "one block a step", "adapter")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> tuple[Path, Path]:
    """Train all cases in one process and in two."""
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2"]
    launch += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
    launch += ["--main_process_port", "0"]
    env = os.environ | {"PYTHONPATH": str(PROGRAM.parents[1]), "OMP_NUM_THREADS": "1"}
    for command in (
        [sys.executable, PROGRAM, tiny_model, one],
        [*launch, PROGRAM, tiny_model, two],
    ):
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
    return one, two


@pytest.mark.parametrize("case", CASES)
def test_two_processes_have_the_losses_of_one(folders: tuple[Path, Path], case: str) -> None:
    one, two = (read_training(places(path / case).model / "training.jsonl") for path in folders)
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
    assert "uneven/model/epoch-02/model.safetensors" in two
    (rows,) = {
        len(list(read_rows(path / "adapter" / "model" / "training.jsonl"))) for path in folders
    }
    assert rows > 3
