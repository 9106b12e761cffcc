"""A real server, llama.cpp's with SmolLM2-135M, as forward model and critic, from end to end."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.fetch_smollm2 import gguf_path
from selftrain.config_file import load_config
from selftrain.files import read_json, read_rows, write_rows
from selftrain.refine.refine import refine

FUNCTION = {
    "task_id": "double",
    "prompt": 'def double(x: int) -> int:\n    """ Give twice x.\n    >>> double(3)\n    6\n    """\n',
    "entry_point": "double",
    "test": "def check(candidate):\n    assert candidate(5) == 10\n",
}
PROGRAM = {"task_id": "echo", "statement": "Print the line that is read.", "cases": [["a\n", "a\n"]]}  # fmt: skip


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    pytest.importorskip("xllamacpp", reason="llama.cpp's server is not here: pip install xllamacpp")
    if not gguf_path().is_file():
        pytest.skip("SmolLM2-135M is not here: python -m scripts.fetch_smollm2")
    command = [sys.executable, "-m", "scripts.serve_smollm2", "--port", "0", "--slots", "2"]
    with subprocess.Popen(
        [*command, "--context", "1536", "--threads", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield next(line.strip() for line in process.stdout if line.startswith("http"))
        process.kill()


@pytest.fixture(scope="module")
def folder(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("live")
    write_rows(root / "tasks.jsonl", [FUNCTION, PROGRAM])
    settings = [
        f"model={{name: smollm2, server: '{url}', api: chat, context_tokens: 1536, batch_size: 2}}",
        f"refine.tasks=[{root / 'tasks.jsonl'}]",
        "refine.arms=[forward,self_critic,critic_code,resample]",
        "refine.iterations=1",
        "refine.max_new_tokens=60",
        "refine.critic_max_new_tokens=90",
        "judge.num_workers=1",
    ]
    assert refine(load_config(None, settings), root / "folder") == 0
    return root / "folder"


def test_every_arm_has_an_answer_or_none_for_every_task(folder: Path) -> None:
    rows = list(read_rows(folder / "results.jsonl"))
    assert len(rows) == 4 * 2
    assert all(type(row["solved"]) is bool for row in rows)
    assert "self\\_critic" in (folder / "refine.md").read_text()


def test_reviews_were_asked_for_and_read(folder: Path) -> None:
    steps = [row for row in read_rows(folder / "trace.jsonl") if row["arm"] == "self_critic"]
    reviews = [row for row in steps if row["review"] is not None]
    assert reviews
    assert all(row["calls"]["critic"]["reply"].lstrip().startswith("{") for row in reviews)
    assert {row["review"]["how"] for row in reviews} <= {"json", "mended"}


def test_probes_were_asked_for(folder: Path) -> None:
    steps = [row for row in read_rows(folder / "trace.jsonl") if row["arm"] == "critic_code"]
    assert any("probes" in row["calls"] for row in steps)


def test_tokens_are_counted_by_ours_whatever_the_server_says(folder: Path) -> None:
    arms = read_json(folder / "refine.json")
    assert arms
    for row in read_rows(folder / "results.jsonl"):
        assert row["used"]["forward"]["prompt"] > 0
        assert row["used"]["forward"]["num_calls"] >= 1
