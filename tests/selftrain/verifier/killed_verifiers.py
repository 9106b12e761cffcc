"""Runs with a verifier a round that kill themselves in its stages. A program, as killed_runs.py is.

python killed_verifiers.py FOLDER section.key=value ...
"""

import sys
from functools import partial
from pathlib import Path

# Imported here so that no fork has to.
import sklearn.linear_model  # noqa: F401
from killed_runs import compare, run

from selftrain.config_file import load_config
from selftrain.verifier.ranking import selection  # noqa: F401

POINTS = {
    "saving the verifier": "open round-001/5-verifier.unfinished/training.jsonl.unfinished",
    "judging in its order": "open round-002/shards/judge/000000.jsonl.unfinished",
    "their worth": "rename round-002/6-verifier.json",
}
"""A point in every stage that a verifier adds or changes, in their order."""


if __name__ == "__main__":
    config = load_config(None, sys.argv[2:])
    compare(partial(run, config), Path(sys.argv[1]), lambda _: list(POINTS.values()))
