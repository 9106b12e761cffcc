"""Published task files, fetched once: P3 from its project on GitHub, HumanEval from the hub.

Each is pinned, P3 by its hashes too, so that a score means the same tasks everywhere. Nothing is
fetched before a command asks for it by name; a folder or file of one's own needs no network.
"""

import logging
from pathlib import Path

from judge import FunctionProblem
from selftrain.errors import UsageError

P3_PROJECT = "https://github.com/microsoft/PythonProgrammingPuzzles"
P3_FILES = {
    # The commit that last changed each file, and the sha256 of what it has there.
    "puzzles.json": (
        "44c09e76ac49ff6c2a8ec78e63e6271217182c59",
        "d3b61141ea0d935c389d602867ba2c154db1854df9ff4402daaa947ad880d8bb",
    ),
    "split.json": (
        "cd6821aa4f9e10ebc4b9cda0ad3444c2ed1e4faa",
        "1f3d55c30dcb23036a0008763a21fe3da1765879523a33585593f9daa5f2e824",
    ),
}
HUMANEVAL = "openai/openai_humaneval"
HUMANEVAL_REVISION = "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544"


def p3_folder() -> Path:
    """Give a folder with P3's two files, fetched into the user's cache. Raises UsageError."""
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    folder = Path(pooch.os_cache("selftrain")) / "p3"
    for name, (commit, sha256) in P3_FILES.items():
        url = f"{P3_PROJECT}/raw/{commit}/puzzles/{name}"
        try:
            pooch.retrieve(url, f"sha256:{sha256}", fname=name, path=folder)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"p3: {name} could not be fetched ({_first_line(error)}). Take puzzles.json and "
                f"split.json from the folder puzzles of {P3_PROJECT}, and name their folder with "
                "p3:FOLDER."
            ) from None
    return folder


def humaneval() -> dict[str, FunctionProblem]:
    """Give HumanEval's 164 problems by task_id, from the hub or its cache. Raises UsageError."""
    from datasets import load_dataset

    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # It would tell of every retry.
    try:
        rows = load_dataset(HUMANEVAL, split="test", revision=HUMANEVAL_REVISION)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"humaneval: {HUMANEVAL} could not be fetched ({_first_line(error)}). Take "
            "HumanEval.jsonl.gz from https://github.com/openai/human-eval, and name it with "
            "humaneval:FILE."
        ) from None
    return {
        row["task_id"]: FunctionProblem(row["prompt"], row["entry_point"], row["test"])
        for row in rows
    }


def _first_line(error: Exception) -> str:
    """Keep an error of many lines to one that can stand in a sentence."""
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:90]
