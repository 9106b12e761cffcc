"""The folder of `selftrain refine`: the one file that knows its names.

`ls` reads as the pipeline. What the forward model was taught, first, where it was; then every call
of a model, every iteration of an arm, what each task came to, and what came out.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from selftrain.run_directory import RoundDirectory, RunDirectory


@dataclass(frozen=True, slots=True)
class RefineDirectory:
    """One comparison of arms: its configuration, calls, trace, results and table."""

    path: Path

    @property
    def run(self) -> RunDirectory:
        """What it has in common with a run: config.yaml, run.json, timings.jsonl, log.txt."""
        return RunDirectory(self.path)

    @property
    def taught(self) -> RoundDirectory:
        """Where the forward model learns to follow edits: candidates, examples and model, as in a
        round's folder.
        """
        return RoundDirectory(self.path / "1-taught", 1, "teach")

    @property
    def calls(self) -> Path:
        """Every answer of a model, as it came: what is here is never asked for again."""
        return self.path / "2-calls.jsonl"

    def under_way(self, part: str, label: str) -> RoundDirectory:
        """Give where the finished shards of an arm lie until all are done, and how it is called."""
        return RoundDirectory(self.path / "3-refined" / part, 0, label)

    def remove_shards(self) -> None:
        """Remove what lay there under way."""
        shutil.rmtree(self.path / "3-refined", ignore_errors=True)

    @property
    def trace(self) -> Path:
        """A row an arm, task and iteration."""
        return self.path / "trace.jsonl"

    @property
    def results(self) -> Path:
        """A row an arm and task: the answer, and whether its hidden tests pass."""
        return self.path / "results.jsonl"

    @property
    def outcome(self) -> Path:
        """All numbers of the report."""
        return self.path / "refine.json"

    @property
    def report_markdown(self) -> Path:
        """The report as text."""
        return self.path / "refine.md"

    @property
    def report_html(self) -> Path:
        """The report as one self-contained page."""
        return self.path / "refine.html"

    def is_begun(self) -> bool:
        """Tell whether anything was made; until then the folder is nobody's."""
        return any(
            path.exists() for path in (self.taught.path, self.calls, self.path / "3-refined")
        )
