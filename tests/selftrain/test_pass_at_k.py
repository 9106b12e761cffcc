"""The command pass-at-k: numbers to four decimals from any file of counts, or one sentence."""

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from selftrain.commands import pass_at_k
from selftrain.errors import UsageError


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(exit_on_error=False)
    pass_at_k.add(parser.add_subparsers())
    options = parser.parse_args(["pass-at-k", *arguments])
    return int(options.run(options))


def write(path: Path, rows: Sequence[object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def rows(num_correct: Sequence[int], **more: Any) -> list[dict[str, Any]]:
    return [
        {"name": f"p{i}", "n": 4, "num_correct": correct, **more}
        for i, correct in enumerate(num_correct)
    ]


def values(text: str) -> dict[str, str]:
    """Give the value of each line of Pass@k."""
    lines = [line.split() for line in text.splitlines()]
    return {
        line[0]: line[1] for line in lines if line[0].startswith("Pass@") and line[1] != "minus"
    }


@pytest.mark.parametrize(
    ("more", "head", "published"),
    [
        ([], "397 puzzles, n = 1000", ["0.0714", "0.2666", "0.5147", "0.6902"]),
        (["--where", "split=test"], "228 puzzles with split=test, n = 1000", ["0.0579", "0.2578", "0.5328", "0.7325"]),
        (["--split", "test"], "228 puzzles with split=test, n = 1000", ["0.0579", "0.2578", "0.5328", "0.7325"]),
    ],
)  # fmt: skip
def test_codex_on_p3_gives_the_published_numbers(
    p3_folder: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    head: str,
    published: list[str],
) -> None:
    path = p3_folder / "codex_cushman_med.jsonl.gz"
    assert run([str(path), "--k", "1,10,100,1000", *more]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == f"codex_cushman_med.jsonl.gz: {head}"
    assert list(values(printed).values()) == published


def test_a_line_a_k_with_its_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.jsonl", [{"n": 2, "num_correct": 1}, {"n": 3, "num_correct": 3}])
    assert run([path, "--k", "2,1"]) == 0
    assert capsys.readouterr().out == (
        "a.jsonl: 2 puzzles, n = 2 to 3\n"
        "  Pass@1      0.7500  [0.5000, 1.0000]\n"
        "  Pass@2      1.0000  [1.0000, 1.0000]\n"
        "  95% intervals by bootstrap over 2 clusters (families; a puzzle without one is its own) "
        "and puzzles within, 2,000 replicates, seed 0\n"
    )


def test_families_are_the_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(
        tmp_path / "a.jsonl", [*rows([1, 2], family="x"), *rows([3], family=None, name="q")]
    )
    assert run([path]) == 0
    assert "over 2 clusters" in capsys.readouterr().out


def test_gzip_is_read_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"n": 4, "num_correct": 1}\n\n'))
    assert run([str(path)]) == 0
    assert values(capsys.readouterr().out) == {"Pass@1": "0.2500"}


def test_conditions_all_hold_and_name_null_and_numbers_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = [*rows([4], split=None, level=2), *rows([1], split="test", level=2), *rows([0], level=2)]
    path = write(tmp_path / "a.jsonl", some)
    assert run([path, "--where", "split=null", "--where", "level=2"]) == 0
    assert values(capsys.readouterr().out) == {"Pass@1": "1.0000"}


BAD = [
    ('{"num_correct": 1}', "line 2: there is no 'n'. Each row needs 'n'"),
    ('{"n": 4}', "line 2: there is no 'num_correct'"),
    ('{"n": 4, "num_correct": 5}', "line 2: 'num_correct' is 5, which is not from 0 to n, 4."),
    ('{"n": 4, "num_correct": -1}', "line 2: 'num_correct' is -1"),
    ('{"n": 0, "num_correct": 0}', "line 2: 'n' is 0. Give the samples drawn, from 1 to 1,000,000."),
    ('{"n": 9223372036854775807, "num_correct": 0}', "line 2: 'n' is 9223372036854775807. Give"),
    ('{"n": 4, "num_correct": 1, "first_correct": "x"}', "line 2: 'first_correct' is 'x'."),
    ('{"n": 4, "num_correct": 1, "first_correct": 4}', "line 2: 'first_correct' is 4."),
    ('{"n": 4, "num_correct": 1, "greedy_passed": "yes"}', "line 2: 'greedy_passed' is 'yes'."),
    ('{"n": 4, "num_correct": 1, "name": "a"}', "line 2: the puzzle 'a' is already in line 1."),
    ('{"n": "4", "num_correct": 1}', "line 2: 'n' is '4'. Make it a whole number."),
    ('{"n": 4, "num_correct": true}', "line 2: 'num_correct' is True. Make it a whole number."),
    ('{"n": 4.0, "num_correct": 1}', "line 2: 'n' is 4.0. Make it a whole number."),
    ('{"n": 4, "num_correct": 1, "family": 3}', "line 2: 'family' is 3. Make it text, or null."),
    ('{"n": 4, "num_correct": 1', "line 2: no JSON at column"),
    ("[4, 1]", "line 2: found a list instead of a JSON object"),
    ('{"n": 1, "num_correct": 1}', "line 2: n is 1, so Pass@2 cannot be estimated. Ask for a k of at most 1, or leave such rows out with --where."),
]  # fmt: skip


@pytest.mark.parametrize(("line", "sentence"), BAD)
def test_a_bad_row_is_one_sentence_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, sentence: str
) -> None:
    path = tmp_path / "a.jsonl"
    first = '{"n": 2, "num_correct": 1, "name": "a"}'
    path.write_text(f"{first}\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        run([str(path), "--k", "1,2"])
    assert f"{path}, {sentence}" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert capsys.readouterr().out == ""


def test_a_row_that_is_not_asked_for_may_have_fewer_samples_than_k(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.jsonl", [*rows([2], split="test"), {"n": 1, "num_correct": 0}])
    assert run([path, "--k", "4", "--split", "test"]) == 0
    assert values(capsys.readouterr().out) == {"Pass@4": "1.0000"}


def test_a_condition_that_no_row_meets_tells_what_there_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", rows([1, 2], split="test"))
    with pytest.raises(UsageError, match=r"no row has split=train\. Its split is test \(2\)\."):
        run([path, "--split", "train"])


@pytest.mark.parametrize("text", ["0", "1,x", "", "1,-2"])
def test_a_k_that_is_no_count_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises((argparse.ArgumentError, SystemExit)):
        run([write(tmp_path / "a.jsonl", rows([1])), f"--k={text}"])


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        run([str(tmp_path / "none.jsonl")])


def test_two_files_are_compared_puzzle_by_puzzle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write(tmp_path / "base.jsonl", rows([0] * 8, greedy_passed=False))
    better = write(tmp_path / "better.jsonl", rows([1] * 7 + [0], greedy_passed=True)[::-1])
    assert run([better, "--against", base, "--k", "1,4"]) == 0
    assert capsys.readouterr().out.splitlines()[-6:] == [
        "  better.jsonl: +0.2188 [+0.1562, +0.2500], permutation p = 0.0156; "
        "smallest detectable 0.1019 (80% power)",
        "Pass@4 minus that of base.jsonl",
        "  better.jsonl: +0.8750 [+0.6250, +1.0000], permutation p = 0.0156; "
        "smallest detectable 0.4076 (80% power)",
        "    solved within the first 4 samples by it alone 7, by the other alone 0, "
        "exact McNemar p = 0.0156 (each puzzle its own cluster)",
        "Greedy, against base.jsonl",
        "  better.jsonl: solved greedily by it alone 8, by the other alone 0, "
        "exact McNemar p = 0.0078 (each puzzle its own cluster)",
    ]


def test_several_files_are_corrected_for_their_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write(tmp_path / "base.jsonl", rows([0] * 8))
    others = [write(tmp_path / f"{i}.jsonl", rows([1] * i + [0] * (8 - i))) for i in (7, 2)]
    assert run([*others, "--against", base]) == 0
    printed = capsys.readouterr().out
    assert "7.jsonl: +0.2188 [+0.1562, +0.2500], permutation p = 0.0156, Holm 0.0312" in printed
    assert "permutation p = 0.5000, Holm 0.5000" in printed


def test_files_of_other_puzzles_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, other = write(tmp_path / "a.jsonl", rows([1])), write(tmp_path / "b.jsonl", rows([1, 1]))
    with pytest.raises(UsageError, match=r"b\.jsonl and .*a\.jsonl cannot be compared: .* 'p1'"):
        run([other, "--against", base])
    assert capsys.readouterr().out == ""


def test_puzzles_without_names_cannot_be_paired(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"n": 1, "num_correct": 1}])
    with pytest.raises(UsageError, match="a row has no 'name', so puzzles cannot be paired"):
        run([path, "--against", path])


def test_files_of_one_name_are_told_apart_by_their_paths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, correct in (("a", [4, 4]), ("b", [0, 1])):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "6-eval.jsonl", rows(correct))
    a, b = (str(tmp_path / folder / "6-eval.jsonl") for folder in "ab")
    assert run([a, "--against", b]) == 0
    printed = capsys.readouterr().out
    assert f"Pass@1 minus that of {b}\n  {a}: +0.8750 [" in printed


def test_the_published_codex_file_is_paired_by_its_own_names(
    p3_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(p3_folder / "codex_cushman_med.jsonl.gz")
    assert run([path, "--against", path]) == 0
    assert ": +0.0000 [+0.0000, +0.0000], permutation p = 1.0000" in capsys.readouterr().out
