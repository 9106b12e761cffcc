"""The command `selftrain why`: from an example, a proposal or a held-out puzzle back to all causes.

It reads the run directory and the train puzzles, streams, and loads no model.
"""

from pathlib import Path

from selftrain.claim import require_run
from selftrain.config_file import load_config
from selftrain.run_directory import RunDirectory
from selftrain.why.find import find
from selftrain.why.held_out import held_out_story
from selftrain.why.story import puzzle_story

__all__ = ["why"]


def why(folder: Path, asked: str) -> int:
    """Print the story of what `asked` names. Raises UsageError where a run has no such thing."""
    run = RunDirectory(folder)
    require_run(run)
    config = load_config(run.config)
    found = find(run, asked)
    if found.round_number is None:
        lines = held_out_story(run, found)
    else:
        lines = puzzle_story(run, config, found)
    for line in lines:
        print(line)
    return 0
