"""What tests share: no network, and P3's files, which are no part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Before any test imports a library of Hugging Face, which reads it once. Nothing is downloaded.
os.environ["HF_HUB_OFFLINE"] = "1"
# The models of the tests are so small that threads only wait for each other. torch reads it once.
os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(scope="session")
def p3_folder() -> Path:
    """Find P3's folder beside the checkout or under SELFTRAIN_SHARED; skip where there is none."""
    default = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("SELFTRAIN_SHARED", default)) / "data" / "p3"
    if not (folder / "puzzles.json").is_file():
        pytest.skip(
            f"P3's files are not in {folder}; set SELFTRAIN_SHARED to the folder of data/p3"
        )
    return folder
