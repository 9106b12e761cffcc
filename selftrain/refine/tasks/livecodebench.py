"""LiveCodeBench's rows as tasks: programs that read standard input, and LeetCode's methods.

Public cases are examples; public and private ones together are hidden, and score. Private cases
may come as base64 of zlib of a pickle of text. That pickle is never unpickled: its opcodes are
read, and whatever is not one text is refused, so that nothing in it can run. Nothing else is run
either.
"""

import base64
import binascii
import json
import keyword
import pickletools
import zlib
from dataclasses import dataclass

from judge import Case, TextProblem
from puzzles.syntax import unparse
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.calls import parts_of
from selftrain.refine.tasks.functions import canary, hidden_function
from selftrain.refine.tasks.literals import as_tuple, canonical_value
from selftrain.refine.tasks.programs import is_shown
from selftrain.refine.tasks.task import Example, HiddenTests, Kind, RefineTask
from selftrain.verifier.tasks.task_rows import text_of

SECONDS = 6.0
"""What LiveCodeBench's own harness gives one case."""
MOST_BYTES = 1 << 29
"""Cases of one task, decompressed; half a gigabyte. Its largest have some hundred megabytes."""
TEXT_OPCODES = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
OTHER_OPCODES = {"PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "STOP"}
IMPORTS = """\
import bisect, collections, functools, heapq, itertools, math, operator, random, re, string
from bisect import *
from collections import *
from functools import *
from heapq import *
from itertools import *
from math import *
from typing import *
from builtins import *


"""
"""What LeetCode imports before a method, as far as its starter code and habits need it; `builtins`
last, so that pow is Python's own."""
POSTLUDE = """


def {name}(*arguments):
    return Solution().{name}(*arguments)
"""
TEST = """
import copy as _copy, json as _json
_cases = _json.loads({cases!r})

def check(candidate):
    for arguments, expected in _cases:
        out = candidate(*_copy.deepcopy(arguments))
        # As its own harness compares: a tuple is as good as a list.
        assert (list(out) if isinstance(out, tuple) else out) == expected, "another answer"
"""


@dataclass(frozen=True, slots=True)
class _Test:
    """One case, of either kind."""

    input: str
    output: str
    is_call: bool


def livecodebench_row(row: Row, where: str) -> tuple[RefineTask, HiddenTests]:
    """Make the task of a row of LiveCodeBench's JSONL; raise UsageError."""
    text_of(row, "question_content", where, "the problem's text")
    public = _tests(row, "public_test_cases", where)
    both = [*public, *_tests(row, "private_test_cases", where)]
    if not both:
        raise UsageError(f"{where}: there is no test case. Give public_test_cases.")
    if len({one.is_call for one in both}) > 1:
        raise UsageError(
            f"{where}: cases of the types stdin and functional are mixed. Give one type."
        )
    return (_method if both[0].is_call else _program)(row, public, both, where)


def _program(
    row: Row, public: list[_Test], both: list[_Test], where: str
) -> tuple[RefineTask, HiddenTests]:
    try:
        cases = tuple(Case(one.input, one.output) for one in both)
    except ValueError as error:
        raise UsageError(f"{where}: a case holds what cannot be sent ({error}).") from None
    statement = _statement(row, where)
    task = RefineTask(
        row["question_id"],
        Kind.program,
        statement,
        examples=cases[: len(public)],
        shows_examples=all(is_shown(case, statement) for case in cases[: len(public)]),
        category=_label(row, "platform", where),
        difficulty=_label(row, "difficulty", where),
        time_limit_seconds=SECONDS,
    )
    return task, HiddenTests(task.task_id, TextProblem(cases))


def _method(
    row: Row, public: list[_Test], both: list[_Test], where: str
) -> tuple[RefineTask, HiddenTests]:
    name, starter = _func_name(row, where), _label(row, "starter_code", where)
    calls = [_call(one, where) for one in both]
    statement = _statement(row, where)
    examples = tuple(_example(*call, where) for call in calls[: len(public)])
    task = RefineTask(
        row["question_id"],
        Kind.function,
        f"{statement}\n\nComplete this class:\n\n{starter.rstrip()}\n",
        entry_point=name,
        head=starter,
        preamble=IMPORTS,
        postlude=POSTLUDE.format(name=name),
        examples=examples,
        shows_examples=all(_is_shown(one, statement) for one in examples),
        category=_label(row, "platform", where),
        difficulty=_label(row, "difficulty", where),
        time_limit_seconds=SECONDS,
        canary=canary(row["question_id"]),
    )
    return task, hidden_function(task, TEST.format(cases=json.dumps(calls)), where)


def _statement(row: Row, where: str) -> str:
    title = _label(row, "question_title", where)
    return f"{title}\n\n{row['question_content']}" if title else str(row["question_content"])


def _label(row: Row, key: str, where: str) -> str:
    value = row.get(key) or ""
    if not isinstance(value, str):
        raise UsageError(f"{where}: {key} is {value!r:.60}. Give it as text, or leave it out.")
    return value


def _func_name(row: Row, where: str) -> str:
    metadata = row.get("metadata")
    if isinstance(metadata, str):
        metadata = _json(metadata, "metadata", where)
    name = metadata.get("func_name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not _is_method_name(name):
        raise UsageError(
            f"{where}: metadata names no func_name ({name!r:.60}), the method that is called. Give "
            'it as {"func_name": "name"}.'
        )
    return name


def _is_method_name(name: str) -> bool:
    """Tell whether a function of that name can stand beside its class and call its method."""
    is_name = name.isidentifier() and not keyword.iskeyword(name)
    return is_name and name != "Solution" and not name.startswith("__")


def _call(test: _Test, where: str) -> tuple[list[object], object]:
    """Read the arguments of a call, a JSON value a line, and what it returns."""
    lines = [line for line in test.input.split("\n") if line.strip()]
    return [_json(line, "an input", where) for line in lines], _json(test.output, "output", where)


def _example(arguments: list[object], answer: object, where: str) -> Example:
    try:
        positional = as_tuple(tuple(map(canonical_value, arguments)))
        return Example(f"({positional}, {{}})", canonical_value(answer))
    except ValueError as error:
        raise UsageError(f"{where}: a public case is no plain data ({error}).") from None


def _is_shown(example: Example, statement: str) -> bool:
    """Tell whether a statement shows a call as LeetCode does: `Input: n = 3`, `Output: [1, 2]`."""
    positional, _ = parts_of(example.arguments)
    shown = _squeezed(statement)
    return f"output:{_squeezed(example.answer)}" in shown and all(
        f"={_squeezed(unparse(argument))}" in shown for argument in positional
    )


def _squeezed(text: str) -> str:
    return "".join(text.split()).replace("'", '"').lower()


def _tests(row: Row, key: str, where: str) -> list[_Test]:
    """Read a list of cases, which is JSON, text of JSON, or text that was packed."""
    value = row.get(key)
    if isinstance(value, str):
        is_json = value.lstrip()[:1] in ("[", "")
        text = value if is_json else unpacked(value, f"{where}: {key}")
        value = _json(text, key, where) if text.strip() else []
    if value is None:
        return []
    if not isinstance(value, list):
        raise UsageError(f"{where}: {key} is {value!r:.60}. Make it a list of cases.")
    return [_test(one, f"{where}: {key}[{i}]") for i, one in enumerate(value)]


def _test(one: object, place: str) -> _Test:
    kind = one.get("testtype", "stdin") if isinstance(one, dict) else None
    texts = [one.get(key) for key in ("input", "output")] if isinstance(one, dict) else []
    if kind not in ("stdin", "functional") or not all(isinstance(text, str) for text in texts):
        raise UsageError(
            f"{place} is {one!r:.60}. Give 'input' and 'output' as texts, and 'testtype' as stdin "
            "or functional."
        )
    return _Test(str(texts[0]), str(texts[1]), kind == "functional")


def unpacked(packed: str, place: str) -> str:
    """Give the text in base64 of zlib of a pickle; raise UsageError where it is anything else."""
    try:
        reader = zlib.decompressobj()
        data = reader.decompress(base64.b64decode(packed, validate=True), MOST_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise UsageError(
            f"{place} is neither JSON nor base64 of zlib ({error}). Download the file again."
        ) from None
    if not reader.eof:
        reason = "longer than is read" if len(data) == MOST_BYTES else "cut off"
        raise UsageError(f"{place} is {reason} when unpacked. Download the file again.")
    text = _pickled_text(data)
    if text is None:
        raise UsageError(
            f"{place} is a pickle of what is no text, which is never run. Leave it out."
        )
    return text


def _pickled_text(data: bytes) -> str | None:
    """Read a pickle of one text without running it; None where it holds anything else."""
    texts: list[str] = []
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name in TEXT_OPCODES and isinstance(argument, str):
                texts.append(argument)
            elif opcode.name not in OTHER_OPCODES:
                return None
    except ValueError:  # It is cut off, or no pickle.
        return None
    return texts[0] if len(texts) == 1 else None


def _json(text: str, key: str, where: str) -> object:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        raise UsageError(f"{where}: {key} is {text!r:.60}, which is no JSON. Correct it.") from None
    return found
