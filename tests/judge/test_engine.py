"""The engine: isolation, determinism, the cache of the guest, many pairs, what importing costs."""

import functools
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from judge import (
    JudgeError,
    Limits,
    Outcome,
    Verdict,
    guest_fingerprint,
    guest_hash,
    identity,
    judge,
    judge_hash,
    judge_many,
)
from judge.build import compiled_path, component_path, default_cache_dir, load
from judge.engine import GUESTS, Guest, World, guest
from judge.identity import Kind
from judge.literal import Answer, Malformed, canonical, parse
from judge.memory import Memory, key
from judge.pair import check, decide

F = "def f(x: int, n=7): return x == n"
QUICK = Limits(fuel=500_000_000)
PROGRAMS = [
    *[f"def g(n): return n + {i % 3}" for i in range(20)],
    *[f"def g(n): return sum(i * i for i in range({i * 500}))" for i in range(10)],
    *[f"import random\ndef g(n): return random.randrange({i + 5})" for i in range(5)],
    "def g(n): return id(n) % 97",
    "def g(n): return hash('a') % 97",
    "def g(n): return hash(object()) % 97",
    "def g(n): return len({str(i): i for i in range(3000)})",
    "def g(n): return list({'a', 'b', 'c'})",
    "import time\ndef g(n): return time.time()",
    "import gc\ndef g(n): return [gc.collect(), len(gc.get_objects())]",
    "def g(n): return g(n)",
    "def g(n):\n    while True: pass",
    "def g(n): return [0] * 10 ** 9",
    "def g(n): return [[i] for i in range(10 ** 5)]",
    "import os\ndef g(n): os._exit(0)",
    "def g(n): return 1 / 0",
    "def g(n): yield n",
    "def g(n",
    "",
]


def verdicts() -> list[Verdict]:
    return [judge(F, g, QUICK) for g in PROGRAMS]


def test_importing_the_judge_brings_no_engine() -> None:
    heavy = "{'torch', 'wasmtime', 'joblib', 'filelock', 'numpy', 'componentize_py'}"
    code = f"import judge, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("kind", [Kind.candidate, Kind.second])
def test_guest_that_runs_a_candidate_has_no_imports(kind: Kind) -> None:
    loaded = guest(kind)
    assert list(loaded.component.type.imports(loaded.engine)) == []


def test_verdict_and_fuel_are_the_same_on_every_run() -> None:
    expected = verdicts()
    assert verdicts() == expected
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import test_engine; print(repr(test_engine.verdicts()))"
    )
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", code, str(here), str(here.parents[1])],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert done.stdout == repr(expected) + "\n"


def test_verdict_and_fuel_are_the_same_in_threads() -> None:
    few = PROGRAMS[15:40]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda g: judge(F, g, QUICK), few)) == [
            judge(F, g, QUICK) for g in few
        ]


def test_many_are_judged_in_order_and_equal_ones_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []

    def counting(f: str, g: str, limits: Limits, **more: Any) -> Verdict:
        judged.append(g)
        return decide(f, g, limits, **more)

    monkeypatch.setattr("judge.many.decide", counting)
    answers = [f"def g(n): return {i % 5}" for i in range(40)]
    found = judge_many(((F, g) for g in answers), QUICK)
    assert [verdict.answer for verdict in found] == [str(i % 5) for i in range(40)]
    assert len(judged) == 5


def test_equal_answers_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counting(f: str, answer: Answer, limits: Limits, kind: Kind) -> Verdict:
        asked.append(answer.literal)
        return check(f, answer, limits, kind)

    monkeypatch.setattr("judge.memory.check", counting)
    monkeypatch.setattr("judge.memory.answers", functools.cache(lambda: Memory(10_000)))
    pairs = [(F, f"def g(n): return {i % 3} + {i} - {i}") for i in range(12)]
    expected = [judge(*pair, QUICK) for pair in pairs]
    assert list(judge_many(pairs, QUICK)) == expected
    assert asked == ["0", "1", "2"]
    assert list(judge_many(pairs, QUICK, remember=False)) == expected


def test_what_is_remembered_is_bounded() -> None:
    memory = Memory(10_000)
    for number in range(100):
        memory.put(key(number), [Verdict(Outcome.passed, "1", "", number)])
    memory.put(key("large"), [Verdict(Outcome.passed, "1" * 10_000, "", 1)])
    assert memory.get(key(0)) is None and memory.get(key("large")) is None
    assert memory.get(key(99)) == [Verdict(Outcome.passed, "1", "", 99)]
    assert memory.known.currsize <= 10_000


def test_many_are_streamed() -> None:
    def endless() -> Iterator[tuple[str, str]]:
        while True:
            yield F, "def g(n): return 7"

    assert next(judge_many(endless())).passed


def test_workers_give_the_same_verdicts() -> None:
    pairs = [(F, g) for g in PROGRAMS]
    assert list(judge_many(pairs, QUICK, num_workers=2)) == verdicts()


def test_batch_survives_a_killed_worker() -> None:
    slow = "def g(n):\n    for _ in range({}): pass\n    return n"
    pairs = [(F, slow.format(3_000_000 + i)) for i in range(40)]
    killed: list[int] = []

    def kill_one_worker() -> None:
        for child in psutil.Process().children(recursive=True):
            if (
                "loky" in " ".join(child.cmdline())
                and "resource_tracker" not in child.cmdline()[-1]
            ):
                killed.append(child.pid)
                child.send_signal(signal.SIGKILL)
                return

    timer = threading.Timer(1.5, kill_one_worker)
    timer.start()
    assert all(verdict.passed for verdict in judge_many(pairs, num_workers=2))
    timer.join()
    assert killed


def test_damaged_compiled_guest_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    component = component_path(default_cache_dir(), Kind.candidate)
    guest()
    (tmp_path / component.name).hardlink_to(component)
    compiled = compiled_path(tmp_path, Kind.candidate)
    compiled.write_bytes(b"not machine code")
    compiled.with_suffix(".sha256").write_text("0" * 64)
    started = Guest.start(tmp_path)
    monkeypatch.setitem(GUESTS, (os.getpid(), Kind.candidate), started)
    with World(QUICK) as world:
        assert world.call("load", F).tag == "loaded"
    assert compiled.stat().st_size > 1_000_000
    again = load(started.engine, tmp_path, Kind.candidate)
    assert again.get_export_index("solve") is not None


def test_cache_that_cannot_be_written_is_an_error_of_the_judge(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JudgeError, match="cannot be kept in"):
        Guest.start(tmp_path / "file" / "cache")


def test_too_little_memory_for_the_guest_is_an_error_of_the_judge() -> None:
    with pytest.raises(JudgeError, match="memory limit above"):
        judge(F, "def g(n): return n", Limits(memory_bytes=1_000_000))


def test_limits_are_positive_ints() -> None:
    with pytest.raises(ValueError, match=r"Limits\.fuel is 20000000000\.0"):
        Limits(fuel=2e10)  # type: ignore[arg-type]


def test_whatever_file_decides_verdicts_beside_the_guest_is_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "judge"
    shutil.copytree(identity.GUEST.parent, copied)
    monkeypatch.setattr(identity, "GUEST", copied / "guest")
    found = identity.judge_hash.__wrapped__()
    assert found == judge_hash()
    for name in ("pair.py", "literal.py", "engine.py", "function.py", "text.py", "screen.py"):
        with (copied / name).open("a") as file:
            file.write("# another\n")
        before, found = found, identity.judge_hash.__wrapped__()
        assert found != before, name


def test_fingerprint_is_another_than_the_hash_of_the_sources() -> None:
    assert guest_fingerprint() == guest_fingerprint() != guest_hash()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[" * 100_000,
        "NaN",
        "1e999",
        "9" * 5_000,
        "{}",
        '{"t":[1],"s":[2]}',
        '{"q":[]}',
        '{"t":1}',
        '{"s":[[1]]}',
        '{"d":[[1]]}',
        '{"d":[[{"d":[]},1]]}',
        '{"i":"0x1"}',
        '{"i":"-"}',
        '{"f":"1.0"}',
        '{"b":"0"}',
        '{"c":[1,2]}',
        '{"c":[1.0]}',
        '{"u":[1114112]}',
        '{"u":[true]}',
        "[" * 101 + "]" * 101,
        "{" + '"t":[{' * 101 + "}]" * 101 + "}",
    ],
)
def test_forged_answers_are_refused(text: str) -> None:
    with pytest.raises(Malformed):
        canonical(parse(text), 100)
