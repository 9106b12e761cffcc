"""Kill −9 at any moment of a refinement, and the same command again: the same bytes, and no model
is asked twice for what it had answered.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from killing import run_program
from refine_script import read_asked

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
    result = run_program(program, root, config)
    return root, result


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
    assert points.count("open 2-calls.jsonl 3") == 12
    assert sum("3-refined" in point for point in points) >= 6
    assert "rename results.jsonl 1" in points or "rename trace.jsonl 1" in points


@pytest.mark.parametrize("role", ["forward", "critic"])
def test_no_model_is_asked_for_what_it_answered(
    killed: tuple[Path, dict[str, Any]], role: str
) -> None:
    root, _ = killed
    once, _ = read_asked(root / f"undisturbed.{role}")
    asked, num_again = read_asked(root / f"killed.{role}")
    assert (asked, num_again) == (once, 0)
    assert len(asked) > 10
