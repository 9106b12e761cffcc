"""The run directory: the one file that knows its names.

`ls` reads as the pipeline. A stage that is not finished lies in shards; a round whose
`metrics.json` exists is complete. The files are written elsewhere.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selftrain.files import Row, read_rows

EPOCH, DEV = "evaluate-", "dev-"
"""How the stages begin that try held-out or dev puzzles after one epoch."""


@dataclass(frozen=True, slots=True)
class RoundDirectory:
    """One round of a run; round 0 holds the base model's evaluation alone."""

    path: Path
    number: int
    label: str = ""
    """What it is called where it is no round of a run; empty for a round."""

    @property
    def name(self) -> str:
        """Name it in progress and timings."""
        return self.label or f"round {self.number}"

    @property
    def proposals(self) -> Path:
        """Every completion of the proposer, with its f, or why it was rejected, or both."""
        return self.path / "1-proposals.jsonl"

    @property
    def puzzles(self) -> Path:
        """The puzzles kept by the filter."""
        return self.path / "2-puzzles.jsonl"

    @property
    def diversity(self) -> Path:
        """How varied the round's puzzles are, with the points of its map."""
        return self.path / "2-diversity.json"

    @property
    def vectors(self) -> Path:
        """Embeddings of the round's puzzles, and digests of their shapes."""
        return self.path / "2-diversity.npz"

    @property
    def candidates(self) -> Path:
        """Every candidate solution with its verdict."""
        return self.path / "3-candidates.jsonl"

    @property
    def refined(self) -> Path:
        """What became of each puzzle that no attempt solved, iteration by iteration."""
        return self.path / "3-refined.jsonl"

    @property
    def difficulties(self) -> Path:
        """How hard each puzzle was: one minus its solve rate, with an interval."""
        return self.path / "3-difficulties.jsonl"

    @property
    def examples(self) -> Path:
        """What was trained on."""
        return self.path / "4-examples.jsonl"

    @property
    def removed(self) -> Path:
        """The examples that lay too near a held-out puzzle, each with the reason."""
        return self.path / "4-removed.jsonl"

    @property
    def model(self) -> Path:
        """Adapter or weights that the next round starts from, with the training log."""
        return self.path / "5-model"

    @property
    def training_state(self) -> Path:
        """What training goes on from when it was cut short; removed once `model` is in place."""
        return self.path / "5-model.state"

    @property
    def tracker(self) -> Path:
        """What a tracker writes that writes files; with times, so no two runs have the same."""
        return self.path / "5-tracker"

    @property
    def verifier(self) -> Path:
        """The verifier that learnt from the round's verdicts, with training log and calibrator."""
        return self.path / "5-verifier"

    def epoch_model(self, epoch: int) -> Path:
        """Give the model after an epoch, counted from 1, where every epoch is kept."""
        return self.model / f"epoch-{epoch:02d}"

    def epochs(self) -> list[int]:
        """List the epochs whose models are kept; none where the last alone is."""
        found = self.model.glob("epoch-*")
        return sorted(int(path.name.removeprefix("epoch-")) for path in found)

    @property
    def chosen_epoch(self) -> Path:
        """Which epoch's model the round's is, where every epoch is kept."""
        return self.model / "epoch.json"

    def epoch_stage(self, epoch: int) -> str:
        """Name the stage that tries the held-out puzzles after an epoch before the last."""
        return f"{EPOCH}{epoch:02d}"

    def dev_stage(self, epoch: int) -> str:
        """Name the stage that tries the dev puzzles after an epoch; 0 where the last is kept."""
        return f"{DEV}{epoch:02d}"

    @property
    def training_log(self) -> Path:
        """Loss and learning rate of every step, and the loss on what is held back."""
        return self.model / "training.jsonl"

    @property
    def dev(self) -> Path:
        """A row a dev puzzle and epoch: n, num_correct, outcomes; what the epoch is chosen by."""
        return self.path / "6-dev.jsonl"

    @property
    def near(self) -> Path:
        """The held-out puzzles that something in training comes near, and what."""
        return self.path / "6-near.jsonl"

    @property
    def evaluation(self) -> Path:
        """A row a held-out puzzle: n, num_correct, outcomes."""
        return self.path / "6-eval.jsonl"

    @property
    def epoch_evaluation(self) -> Path:
        """The same for every epoch, with its number, where every epoch is measured."""
        return self.path / "6-eval-epochs.jsonl"

    @property
    def evaluation_candidates(self) -> Path:
        """Every candidate for the held-out puzzles with its verdict."""
        return self.path / "6-eval-candidates.jsonl"

    @property
    def verifier_worth(self) -> Path:
        """What the verifiers of this round and of the one before were worth here."""
        return self.path / "6-verifier.json"

    @property
    def metrics(self) -> Path:
        """Flat metrics of the round; written last, so where it exists the round is complete."""
        return self.path / "metrics.json"

    def shard(self, stage: str, index: int) -> Path:
        """Give the file of one finished shard of a stage that is under way."""
        return self.path / "shards" / stage / f"{index:06d}.jsonl"

    def calls(self, index: int) -> Path:
        """Give the file of what models answered for a shard that is refined; no shard itself."""
        return self.shard("refine-calls", index)

    def shards(self, stage: str) -> list[Path]:
        """List the finished shards of a stage, in order."""
        return sorted((self.path / "shards" / stage).glob("*.jsonl"))

    def stages(self, prefix: str) -> list[str]:
        """List the stages under way whose names begin so, in order."""
        return sorted(path.name for path in (self.path / "shards").glob(f"{prefix}*"))

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
