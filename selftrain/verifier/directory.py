"""The folder of `selftrain lever`: the one file that knows its names.

`ls` reads as the pipeline. Tasks first, with their candidates executed and labelled; then a
verifier an arm; then what each says of the tasks it did not learn from; then what came out.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from selftrain.run_directory import RoundDirectory, RunDirectory

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class LeverDirectory:
    """One comparison of rankings: its configuration, tasks, verifiers, scores and table."""

    path: Path

    @property
    def run(self) -> RunDirectory:
        """What it has in common with a run: config.yaml, run.json, timings.jsonl, log.txt."""
        return RunDirectory(self.path)

    def tasks(self, split: Split) -> Path:
        """Give the tasks of a split, a row each, as any task file has them."""
        return self.path / f"1-tasks-{split}.jsonl"

    def under_way(self, split: Split) -> RoundDirectory:
        """Give where the finished shards of a split lie until all are."""
        return RoundDirectory(self.path / f"1-tasks-{split}", 0, f"{split} tasks")

    def remove_shards(self, split: Split) -> None:
        """Remove what lay there under way, once the split's tasks are written."""
        shutil.rmtree(self.under_way(split).path, ignore_errors=True)

    @property
    def verifiers(self) -> Path:
        """Where the verifiers lie, a folder each."""
        return self.path / "2-verifiers"

    def verifier(self, name: str) -> Path:
        """Give a verifier's weights and training log; its name is an arm's, or `full-8` where it
        learnt from 8 candidates a task.
        """
        return self.verifiers / name

    def training(self, name: str) -> RoundDirectory:
        """Name a verifier in progress and timings."""
        return RoundDirectory(self.verifier(name), 0, f"verifier {name}")

    def scores(self, name: str, split: Split) -> Path:
        """Give what a verifier says of a split's candidates: a row a task, log-odds in order."""
        return self.path / "3-scores" / f"{name}-{split}.jsonl"

    @property
    def outcome(self) -> Path:
        """All numbers of the report."""
        return self.path / "lever.json"

    @property
    def report_markdown(self) -> Path:
        """The report as text."""
        return self.path / "lever.md"

    @property
    def report_html(self) -> Path:
        """The report as one self-contained page."""
        return self.path / "lever.html"

    def is_begun(self) -> bool:
        """Tell whether anything was made; until then the folder is nobody's."""
        return any(self.path.glob("1-tasks-*")) or self.verifiers.exists()
