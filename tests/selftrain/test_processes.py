"""Several processes of one launch: the same results as one alone, no orphan, no hang."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from killed_runs import contents, differing
from launched import launch, ranks_of
from scripted import few_held_out, few_train, write_puzzles

from selftrain.cli import main
from selftrain.files import read_json, read_rows
from selftrain.sampling import Request
from selftrain.sampling.launched import divide


def requests(*counts: int) -> list[Request]:
    """Make so many requests of each prompt."""
    return [Request(f"prompt {i}", seed) for i, count in enumerate(counts) for seed in range(count)]


def divided(counts: Sequence[int], num_parts: int) -> list[list[int]]:
    sizes = {f"prompt {i}": 10 for i in range(len(counts))}
    return divide(requests(*counts), sizes, 20, num_parts)


@pytest.mark.parametrize("counts", [(), (1,), (7,), (3, 1, 4, 1, 5), (17,) * 32, (0, 0, 100)])
@pytest.mark.parametrize("num_parts", [2, 3, 8])
def test_each_request_is_in_one_part(counts: tuple[int, ...], num_parts: int) -> None:
    parts = divided(counts, num_parts)
    assert len(parts) == num_parts
    assert sorted(number for part in parts for number in part) == list(range(sum(counts)))
    assert all(part == sorted(part) for part in parts)


def test_requests_of_one_prompt_stay_together_where_prompts_are_many() -> None:
    parts = divided((17,) * 32, 2)
    asked = requests(*(17,) * 32)
    prompts = [{asked[number].prompt for number in part} for part in parts]
    assert not prompts[0] & prompts[1]


def test_requests_of_one_prompt_are_shared_out_where_it_is_the_only_one() -> None:
    assert [len(part) for part in divided((64,), 4)] == [16, 16, 16, 16]


def test_long_prompts_weigh_more() -> None:
    sizes = {"prompt 0": 1000, "prompt 1": 10, "prompt 2": 10, "prompt 3": 10}
    asked = requests(1, 1, 1, 1)
    assert divide(asked, sizes, 20, 2) == [[0], [1, 2, 3]]


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("orders")
    process = launch([Path(__file__).with_name("launched.py"), tiny_model], folder)
    out, error = process.communicate(timeout=300)
    assert out, error
    found: dict[str, Any] = json.loads(out)
    return {**found, "code": process.returncode, "error": error}


def test_two_processes_draw_what_one_draws(orders: dict[str, Any]) -> None:
    assert orders["spread"] == orders["alone"]
    assert orders["told"] == orders["alone"]
    assert {row[1] for row in orders["alone"]} == {"length", "stop", "prompt_too_long"}
    assert orders["advanced"] == len(orders["alone"])


def test_a_model_that_is_let_go_of_is_let_go_of_everywhere(orders: dict[str, Any]) -> None:
    assert orders["held"] == [1, 0]


def test_a_failure_elsewhere_is_told_with_the_rank(orders: dict[str, Any]) -> None:
    kind, said = orders["in_1"]
    assert kind == "UsageError"
    assert said.startswith("rank 1 of 2, on ")
    assert said.endswith(": it is broken")


def test_a_failure_that_nobody_foresaw_is_told_with_its_traceback(orders: dict[str, Any]) -> None:
    kind, said = orders["bug_in_1"]
    assert kind == "RuntimeError"
    assert "rank 1 of 2" in said
    assert "in fail_in\n" in said
    assert said.rstrip().endswith("ZeroDivisionError: it is broken")


def test_a_failure_of_all_is_told_once_and_by_rank_0(orders: dict[str, Any]) -> None:
    assert orders["in_all"] == orders["in_0"] == ["RunError", "it is broken"]


def test_after_failures_the_processes_go_on(orders: dict[str, Any]) -> None:
    assert orders["from"] == 0


def test_a_process_that_fails_where_others_wait_for_it_ends_the_launch(
    orders: dict[str, Any],
) -> None:
    assert orders["code"] == 1
    assert "selftrain: rank 1 of 2, on " in orders["error"]
    assert "RuntimeError: it is broken" in orders["error"]
    # Rank 0 says so too, where the launcher does not end it before.


SMALL = (
    "rounds=1",
    "propose.num_proposals=24",
    "propose.shard_size=8",
    "propose.max_new_tokens=40",
    "solve.num_attempts=4",
    "solve.max_new_tokens=40",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1]",
    "finetune.learning_rate=1e-3",
    "finetune.batch_size=2",
    "finetune.block_tokens=128",
    "diversity.embeddings=false",
    "model.device=cpu",
    "model.dtype=float32",
    "puzzles.train=../train.jsonl",
    "puzzles.held_out=../held_out.jsonl",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder of runs: by one process, by two, and by two that are killed."""
    root = tmp_path_factory.mktemp("runs")
    write_puzzles(root / "held_out.jsonl", few_held_out())
    write_puzzles(root / "train.jsonl", few_train())
    (root / "a.yaml").write_text("seed: 3\n")
    for name in ("alone", "two", "killed"):
        (root / name).mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root / "alone")
        assert main(["run", "../a.yaml", *SMALL]) == 0
    process = started(root / "two")
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 0, said
    return root


def started(folder: Path) -> "subprocess.Popen[str]":
    return launch(["-m", "selftrain", "run", "../a.yaml", *SMALL], folder)


def texts(run: Path, name: str) -> Iterator[tuple[Any, ...]]:
    for row in read_rows(run / name):
        yield row["text"], row.get("outcome"), row.get("rejection")


def test_two_processes_make_the_run_of_one(root: Path) -> None:
    alone, two = root / "alone/runs/a", root / "two/runs/a"
    for name in ("round-000/6-eval.jsonl", "round-001/2-puzzles.jsonl", "round-001/6-eval.jsonl"):
        assert (alone / name).read_bytes() == (two / name).read_bytes()
    for name in ("1-proposals.jsonl", "3-candidates.jsonl", "6-eval-candidates.jsonl"):
        assert [*texts(alone / "round-001", name)] == [*texts(two / "round-001", name)]
    ours, theirs = (read_json(run / "round-001/metrics.json") for run in (two, alone))
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert theirs["train/steps"] > 1


def kill_when(folder: Path, who: str, is_there: Callable[[Path], bool]) -> None:
    """Start or go on, and kill a rank or the launcher once the run has got so far; all must end."""
    process = started(folder)
    while process.poll() is None and not is_there(folder / "runs/a"):
        time.sleep(0.01)
    children = ranks_of(process.pid)
    assert len(children) == 2
    os.kill(process.pid if who == "launcher" else children[who].pid, signal.SIGKILL)
    # The pipes end with the last process that holds them.
    process.communicate(timeout=120)
    assert process.returncode not in (0, None)
    _, alive = psutil.wait_procs(children.values(), timeout=60)
    assert alive == []


def test_a_run_whose_processes_or_launcher_are_killed_ends_with_the_same_bytes(root: Path) -> None:
    folder = root / "killed"
    # Rank 0 judges a shard then, and rank 1 waits outside Python. That the end of rank 1 ends the
    # launch is told above.
    kill_when(folder, "launcher", lambda run: (run / "round-001/shards").is_dir())
    kill_when(folder, "0", lambda run: (run / "round-001/4-examples.jsonl").is_file())
    last = started(folder)
    said = last.communicate(timeout=300)[1]
    assert last.returncode == 0, said
    # What run.json names, the commit among it, is no process's doing; see test_kill.py.
    assert {*differing(folder / "runs/a", contents(root / "two/runs/a"))} <= {"run.json"}
