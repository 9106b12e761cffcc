"""Ablations that kill themselves (SIGKILL) at chosen points, and the same command again. A program.

    python killed_ablations.py FOLDER [section.key=value ...]

It prints, as JSON, where it killed and in which files the ablation then differs from an undisturbed
one. How points are heard of is in killed_runs.py.
"""

import json
import os
import signal
import sys
from pathlib import Path

# Imported here so that no fork has to.
import accelerate  # noqa: F401
import datasketch  # noqa: F401
import jinja2  # noqa: F401
import joblib  # noqa: F401
import matplotlib.backends.backend_svg  # noqa: F401
import peft  # noqa: F401
import scipy.stats  # noqa: F401
import torch
import wasmtime  # noqa: F401
from killed_runs import Points, contents, differing, in_a_fork
from scripted import ScriptedSampler

from selftrain import models
from selftrain.ablation.ablate import ablate
from selftrain.config_file import load_config
from selftrain.progress import Progress

POINTS = {
    "judge": "advance pool seed-0  judge     2 5",
    "joining the pool": "rename 1-pools/seed-0/3-candidates.jsonl",
    "counting the pool": "rename 1-pools/seed-0/metrics.json",
    "the pairs of a kind": "rename 2-data/seed-0/wrong-removed.jsonl",
    "removing the shards of pairs": "rmtree 2-data/seed-0/shards",
    "examples": "rename 3-arms/verified/seed-0/4-examples.jsonl",
    "saving weights": "open 3-arms/verified/seed-0/5-model.unfinished/training.jsonl.unfinished",
    "evaluate": "rename 3-arms/verified/seed-0/shards/evaluate/000001.jsonl",
    "removing an arm's shards": "rmtree 3-arms/verified/seed-0/shards",
    "the table of one seed": "rename ablation.md",
    "the last numbers": "rename 3-arms/wrong/seed-1/metrics.json",
}
"""A point inside every stage, in their order."""


def start(folder: Path, settings: list[str], kill_at: str | None) -> int:
    """Run an ablation in `folder`, or go on there, killed at a point; give the exit code."""

    def work() -> None:
        torch.set_num_threads(1)
        points = Points(folder, kill_at)
        Progress.stage = lambda self, label, total: points.stage(self, label, total)  # type: ignore[method-assign, assignment]
        models.load_sampler = lambda *_: ScriptedSampler()  # type: ignore[assignment]
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.addaudithook(points.audit)
        ablate(load_config(None, settings), folder)

    return in_a_fork(work)


def main(root: Path, settings: list[str]) -> None:
    """Run once undisturbed, and once killed again and again, inside every stage."""
    assert start(root / "undisturbed", settings, None) == 0
    folder = root / "killed"
    killed = [
        name for name, point in POINTS.items() if start(folder, settings, point) == -signal.SIGKILL
    ]
    again = start(folder, settings, None)
    undisturbed = contents(root / "undisturbed")
    result = {
        "killed": killed,
        "again": again,
        "files": sorted(undisturbed),
        "differing": differing(folder, undisturbed),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
