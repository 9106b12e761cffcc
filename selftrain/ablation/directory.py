"""The directory of an ablation: the one file that knows its names.

`ls` reads as the pipeline. Pools and arms are laid out as the rounds of a run are. A pool or an arm
of a seed whose `metrics.json` exists is complete.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from selftrain.ablation.arms import Arm, Generator
from selftrain.run_directory import RoundDirectory, RunDirectory

ROUND = 1
"""Each arm is one round of self-training; all draws of a seed are those of its first round."""


@dataclass(frozen=True, slots=True)
class AblationDirectory:
    """One ablation: its configuration, its pools, its data, its arms, its table."""

    path: Path

    @property
    def run(self) -> RunDirectory:
        """What it has in common with a run: config.yaml, run.json, timings.jsonl, log.txt."""
        return RunDirectory(self.path)

    def pool(self, generator: Generator, seed: int) -> RoundDirectory:
        """What a generator proposed and solved: a round up to its verdicts."""
        inner = Path(generator.folder) / f"seed-{seed}"
        return RoundDirectory(self.path / "1-pools" / inner, ROUND, f"pool {inner}")

    def data(self, generator: Generator | None, seed: int) -> RoundDirectory:
        """Where the pairs of one generator and seed lie; None has the reference solutions."""
        inner = Path(generator.folder) / f"seed-{seed}" if generator else Path("references")
        return RoundDirectory(self.path / "2-data" / inner, ROUND, f"data {inner}")

    def pairs(self, kind: str, generator: Generator | None, seed: int) -> Path:
        """All pairs of a kind that arms may draw from, decontaminated, with their tokens."""
        return self.data(generator, seed).path / f"{kind}.jsonl"

    def removed(self, kind: str, generator: Generator | None, seed: int) -> Path:
        """The pairs of a kind that lay too near a held-out puzzle, each with the reason."""
        return self.data(generator, seed).path / f"{kind}-removed.jsonl"

    def arm(self, arm: Arm, seed: int) -> RoundDirectory:
        """What an arm trained on in one seed, its model and its evaluation."""
        inner = Path(arm.folder) / f"seed-{seed}"
        return RoundDirectory(self.path / "3-arms" / inner, ROUND, f"arm {inner}")

    @property
    def results(self) -> Path:
        """The numbers of the table: a row an arm."""
        return self.path / "results.jsonl"

    @property
    def report_markdown(self) -> Path:
        """The table as text."""
        return self.path / "ablation.md"

    @property
    def report_html(self) -> Path:
        """The table and the plot as one self-contained page."""
        return self.path / "ablation.html"

    def has_data(self) -> bool:
        """Tell whether some arm's examples were cut, by which the token budget is settled."""
        return any(self.path.glob("3-arms/*/*/4-examples.jsonl"))

    def is_begun(self) -> bool:
        """Tell whether anything was made; until then the directory is nobody's."""
        return any((self.path / name).exists() for name in ("1-pools", "2-data", "3-arms"))


def remove_weights(arm: RoundDirectory) -> None:
    """Remove an arm's model, all its epochs; what was noted while it was trained stays."""
    for path in arm.model.glob("*"):
        if path.is_dir():
            shutil.rmtree(path)
        elif path not in (arm.training_log, arm.chosen_epoch):
            path.unlink()
