"""The command `selftrain lever rank`: order the candidates of tasks by a trained verifier.

No label is asked for, and none that is there is looked at. How well a ranking does is measured by
`selftrain lever evaluate`.
"""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from selftrain import models
from selftrain.config import Config
from selftrain.errors import UsageError
from selftrain.files import Row, check_output, read_json, replacing
from selftrain.progress import Progress
from selftrain.sampling.lazy import LazySampler
from selftrain.verifier.calibration.calibrator import Calibrator, apply, calibrator_from_row
from selftrain.verifier.directory import LeverDirectory
from selftrain.verifier.learning.train import CALIBRATOR
from selftrain.verifier.ranking.chooser import chooser_of
from selftrain.verifier.ranking.rank import Scored, rank, ranking_to_row, refusal
from selftrain.verifier.tasks.sources import complete, outline
from selftrain.verifier.tasks.task import Task


def rank_file(
    config: Config, folder: Path, arm: str | None, source: str, output: Path | None
) -> int:
    """Write a row a task, its candidates best first, into `output` or onto standard output.

    Tasks without candidates are sampled by `model`; programs without a result are executed.
    Raises UsageError.
    """
    verifier = find_verifier(folder, arm)
    calibrator = calibrator_from_row(read_json(verifier / CALIBRATOR))
    there = outline(source, "test", config)
    if there.reader is None:
        _refuse_without_logprobs(there.items, config)
    if output:
        check_output(output)
    progress = Progress()
    sampler = LazySampler(lambda: models.load_sampler(config.model))
    with progress.stage("candidates", there.num_units(len(there.items))) as advance:
        tasks = complete(there, there.items, config, sampler, advance=advance)
    sampler.release()
    there.release()
    rows = list(_rows(tasks, verifier, calibrator, config, progress))
    with replacing(output) if output else nullcontext(sys.stdout) as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    print(f"{len(tasks):,} task{'' if len(tasks) == 1 else 's'} ranked", file=sys.stderr)
    return 0


def find_verifier(folder: Path, arm: str | None) -> Path:
    """Find a verifier's files: in a folder of `selftrain lever`, or in one of its own.

    Raises UsageError where there is none, or none of that arm.
    """
    if (folder / "verifier.json").is_file() and arm is None:
        return folder
    directory = LeverDirectory(folder)
    there = sorted(path.name for path in directory.verifiers.glob("*") if path.is_dir())
    if not there:
        raise UsageError(
            f"{folder} holds no verifier. Name a folder of `selftrain lever train`, such as "
            "runs/lever-tiny, or a round's 5-verifier."
        )
    wanted = arm or ("full" if "full" in there else there[0])
    if wanted not in there:
        raise UsageError(
            f"{folder} holds no verifier {wanted!r}, but {', '.join(there)}. Train it by "
            f"`selftrain lever train` with --{wanted}."
        )
    return directory.verifier(wanted)


def _refuse_without_logprobs(tasks: Sequence[Task], config: Config) -> None:
    """Raise UsageError where given candidates cannot be scored jointly, before any is executed."""
    for task in tasks:
        anything = tuple(0.0 for _ in task.candidates)
        if why := refusal(Scored(task, anything), "joint", config.verifier.likelihood):
            raise UsageError(why)


def _rows(
    tasks: Sequence[Task],
    folder: Path,
    calibrator: Calibrator,
    config: Config,
    progress: Progress,
) -> Iterator[Row]:
    from selftrain.verifier.learning.network import load
    from selftrain.verifier.learning.score import log_odds

    c = config.verifier
    verifier = load(folder, c.model)
    num_candidates = sum(len(task.candidates) for task in tasks)
    with progress.stage("verify", num_candidates) as advance:
        found = log_odds(verifier, tasks, batch_size=c.model.batch_size, advance=advance)
    # A sampler that tells no log-probabilities is refused, by whoever ranks, and not passed over.
    ranker = chooser_of(verifier.reads.results, groups=c.groups, has_logprobs=True)
    for task, odds in zip(tasks, found, strict=True):
        ranking = rank(Scored(task, odds), ranker, seed=config.seed, likelihood=c.likelihood)
        row = ranking_to_row(task, ranking)
        calibrated = apply(calibrator, odds)
        for index, candidate in zip(ranking.order, row["candidates"], strict=True):
            candidate["index"] = index
            candidate["log_odds"] = odds[index]
            candidate["probability"] = _probability(float(calibrated[index]))
        yield {**row, "ranker": ranker}


def _probability(log_odds: float) -> float:
    """Give the probability of being right; its exponent never overflows."""
    return 0.5 + 0.5 * math.tanh(log_odds / 2)
