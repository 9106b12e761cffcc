"""Kill −9 at any moment, and the same command again: the bytes of a run that nobody disturbed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from killed_runs import STAGES, contents, differing
from killing import run_program
from scripted import few_held_out, few_train, write_puzzles

SMALL = (
    "rounds=2",
    "propose.num_proposals=12",
    "propose.shard_size=6",
    "solve.num_attempts=2",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "evaluate.shard_size=3",
    "finetune.block_tokens=128",
    "finetune.batch_size=2",
    "finetune.learning_rate=1e-2",
    "model.device=cpu",
)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("killed")
    held_out = write_puzzles(root / "held_out.jsonl", few_held_out())
    train = write_puzzles(root / "train.jsonl", few_train())
    program = Path(__file__).with_name("killed_runs.py")
    puzzles = [f"puzzles.train={train}", f"puzzles.held_out={held_out}"]
    settings = [*SMALL, *puzzles, f"model.name={tiny_model}"]
    content: dict[str, Any] = run_program(program, root, *settings)
    return content


def test_a_run_killed_again_and_again_ends_with_the_same_bytes(result: dict[str, Any]) -> None:
    assert (result["again"], result["differing"]) == (0, [])
    assert len(result["killed_at"]) > 30


@pytest.mark.parametrize("stage", STAGES)
def test_that_run_was_killed_inside(result: dict[str, Any], stage: str) -> None:
    assert STAGES[stage] in result["killed_at"]


def test_the_bytes_compared_are_those_of_every_kind_of_file(result: dict[str, Any]) -> None:
    assert {
        "config.yaml",
        "run.json",
        "metrics.jsonl",
        "report.md",
        "report.html",
        "round-000/6-eval.jsonl",
        "round-001/1-proposals.jsonl",
        "round-002/2-puzzles.jsonl",
        "round-002/3-candidates.jsonl",
        "round-002/4-examples.jsonl",
        "round-002/5-model/model.safetensors",
        "round-002/5-model/training.jsonl",
        "round-002/6-eval-candidates.jsonl",
        "round-002/metrics.json",
    } <= set(result["files"])


def test_the_command_killed_at_random_instants_ends_with_the_same_bytes(
    tmp_path: Path, tiny_model: Path
) -> None:
    write_puzzles(tmp_path / "held_out.jsonl", few_held_out())
    write_puzzles(tmp_path / "train.jsonl", few_train())
    settings = (
        "rounds=1",
        "propose.num_proposals=24",
        "propose.shard_size=8",
        "propose.max_new_tokens=40",
        "solve.num_attempts=2",
        "solve.max_new_tokens=40",
        "solve.num_few_shot=0",
        "judge.num_workers=2",
        "evaluate.num_samples=2",
        "evaluate.k=[1]",
        "finetune.learning_rate=1e-3",
        "model.device=cpu",
        f"puzzles.train={tmp_path / 'train.jsonl'}",
        f"puzzles.held_out={tmp_path / 'held_out.jsonl'}",
    )
    (tmp_path / "a.yaml").write_text("seed: 3\n")

    def command(folder: str) -> "subprocess.Popen[bytes]":
        (tmp_path / folder).mkdir(exist_ok=True)
        return subprocess.Popen(
            [sys.executable, "-m", "selftrain.cli", "run", "../a.yaml", *settings],
            cwd=tmp_path / folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def num_files() -> int:
        return sum(1 for path in (tmp_path / "killed").rglob("*") if path.is_file())

    undisturbed = command("undisturbed")
    said = undisturbed.communicate()[1].decode()
    assert undisturbed.returncode == 0, said
    instants = random.Random(0)
    num_killed = 0
    for _ in range(3):
        process = command("killed")
        # By the files that are there, not by the clock, since a busy machine has another one.
        wanted = num_files() + instants.randint(1, 5)
        while process.poll() is None and num_files() < wanted:
            time.sleep(0.01)
        time.sleep(instants.uniform(0, 0.2))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            num_killed += 1
        # The pipe ends with the last process that holds it, a worker of the judge perhaps.
        process.communicate(timeout=60)
    last = command("killed")
    said = last.communicate()[1].decode()
    assert last.returncode == 0, said
    assert num_killed > 0
    ours, theirs = (tmp_path / folder / "runs" / "a" for folder in ("killed", "undisturbed"))
    assert differing(ours, contents(theirs)) == []


def test_workers_of_the_judge_end_soon_after_a_kill() -> None:
    code = """
from itertools import repeat
from judge import judge_many
pairs = repeat(("def f(x: int):\\n    return x == 3", "def g():\\n    return 3"))
for _ in judge_many(pairs, num_workers=2):
    print("judged", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"judged\n"
    process.kill()
    # The pipe ends when the last worker has gone.
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def test_a_worker_whose_parent_was_killed_while_it_started_ends_too() -> None:
    parent = subprocess.Popen([sys.executable, "-c", ""])
    parent.wait()
    code = (
        "import threading, judge.workers.worker as worker\n"
        f"worker.end_with_parent({parent.pid})\n"
        "threading.Event().wait(30)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1
