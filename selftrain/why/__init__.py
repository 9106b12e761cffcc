"""The command `selftrain why`: from an example, a proposal or a held-out puzzle back to all causes.

Of a comparison of refinements, what each arm did on a task. It reads the directory and the train
puzzles, streams, and loads no model.
"""

from collections.abc import Iterator
from pathlib import Path

from selftrain.claim import REFINE, require_run
from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.refine.directory import RefineDirectory
from selftrain.run_directory import RunDirectory
from selftrain.why.find import find
from selftrain.why.held_out import held_out_story
from selftrain.why.refined_task import refined_task_story
from selftrain.why.story import puzzle_story

__all__ = ["why"]


def why(folder: Path, asked: str, arm: str | None = None) -> int:
    """Print the story of what `asked` names; of refinements, in one arm where `arm` names one.

    Raises UsageError where there is no such thing.
    """
    for line in _story(folder, asked, arm):
        print(line)
    return 0


def _story(folder: Path, asked: str, arm: str | None) -> Iterator[str]:
    if REFINE.is_begun(folder):
        return refined_task_story(RefineDirectory(folder), asked, arm)
    run = RunDirectory(folder)
    require_run(run)
    if arm is not None:
        raise UsageError(f"{folder} holds a run, which has no arms. Leave --arm out.")
    config = load_config(run.config)
    found = find(run, asked)
    if found.round_number is None:
        return held_out_story(run, found)
    return puzzle_story(run, config, found)
