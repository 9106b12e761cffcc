"""HumanEval: samples go on from the prompt, end with the function, are judged and counted."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from selftrain import evaluate_model as module
from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.evaluate_model import evaluate_model
from selftrain.files import Row, read_rows
from selftrain.humaneval import cut_function, read_functions
from selftrain.puzzle_source import read_split
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.completion import Tell, ignore

PROMPT = 'def double(x):\n    """ Double x. """\n'


@pytest.mark.parametrize(
    ("completion", "kept"),
    [
        ("    return 2 * x\n\n\ndef other():\n    pass", "    return 2 * x\n\n"),
        ("    return 2 * x\nprint(double(3))", "    return 2 * x"),
        ("    return (\n2 * x\n)\n\nassert double(1)", "    return (\n2 * x\n)\n"),
        ('    y = """\nno end\n"""\n    return 2 * x\n#', '    y = """\nno end\n"""\n    return 2 * x\n#'),
        ("    if x:\n# odd place\n        return 2 * x\nif x:", "    if x:\n# odd place\n        return 2 * x"),
        ("    def inner():\n        return x\n    return 2 * inner()", "    def inner():\n        return x\n    return 2 * inner()"),
        ("    return 2 * x\r\nx = 1\r\n", "    return 2 * x"),
        ("    return (2 *", "    return (2 *"),
        ("    return '''\ndef other", "    return '''\ndef other"),
        ("      return x\n    return 2 * x\n   return x\n", "      return x\n    return 2 * x\n   return x\n"),
        ("return 2 * x", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_a_completion_is_cut_where_the_function_ends(completion: str, kept: str) -> None:
    helper = "import math\n\ndef helper(y):\n    return y\n\n"
    assert cut_function(PROMPT, completion) == kept
    assert cut_function(helper + PROMPT, completion) == kept


def test_a_function_in_the_line_of_its_head_is_kept() -> None:
    assert cut_function("def double(x):", " return 2 * x\nx = 1") == " return 2 * x"


@pytest.fixture(scope="module")
def humaneval_file(p3_folder: Path) -> Path:
    path = p3_folder.parent / "humaneval" / "HumanEval.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"HumanEval's file is not there: {path}")
    return path


class FromCanonical:
    """Completes HumanEval's prompts: rightly by the drawn share, greedily always."""

    context_tokens = 2048

    def __init__(self, rows: list[Row], right: float) -> None:
        self.canonical = {row["prompt"]: row["canonical_solution"] for row in rows}
        self.right = right
        self.requests: list[Request] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 3 + 1 for text in texts]

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        self.requests += requests
        advance(len(requests))
        done = [self._complete(request, temperature) for request in requests]
        for place, completion in enumerate(done):
            tell(place, completion)
        return done

    def is_right(self, request: Request) -> bool:
        return random.Random(request.seed).random() < self.right

    def _complete(self, request: Request, temperature: float) -> Completion:
        body = self.canonical[request.prompt]
        if temperature and not self.is_right(request):
            body = "    return []"
        text = f"{body}\n\ndef unrelated(:"
        ending = FinishReason.STOP if self.is_right(request) else FinishReason.LENGTH
        return Completion(text, ending, 9, -1.0)


def test_evaluate_scores_humaneval_in_rows_like_those_of_puzzles(
    humaneval_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with gzip.open(humaneval_file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:12]
    few = tmp_path / "few.jsonl"
    few.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sampler = FromCanonical(rows, right=0.5)
    monkeypatch.setattr(module, "load_sampler", lambda _: sampler)
    settings = ["evaluate.num_samples=4", "evaluate.k=[1, 4]", "evaluate.shard_size=5"]
    config = load_config(None, [*settings, "judge.num_workers=1"])
    output = tmp_path / "rows.jsonl"
    assert evaluate_model(config, "builtin:tiny", f"humaneval:{few}", output) == 0
    found = list(read_rows(output))
    assert [row["name"] for row in found] == [row["task_id"] for row in rows]
    assert all(row["greedy_passed"] and row["n"] == 4 for row in found)
    assert {row["category"] for row in found} == {"humaneval"}
    by_prompt = {row["prompt"]: row["task_id"] for row in rows}
    right = Counter(
        {
            (by_prompt[request.prompt], request.seed): sampler.is_right(request)
            for request in sampler.requests
        }
    )
    num_right = Counter(name for (name, _), is_right in right.items() if is_right)
    assert {row["name"]: row["num_correct"] for row in found} == {
        row["task_id"]: num_right[row["task_id"]] for row in rows
    }
    assert 0 < num_right.total() < 48
    assert [row["num_cut"] for row in found] == [4 - row["num_correct"] for row in found]
    firsts = {
        row["task_id"]: [sampler.is_right(r) for r in drawn_for(sampler, row["prompt"])]
        for row in rows
    }
    assert {row["name"]: row["first_correct"] for row in found} == {
        name: right.index(True) if True in right else None for name, right in firsts.items()
    }
    told = capsys.readouterr().out
    assert f"{48 - num_right.total()} of 48 samples were cut at 512 new tokens" in told
    assert all(sum(row["outcomes"].values()) == 4 for row in found)
    assert len({request.seed for request in sampler.requests}) == 12 * 4


def drawn_for(sampler: FromCanonical, prompt: str) -> list[Request]:
    """Give the four sampled requests of a prompt, without the greedy one that follows."""
    return [request for request in sampler.requests if request.prompt == prompt][:4]


def test_functions_are_no_puzzles_to_train_on() -> None:
    with pytest.raises(UsageError, match="it can only be measured: selftrain evaluate MODEL"):
        read_split("humaneval", "train")


def test_programs_among_the_functions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_text(json.dumps({"task_id": "a", "cases": [["1", "2"]]}) + "\n")
    with pytest.raises(UsageError, match="a has 'cases', so it asks for a program"):
        read_functions(f"humaneval:{path}")
