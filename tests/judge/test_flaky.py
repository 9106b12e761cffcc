"""Confirming a pass in a second guest: what luck passes is `flaky`, and nothing else changes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from judge import Limits, Outcome, Verdict, judge, judge_many, run
from judge.many import Mode
from puzzles import puzzle_from_source
from selftrain.config import Config, CurateConfig, DiversityConfig, JudgeConfig
from selftrain.curate import curate
from selftrain.diversity import measure_diversity
from selftrain.evaluate import count_correct
from selftrain.files import write_rows
from selftrain.judge import Judged, Judging, judge_candidates, judged_to_row
from selftrain.round_files import why_nothing_was_kept, write_metrics
from selftrain.run_directory import RoundDirectory
from selftrain.sampling import Completion, FinishReason
from selftrain.solve import Candidate

LIMITS = Limits(fuel=500_000_000)
MODES: list[Mode] = ["strict", "screen"]
LUCK = {
    "the order of a set of strings": ("", "list({str(i) for i in range(50)})"),
    "which string a set gives first": ("", "{str(i) for i in range(50)}.pop()"),
    "the hash of a string": ("", "hash('a')"),
    "the hash of bytes": ("", "hash(b'abc')"),
    "the hash of a tuple with a string": ("", "hash((1, 'a'))"),
    "random numbers": ("import random\n", "random.random()"),
    "random numbers after seeding by nothing": ("import random\n", "(random.seed(), random.random())[1]"),
    "random numbers of another generator": ("import random\n", "random.Random().getrandbits(30)"),
    "a shuffle": ("import random\n", "random.sample(range(30), 30)"),
    "random bytes": ("import os\n", "os.urandom(4)"),
    "a token": ("import secrets\n", "secrets.token_hex(4)"),
    "a uuid": ("import uuid\n", "str(uuid.uuid4())"),
    "the clock": ("import time\n", "int(time.time()) // 3600"),
    "the clock as text": ("import time\n", "time.strftime('%d %H:%M')"),
    "the date": ("import datetime\n", "str(datetime.date.today())"),
    "the day of the week": ("import datetime\n", "datetime.datetime.now().weekday()"),
}  # fmt: skip
"""What another guest has otherwise: an import, and an expression."""
HONEST = {
    "a constant": ("def f(x: int, n=7): return x == n", "def g(n): return n"),
    "a set whose order does not matter": (
        "def f(x: Set[str], n=30): return x == {str(i) for i in range(n)}",
        "def g(n): return {str(i) for i in reversed(range(n))}",
    ),
    "a set that is sorted": (
        "def f(x: List[str], n=30): return x == sorted({str(i) for i in range(n)})",
        "def g(n): return sorted(str(i) for i in range(n))",
    ),
    "an order that g finds out itself": (
        "def f(x: List[str], n=30): return x == list({str(i) for i in range(n)})",
        "def g(n): return list({str(i) for i in range(n)})",
    ),
    "hashes that are compared": (
        "def f(x: str): return hash(x) == hash('ab')",
        "def g(): return 'a' + 'b'",
    ),
    "seeded random numbers": (
        "import random\ndef f(x: float, n=3): return x == random.Random(n).random()",
        "import random\ndef g(n): return random.Random(n).random()",
    ),
    "a search at random": (
        "def f(x: int, n=91): return 1 < x < n and n % x == 0",
        "import random\ndef g(n):\n    while True:\n        i = random.randrange(2, n)\n"
        "        if n % i == 0: return i",
    ),
    "time that passes": (
        "def f(x: float): return 0 < x < 1",
        "import time\ndef g():\n    begun = time.time()\n    return time.time() - begun",
    ),
}
FAILING = {
    "def g(): return 0": Outcome.wrong_answer,
    "def g(): return 'a'": Outcome.wrong_type,
    "def g(): return 1 // 0": Outcome.raised,
    "def g(": Outcome.syntax_error,
    "h = 1": Outcome.no_g,
    "def g():\n    while True: pass": Outcome.timed_out,
    "def g(): return [0] * 10 ** 9": Outcome.out_of_memory,
    "import os\ndef g(): os._exit(0)": Outcome.forbidden,
    "def g(): return 'x' * 10 ** 7": Outcome.too_large,
    "import random\ndef g(): return random.randrange(2, 9)": Outcome.wrong_answer,
}


def lucky(name: str) -> tuple[str, str]:
    """A puzzle that depends on its surroundings, and the answer that was right by chance."""
    prepare, expression = LUCK[name]
    answer = run(f"{prepare}def g(): return {expression}", limits=LIMITS).answer
    return f"{prepare}def f(x): return x == {expression}", f"def g(): return {answer}"


def judged(pairs: list[tuple[str, str]], mode: Mode, confirm: bool) -> list[Verdict]:
    return list(judge_many(pairs, LIMITS, mode=mode, confirm=confirm))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", LUCK)
def test_a_pass_by_luck_is_flaky_only_when_confirmed(name: str, mode: Mode) -> None:
    f, g = lucky(name)
    pairs = [(f, "def g(): return None"), (f, g), (f, "def g(): return 1 // 0")]
    around = [Outcome.wrong_answer, Outcome.raised]
    found = [verdict.outcome for verdict in judged(pairs, mode, confirm=False)]
    assert found == [around[0], Outcome.passed, around[1]]
    found = [verdict.outcome for verdict in judged(pairs, mode, confirm=True)]
    assert found == [around[0], Outcome.flaky, around[1]]


@pytest.mark.parametrize("mode", MODES)
def test_a_solution_that_guesses_is_flaky(mode: Mode) -> None:
    guess = "import random\ndef g(): return random.randrange(10 ** 9)"
    f = f"def f(x: int): return x == {run(guess, limits=LIMITS).answer}"
    assert [one.outcome for one in judged([(f, guess)], mode, confirm=True)] == [Outcome.flaky]


def test_a_flaky_verdict_has_the_first_guests_answer_and_fuel_and_the_seconds_reason() -> None:
    f, g = lucky("the hash of a string")
    (passed,) = judged([(f, g)], "strict", confirm=False)
    (flaky,) = judged([(f, g)], "strict", confirm=True)
    assert (flaky.answer, flaky.fuel) == (passed.answer, passed.fuel)
    assert flaky.detail == "in a second guest: wrong_answer f returned False"
    assert not flaky.passed


def test_workers_confirm_as_this_process_does() -> None:
    pairs = [lucky(name) for name in LUCK] + list(HONEST.values())
    found = list(judge_many(pairs, LIMITS, 2, confirm=True))
    assert found == judged(pairs, "strict", confirm=True)
    assert [verdict.outcome for verdict in found] == (
        [Outcome.flaky] * len(LUCK) + [Outcome.passed] * len(HONEST)
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_pass_is_the_same_verdict_when_confirmed(name: str, mode: Mode) -> None:
    f, g = HONEST[name]
    pairs = [(f, "h = 1"), (f, g), (f, "def g(")]
    found = judged(pairs, mode, confirm=True)
    assert found == judged(pairs, mode, confirm=False)
    assert found[1] == judge(f, g, LIMITS)
    assert found[1].passed


@pytest.mark.parametrize("mode", MODES)
def test_a_pair_that_fails_is_the_same_verdict_when_confirmed(mode: Mode) -> None:
    pairs = [("def f(x: int): return x == 1", g) for g in FAILING]
    found = judged(pairs, mode, confirm=True)
    assert found == judged(pairs, mode, confirm=False)
    assert [verdict.outcome for verdict in found] == list(FAILING.values())


@pytest.mark.parametrize("mode", MODES)
def test_a_pair_that_would_pass_in_the_second_guest_alone_does_not_pass(mode: Mode) -> None:
    f = "import datetime\ndef f(x: int): return x == 1 and datetime.date.today().day != 1"
    pairs = [(f, "def g(): return 1"), (f, "def g(): return 2")]
    found = [verdict.outcome for verdict in judged(pairs, mode, confirm=True)]
    assert found == [Outcome.wrong_answer, Outcome.wrong_answer]


def test_a_pair_that_was_not_confirmed_is_flaky_when_it_is_judged_again_to_be_confirmed() -> None:
    f, g = lucky("the date")
    assert [one.outcome for one in judged([(f, g)] * 2, "strict", True)] == [Outcome.flaky] * 2
    assert [one.outcome for one in judged([(f, g)] * 2, "strict", False)] == [Outcome.passed] * 2


HELD_OUT = replace(puzzle_from_source("def f(x: int): return x == 1", name="one"), family="ones")
HELD_OUT_ROW = {
    "name": "one",
    "index": 0,
    "finish_reason": "stop",
    "passed": True,
    "outcome": "passed",
}


def judged_candidates(mode: Mode) -> list[Judged]:
    """Three attempts at a puzzle as a round judges them: by luck, honest, wrong."""
    f = "def f(x: List[str], n=50): return x == list({str(i) for i in range(n)})"
    order = run("def g(n=50): return list({str(i) for i in range(n)})", limits=LIMITS).answer
    bodies = [f"return {order}", "return list({str(i) for i in range(n)})", "return []"]
    drawn = Completion("", FinishReason.STOP, 1, 0.0)
    candidates = [
        Candidate("order", f, i, drawn, f"def g(n=50):\n    {body}", "", "")
        for i, body in enumerate(bodies)
    ]
    judging = Judging(LIMITS, mode, True, JudgeConfig(num_workers=1))
    return list(judge_candidates(candidates, judging, advance=lambda _: None))


@pytest.mark.parametrize("mode", MODES)
def test_a_flaky_candidate_is_never_trained_on(mode: Mode) -> None:
    found = judged_candidates(mode)
    assert [one.outcome for one in found] == ["flaky", "passed", "wrong_answer"]
    puzzle = puzzle_from_source(found[0].candidate.f, name="order")
    found = [replace(one, candidate=replace(one.candidate, puzzle_id=puzzle.id)) for one in found]
    (example,) = curate([puzzle], found, CurateConfig(), 0, 1)
    assert "return list({str(i) for i in range(n)})" in example.completion
    assert list(curate([puzzle], found[:1], CurateConfig(), 0, 1)) == []


def test_a_flaky_candidate_is_counted_in_the_metrics_of_its_round(tmp_path: Path) -> None:
    here = RoundDirectory(tmp_path, 1)
    here.model.mkdir()
    for path in (here.proposals, here.examples, here.removed, here.evaluation_candidates):
        write_rows(path, [])
    write_rows(here.training_log, [{"loss": 0.5}])
    write_rows(here.evaluation, count_correct([HELD_OUT_ROW] * 16, [HELD_OUT], set()))
    write_rows(here.candidates, map(judged_to_row, judged_candidates("strict")))
    measure_diversity(here, [], [], DiversityConfig(embeddings=False), None, 0)
    write_metrics(here, Config())
    metrics = json.loads(here.metrics.read_text())
    assert {name: metrics[name] for name in metrics if name.startswith("outcome/")} == {
        "outcome/flaky": 1,
        "outcome/passed": 1,
        "outcome/wrong_answer": 1,
    }


def test_a_round_that_lost_all_to_luck_says_so(tmp_path: Path) -> None:
    here = RoundDirectory(tmp_path, 1)
    write_rows(here.proposals, [])
    write_rows(here.puzzles, [{}])
    write_rows(here.removed, [])
    write_rows(here.candidates, map(judged_to_row, judged_candidates("strict")[:1]))
    assert "passed the judge (1 flaky)" in why_nothing_was_kept(here)
