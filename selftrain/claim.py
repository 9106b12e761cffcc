"""Claim a folder: from its first start on, one folder holds one run, ablation, sweep and so on.

Here is only whose a folder is, and whether work may go on in it. What is made in it is said in
run_directory.py, sweep_directory.py, and the directory.py of ablation, verifier and refine.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from selftrain.ablation.directory import AblationDirectory
from selftrain.config import Config
from selftrain.config_file import differences, load_config, save_config
from selftrain.errors import UsageError
from selftrain.files import read_json, write_json
from selftrain.provenance import what_changed
from selftrain.refine.directory import RefineDirectory
from selftrain.run_directory import RunDirectory
from selftrain.sweep_directory import SweepDirectory
from selftrain.verifier.directory import LeverDirectory


@dataclass(frozen=True, slots=True)
class Work:
    """One of the kinds of work that fill a folder."""

    name: str
    """As a sentence names it."""
    option: str
    """The option that chooses another folder."""
    is_begun: Callable[[Path], bool]
    """Tells whether something of this kind was made in a folder."""


RUN = Work("a run", "--run-dir", lambda path: RunDirectory(path).is_begun())
ABLATION = Work("an ablation", "--run-dir", lambda path: AblationDirectory(path).is_begun())
LEVER = Work("a verifier's tasks", "--run-dir", lambda path: LeverDirectory(path).is_begun())
REFINE = Work(
    "a comparison of refinements", "--run-dir", lambda path: RefineDirectory(path).is_begun()
)
SWEEP = Work("a sweep", "--output", lambda path: SweepDirectory(path).is_begun())


def require_run(directory: RunDirectory) -> None:
    """Refuse a folder that holds no run. Raises UsageError, which says what there is instead."""
    path = directory.path
    if ABLATION.is_begun(path):
        raise UsageError(f"{path} holds an ablation; its tables are in {path / 'ablation.md'}.")
    if LEVER.is_begun(path):
        raise UsageError(f"{path} holds a verifier; its tables are in {path / 'lever.md'}.")
    if REFINE.is_begun(path):
        raise UsageError(f"{path} holds refinements; their tables are in {path / 'refine.md'}.")
    if SWEEP.is_begun(path):
        raise UsageError(f"{path} holds a sweep; its table is in {path / 'sweep.txt'}.")
    if not directory.config.is_file():
        raise UsageError(f"{path} has no config.yaml. Name a run directory, as in runs/tiny.")


@contextmanager
def working_in(directory: RunDirectory) -> Iterator[None]:
    """Hold a folder while the block runs. Raises UsageError where another process does."""
    try:
        directory.path.mkdir(parents=True, exist_ok=True)
        with FileLock(directory.lock, timeout=0):
            yield
    except Timeout:
        raise UsageError(
            f"{directory.path}: another process is at work in it; it reports as it goes on."
        ) from None
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise UsageError(
            f"{directory.path}: no run can be kept there ({error.strerror})."
        ) from None


def refuse_foreign(
    work: Work, directory: RunDirectory, config: Config, may_change: Sequence[str] = ()
) -> None:
    """Refuse a folder of other work, or of the same with another configuration.

    Limits may differ, and the settings named in `may_change`. Raises UsageError.
    """
    path = directory.path
    for other in (RUN, ABLATION, LEVER, REFINE, SWEEP):
        if other is not work and other.is_begun(path):
            raise UsageError(
                f"{path} holds {other.name}. Choose another folder with {work.option}."
            )
    if not directory.config.exists():
        if work.is_begun(path):
            raise UsageError(f"{path} holds {work.name} but no config.yaml; choose another.")
        return
    free = ("limits.", *(f"{name} " for name in may_change))
    changed = [
        line
        for line in differences(config, load_config(directory.config))
        if not line.startswith(free)
    ]
    if changed:
        raise UsageError(
            f"{path} was made with another configuration ({'; '.join(changed)}). "
            f"Choose another folder with {work.option}."
        )


@contextmanager
def claim(
    work: Work,
    directory: RunDirectory,
    config: Config,
    made_with: Mapping[str, Any],
    may_change: Sequence[str] = (),
) -> Iterator[None]:
    """Write down what a folder's work is made with, or check that it goes on with just that.

    Where the block fails before anything is made, what was written here is removed again: a start
    that was refused claims no folder. The folder is held by `working_in`. Raises UsageError.
    """
    refuse_foreign(work, directory, config, may_change)
    new = [path for path in (directory.config, directory.provenance) if not path.exists()]
    if directory.provenance not in new:
        _refuse_changed(work, directory, made_with)
    try:
        if directory.config in new:
            save_config(config, directory.config)
        if directory.provenance in new:
            write_json(directory.provenance, made_with)
        yield
    except Exception:
        if not work.is_begun(directory.path):
            for path in new:
                path.unlink(missing_ok=True)
        raise


def _refuse_changed(work: Work, directory: RunDirectory, made_with: Mapping[str, Any]) -> None:
    changed = what_changed(read_json(directory.provenance), dict(made_with))
    if changed:
        raise UsageError(
            f"{directory.path} was made with another {changed}. Put the old one back, or choose "
            f"another folder with {work.option}."
        )
