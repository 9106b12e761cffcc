"""What a run was made with: enough to compare two runs, or two machines.

What it was asked to do is its configuration, which is saved in config_file.py.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import judge
from puzzles import Puzzle, to_row
from selftrain.config import Config, ModelConfig
from selftrain.gguf_file import sha256_of
from selftrain.held_out import describe_measured
from selftrain.model_source import resolve
from selftrain.processes import current_crew

PACKAGES = (
    "selftrain",
    "torch",
    "transformers",
    "tokenizers",
    "peft",
    "accelerate",
    "numpy",
    "scipy",
    "scikit-learn",
    "datasketch",
    "wasmtime",
    "joblib",
)


def provenance(
    command: Sequence[str],
    config: Config,
    train: Sequence[Puzzle],
    held_out: Sequence[Puzzle],
    num_refused: int = 0,
    data: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Describe command, commit, versions, hashes of models and guest, and the machine.

    `num_refused` puzzles or solutions of the sources could not be read; `data` are hashes of
    what is read besides.
    """
    crew = current_crew()
    return {
        "command": list(command),
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "judge": {
            "code": judge.judge_hash(),
            "guest": judge.guest_hash(),
            "engine": judge.engine_version(),
            "fingerprint": judge.guest_fingerprint(),
        },
        "puzzles": {
            "train": _digest(train),
            "held_out": _digest(held_out),
            "num_refused": num_refused,
        },
        "measured": describe_measured(len(held_out), config),
        "data": dict(data or {}),
        "model": describe_model(config.model),
        "proposer": describe_model(config.propose.model),
        "solver": describe_model(config.solve.model),
        "verifier": describe_model(config.verifier.model if config.verifier.enabled else None),
        "critic": describe_model(_critic(config)),
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "processes": crew.size if crew else 1,
        },
    }


def what_changed(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Name what a run on disk was made with and no longer has; empty where all is as it was."""
    for key in (
        "judge",
        "puzzles",
        "data",
        "model",
        "proposer",
        "solver",
        "verifier",
        "critic",
        "packages",
    ):
        theirs, ours = before.get(key, {}), now[key]
        for name in {**theirs, **ours}:
            if theirs.get(name) != ours.get(name):
                return f"{key}.{name} ({theirs.get(name)}, now {ours.get(name)})"
    return ""


def _critic(config: Config) -> ModelConfig | None:
    """Give the model that reviews candidates; None where none of its own does."""
    critic = config.refine.critic
    return critic if isinstance(critic, ModelConfig) else None


def describe_model(config: ModelConfig | None) -> dict[str, Any]:
    """Name a model, and hash its files where they are here; empty for the one that learns."""
    if config is None:
        return {}
    if config.server:
        # As in JSON, so that it equals what was written.
        server = config.server if isinstance(config.server, str) else list(config.server)
        return {"name": config.name, "server": server}
    source = Path(resolve(config.name))
    if source.is_file():
        return {"name": config.name, "files": {source.name: sha256_of(source)}}
    return {"name": config.name, "files": _hashes(source) if source.is_dir() else {}}


def _digest(puzzles: Sequence[Puzzle]) -> str:
    """Hash all that is known of puzzles, in order: solutions are shown, families are compared."""
    text = "\n".join(json.dumps(to_row(puzzle)) for puzzle in puzzles)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _hashes(folder: Path) -> dict[str, str]:
    """Hash weights and tokenizer (sha256) by file name."""
    paths = sorted([*folder.glob("*.safetensors"), *folder.glob("tokenizer*")])
    hashes = {}
    for path in paths:
        with path.open("rb") as file:
            hashes[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes


def _commit() -> str | None:
    """Give the commit of the checkout that this code runs from; None where there is none."""
    # Installed inside somebody else's checkout, this file is not one of theirs.
    if _git("ls-files", "--error-unmatch", __file__) is None:
        return None
    commit = _git("rev-parse", "HEAD")
    return f"{commit}, changed" if _git("status", "--porcelain", "--untracked-files=no") else commit


def _git(*arguments: str) -> str | None:
    """Ask git about the folder of this file; None where it has no answer."""
    try:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *arguments],
            capture_output=True, text=True, timeout=10, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def command_line() -> list[str]:
    """Give the command as typed, without the folder that the program lies in."""
    return [Path(sys.argv[0]).name, *sys.argv[1:]]
