"""The run directory: the one file that knows its names.

`ls` reads as the pipeline. A stage that is not finished lies in shards; a round whose
`metrics.json` exists is complete. The files are written elsewhere.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selftrain.files import Row, read_rows


@dataclass(frozen=True, slots=True)
class RoundDirectory:
    """One round of a run; round 0 holds the base model's evaluation alone."""

    path: Path
    number: int

    @property
    def proposals(self) -> Path:
        """Every completion of the proposer, with its f, or why it was rejected, or both."""
        return self.path / "1-proposals.jsonl"

    @property
    def puzzles(self) -> Path:
        """The puzzles kept by the filter."""
        return self.path / "2-puzzles.jsonl"

    @property
    def candidates(self) -> Path:
        """Every candidate solution with its verdict."""
        return self.path / "3-candidates.jsonl"

    @property
    def examples(self) -> Path:
        """What was trained on."""
        return self.path / "4-examples.jsonl"

    @property
    def model(self) -> Path:
        """Adapter or weights, with the training log."""
        return self.path / "5-model"

    @property
    def training_log(self) -> Path:
        """Loss and learning rate of every step."""
        return self.model / "training.jsonl"

    @property
    def evaluation(self) -> Path:
        """A row a held-out puzzle: n, num_correct, outcomes."""
        return self.path / "6-eval.jsonl"

    @property
    def evaluation_candidates(self) -> Path:
        """Every candidate for the held-out puzzles with its verdict."""
        return self.path / "6-eval-candidates.jsonl"

    @property
    def metrics(self) -> Path:
        """Flat metrics of the round; written last, so where it exists the round is complete."""
        return self.path / "metrics.json"

    def shard(self, stage: str, index: int) -> Path:
        """Give the file of one finished shard of a stage that is under way."""
        return self.path / "shards" / stage / f"{index:06d}.jsonl"

    def shards(self, stage: str) -> list[Path]:
        """List the finished shards of a stage, in order."""
        return sorted((self.path / "shards" / stage).glob("*.jsonl"))

    def rows(self, stage: str) -> Iterator[Row]:
        """Stream the rows of a stage's finished shards, in order."""
        for shard in self.shards(stage):
            yield from read_rows(shard)

    def remove_shards(self) -> None:
        """Remove the shards of a complete round."""
        shutil.rmtree(self.path / "shards", ignore_errors=True)


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """One run: its configuration, its rounds, its reports."""

    path: Path

    @property
    def config(self) -> Path:
        """The resolved configuration; running this file repeats the run."""
        return self.path / "config.yaml"

    @property
    def provenance(self) -> Path:
        """Command, commit, versions, hashes of weights and of the judge's guest, machine."""
        return self.path / "run.json"

    @property
    def metrics(self) -> Path:
        """A row a complete round, round 0 first."""
        return self.path / "metrics.jsonl"

    @property
    def report_markdown(self) -> Path:
        """The report as text."""
        return self.path / "report.md"

    @property
    def report_html(self) -> Path:
        """The report as one self-contained page."""
        return self.path / "report.html"

    @property
    def timings(self) -> Path:
        """Seconds a stage and shard.

        But for the log, it is the only file in which two runs of one seed differ.
        """
        return self.path / "timings.jsonl"

    @property
    def log(self) -> Path:
        """What was said on the terminal, with times."""
        return self.path / "log.txt"

    @property
    def lock(self) -> Path:
        """Held by the process that works here."""
        return self.path / ".lock"

    def round(self, number: int) -> RoundDirectory:
        """Give a round's directory, whether or not it exists."""
        return RoundDirectory(self.path / f"round-{number:03d}", number)

    def is_begun(self) -> bool:
        """Tell whether a shard is finished; until then nothing was made."""
        return self.path.is_dir() and any(self.path.glob("round-*"))

    def complete_rounds(self) -> list[RoundDirectory]:
        """List the complete rounds, in order."""
        paths = sorted(self.path.glob("round-*/metrics.json"))
        return [
            RoundDirectory(path.parent, int(path.parent.name.removeprefix("round-")))
            for path in paths
        ]
