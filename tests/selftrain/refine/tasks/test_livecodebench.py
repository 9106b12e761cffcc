"""LiveCodeBench's rows: both kinds of case, and private cases that are packed."""

import base64
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from judge import Case, FunctionProblem, TextProblem
from selftrain.errors import UsageError
from selftrain.refine.tasks import livecodebench as module
from selftrain.refine.tasks.livecodebench import livecodebench_row, unpacked
from selftrain.refine.tasks.task import Example, Kind

Row = dict[str, Any]
STDIN = [{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}]
MORE = [{"input": "5 6\n", "output": "11\n", "testtype": "stdin"}]
CALLS = [{"input": "[1, 2]\n3", "output": "[[1, 2], 3]", "testtype": "functional"}]
STARTER = "class Solution:\n    def pair(self, a: List[int], b: int) -> List[int]:\n        "


def pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def row(public: object, private: object = (), **more: object) -> Row:
    return {
        "question_title": "Sum",
        "question_content": "Add two numbers.",
        "platform": "atcoder",
        "question_id": "abc_a",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps(public),
        "private_test_cases": private if isinstance(private, str) else json.dumps(private),
        "metadata": "{}",
        **more,
    }


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_packed_private_case_is_hidden_and_a_public_one_both(protocol: int) -> None:
    packed = pack(pickle.dumps(json.dumps(MORE), protocol=protocol))
    task, hidden = livecodebench_row(row(STDIN, packed), "a.jsonl, line 1")
    first, second = Case("1 2\n", "3\n"), Case("5 6\n", "11\n")
    assert task.kind is Kind.program
    assert task.examples == (first,)
    assert hidden.problem == TextProblem((first, second))
    assert (task.task_id, task.category, task.difficulty) == ("abc_a", "atcoder", "easy")
    assert task.statement == "Sum\n\nAdd two numbers."
    assert "11" not in repr(task)


def test_private_cases_may_be_plain_json() -> None:
    _, hidden = livecodebench_row(row(STDIN, MORE), "a.jsonl, line 1")
    assert isinstance(hidden.problem, TextProblem)
    assert len(hidden.problem.cases) == 2


class Hostile:
    """Makes a file where its pickle is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_calls_something_is_refused_and_calls_nothing(
    tmp_path: Path, protocol: int
) -> None:
    touched = tmp_path / "touched"
    data = pickle.dumps(Hostile(touched), protocol=protocol)
    with pytest.raises(UsageError, match="a pickle of what is no text, which is never run"):
        livecodebench_row(row(STDIN, pack(data)), "a.jsonl, line 1")
    assert not touched.exists()
    pickle.loads(data)
    assert touched.exists()


@pytest.mark.parametrize(
    ("packed", "found"),
    [
        ("%%%", "neither JSON nor base64 of zlib"),
        (base64.b64encode(b"not zlib").decode(), "neither JSON nor base64 of zlib"),
        (pack(pickle.dumps("[]"))[:-8], "cut off|neither JSON"),
        (pack(b"no pickle"), "a pickle of what is no text"),
        (pack(pickle.dumps("[]")[:-2]), "a pickle of what is no text"),
        (pack(pickle.dumps(["[]"])), "a pickle of what is no text"),
        (pack(pickle.dumps(("[]", "[]"))), "a pickle of what is no text"),
        (pack(pickle.dumps(b"[]")), "a pickle of what is no text"),
        (pack(b""), "a pickle of what is no text"),
    ],
)
def test_what_is_packed_otherwise_is_refused(packed: str, found: str) -> None:
    with pytest.raises(UsageError, match=found):
        unpacked(packed, "a.jsonl, line 1: private_test_cases")


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    bomb = pack(pickle.dumps("[]" + " " * (1 << 20)))
    assert len(bomb) < 1 << 16
    with pytest.raises(UsageError, match="longer than is read when unpacked"):
        unpacked(bomb, "a.jsonl, line 1: private_test_cases")


def method(**more: object) -> Row:
    return row(
        CALLS,
        starter_code=STARTER,
        platform="leetcode",
        metadata='{"func_name": "pair"}',
        **more,
    )


def test_a_method_becomes_a_function_that_calls_it() -> None:
    task, hidden = livecodebench_row(method(), "a.jsonl, line 1")
    assert task.kind is Kind.function
    assert (task.entry_point, task.parameters, task.head) == ("pair", None, STARTER)
    assert task.examples == (Example("(([1, 2], 3), {})", "[[1, 2], 3]"),)
    assert "def pair(self, a: List[int], b: int)" in task.statement
    assert isinstance(hidden.problem, FunctionProblem)
    assert hidden.problem.prompt == task.preamble
    names: dict[str, Any] = {}
    source = f"{STARTER}return [a, b]\n"
    exec(task.preamble + source + task.postlude, names)
    assert names["pair"]([1, 2], 3) == [[1, 2], 3]


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"question_content": ""}, "question_content is ''"),
        ({"public_test_cases": "[", "metadata": "{}"}, r"public_test_cases is '\[', which is no"),
        ({"public_test_cases": "[]"}, "there is no test case"),
        ({"public_test_cases": '[{"input": 1, "output": ""}]'}, r"public_test_cases\[0\] is"),
        ({"public_test_cases": "[1]"}, r"public_test_cases\[0\] is 1"),
        ({"public_test_cases": json.dumps(STDIN + CALLS)}, "stdin and functional are mixed"),
        ({"public_test_cases": json.dumps(CALLS)}, "metadata names no func_name"),
        ({"public_test_cases": json.dumps(CALLS), "metadata": "{"}, "metadata is '{', which is no"),
        ({"platform": 3}, "platform is 3"),
        *(
            (
                {
                    "public_test_cases": json.dumps(CALLS),
                    "metadata": json.dumps({"func_name": name}),
                },
                "metadata names no func_name",
            )
            for name in ("class", "Solution", "__init__", "a b")
        ),
    ],
)
def test_a_row_that_is_wrong_is_told_by_file_line_and_key(changed: Row, found: str) -> None:
    with pytest.raises(UsageError, match=rf"^a.jsonl, line 1.*{found}"):
        livecodebench_row({**row(STDIN), **changed}, "a.jsonl, line 1")


def test_it_is_known_whether_a_problem_shows_its_public_cases() -> None:
    shown = "Sample Input 1\n\n1 2\n\nSample Output 1\n\n3\n"
    assert livecodebench_row(row(STDIN, question_content=shown), "a")[0].shows_examples
    assert not livecodebench_row(row(STDIN), "a")[0].shows_examples
    more = {"starter_code": STARTER, "metadata": json.dumps({"func_name": "pair"})}
    shown = "Example 1:\n\nInput: a = [1,2], b = 3\nOutput: [[1,2],3]\n"
    assert livecodebench_row(row(CALLS, question_content=shown, **more), "a")[0].shows_examples
    assert not livecodebench_row(row(CALLS, **more), "a")[0].shows_examples
