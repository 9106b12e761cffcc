"""A verifier from its base to a folder: loaded, trained, calibrated on the dev tasks, written.

How it learns is in learn.py.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from selftrain.config import VerifierConfig
from selftrain.files import replacing_folder, write_json, write_rows
from selftrain.verifier.learning.inputs import Reads
from selftrain.verifier.tasks.task import Task

LOG, CALIBRATOR = "training.jsonl", "calibrator.json"


def train_verifier(
    folder: Path,
    config: VerifierConfig,
    reads: Reads,
    train: Sequence[Task],
    dev: Sequence[Task],
    *,
    seed: int,
    advance: Callable[[int], object],
) -> None:
    """Write a verifier into a folder that is there whole or not at all.

    Its calibrator is fitted on the dev candidates whose label is known. Raises UsageError where the
    tasks have no right or no wrong candidate, RunError where training diverges.
    """
    from selftrain.verifier.calibration.calibrator import calibrator_to_row, fit
    from selftrain.verifier.learning.learn import learn
    from selftrain.verifier.learning.network import load_base, save
    from selftrain.verifier.learning.score import log_odds

    verifier = load_base(config, reads, seed)
    log = learn(verifier, train, dev, config, seed, advance=advance)
    batch_size = config.model.batch_size
    odds = log_odds(verifier, dev, batch_size=batch_size, advance=lambda _: None)
    labels = [one.label for task in dev for one in task.candidates]
    known = [
        (value, label)
        for value, label in zip(chain(*odds), labels, strict=True)
        if label is not None
    ]
    calibrator = fit(
        config.calibrator, [value for value, _ in known], [label for _, label in known]
    )
    with replacing_folder(folder) as unfinished:
        save(verifier, unfinished)
        write_rows(unfinished / LOG, log)
        write_json(unfinished / CALIBRATOR, calibrator_to_row(calibrator))
