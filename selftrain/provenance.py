"""What a run was made with: enough to compare two runs, or two machines."""

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import judge
from selftrain import models

PACKAGES = (
    "selftrain",
    "torch",
    "transformers",
    "tokenizers",
    "peft",
    "accelerate",
    "numpy",
    "wasmtime",
    "joblib",
)


def provenance(command: Sequence[str], model_name: str) -> dict[str, Any]:
    """Describe command, commit, versions, hashes of model and guest, and the machine."""
    source = models.resolve(model_name)
    return {
        "command": list(command),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "judge": {"guest": judge.guest_hash(), "engine": judge.engine_version()},
        "model": {
            "name": model_name,
            "files": _hashes(Path(source)) if Path(source).is_dir() else {},
        },
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def _hashes(folder: Path) -> dict[str, str]:
    """Hash weights and tokenizer (sha256) by file name."""
    paths = sorted([*folder.glob("*.safetensors"), *folder.glob("tokenizer*")])
    hashes = {}
    for path in paths:
        with path.open("rb") as file:
            hashes[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes


def _commit() -> str | None:
    """Give the commit of the checkout that this code runs from, or None where it was installed
    without one.
    """
    try:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"],
            capture_output=True, text=True, timeout=10, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def command_line() -> list[str]:
    """Give the command as typed, without the folder that the program lies in."""
    return [Path(sys.argv[0]).name, *sys.argv[1:]]
