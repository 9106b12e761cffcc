"""Checkpoints: what training goes on from when it was cut short, by accelerate's save_state.

A checkpoint is a folder that takes its name once it is whole; the newest is kept. Its manifest
holds the hash of every file: one that a disk damaged is told from one that can be used.
"""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from selftrain.errors import RunError
from selftrain.files import Row, read_json, write_json

if TYPE_CHECKING:
    from accelerate import Accelerator

MANIFEST = "checkpoint.json"
_WEIGHTS = "trained.safetensors"


def save_checkpoint(accelerator: "Accelerator", folder: Path, step: int, rows: list[Row]) -> None:
    """Save a training's whole state after a step, and remove the checkpoints before it."""
    path = folder / f"step-{step:08d}"
    unfinished = path.with_name(path.name + ".unfinished")
    if accelerator.is_main_process:
        for left in folder.glob("step-*.unfinished"):
            shutil.rmtree(left)
        unfinished.mkdir(parents=True)
    accelerator.wait_for_everyone()
    try:
        accelerator.save_state(str(unfinished))
    except (OSError, RuntimeError, SafetensorError) as error:
        said = " ".join(str(error).split())[:200]
        raise RunError(
            f"{path}: the checkpoint cannot be written ({said}). Is the disk full? The same "
            "command goes on from the one before."
        ) from None
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        files = {name: _digest(unfinished / name) for name in _files(unfinished)}
        kind = {"in_shares": _in_shares(accelerator)}
        write_json(unfinished / MANIFEST, {"step": step, **kind, "rows": rows, "files": files})
        if path.exists():
            shutil.rmtree(path)
        unfinished.rename(path)
        for older in folder.glob("step-*"):
            if older != path:
                shutil.rmtree(older)
    accelerator.wait_for_everyone()


def load_checkpoint(
    accelerator: "Accelerator", folder: Path, say: Callable[[str], object]
) -> tuple[int, list[Row]]:
    """Go back to the newest checkpoint that can be used; give its step and the log's rows so far.

    Where none can, these are 0 and none, and nothing is changed.
    """
    for path in sorted(folder.glob("step-????????"), reverse=True):
        manifest = _manifest(path)
        if manifest is None:
            what = "is damaged"
        elif manifest["in_shares"] != _in_shares(accelerator):
            what = (
                f"was made with{'' if manifest['in_shares'] else 'out'} FSDP, unlike what goes on"
            )
        else:
            accelerator.load_state(str(path))
            return manifest["step"], manifest["rows"]
        say(f"{path}: the checkpoint {what}; training goes on from the one before, if any")
    return 0, []


def _in_shares(accelerator: "Accelerator") -> bool:
    """Tell whether each process holds, and saves, a share of the weights (FSDP)."""
    return bool(accelerator.distributed_type == "FSDP")


def keep_trained_alone(accelerator: "Accelerator") -> None:
    """Let checkpoints hold the weights that learn, not a frozen base besides an adapter.

    FSDP saves its own shards of all weights.
    """

    def save(models: list[torch.nn.Module], weights: list[object], folder: str) -> None:
        if not weights:
            return
        weights.clear()
        if accelerator.is_main_process:
            trained = {name: weight.detach() for name, weight in _trained(models[0]).items()}
            save_file(trained, Path(folder) / _WEIGHTS)

    def load(models: list[torch.nn.Module], folder: str) -> None:
        if not models:
            return
        saved = load_file(Path(folder) / _WEIGHTS)
        with torch.no_grad():
            for name, weight in _trained(models.pop()).items():
                weight.copy_(saved[name])

    accelerator.register_save_state_pre_hook(save)
    accelerator.register_load_state_pre_hook(load)


def _trained(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def _manifest(path: Path) -> Row | None:
    """Read a checkpoint's manifest; None where it or a file that it names is not as it was."""
    try:
        manifest: Row = read_json(path / MANIFEST)
        whole = all(_digest(path / name) == digest for name, digest in manifest["files"].items())
    except (OSError, RunError):
        return None
    return manifest if whole else None


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
