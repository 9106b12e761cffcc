"""Starts a program that kills its own runs (killed_runs.py and its like), and reads what it found."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def run_program(program: Path, *arguments: str | Path) -> Any:
    """Run it to its end, with one thread; give the JSON value that it prints."""
    done = subprocess.run(
        [sys.executable, program, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parent)},
    )
    return json.loads(done.stdout)
