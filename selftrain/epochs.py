"""The epochs of a round: which models are kept and measured, and which one is the round's.

An epoch is chosen on the dev puzzles, never on the held-out ones. Training is in finetune/.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from puzzles import Puzzle
from selftrain.evaluate import EVALUATED, GREEDY, evaluate
from selftrain.experiment import Experiment
from selftrain.files import link, write_json
from selftrain.run_directory import RoundDirectory
from selftrain.sampling.lazy import LazySampler


def try_puzzles(
    x: Experiment,
    here: RoundDirectory,
    generator: LazySampler,
    puzzles: Sequence[Puzzle],
    stage: str,
) -> None:
    """Let a model try puzzles as held-out puzzles are tried, shard by shard."""
    attempts = x.config.evaluate.num_samples + 1
    size = x.config.evaluate.shard_size
    for shard, start in enumerate(range(0, len(puzzles), size)):
        some = puzzles[start : start + size]
        how = partial(evaluate, generator, some, x.evaluation(here.number))
        x.once(here, shard, replace(EVALUATED, stage=stage), len(some) * attempts, how)


def choose_epoch(x: Experiment, here: RoundDirectory) -> None:
    """Make one of the epochs' models the round's, where every epoch is kept.

    It is the one with the best Pass@1 on the dev puzzles, the first of equal ones, where
    `evaluate.epochs` is `dev`; else the last.
    """
    epochs = here.epochs()
    if not epochs or here.chosen_epoch.exists():
        return
    chosen = epochs[-1]
    if x.config.evaluate.epochs == "dev":
        for epoch in epochs:
            try_puzzles(x, here, x.generator_of_epoch(here, epoch), x.dev, here.dev_stage(epoch))
        chosen = max(epochs, key=lambda epoch: (_rate(here, here.dev_stage(epoch)), -epoch))
    _adopt(here, chosen)


def measure_epochs(x: Experiment, here: RoundDirectory, generator: LazySampler) -> None:
    """Try the held-out puzzles after every epoch but the last, and the dev puzzles after it."""
    epochs = here.epochs()
    if x.config.evaluate.epochs == "all":
        for epoch in epochs[:-1]:
            stage = here.epoch_stage(epoch)
            try_puzzles(x, here, x.generator_of_epoch(here, epoch), x.measured, stage)
    if not (epochs and x.config.evaluate.epochs == "dev"):
        try_puzzles(x, here, generator, x.dev, here.dev_stage(epochs[-1] if epochs else 0))


def _rate(here: RoundDirectory, stage: str) -> float:
    """Average over puzzles the share of samples that passed."""
    shares: list[float] = []
    for _, group in groupby(here.rows(stage), key=lambda row: row["name"]):
        passed = [row["passed"] for row in group if row["index"] != GREEDY]
        shares.append(sum(passed) / len(passed))
    return sum(shares) / len(shares)


def _adopt(here: RoundDirectory, epoch: int) -> None:
    """Put an epoch's files beside the training log, without a second copy where links will do."""
    for source in sorted(here.epoch_model(epoch).iterdir()):
        target = here.model / source.name
        target.unlink(missing_ok=True)
        link(source, target)
    write_json(here.chosen_epoch, {"epoch": epoch})
