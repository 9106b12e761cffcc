"""The command line: one sentence on standard error; the exit code says whose fault it is."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from scripted import few_held_out, write_puzzles

from judge import JudgeError, judge_many
from puzzles.p3 import read_p3
from selftrain.cli import main
from selftrain.errors import RunError
from selftrain.files import read_rows, write_rows
from selftrain.run_directory import RunDirectory

SMALL = (
    "rounds=1",
    "propose.num_proposals=32",
    "propose.shard_size=16",
    "propose.max_new_tokens=60",
    "solve.num_attempts=2",
    "solve.max_new_tokens=40",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1]",
    "finetune.learning_rate=1e-3",
    "model.device=cpu",
)
RIGHT = {"f": "def f(x: int):\n    return x + 2 == 5", "g": "def g():\n    return 3"}
WRONG = {**RIGHT, "g": "def g():\n    return 4"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths lie in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], arguments: Sequence[str], code: int) -> str:
    """Run a command that must fail with `code` and one line on standard error; give that line."""
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


USAGE = [
    ("solve:\n  temprature: 1\n", [], "solve.temprature is not a setting. Did you mean solve.temperature?"),
    ("rounds: x\n", [], "rounds should be a whole number, but 'x' (text) was found."),
    ("seed: [\n", [], "not valid YAML"),
    ("seed: 1\n", ["seed=x"], "command line: seed should be a whole number"),
    ("seed: 1\n", ["zzz"], "'zzz' is no setting"),
    ("seed: 1\n", ["model.name=builtin:large"], "'builtin:large' is not built in"),
    ("seed: 1\n", ["model.name=empty"], "the folder empty holds no config.json"),
    ("seed: 1\n", ["model.name=a.yaml"], "a.yaml is a file"),
    ("seed: 1\n", ["model.name=./missing"], "there is no folder './missing'"),
    ("seed: 1\n", ["puzzles.train=missing.jsonl"], "missing.jsonl: there is no such file"),
    ("seed: 1\n", ["puzzles.train=empty.jsonl"], "empty.jsonl: the file is empty"),
    ("seed: 1\n", ["puzzles.held_out=cut.jsonl"], "cut.jsonl, line 2: no JSON at column"),
    ("seed: 1\n", ["puzzles.held_out=keyless.jsonl"], "keyless.jsonl, line 1: there is no 'f'"),
    ("seed: 1\n", ["puzzles.held_out=p3:empty"], "puzzles.json: there is no such file"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "settings", "sentence"), USAGE)
def test_a_run_that_is_asked_wrongly_is_one_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str], config: str, settings: list[str], sentence: str
) -> None:
    Path("empty").mkdir()
    write("empty.jsonl", "\n")
    puzzle = json.dumps({"name": "a", "f": "def f(x: int):\n    return x == 700"})
    write("cut.jsonl", f"{puzzle}\n{puzzle[:20]}\n")
    write("keyless.jsonl", '{"name": "a"}\n')
    line = said(capsys, ["run", write("a.yaml", config), *settings, "--run-dir", "run"], 2)
    assert line.startswith("selftrain: ")
    assert sentence in line
    assert not list(Path("run").rglob("round-*"))


def test_a_missing_configuration_is_one_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "missing.yaml: there is no such file" in said(capsys, ["run", "missing.yaml"], 2)


def test_the_run_directory_of_another_configuration_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = write("a.yaml", "limits:\n  disk_gb: 1e-9\n")
    assert main(["run", config]) == 0
    capsys.readouterr()
    line = said(capsys, ["run", config, "judge.fuel=9"], 2)
    assert "runs/a was made with another configuration (judge.fuel 4000000000, now 9)" in line
    assert "--run-dir" in line


def test_a_run_directory_that_is_a_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    config = write("a.yaml", "seed: 1\n")
    assert "no run can be kept there" in said(capsys, ["run", config, "--run-dir", config], 2)


def test_a_run_goes_by_default_to_a_folder_named_after_its_configuration() -> None:
    assert main(["run", write("small.yaml", "limits:\n  disk_gb: 1e-9\n")]) == 0
    assert Path("runs/small/config.yaml").is_file()


def test_a_run_that_cannot_go_on_is_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from selftrain import run

    def broken(*_: object) -> int:
        raise RunError("round-001: nothing survived.")

    monkeypatch.setattr(run, "run", broken)
    line = said(capsys, ["run", write("a.yaml", "")], 1)
    assert line == "selftrain: round-001: nothing survived."


@pytest.mark.parametrize(
    "command", [["check"], ["evaluate", "builtin:tiny"], ["judge", "rows.jsonl"]]
)
def test_a_judge_that_cannot_run_is_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    def broken(*_: object, **__: object) -> Any:
        raise JudgeError("no guest")
        yield

    write_rows(Path("rows.jsonl"), [RIGHT])
    monkeypatch.setattr("selftrain.judge.judge_many", broken)
    assert main(command) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "selftrain: the judge cannot run: no guest"


# selftrain judge


def judged(capsys: pytest.CaptureFixture[str], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    write_rows(Path("rows.jsonl"), rows)
    assert main(["judge", "rows.jsonl"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_judge_keeps_rows_in_order_with_their_other_keys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [{"id": 7, **RIGHT, "more": [1, None]}, {"id": 5, **WRONG}, {"id": 7, **RIGHT}]
    found = judged(capsys, rows)
    added = {"passed", "outcome", "answer", "detail", "fuel", "seconds"}
    assert [{k: v for k, v in row.items() if k not in added} for row in found] == rows
    assert [row["passed"] for row in found] == [True, False, True]
    assert [row["outcome"] for row in found] == ["passed", "wrong_answer", "passed"]
    assert [row["answer"] for row in found] == ["3", "4", "3"]
    assert all(set(row) >= added and row["fuel"] > 0 for row in found)


OUTCOMES = [
    ({"f": "def f(x: int:\n"}, "f_syntax_error"),
    ({"f": ""}, "f_raised"),
    ({"g": "def g(:\n"}, "syntax_error"),
    ({"g": ""}, "no_g"),
    ({"f": None}, "f_syntax_error"),
    ({"f": 3}, "f_syntax_error"),
    ({"g": None}, "syntax_error"),
    ({"g": ["def g(): return 3"]}, "syntax_error"),
    ({"f": "\ud800"}, "f_syntax_error"),
]


@pytest.mark.parametrize(("change", "outcome"), OUTCOMES)
def test_what_is_no_program_gets_an_outcome(
    capsys: pytest.CaptureFixture[str], change: dict[str, Any], outcome: str
) -> None:
    bad, good = judged(capsys, [RIGHT | change, RIGHT])
    assert (bad["passed"], bad["outcome"]) == (False, outcome)
    assert {key: bad[key] for key in ("f", "g")} == RIGHT | change
    assert good["passed"]


def test_judge_writes_into_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(Path("rows.jsonl"), [RIGHT, WRONG])
    assert main(["judge", "rows.jsonl", "--output", "out/judged.jsonl", "--workers", "2"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "1 of 2 passed\n"
    assert [row["passed"] for row in read_rows(Path("out/judged.jsonl"))] == [True, False]


def test_judge_hands_out_a_row_before_it_reads_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(Path("rows.jsonl"), [RIGHT] * 3)
    out_before: list[int] = []

    def one_by_one(pairs: Any, *rest: Any, **more: Any) -> Any:
        for pair in pairs:
            out_before.append(len(capsys.readouterr().out.splitlines()))
            yield from judge_many([pair], *rest, **more)

    monkeypatch.setattr("selftrain.judge.judge_many", one_by_one)
    assert main(["judge", "rows.jsonl"]) == 0
    assert out_before == [0, 1, 1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file is empty"),
        ('{"f": "", "g": ""}\n{"f": ', "rows.jsonl, line 2: not valid JSON"),
        ('{"f": "", "g": ""}\n\n{"f": ""}\n', "rows.jsonl, line 3: there is no 'g'"),
        ('["f", "g"]\n', "rows.jsonl, line 1: found a list instead of an object"),
        ("[" * 100_000, "rows.jsonl, line 1: not valid JSON"),
    ],
)
def test_a_file_that_cannot_be_judged_is_one_sentence(
    capsys: pytest.CaptureFixture[str], text: str, sentence: str
) -> None:
    assert sentence in said(capsys, ["judge", write("rows.jsonl", text)], 2)


@pytest.mark.parametrize("name", ["missing.jsonl", "folder", "bytes.jsonl", "cut.jsonl.gz"])
def test_a_file_that_cannot_be_read_is_one_sentence(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    Path("folder").mkdir()
    Path("bytes.jsonl").write_bytes(b"\xff\xfe")
    Path("cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    assert name in said(capsys, ["judge", name], 2)


@pytest.mark.parametrize("output", ["rows.jsonl/out.jsonl", "."])
@pytest.mark.parametrize("command", [["judge", "rows.jsonl"], ["evaluate", "builtin:tiny"]])
def test_an_output_that_cannot_be_written_is_one_sentence(
    capsys: pytest.CaptureFixture[str], command: list[str], output: str
) -> None:
    write_rows(Path("rows.jsonl"), [RIGHT])
    line = said(capsys, [*command, "--output", output], 2)
    assert line.startswith(f"selftrain: {output}: cannot be written")


@pytest.mark.parametrize("option", ["--fuel=0", "--workers=0", "--fuel=2e10"])
def test_an_option_out_of_range_is_exit_2(capsys: pytest.CaptureFixture[str], option: str) -> None:
    write_rows(Path("rows.jsonl"), [RIGHT])
    with pytest.raises(SystemExit) as caught:
        main(["judge", "rows.jsonl", option])
    assert caught.value.code == 2
    assert option.split("=")[0] in capsys.readouterr().err


# selftrain check, report, evaluate


def test_check_names_a_wrong_reference_solution_and_is_exit_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {"name": "good", "f": RIGHT["f"], "solutions": [RIGHT["g"]]},
        {"name": "bad", "f": RIGHT["f"], "solutions": [RIGHT["g"], WRONG["g"]]},
        {"name": "without", "f": RIGHT["f"]},
    ]
    write_rows(Path("puzzles.jsonl"), rows)
    assert main(["check", "--tasks", "puzzles.jsonl", "--workers", "1"]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("'bad': solution 2: wrong_answer")
    assert last == "2 of 3 reference solutions of 3 puzzles passed (1 puzzles have none)"


def test_check_of_right_solutions_is_exit_0() -> None:
    write_puzzles(Path("puzzles.jsonl"), few_held_out())
    assert main(["check", "--tasks", "puzzles.jsonl", "--workers", "1"]) == 0


@pytest.mark.parametrize("name", ["folder", "missing", "a.yaml"])
def test_report_of_a_folder_that_is_no_run_is_one_sentence(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    Path("folder").mkdir()
    write("a.yaml", "")
    assert name in said(capsys, ["report", name], 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["./missing"], "there is no folder './missing'"),
        (["builtin:tiny", "--tasks", "missing.jsonl"], "missing.jsonl: there is no such file"),
        (["builtin:tiny", "evaluate.zzz=1"], "evaluate.zzz is not a setting"),
        (["builtin:tiny", "--config", "missing.yaml"], "missing.yaml: there is no such file"),
    ],
)
def test_an_evaluation_asked_wrongly_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert sentence in said(capsys, ["evaluate", *arguments], 2)


def test_evaluate_writes_a_row_a_puzzle(
    capsys: pytest.CaptureFixture[str], tiny_model: Path
) -> None:
    write_puzzles(Path("puzzles.jsonl"), few_held_out())
    settings = ["evaluate.num_samples=2", "evaluate.k=[1]", "solve.max_new_tokens=20"]
    options = ["--tasks", "puzzles.jsonl", "--output", "rows.jsonl"]
    workers = ["judge.num_workers=1", "solve.num_few_shot=0"]
    assert main(["evaluate", str(tiny_model), *settings, *workers, *options]) == 0
    assert [row["name"] for row in read_rows(Path("rows.jsonl"))] == [
        p.name for p in few_held_out()
    ]
    assert "on 4 puzzles of puzzles.jsonl, n = 2" in capsys.readouterr().out


# selftrain run, whole


def test_run_prints_the_table_and_the_paths_of_the_reports(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_puzzles(Path("held_out.jsonl"), few_held_out())
    config = write("a.yaml", "puzzles:\n  held_out: held_out.jsonl\n")
    assert main(["run", config, *SMALL]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-2:] == ["runs/a/report.md", "runs/a/report.html"]
    assert "0 (base)" in out
    keys = set(list(read_rows(Path("runs/a/metrics.jsonl")))[-1])
    assert {"round", "eval/pass@1", "funnel/completions", "funnel/examples"} <= keys


def test_running_the_written_configuration_repeats_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_puzzles(Path("held_out.jsonl"), few_held_out())
    config = write("a.yaml", "puzzles:\n  held_out: held_out.jsonl\n")
    assert main(["run", config, *SMALL, "rounds=0"]) == 0
    assert main(["run", "runs/a/config.yaml", "--run-dir", "again"]) == 0
    for name in ("config.yaml", "metrics.jsonl", "round-000/6-eval-candidates.jsonl"):
        assert (Path("runs/a") / name).read_bytes() == (Path("again") / name).read_bytes()


def test_run_works_on_p3_by_settings_alone(p3_folder: Path) -> None:
    """P3 whole to train on, and of its held-out split the eight shortest, for time."""
    files = (p3_folder / "puzzles.json", p3_folder / "split.json")
    shortest = sorted(read_p3(*files, "held_out").puzzles, key=lambda puzzle: len(puzzle.f))[:8]
    write_puzzles(Path("held_out.jsonl"), shortest)
    config = write("a.yaml", "")
    puzzles = [f"puzzles.train=p3:{p3_folder}", "puzzles.held_out=held_out.jsonl"]
    assert main(["run", config, *SMALL, "rounds=0", *puzzles]) == 0
    evaluated = list(read_rows(RunDirectory(Path("runs/a")).round(0).evaluation))
    assert [row["name"] for row in evaluated] == [puzzle.name for puzzle in shortest]


def test_an_interrupted_run_is_exit_130_and_keeps_what_was_written() -> None:
    write_puzzles(Path("held_out.jsonl"), few_held_out())
    config = write("a.yaml", "puzzles:\n  held_out: held_out.jsonl\n")
    settings = [*SMALL, "propose.num_proposals=100000", "judge.num_workers=2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "selftrain.cli", "run", config, *settings],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # A terminal interrupts the whole group, the processes that judge among it.
    judged = Path("runs/a/round-001/shards/judge/000000.jsonl")
    while not judged.exists():
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert err.splitlines()[-1] == "selftrain: interrupted; what was written stays."
    assert "Traceback" not in err
    assert len(list(read_rows(judged))) % 2 == 0
    assert Path("runs/a/round-000/metrics.json").is_file()


def test_settings_may_follow_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    config = write("a.yaml", "")
    line = said(capsys, ["run", config, "--run-dir", "elsewhere", "solve.temprature=1"], 2)
    assert "solve.temprature is not a setting. Did you mean solve.temperature?" in line


def test_an_unknown_option_is_refused_although_settings_are_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", write("a.yaml", ""), "rounds=1", "--run_dir"])
    assert end.value.code == 2


def test_a_model_that_cannot_be_loaded_claims_no_run_directory() -> None:
    config = write("a.yaml", "")
    assert main(["run", config, "model.name=nobody/nothing"]) == 2
    assert main(["run", config, "limits.disk_gb=1e-9"]) == 0


def test_one_puzzle_in_both_splits_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    both = write("both.jsonl", '{"name": "p", "f": "def f(x: int):\\n    return x == 5"}\n')
    line = said(
        capsys,
        ["run", write("a.yaml", ""), f"puzzles.train={both}", f"puzzles.held_out={both}"],
        2,
    )
    assert "1 of its puzzles, such as 'p', are also in puzzles.train" in line


def test_a_run_whose_held_out_file_was_edited_does_not_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = '{"name": "p", "f": "def f(x: int):\\n    return x == 5"}\n'
    held_out = write("h.jsonl", row)
    command = ["run", write("a.yaml", ""), f"puzzles.held_out={held_out}"]
    assert main([*command, "limits.disk_gb=1e-9"]) == 0
    capsys.readouterr()
    write("h.jsonl", row.replace("== 5", "== 6"))
    assert "was made with another puzzles.held_out" in said(capsys, command, 2)


def test_output_to_a_device_is_written_to_it_and_leaves_it_a_device() -> None:
    rows = write("rows.jsonl", json.dumps(RIGHT) + "\n")
    assert main(["judge", rows, "--output", "/dev/null"]) == 0
    assert not Path("/dev/null").is_file()


def test_fuel_beyond_the_counters_of_the_engine_is_refused() -> None:
    with pytest.raises(SystemExit) as end:
        main(["judge", "rows.jsonl", "--fuel", str(2**64)])
    assert end.value.code == 2


def test_a_damaged_row_file_is_told_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    run = RunDirectory(Path("runs/a"))
    config = write("a.yaml", "rounds: 0\nlimits: {disk_gb: 1e-9}\n")
    assert main(["run", config]) == 0
    capsys.readouterr()
    run.provenance.write_text('{"judge": {', encoding="utf-8")
    assert "run.json: damaged" in said(capsys, ["run", config], 1)


def test_a_reference_solution_that_fails_stops_a_run_before_it_is_scored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [{"name": "bad", "f": RIGHT["f"], "solutions": [RIGHT["g"], WRONG["g"]]}]
    write_rows(Path("puzzles.jsonl"), rows)
    config = write("a.yaml", "puzzles: {held_out: puzzles.jsonl}\njudge: {num_workers: 1}\n")
    refusing = ["puzzles.failing_references=refuse", "--tasks", "puzzles.jsonl"]
    for command in (["run", config], ["evaluate", "builtin:tiny", *refusing]):
        assert main(command) == 1
        line = capsys.readouterr().err.splitlines()[-1]
        assert (
            "1 of the reference solutions fail (the first is 'bad': solution 2: wrong_answer"
            in line
        )
        assert "so nothing was scored" in line
    assert not list(Path("runs/a").glob("round-*"))
    small = ["rounds=0", "evaluate.num_samples=1", "evaluate.k=[1]"]
    assert main(["run", config, "puzzles.failing_references=drop", *small]) == 0
    table = capsys.readouterr().out
    assert table.count("Pass@1 %") == 1


def test_completions_are_judged_by_their_problems(capsys: pytest.CaptureFixture[str]) -> None:
    problems = [
        {"task_id": "T/0", "prompt": "def add(a, b):\n", "entry_point": "add",
         "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"},
        {"task_id": "T/1", "cases": [["1\n", "2\n"], ["3\n", "6\n"]]},
    ]  # fmt: skip
    samples = [
        {"task_id": "T/1", "completion": "print(2 * int(input()))", "mine": 1},
        {"task_id": "T/0", "completion": "    return a - b\n"},
        {"task_id": "T/0", "completion": "    return a + b\n"},
        {"task_id": "T/0", "completion": None},
    ]
    write_rows(Path("problems.jsonl"), problems)
    write_rows(Path("samples.jsonl"), samples)
    assert main(["judge", "samples.jsonl", "--problems", "problems.jsonl"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["passed"] for row in found] == [True, False, True, False]
    assert found[0]["mine"] == 1 and found[0]["answer"] == "'6\\n'"


@pytest.mark.parametrize(
    ("problem", "sample", "sentence"),
    [
        ({"task_id": "T/0"}, {}, "problems.jsonl, line 1: there is no text 'prompt'"),
        ({"task_id": "T/0", "cases": []}, {}, "problems.jsonl, line 1: 'cases' is no list of pairs"),
        ({"task_id": "T/0", "cases": [["", ""]]}, {"task_id": "T/1", "completion": ""}, "the problems have no task_id 'T/1'"),
        ({"task_id": "T/0", "cases": [["", ""]]}, {"task_id": "T/0"}, "there is no 'completion'"),
        ({"task_id": "T/0", "cases": [["", ""]]}, {"task_id": ["T/0"], "completion": ""}, "the problems have no task_id"),
    ],
)  # fmt: skip
def test_wrong_problems_and_samples_are_one_sentence(
    capsys: pytest.CaptureFixture[str], problem: object, sample: object, sentence: str
) -> None:
    Path("problems.jsonl").write_text(json.dumps(problem) + "\n")
    Path("samples.jsonl").write_text(json.dumps(sample) + "\n")
    line = said(capsys, ["judge", "samples.jsonl", "--problems", "problems.jsonl"], 2)
    assert sentence in line


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--problems", "p.jsonl", "--confirm"], "--confirm is for rows of f and g"),
        (["--address", "tcp://host:8786"], "--address is a cluster's"),
    ],
)
def test_options_that_do_not_fit_each_other_are_refused(
    capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    assert sentence in said(capsys, ["judge", "rows.jsonl", *options], 2)


def test_an_output_that_another_process_writes_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_rows(Path("rows.jsonl"), [RIGHT])
    with FileLock("out.jsonl.lock"):
        line = said(capsys, ["judge", "rows.jsonl", "--output", "out.jsonl"], 2)
    assert "out.jsonl: another process is writing it" in line
    assert main(["judge", "rows.jsonl", "--output", "out.jsonl"]) == 0
    assert sorted(path.name for path in Path().iterdir()) == ["out.jsonl", "rows.jsonl"]
