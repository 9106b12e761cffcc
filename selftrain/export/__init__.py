"""The command `selftrain export`: a run's data and model as folders that others' tools read.

`dataset/` is for `datasets.load_dataset`, `model/` for transformers or PEFT. Nothing is uploaded.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from selftrain.claim import require_run
from selftrain.config_file import load_config
from selftrain.errors import RunError, UsageError
from selftrain.export.dataset import write_dataset
from selftrain.export.dataset_card import dataset_card
from selftrain.export.model import write_model
from selftrain.export.model_card import model_card
from selftrain.files import read_json, read_rows, replacing
from selftrain.run_directory import RoundDirectory, RunDirectory

__all__ = ["export"]

CARD = "README.md"


def export(folder: Path, output: Path | None, round_number: int | None, *, merged: bool) -> int:
    """Write data and model of a round, the last by default, into a folder that is new.

    The folder is there whole or not at all. Raises UsageError.
    """
    run = RunDirectory(folder)
    require_run(run)
    number = _round(run, round_number)
    output = output or run.path.with_name(f"{run.path.resolve().name}-round-{number:03d}")
    if output.exists() or output.is_symlink():
        raise UsageError(f"{output}: is there already, and nothing is overwritten. Name another.")
    _check_whole(run.round(number))
    config = load_config(run.config)
    with _new_folder(output) as unfinished:
        written = write_dataset(run, config, number, unfinished / "dataset")
        with replacing(unfinished / "dataset" / CARD) as file:
            file.write(dataset_card(run, config, number, written))
        is_adapter = write_model(run, config, number, unfinished / "model", merged=merged)
        with replacing(unfinished / "model" / CARD) as file:
            file.write(model_card(run, config, number, is_adapter=is_adapter))
    print(output / "dataset", output / "model", sep="\n")
    return 0


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """Give a folder that becomes `path` where the block ends well, and is gone where it does not.

    Its own name keeps apart two exports that go to one place.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as temporary:
        unfinished = Path(temporary) / path.name
        unfinished.mkdir()
        yield unfinished
        unfinished.rename(path)


def _check_whole(here: RoundDirectory) -> None:
    """Refuse a round whose examples are not those it was trained on. Raises RunError."""
    found = sum(1 for _ in read_rows(here.examples))
    metrics = read_json(here.metrics)
    trained = metrics["train/num_examples"] + metrics.get("train/num_held_back", 0)
    if found != trained:
        raise RunError(
            f"{here.examples}: has {found:,} rows, but the round was trained on {trained:,}. "
            "It was changed since; put the old one back."
        )


def _round(run: RunDirectory, asked: int | None) -> int:
    """Choose a complete round that trained a model. Raises UsageError where there is none."""
    complete = [here.number for here in run.complete_rounds() if here.number > 0]
    if not complete:
        raise UsageError(f"{run.path}: no round with a trained model is complete. Run it first.")
    if asked is not None and asked not in complete:
        raise UsageError(
            f"{run.path}: round {asked} is not complete, or trained no model. Complete are "
            f"{', '.join(map(str, complete))}."
        )
    return asked if asked is not None else complete[-1]
