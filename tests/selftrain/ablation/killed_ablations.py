"""Ablations that kill themselves (SIGKILL) at chosen points, and the same command again. A program.

    python killed_ablations.py FOLDER [section.key=value ...]

What it prints, and how points are heard of, is said in killed_runs.py.
"""

import sys
from functools import partial
from pathlib import Path

from killed_runs import compare

from selftrain.ablation.ablate import ablate
from selftrain.config_file import load_config

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


if __name__ == "__main__":
    config = load_config(None, sys.argv[2:])
    compare(partial(ablate, config), Path(sys.argv[1]), lambda _: list(POINTS.values()))
