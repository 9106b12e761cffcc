"""A verifier from its base to a folder: loaded, trained, calibrated on the dev tasks, written.

How it learns is in learn.py.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from selftrain.config import VerifierConfig
from selftrain.files import Row, replacing_folder, write_json, write_rows
from selftrain.processes import everywhere
from selftrain.verifier.learning.inputs import Reads
from selftrain.verifier.tasks.task import Task

if TYPE_CHECKING:
    from selftrain.verifier.calibration.calibrator import Calibrator
    from selftrain.verifier.learning.network import Verifier

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

    Raises UsageError where the train tasks, or the dev tasks, have no right or no wrong candidate:
    of the dev tasks before anything is loaded. Raises RunError where training diverges.
    """
    from selftrain.verifier.calibration.calibrator import calibrator_to_row, refuse_one_class
    from selftrain.verifier.learning.network import save

    refuse_one_class([label for label in _labels(dev) if label is not None])
    verifier, log = everywhere(_learnt, config, reads, train, dev, seed, advance=advance)
    calibrator = _calibrator(verifier, dev, config)
    with replacing_folder(folder) as unfinished:
        save(verifier, unfinished)
        write_rows(unfinished / LOG, log)
        write_json(unfinished / CALIBRATOR, calibrator_to_row(calibrator))


def _learnt(
    config: VerifierConfig,
    reads: Reads,
    train: Sequence[Task],
    dev: Sequence[Task],
    seed: int,
    *,
    advance: Callable[[int], object],
) -> tuple["Verifier", list[Row]]:
    """Load and train a verifier in one process, which meets the others in each step."""
    from selftrain.verifier.learning.learn import learn
    from selftrain.verifier.learning.network import load_base

    verifier = load_base(config, reads, seed)
    return verifier, learn(verifier, train, dev, config, seed, advance=advance)


def _calibrator(verifier: "Verifier", dev: Sequence[Task], config: VerifierConfig) -> "Calibrator":
    """Fit the calibrator on the dev candidates whose label is known."""
    from selftrain.verifier.calibration.calibrator import fit
    from selftrain.verifier.learning.score import log_odds

    batch_size = config.model.batch_size
    odds = log_odds(verifier, dev, batch_size=batch_size, advance=lambda _: None)
    both = zip(chain(*odds), _labels(dev), strict=True)
    known = [(value, label) for value, label in both if label is not None]
    return fit(config.calibrator, [value for value, _ in known], [label for _, label in known])


def _labels(tasks: Sequence[Task]) -> list[bool | None]:
    return [one.label for task in tasks for one in task.candidates]
