"""A judge that cannot run is a JudgeError, never a verdict: real damage, real limits, real kills."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from judge import JudgeError, Limits, guest_fingerprint, judge_many
from judge.build import compiled_path, component_path, default_cache_dir
from judge.identity import Kind

F = "def f(x: int, n=7): return x == n"
G = "def g(n): return n"
QUICK = Limits(fuel=500_000_000)
ROOT = Path(__file__).parents[2]
PREPARE = """
import os, resource, sys
from pathlib import Path

from judge import *

F, G = "def f(x: int, n=7): return x == n", "def g(n): return n"
LARGE = "def g(n): return len(bytearray(3 * 10 ** 8)) // 10 ** 9 + n"
ADD = FunctionProblem("def add(a, b):\\n", "add", "def check(add): assert add(1, 2) == 3\\n")
TEXT = TextProblem((Case("", "1"),))
MANY = [(F, f"def g(n): return n * {i}") for i in range(40)]
CALLS = {
    "judge": lambda: judge(F, G),
    "judge in strict": lambda: list(judge_many([(F, G)])),
    "judge in screen": lambda: list(judge_many(MANY, mode="screen")),
    "confirm": lambda: list(judge_many([(F, G)], confirm=True)),
    "run": lambda: run(G, F),
    "inputs": lambda: inputs(F),
    "first_true": lambda: first_true(F, ["1", "7"]),
    "function": lambda: judge_function(ADD, "    return a + b\\n"),
    "text": lambda: judge_text(TEXT, "print(1)"),
    "completions": lambda: list(judge_completions([(TEXT, "print(1)")])),
    "fingerprint": guest_fingerprint,
}


def told(call):
    # Whether a call gave a result, or which exception it raised.
    try:
        return f"result: {CALLS[call]()}"
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"


def tell(*calls):
    for call in calls:
        print(told(call))


def limit(kind, extra=None):
    # Allow this process so many more bytes than it has; without a number, as many as there are.
    name = {resource.RLIMIT_AS: "VmSize", resource.RLIMIT_DATA: "VmData"}[kind]
    lines = Path("/proc/self/status").read_text().splitlines()
    (has,) = [int(line.split()[1]) * 1024 for line in lines if line.startswith(name)]
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (hard if extra is None else has + extra, hard))
"""
"""What each script begins with."""
NO_WASMTIME = "raise ImportError('no engine for this machine')\n"
OLD_WASMTIME = "class WasmtimeError(Exception): pass\nclass Config: pass\n"
UNREADABLE_WASMTIME = "raise OSError('libwasmtime: cannot open shared object file')\n"
NUM_CALLS = 11
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits a process as Linux does")


def script(code: str, folder: Path, **environment: str) -> list[str]:
    """Run a script in a fresh interpreter that finds the folder's modules first; return its lines."""
    done = subprocess.run(
        [sys.executable, "-c", PREPARE + code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def cache_with(folder: Path, *kinds: Kind, compiled: bool) -> Path:
    """A cache folder that has this machine's components, and their compiled forms if wanted."""
    guest_fingerprint()  # builds what is missing in the real one
    cache, real = folder / "selftrain" / "judge", default_cache_dir()
    cache.mkdir(parents=True)
    for kind in kinds:
        paths = [component_path(real, kind)]
        if compiled:
            code = compiled_path(real, kind)
            paths += [code, code.with_suffix(".sha256")]
        for path in paths:
            (cache / path.name).symlink_to(path)
    return cache


def damage(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(content)


# The engine


@pytest.mark.parametrize("module", [NO_WASMTIME, UNREADABLE_WASMTIME, OLD_WASMTIME])
def test_an_engine_that_cannot_be_imported_is_an_error(module: str, tmp_path: Path) -> None:
    (tmp_path / "wasmtime.py").write_text(module)
    found = script("tell(*CALLS)", tmp_path)
    assert len(found) == NUM_CALLS
    for line in found:
        assert line.startswith("JudgeError: wasmtime cannot be loaded: ")
        assert line.endswith("Run `make setup`")


@pytest.mark.parametrize("backend", ["loky", "ray", "dask"])
def test_an_engine_that_cannot_be_imported_is_an_error_before_there_are_workers(
    backend: str, tmp_path: Path
) -> None:
    (tmp_path / "wasmtime.py").write_text(NO_WASMTIME)
    code = f"CALLS['it'] = lambda: list(judge_many([(F, G)], num_workers=2, backend={backend!r}))"
    assert script(f"{code}\ntell('it')", tmp_path) == [
        "JudgeError: wasmtime cannot be loaded: no engine for this machine. Run `make setup`"
    ]


# The cache


@pytest.mark.parametrize(
    ("builder", "reason"),
    [
        ("def script(): raise SystemExit('no room for a guest')", "cannot build the guest: no room"),
        ("def script(): pass", "cannot build the guest: exit status 0"),
        ("import os\ndef script(): os.kill(os.getpid(), 9)", "cannot build the guest: exit status -9"),
        ("raise ImportError('no builder for this machine')", "no builder for this machine"),
        (
            "import sys\ndef script(): open(sys.argv[-1], 'w').write('no wasm')",
            "the engine cannot start",
        ),
    ],
)  # fmt: skip
def test_a_damaged_component_that_cannot_be_rebuilt_is_an_error(
    builder: str, reason: str, tmp_path: Path
) -> None:
    cache = cache_with(tmp_path / "cache", Kind.candidate, compiled=False)
    damage(component_path(cache, Kind.candidate), b"\0asm, and no more")
    (tmp_path / "componentize_py.py").write_text(builder)
    found = script("tell('judge', 'run')", tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert len(found) == 2
    assert all(line.startswith("JudgeError: ") and reason in line for line in found)


def test_a_pass_that_cannot_be_confirmed_is_an_error(tmp_path: Path) -> None:
    cache_with(tmp_path / "cache", Kind.candidate, compiled=True)
    (tmp_path / "componentize_py.py").write_text("def script(): raise SystemExit('no room')")
    home = str(tmp_path / "cache")
    passed, unconfirmed = script("tell('judge', 'confirm')", tmp_path, XDG_CACHE_HOME=home)
    assert passed.startswith("result: Verdict(outcome=<Outcome.passed")
    assert unconfirmed == "JudgeError: componentize-py cannot build the guest: no room"


def test_a_function_whose_checker_cannot_be_built_is_an_error(tmp_path: Path) -> None:
    cache_with(tmp_path / "cache", Kind.candidate, compiled=True)
    (tmp_path / "componentize_py.py").write_text("def script(): raise SystemExit('no room')")
    found = script("tell('function')", tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert found == ["JudgeError: componentize-py cannot build the guest: no room"]


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".cwasm", b"\x7fELF, and no more"),
        (".sha256", b"\xff\xfe\x00"),
    ],
)
def test_a_damaged_compiled_guest_is_compiled_again_and_gives_the_same_verdict(
    suffix: str, content: bytes, tmp_path: Path
) -> None:
    cache = cache_with(tmp_path / "cache", Kind.candidate, compiled=True)
    path = compiled_path(cache, Kind.candidate).with_suffix(suffix)
    damage(path, content)
    found = script("tell('judge')", tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert found == script("tell('judge')", tmp_path)
    assert path.read_bytes() != content


@linux
def test_a_compiled_guest_that_cannot_be_written_whole_is_an_error_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    cache = cache_with(tmp_path / "cache", Kind.candidate, compiled=False)
    before = {path.name for path in cache.iterdir()}
    code = "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\ntell('judge')"
    (found,) = script(code, tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert found.startswith(f"JudgeError: the judge's guest cannot be kept in {cache}: ")
    assert "File too large" in found
    after = {path.name for path in cache.iterdir()} - {"build.lock"}
    assert {name for name in after - before if not name.endswith(".sha256")} == set()


@linux
def test_a_full_disk_is_an_error_and_nothing_is_left_on_it(tmp_path: Path) -> None:
    """On a file system of 8 MB, which is there for one process and its children alone."""
    home = tmp_path / "cache"
    home.mkdir()
    mount = 'mount -t tmpfs -o size=8m none "$0" && exec "$@"'
    alone = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(home)]
    try:
        subprocess.run([*alone, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may mount nothing, not even for itself")
    builder = "import sys\ndef script(): open(sys.argv[-1], 'wb').truncate(20_000_000)"
    (tmp_path / "componentize_py.py").write_text(builder)
    code = f"""
tell("judge", "judge")
print(*[path.name for path in Path({str(home)!r}).rglob("*") if path.is_file()])
"""
    done = subprocess.run(
        [*alone, sys.executable, "-c", PREPARE + code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(home)},
    )
    *found, left = done.stdout.splitlines()
    assert len(found) == 2
    for line in found:
        assert line.startswith(f"JudgeError: the judge's guest cannot be kept in {home}")
        assert "No space left on device" in line
    assert left == "build.lock"


def test_a_cache_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    home = str(tmp_path / "file" / "cache")
    found = script("tell(*CALLS)", tmp_path, XDG_CACHE_HOME=home)
    assert len(found) == NUM_CALLS
    for line in found:
        assert line.startswith(f"JudgeError: the judge's guest cannot be kept in {home}")


# Memory of this machine


@linux
def test_no_memory_for_an_instance_is_an_error_and_later_there_is_a_verdict(
    tmp_path: Path,
) -> None:
    # What a guest is like is asked once in a process; here it is to be asked again.
    code = """
tell(*CALLS)
guest_fingerprint.cache_clear()
limit(resource.RLIMIT_AS, 256 << 20)
tell(*CALLS)
limit(resource.RLIMIT_AS)
tell(*CALLS)
"""
    found = script(code, tmp_path)
    before, short = found[:NUM_CALLS], found[NUM_CALLS : 2 * NUM_CALLS]
    assert all(line.startswith("result: ") for line in before)
    for line in short:
        assert line.startswith("JudgeError: no instance of the guest can be made")
    assert found[2 * NUM_CALLS :] == before


@linux
def test_memory_for_one_instance_where_a_function_needs_two_is_an_error(tmp_path: Path) -> None:
    code = "tell('function')\nlimit(resource.RLIMIT_AS, 6 << 30)\ntell('judge', 'function')"
    before, one_at_a_time, two = script(code, tmp_path)
    assert before.startswith("result: ")
    assert one_at_a_time.startswith("result: Verdict(outcome=<Outcome.passed")
    assert two.startswith("JudgeError: no instance of the guest can be made")


@linux
def test_memory_below_the_programs_limit_that_this_machine_cannot_give_is_an_error(
    tmp_path: Path,
) -> None:
    code = """
CALLS["it"] = lambda: judge(F, LARGE)
tell("it")
limit(resource.RLIMIT_DATA, 200 << 20)
tell("it")
"""
    before, short = script(code, tmp_path)
    assert before.startswith("result: Verdict(outcome=<Outcome.passed")
    assert short.startswith("JudgeError: ")


# Workers


@linux
def test_an_error_of_the_judge_in_a_worker_is_the_same_error_here(tmp_path: Path) -> None:
    code = """
from judge.workers import identity
identity()
limit(resource.RLIMIT_AS, 256 << 20)
CALLS["it"] = lambda: list(judge_many(MANY, num_workers=2))
tell("it")
"""
    (found,) = script(code, tmp_path)
    assert found.startswith("JudgeError: no instance of the guest can be made")


@contextmanager
def killing_workers() -> Iterator[set[int]]:
    """Kill every worker of loky as soon as it is there; give those killed."""
    killed: set[int] = set()
    ended = threading.Event()

    def kill_all() -> None:
        while not ended.wait(0.02):
            for child in psutil.Process().children(recursive=True):
                try:
                    command = " ".join(child.cmdline())
                    if "loky" in command and "resource_tracker" not in command:
                        child.send_signal(signal.SIGKILL)
                        killed.add(child.pid)
                except psutil.NoSuchProcess:
                    pass

    thread = threading.Thread(target=kill_all)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def test_workers_that_are_killed_again_and_again_are_an_error_soon_and_no_verdict() -> None:
    pairs = [(F, f"def g(n): return n * {i}") for i in range(100)]
    verdicts = judge_many(pairs, QUICK, num_workers=2)
    begun = time.monotonic()
    with (
        killing_workers() as killed,
        pytest.raises(JudgeError, match=r"died 3 times in a batch: .*Try fewer workers"),
    ):
        next(verdicts)
    assert time.monotonic() - begun < 60
    assert 3 <= len(killed) <= 12
    assert list(verdicts) == []
    assert [one.passed for one in judge_many(pairs, QUICK, num_workers=2)] == [
        i == 1 for i in range(100)
    ]


# The command


def command(
    tmp_path: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "selftrain.cli", "judge", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path), **environment},
    )


def pairs_file(tmp_path: Path, num_pairs: int = 3) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [{"f": F, "g": f"def g(n): return n * {i}"} for i in range(num_pairs)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("mode", ["strict", "screen"])
@pytest.mark.parametrize("old", [None, "the old rows\n"])
def test_a_broken_judge_writes_no_row_and_leaves_the_old_output(
    mode: str, old: str | None, tmp_path: Path
) -> None:
    (tmp_path / "wasmtime.py").write_text(NO_WASMTIME)
    pairs, output = pairs_file(tmp_path), tmp_path / "output.jsonl"
    if old is not None:
        output.write_text(old)
    done = command(tmp_path, str(pairs), "--mode", mode, "--output", str(output))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "selftrain: the judge cannot run: wasmtime cannot be loaded: "
        "no engine for this machine. Run `make setup`\n"
    )
    assert (output.read_text() if output.exists() else None) == old


def test_a_broken_judge_writes_no_row_onto_standard_output(tmp_path: Path) -> None:
    (tmp_path / "wasmtime.py").write_text(NO_WASMTIME)
    done = command(tmp_path, str(pairs_file(tmp_path)))
    assert (done.returncode, done.stdout) == (1, "")


@linux
def test_a_judge_that_breaks_halfway_leaves_the_old_output(tmp_path: Path) -> None:
    pairs, output = pairs_file(tmp_path, 700), tmp_path / "output.jsonl"
    output.write_text("the old rows\n")
    code = f"""
from judge.engine import World
from selftrain.cli import main

made, start = [], World.__init__

def break_at_the_1100th(*arguments):
    made.append(arguments)
    if len(made) == 1100:
        limit(resource.RLIMIT_AS, 256 << 20)
    start(*arguments)

tell("judge")
World.__init__ = break_at_the_1100th
print(main(["judge", {str(pairs)!r}, "--output", {str(output)!r}]))
"""
    before, status = script(code, tmp_path)
    assert before.startswith("result: Verdict(outcome=<Outcome.passed")
    assert status == "1"
    assert output.read_text() == "the old rows\n"
