"""Runs that kill themselves (SIGKILL) at chosen points, and the same command again. A program.

    python killed_runs.py FOLDER [section.key=value ...]

It prints, as JSON, where it killed and in which files the run then differs from an undisturbed one.
Each run is a fork of this process, which has imported everything and done nothing yet: importing
torch anew for each of many runs would take minutes. A point is a moment before a file is opened for
writing, renamed or removed in the run directory, or a stage's report that one more unit is done.
"""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

# Imported here so that no fork has to.
import accelerate  # noqa: F401
import datasketch  # noqa: F401
import jinja2  # noqa: F401
import joblib  # noqa: F401
import matplotlib.backends.backend_svg  # noqa: F401
import peft  # noqa: F401
import scipy.stats  # noqa: F401
import torch
import wasmtime  # noqa: F401
from scripted import ScriptedSampler

from selftrain import loop, models, report  # noqa: F401
from selftrain.config_file import load_config
from selftrain.progress import Advance, Progress
from selftrain.run import run

Command = Callable[[Path], object]
"""Begins in a folder, or goes on there."""
MAY_DIFFER = {"timings.jsonl", "log.txt", ".lock"}
STAGES = {
    "propose": "advance round 1  propose   2 3",
    "filter": "advance round 1  filter    2 3",
    "solve": "advance round 1  solve     2 5",
    "judge": "advance round 1  judge     2 5",
    "joining": "rename round-001/3-candidates.jsonl",
    "fine-tune": "advance round 1  fine-tune 1 2",
    "saving weights": "open round-001/5-model.unfinished/training.jsonl.unfinished",
    "evaluate": "advance round 1  evaluate  2 2",
    "joining the evaluation": "rename round-001/6-eval.jsonl",
    "metrics": "rename round-001/metrics.json",
    "removing shards": "rmtree round-001/shards",
    "report": "rename report.html",
}
"""A point inside every stage."""
STRIDE = 6
"""Of the other points, every sixth is tried."""


class Points:
    """Notes the points that a run passes, and kills it at one."""

    def __init__(self, root: Path, kill_at: str | None) -> None:
        self.passed: list[str] = []
        self._root = f"{root}{os.sep}"
        self._kill_at = kill_at

    def pass_by(self, point: str) -> None:
        self.passed.append(point)
        if point == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(self, event: str, args: tuple[object, ...]) -> None:
        """Hear of what Python does to files; see `sys.addaudithook`."""
        if event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR):
            self._touch("open", args[0])
        elif event == "os.rename":
            self._touch("rename", args[1])
        elif event in ("os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"):
            self._touch(event.split(".")[1], args[0])

    def _touch(self, what: str, path: object) -> None:
        if isinstance(path, str | os.PathLike) and str(path).startswith(self._root):
            self.pass_by(f"{what} {str(path).removeprefix(self._root)}")

    @contextmanager
    def stage(self, _: Progress, label: str, total: int) -> Iterator[Advance]:
        """Stand in for `Progress.stage`: a point for each unit done."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            # What was judged before, by whatever process, passes no such point again.
            if label != "reference solutions":
                self.pass_by(f"advance {label} {done}")

        yield advance


class Numbered(Points):
    """Numbers the points of one name: a file is appended to again and again."""

    def __init__(self, root: Path, kill_at: str | None) -> None:
        super().__init__(root, kill_at)
        self._times: Counter[str] = Counter()

    def pass_by(self, point: str) -> None:
        self._times[point] += 1
        super().pass_by(f"{point} {self._times[point]}")


def in_a_fork(work: Callable[[], None]) -> int:
    """Do something in a fork; give its exit code, negative where a signal ended it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def start(command: Command, folder: Path, kill_at: str | None, note: Path | None = None) -> int:
    """Begin a command in `folder`, or go on, killed at a point; note the points that it passed."""

    def work() -> None:
        torch.set_num_threads(1)
        points = Points(folder, kill_at)
        Progress.stage = lambda self, label, total: points.stage(self, label, total)  # type: ignore[method-assign, assignment]
        models.load_sampler = lambda *_: ScriptedSampler()  # type: ignore[assignment]
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.addaudithook(points.audit)
        command(folder)
        if note:
            note.write_text(json.dumps(points.passed))

    return in_a_fork(work)


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file of a run that must not differ."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name not in MAY_DIFFER}


def differing(folder: Path, undisturbed: dict[str, bytes]) -> list[str]:
    """Name the files that are not as in the undisturbed run, or that one of the two lacks."""
    found = contents(folder)
    return sorted(name for name in found | undisturbed if found.get(name) != undisturbed.get(name))


def compare(command: Command, root: Path, choose: Callable[[list[str]], list[str]]) -> None:
    """Do it once undisturbed, and once killed at each point chosen of those passed; print both."""
    note = root / "points.json"
    assert start(command, root / "undisturbed", None, note) == 0
    chosen = choose(list(dict.fromkeys(json.loads(note.read_text()))))
    folder = root / "killed"
    # Each process is killed at the first chosen point that no earlier one has reached.
    killed_at = [point for point in chosen if start(command, folder, point) == -signal.SIGKILL]
    again = start(command, folder, None)
    undisturbed = contents(root / "undisturbed")
    result = {
        "killed_at": killed_at,
        "again": again,
        "files": sorted(undisturbed),
        "differing": differing(folder, undisturbed),
    }
    print(json.dumps(result))


def every_few(points: list[str]) -> list[str]:
    """Choose points inside every stage and in between."""
    return [p for i, p in enumerate(points) if i % STRIDE == 0 or p in STAGES.values()]


if __name__ == "__main__":
    config = load_config(None, sys.argv[2:])
    compare(partial(run, config), Path(sys.argv[1]), every_few)
