"""The folder of a sweep: the one file that knows its names."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from selftrain.run_directory import RoundDirectory, RunDirectory


@dataclass(frozen=True, slots=True)
class SweepDirectory:
    """One sweep: a file of rows a temperature, a table, a plot."""

    path: Path

    @property
    def run(self) -> RunDirectory:
        """What it has in common with a run: config.yaml, run.json, timings.jsonl, log.txt."""
        return RunDirectory(self.path)

    def evaluation(self, temperature: float) -> Path:
        """Give the rows of one temperature, a dev puzzle each: there once all are judged."""
        return self.path / f"temperature-{temperature}.jsonl"

    def under_way(self, temperature: float) -> RoundDirectory:
        """Give where the finished shards of a temperature lie until all are."""
        label = f"temperature {temperature:g}"
        return RoundDirectory(self.path / f"temperature-{temperature}", 0, label)

    def remove_shards(self, temperature: float) -> None:
        """Remove what lay there under way, once its rows are written."""
        shutil.rmtree(self.under_way(temperature).path, ignore_errors=True)

    def is_begun(self) -> bool:
        """Tell whether anything was measured; until then the folder belongs to no sweep."""
        return any(self.path.glob("temperature-*"))

    @property
    def table(self) -> Path:
        """Pass@k by temperature, and what is best, as printed."""
        return self.path / "sweep.txt"

    def plot(self, suffix: str) -> Path:
        """Give the plot's file; the suffix is svg or png."""
        return self.path / f"sweep.{suffix}"
