"""Kill −9 at any moment of a refinement, and the same command again: the same bytes, and no model
is asked twice for what it had answered.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from selftrain.files import write_rows

TASKS = [
    {
        "task_id": f"add/{number}",
        "prompt": f'def add(a, b):\n    """Give the sum of {number} things."""\n',
        "entry_point": "add",
        "test": "def check(candidate):\n    assert candidate(2, 5) == 7\n",
        "examples": [[[1, 2], 3]],
    }
    for number in range(6)
]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = tmp_path_factory.mktemp("killed")
    write_rows(root / "tasks.jsonl", TASKS)
    config = root / "small.yaml"
    config.write_text(
        json.dumps(
            {
                "model": {"name": "builtin:tiny", "batch_size": 4},
                "judge": {"num_workers": 1},
                "refine": {
                    "tasks": [str(root / "tasks.jsonl")],
                    "critic": {"name": "another", "server": "http://127.0.0.1:9/v1"},
                    "shard_size": 4,
                },
            }
        )
    )
    program = Path(__file__).parents[1] / "killed_refinements.py"
    done = subprocess.run(
        [sys.executable, program, root, config],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    return root, json.loads(done.stdout)


def test_a_refinement_killed_again_and_again_ends_with_the_same_bytes(
    killed: tuple[Path, dict[str, Any]],
) -> None:
    _, result = killed
    assert (result["again"], result["differing"]) == (0, [])
    assert {"trace.jsonl", "results.jsonl", "refine.md", "refine.json"} <= set(result["files"])


def test_it_was_killed_between_calls_and_inside_arms(
    killed: tuple[Path, dict[str, Any]],
) -> None:
    _, result = killed
    points = result["killed_at"]
    assert any("2-calls.jsonl" in point for point in points)
    assert sum("3-refined" in point for point in points) >= 6
    assert len(points) > 15


def test_no_call_is_repeated(killed: tuple[Path, dict[str, Any]]) -> None:
    root, _ = killed
    for model in ("builtin:tiny", "another"):
        (undisturbed,) = root.glob(f"undisturbed.*{model[-7:]}.asked")
        (disturbed,) = root.glob(f"killed.*{model[-7:]}.asked")
        calls = Counter(disturbed.read_text().split("\n"))
        assert set(calls) == set(undisturbed.read_text().split("\n"))
        assert max(calls.values()) == 1
        assert len(calls) > 10
