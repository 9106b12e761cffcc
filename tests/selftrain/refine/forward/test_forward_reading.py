"""How a reply becomes a candidate: literal replies in, literal sources out."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles import puzzle_from_source
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.forward.proofs import MOST_PROOF_CHARACTERS
from selftrain.refine.forward.reading import read_candidate
from selftrain.refine.forward.wording import Wording
from selftrain.refine.tasks.task import Example, Invariant, Kind, RefineTask
from selftrain.sampling.completion import TOO_LONG, Completion, FinishReason

F = "def f(x: int, a=17):\n    return x + a == 30"
PUZZLE = puzzle_from_source(F, name="sum")
SUM = RefineTask("sum", Kind.puzzle, F, "g", "a=17", "def g(a=17):", puzzle=PUZZLE)
SHOWN = puzzle_from_source(
    "def f(x: int):\n    return x == 5", name="shown", solutions=("def g():\n    return 5",)
)
PROMPT = 'from math import pi\n\n\ndef area(r):\n    """Give the area of a circle."""\n'
AREA = RefineTask(
    "area",
    Kind.function,
    PROMPT,
    "area",
    "r",
    PROMPT,
    examples=(Example("((0,), {})", "0"),),
    invariants=(Invariant("non negative", predicate="answer >= 0"),),
)
COUNT = RefineTask("count", Kind.program, "Write the numbers below n.")
ADD = RefineTask(
    "add",
    Kind.function,
    "Add one.",
    "add",
    postlude="\n\n\ndef add(*args):\n    return Solution().add(*args)\n",
)
GOOD = "def area(r):\n    return 3 * r\n"
CODE = f"```python\n{GOOD}```\n"


def read(
    task: RefineTask,
    text: str,
    wording: Wording = "message",
    reason: FinishReason = FinishReason.STOP,
) -> Candidate:
    return read_candidate(task, Completion(text, reason, 1, None), wording)


@pytest.mark.parametrize(
    ("reply", "source"),
    [
        (CODE, GOOD),
        (f"Here you are:\n\n{CODE}\nIt is right.", GOOD),
        (f"```\n{GOOD}```", GOOD),
        (f"~~~py\n{GOOD}~~~", GOOD),
        (f"````python\n{GOOD}````", GOOD),
        (CODE.replace("\n", "\r\n"), GOOD),
        # Blocks: the last that defines it, wherever it stands.
        (f"```python\ndef area(r):\n    return 1\n```\nBetter:\n{CODE}", GOOD),
        (f"{CODE}Use it so:\n```python\nprint(area(3))\n```", GOOD),
        (f"{CODE}It gives\n```\n9\n```", GOOD),
        (f"```bash\npip install area\n```\n{CODE}", GOOD),
        (f"{CODE}```json\n[1]\n```", GOOD),
        (f"{CODE}```python\ndef area(r:\n```", GOOD),
        ("1. So:\n   ```python\n   def area(r):\n       return 3 * r\n   ```", GOOD),
        (f"```python\n# a sketch\n{CODE}", GOOD),
        (f"```python\n{GOOD}", GOOD),
        # Helpers and imports stay, as does what was written in whatever style.
        ("```python\nimport math\nx=1 ;y=2\ndef area( r ): return x\n```", "import math\nx=1 ;y=2\ndef area( r ): return x\n"),
        # Reasoning is no answer.
        (f"<think>\n```python\ndef area(r):\n    return 0\n```\n</think>\n{CODE}", GOOD),
        (f"It may be 0.\n```python\ndef area(r):\n    return 0\n```\n</think>\n{CODE}", GOOD),
        (f"<thought>\n```python\ndef area(r):\n    return 0\n```\n</thought>\n{CODE}", GOOD),
        (f"{CODE}<thought>Or not?\n```python\ndef area(r):\n    return 0\n```", GOOD),
        (f"{CODE}<think>Was that right?\n```python\ndef area(r):\n    return 0\n```", GOOD),
        # No fence.
        (GOOD, GOOD),
        (f"Sure:\n\n{GOOD}\nProof (examples): it is.", GOOD),
        (f"Sure:\n{GOOD}\nIt multiplies by 3.", GOOD),
        # A slip in the syntax is for the gate to name, and so is another name.
        ("```python\ndef area(r)\n    return 3\n```", "def area(r)\n    return 3\n"),
        ("```python\ndef circle(r):\n    return 3\n```", "def circle(r):\n    return 3\n"),
    ],
)  # fmt: skip
def test_the_last_block_that_defines_the_function_is_the_candidate(reply: str, source: str) -> None:
    assert read(AREA, reply).source == source


@pytest.mark.parametrize(
    ("reply", "source"),
    [
        ("```python\nprint(input())\n```\nOutput:\n```\n3\n```", "print(input())\n"),
        ("```python\nprint(1)\n```\n```python\nprint(2)\n```", "print(2)\n"),
        ("Output:\n```\nlist(range(3))\n```\n```python\nprint(2)\n```\n```\nf(3)\n```", "print(2)\n"),
        ("```\nprint(2)\n```\n```\n[0, 1]\n```", "print(2)\n"),
        ("print(2)", "print(2)\n"),
    ],
)  # fmt: skip
def test_the_last_block_that_writes_is_the_program(reply: str, source: str) -> None:
    assert read(COUNT, reply).source == source


@pytest.mark.parametrize(
    "reply", ["```python\nclass Solution:\n    def add(self, x):\n        return x + 1\n```"]
)
def test_a_method_counts_where_the_task_calls_it(reply: str) -> None:
    other = "```python\nclass Solution:\n    def sub(self, x):\n        return x\n```"
    expected = "class Solution:\n    def add(self, x):\n        return x + 1\n"
    assert read(ADD, f"{reply}\n{other}").source == expected


@pytest.mark.parametrize(
    ("task", "reply", "reason", "no_source"),
    [
        (AREA, "", FinishReason.STOP, "empty"),
        (AREA, " \n\t", FinishReason.STOP, "empty"),
        (AREA, "<think>Hm.</think>\n", FinishReason.STOP, "empty"),
        (AREA, CODE, FinishReason.CONTENT_FILTER, "refused"),
        (AREA, "", FinishReason.CONTENT_FILTER, "refused"),
        (AREA, "I'm sorry, I cannot help with that.", FinishReason.STOP, "no_code"),
        (AREA, "No", FinishReason.STOP, "no_code"),
        (AREA, "```\n9\n```", FinishReason.STOP, "no_code"),
        (AREA, "```json\n{}\n```", FinishReason.STOP, "no_code"),
        (COUNT, "```\n3\n4\n```", FinishReason.STOP, "no_code"),
        (COUNT, "Yes", FinishReason.STOP, "no_code"),
        (AREA, f"```python\n{GOOD}", FinishReason.LENGTH, "cut"),
        (AREA, "```python\nimport math\n", FinishReason.LENGTH, "cut"),
        (AREA, f"Before:\n{CODE}After:\n```python\ndef area(r):\n    x = 1", FinishReason.LENGTH, "cut"),
        (AREA, "Sure:\n```", FinishReason.LENGTH, "cut"),
        (AREA, "def area(r):\n    return (", FinishReason.LENGTH, "cut"),
        (AREA, "<think>Let me see", FinishReason.LENGTH, "cut"),
        (COUNT, "```python\nprint(1)\n", FinishReason.LENGTH, "cut"),
    ],
)  # fmt: skip
def test_a_reply_without_a_program_says_why(
    task: RefineTask, reply: str, reason: FinishReason, no_source: str
) -> None:
    candidate = read(task, reply, "message", reason)
    assert (candidate.source, candidate.no_source) == (None, no_source)


def test_a_reply_that_is_cut_behind_its_program_has_one() -> None:
    reply = f"{CODE}For instance:\n```python\nprint(area("
    assert read(AREA, reply, reason=FinishReason.LENGTH).source == GOOD


@pytest.mark.parametrize("wording", ["message", "continue"])
def test_what_was_not_asked_has_no_candidate(wording: Wording) -> None:
    assert read_candidate(AREA, TOO_LONG, wording) == Candidate(None, "prompt_too_long")


@pytest.mark.parametrize(
    ("task", "text", "source"),
    [
        (SUM, "\n    return 30 - a\n\nassert f(g())", "def g(a=17):\n    return 30 - a"),
        (AREA, "    return 3 * r\n\nprint", f"{PROMPT}    return 3 * r\n"),
        (AREA, "    return 3 * (", f"{PROMPT}    return 3 * (\n"),
        (
            COUNT,
            "\n    print(input())\n\nmain()",
            "import sys\n\n\ndef main():\n    print(input())\n\n\nmain()\n",
        ),
    ],
)
def test_a_text_goes_on_from_its_head_to_the_definitions_end(
    task: RefineTask, text: str, source: str
) -> None:
    assert read(task, text, "continue") == Candidate(source)


def test_a_numbered_solution_loses_its_number() -> None:
    text = "\n    return a if f2(a) else g2(a + 1)\n\nassert f2(g2())"
    candidate = read_candidate(
        SUM, Completion(text, FinishReason.STOP, 1, None), "continue", (SHOWN,)
    )
    assert candidate.source == "def g(a=17):\n    return a if f(a) else g(a + 1)"


@pytest.mark.parametrize(
    ("text", "reason"), [("\n    return (", "syntax"), ("\n    #" + "#" * 60_000, "too_long")]
)
def test_a_text_that_is_no_solution_has_the_cutters_reason(text: str, reason: str) -> None:
    assert read(SUM, text, "continue") == Candidate(None, reason)


@pytest.mark.parametrize(
    ("reply", "proofs"),
    [
        ("Proof (examples): 3 * 0 is 0.", {"examples": "3 * 0 is 0."}),
        ("**Proof (examples):** It\nis 0.\n\nDone.", {"examples": "It is 0."}),
        ("- proof of non negative: r is.", {"non negative": "r is."}),
        ("Proof (declared:non negative): r is.", {"non negative": "r is."}),
        ("### Proof (`signature`)\n\nIt is area(r).", {"signature": "It is area(r)."}),
        ("1. Proof for imports - none.", {"imports": "none."}),
        ("PROOF (Examples): a\nProof (imports): b", {"imports": "b", "examples": "a"}),
        ("```python\n# proof (examples): it\n# is 0\nx = 1\n```", {"examples": "it is 0"}),
        ("Proof (examples): ...\nProof (examples): It is 0.", {"examples": "It is 0."}),
        ("Proof (examples): ...", {}),
        ("Proof (examples):", {}),
        ("Proof (speed): fast.", {}),
        ("Proof (examples_too): fast.", {}),
        ("The proof is left to the reader (examples).", {}),
        ("<think>Proof (examples): no.</think>Proof (imports): b", {"imports": "b"}),
    ],
)
def test_proofs_are_read_by_the_names_that_were_asked_for(
    reply: str, proofs: dict[str, str]
) -> None:
    assert read(AREA, f"{CODE}{reply}").proofs == tuple(proofs.items())


def test_a_proof_is_kept_to_a_length() -> None:
    (proof,) = read(AREA, "Proof (examples): " + "so " * 1000).proofs
    assert proof == ("examples", ("so " * 1000)[:MOST_PROOF_CHARACTERS])


def test_a_proof_changes_no_source() -> None:
    sources = {read(AREA, CODE + proof).source for proof in ("", "Proof (examples): it is.")}
    assert sources == {GOOD}


MEGABYTE = 1_000_000


@pytest.mark.parametrize("task", [AREA, COUNT, SUM], ids=lambda task: task.kind)
@pytest.mark.parametrize(
    "piece",
    [
        "`", "~", "<", "<think>", "</think>", "<think></think>", "```\n", "```\n```\n",
        "```python\nx = (\n", "```python\nx\n```\n", "```a", "~~~a`", " ", "\t", "\n", "(", "-", "#",
        "def area(", "\ndef area(r):\n    return (((\n", "class A:\n", "Proof (", "proof ",
        "\nProof (examples): ", "\nProof (examples)\n\n", "# proof (non negative)\n", "\n@", "\0",
        "import a\n", "x=1;", "'''", "\\\n", "print(1)\n",
    ],
)  # fmt: skip
def test_a_megabyte_of_anything_is_read_in_bounded_time(task: RefineTask, piece: str) -> None:
    reply = piece * (MEGABYTE // len(piece))
    begun = time.perf_counter()
    for text in (reply, f"```python\n{reply}", reply + "x"):
        read(task, text)
    assert time.perf_counter() - begun < 10  # a quadratic reader takes hours


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from([
            "```", "```python", "~~~", "\n", "def area(r):", "    return 3", "<think>", "</think>",
            "Proof (examples):", "class Solution:", "# ", "import x", "\0", "\ud800", "é", "`", "(",
        ])
        | st.text(max_size=5),
        max_size=20,
    ).map("".join),
    st.sampled_from([AREA, COUNT, SUM, ADD]),
    st.sampled_from(["message", "continue"]),
    st.sampled_from(list(FinishReason)),
)  # fmt: skip
def test_no_reply_raises(
    text: str, task: RefineTask, wording: Wording, reason: FinishReason
) -> None:
    candidate = read(task, text, wording, reason)
    assert (candidate.source is None) == bool(candidate.no_source)
