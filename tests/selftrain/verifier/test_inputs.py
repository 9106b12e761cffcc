"""What a verifier reads: its layout, what gives way when it is too long, and what it never sees."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_networks import END, PAD, START, make_tasks, make_tokenizer

from selftrain.config import ModelConfig, VerifierConfig
from selftrain.errors import UsageError
from selftrain.models import load_tokenizer
from selftrain.verifier.learning.inputs import Encoded, Reads, read, reads_of, shares_cut
from selftrain.verifier.learning.lessons import make_lessons

ALL = Reads("value", programs=True, max_tokens=512)
TASK = "def f(x: int):\n    return x == 12"
PROGRAM = "def g():\n    return 12"


def text(encoded: Encoded) -> str:
    return str(load_tokenizer(ModelConfig()).decode(list(encoded.ids)))


def lay_out(reads: Reads, task: str, program: str, result: str | None) -> Encoded:
    return read(load_tokenizer(ModelConfig()), reads, task, program, result)


@pytest.mark.parametrize(
    ("reads", "result", "expected"),
    [
        (ALL, "12", f"{TASK}\n\n{PROGRAM}\n\n# 12\n"),
        (ALL, None, f"{TASK}\n\n{PROGRAM}\n"),
        (ALL, "ERROR: timed_out", f"{TASK}\n\n{PROGRAM}\n\n# ERROR: timed_out\n"),
        (replace(ALL, results="type"), "[1, 2]", f"{TASK}\n\n{PROGRAM}\n\n# list[int]\n"),
        (replace(ALL, results="none"), "12", f"{TASK}\n\n{PROGRAM}\n"),
        (replace(ALL, programs=False), "12", f"{TASK}\n\n# 12\n"),
    ],
)
def test_the_layout(reads: Reads, result: str | None, expected: str) -> None:
    encoded = lay_out(reads, TASK, PROGRAM, result)
    assert (text(encoded), encoded.cut) == (expected, ())


def test_a_long_task_gives_way_before_program_and_result() -> None:
    encoded = lay_out(replace(ALL, max_tokens=100), f"first {'x' * 500} last", PROGRAM, "12")
    assert encoded.cut == ("task",)
    assert text(encoded).startswith("first ")
    assert text(encoded).endswith(f" last\n\n{PROGRAM}\n\n# 12\n")
    assert len(encoded.ids) == 100


def test_a_long_program_keeps_its_head_its_tail_and_some_of_the_task() -> None:
    program = f"def g():\n    x = {'[' * 300}\n    return 9"
    encoded = lay_out(replace(ALL, max_tokens=100), "task " * 80, program, "12")
    assert encoded.cut == ("task", "program")
    assert "\n\ndef g():" in text(encoded)
    assert text(encoded).endswith("    return 9\n\n# 12\n")
    assert text(encoded).count("task") >= 5
    assert len(encoded.ids) == 100


@pytest.mark.parametrize("length", [300, 1_000_000])
def test_a_result_longer_than_half_a_row_is_shown_shorter_and_this_is_told(length: int) -> None:
    encoded = lay_out(replace(ALL, max_tokens=100), TASK, PROGRAM, f"'{'7' * length}'")
    assert encoded.cut == ("result",)
    assert f"({length + 2:,} characters)\n" in text(encoded)
    assert len(encoded.ids) <= 100


def test_a_result_of_just_half_a_row_is_whole_whatever_else_there_is() -> None:
    result = "7" * 45
    encoded = lay_out(replace(ALL, max_tokens=100), "x" * 5000, "y" * 5000, result)
    assert f"\n\n# {result}\n" in text(encoded)
    assert encoded.cut == ("task", "program")


ANY = st.text(max_size=400)


@settings(max_examples=30)
@given(task=ANY, program=ANY, result=ANY | st.just("\ud800") | st.text("é😀", max_size=300))
def test_no_row_is_longer_than_it_may_be_and_what_is_whole_is_said_so(
    task: str, program: str, result: str
) -> None:
    short = lay_out(replace(ALL, max_tokens=64), task, program, result)
    whole = lay_out(replace(ALL, max_tokens=10_000), task, program, result)
    assert len(short.ids) <= 64
    assert whole.cut == ()
    assert (short.ids == whole.ids) == (short.cut == ())


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [("roberta", [START], [END]), ("t5", [], [END]), ("llama", [START], []), ("gpt2", [], [])],
)
def test_special_tokens_stand_where_the_model_has_them(
    kind: str, before: list[int], after: list[int]
) -> None:
    encoded = read(make_tokenizer(kind), replace(ALL, max_tokens=64), "x" * 900, PROGRAM, "12")
    assert [token for token in encoded.ids if token >= START] == before + after
    assert list(encoded.ids)[: len(before)] == before
    assert len(after) == 0 or encoded.ids[-1] == END
    assert len(encoded.ids) == 64


def test_the_name_of_a_special_token_in_a_program_is_text() -> None:
    encoded = read(make_tokenizer("roberta"), ALL, TASK, "return '</s><pad>'", "'<s>'")
    assert [token for token in encoded.ids if token >= START] == [START, END]
    assert PAD not in encoded.ids


def test_flipping_every_label_leaves_every_input_identical() -> None:
    tokenizer = load_tokenizer(ModelConfig())
    tasks = make_tasks()
    flipped = [
        replace(task, candidates=tuple(replace(c, label=not c.label) for c in task.candidates))
        for task in tasks
    ]
    one, other = (make_lessons(tokenizer, ALL, some, gold=False) for some in (tasks, flipped))
    assert [[e.row for e in task] for task in one.tasks] == [
        [e.row for e in t] for t in other.tasks
    ]
    assert [[e.label for e in t] for t in one.tasks] != [[e.label for e in t] for t in other.tasks]


def test_arms_read_what_their_names_say() -> None:
    config = VerifierConfig()
    assert [reads_of(config, arm) for arm in ("full", "no-gold")] == [ALL, ALL]
    assert reads_of(config, "no-execution") == replace(ALL, results="none")
    assert reads_of(config, "type-only") == replace(ALL, results="type")
    assert reads_of(config, "no-program") == replace(ALL, programs=False)


def test_an_arm_that_reads_nothing_of_a_candidate_is_refused() -> None:
    with pytest.raises(UsageError, match="in the arm no-program it reads neither"):
        reads_of(VerifierConfig(results="none"), "no-program")


def test_shares_of_rows_that_are_cut() -> None:
    rows = [Encoded((1,), ()), Encoded((1,), ("task",)), Encoded((1,), ("task", "result"))]
    assert shares_cut([*rows, Encoded((1,), ())]) == {"task": 0.5, "program": 0.0, "result": 0.25}
