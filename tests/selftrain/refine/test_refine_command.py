"""The command: what it does with a folder that is there, and with settings that contradict."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refine_script import ALL_PASS, Script, block

from selftrain import models
from selftrain.cli import main
from selftrain.config_file import differences, load_config, save_config
from selftrain.errors import RunError, UsageError
from selftrain.files import read_rows, write_rows
from selftrain.refine.refine import refine

TASKS = [
    {
        "task_id": f"inc/{number}",
        "prompt": f'def inc(n):\n    """Give n + 1, task {number}."""\n',
        "entry_point": "inc",
        "test": "def check(candidate):\n    assert candidate(2) == 3\n",
        "examples": [[[1], 2]],
    }
    for number in range(3)
]
Start = Callable[..., int]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    script = Script(
        lambda one: (
            ALL_PASS
            if one.message is not None and one.message.schema
            else block("def inc(n):\n    return n + 1")
        )
    )
    monkeypatch.setattr(models, "load_sampler", lambda *_: script)
    return script


@pytest.fixture
def start(tmp_path: Path, script: Script) -> Start:
    write_rows(tmp_path / "tasks.jsonl", TASKS)

    def start(*settings: str) -> int:
        given = [f"refine.tasks=[{tmp_path / 'tasks.jsonl'}]", "judge.num_workers=1", *settings]
        return refine(load_config(None, given), tmp_path / "folder")

    return start


def results(folder: Path) -> list[tuple[str, str, bool]]:
    rows = read_rows(folder / "folder" / "results.jsonl")
    return [(row["arm"], row["task_id"], row["solved"]) for row in rows]


def test_every_arm_has_a_row_a_task(start: Start, tmp_path: Path) -> None:
    assert start("refine.arms=[forward,self_critic]") == 0
    assert results(tmp_path) == [
        (arm, f"inc/{n}", True) for arm in ("forward", "self_critic") for n in range(3)
    ]


def test_a_finished_comparison_is_shown_again_and_asks_nobody(
    start: Start, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    start("refine.arms=[forward,self_critic]")
    before, shown = len(script.requests), capsys.readouterr().out
    assert start("refine.arms=[forward,self_critic]") == 0
    assert len(script.requests) == before
    assert capsys.readouterr().out == shown


def test_another_arm_is_added_and_no_model_asked_again(
    start: Start, script: Script, tmp_path: Path
) -> None:
    start("refine.arms=[forward,self_critic]")
    before = {(one.prompt, one.seed) for one in script.requests}
    script.requests.clear()
    assert start("refine.arms=[forward,self_critic,critic_code]") == 0
    assert before.isdisjoint((one.prompt, one.seed) for one in script.requests)
    assert len(script.requests) == 3  # the probes: what they find brings no new candidate
    assert [arm for arm, *_ in results(tmp_path)][::3] == ["forward", "self_critic", "critic_code"]


def test_other_settings_need_another_folder(start: Start) -> None:
    start("refine.arms=[forward,self_critic]")
    with pytest.raises(UsageError, match=r"refine\.iterations"):
        start("refine.arms=[forward,self_critic]", "refine.iterations=3")


def test_other_tasks_need_another_folder(start: Start, tmp_path: Path) -> None:
    start("refine.arms=[forward,self_critic]")
    write_rows(tmp_path / "tasks.jsonl", TASKS[:2])
    with pytest.raises(UsageError, match="another data"):
        start("refine.arms=[forward,self_critic]")


WRONG = {
    "asks for no calls": ["refine.critic=rules", "refine.arms=[critic_code]"],
    "without solved puzzles before them": ["refine.teach=true", "refine.wording=continue"],
    "has the tokens of an arm that revises": ["refine.arms=[forward,resample]"],
    "refine.wording must be continue": ["refine.teach=true"],
    "takes pairs whatever their verdict": ["refine.enabled=true", "curate.verdicts=unverified"],
    "the tokenizer that counts": ["refine.tokenizer=nowhere/at/all"],
    "critics": ["refine.arms=[forward,critics]"],
}


@pytest.mark.parametrize("said", WRONG)
def test_what_contradicts_is_one_sentence(
    said: str, tmp_path: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(tmp_path / "tasks.jsonl", TASKS)
    config = tmp_path / "a.yaml"
    config.write_text(json.dumps({"refine": {"tasks": [str(tmp_path / "tasks.jsonl")]}}))
    where: list[Any] = ["--run-dir", str(tmp_path / "folder")]
    assert main(["refine", str(config), *WRONG[said], *where]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert said in error.lower() or said in error
    assert not (tmp_path / "folder" / "run.json").exists()


DAMAGED = [("trace.jsonl", "{}"), ("trace.jsonl", "3"), ("results.jsonl", '{"arm": ')]


@pytest.mark.parametrize(("name", "damage"), DAMAGED)
def test_a_damaged_file_is_one_sentence(
    start: Start, tmp_path: Path, name: str, damage: str
) -> None:
    start("refine.arms=[forward,self_critic]")
    with (tmp_path / "folder" / name).open("a") as file:
        file.write(f"{damage}\n")
    with pytest.raises(RunError, match=rf"{name}, line \d+: damaged"):
        start("refine.arms=[forward,self_critic]")


CRITICS = ["self", "rules", "{name: other}", "{name: other, server: 'http://127.0.0.1:9/v1'}"]


@pytest.mark.parametrize("critic", CRITICS)
def test_what_a_folder_was_made_with_is_read_again(tmp_path: Path, critic: str) -> None:
    config = load_config(None, [f"refine.critic={critic}"])
    save_config(config, tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(("before", "now"), [("rules", "{name: other}"), ("{name: other}", "self")])
def test_another_kind_of_critic_needs_another_folder(before: str, now: str) -> None:
    configs = [load_config(None, [f"refine.critic={critic}"]) for critic in (before, now)]
    changed = differences(*configs)
    assert changed and all(line.startswith("refine.critic") for line in changed)


def test_a_critic_that_is_the_forward_model_is_loaded_once(start: Start, tmp_path: Path) -> None:
    start("refine.arms=[forward,critic]", "refine.critic={name: 'builtin:tiny'}")
    models = {row["model"] for row in read_rows(tmp_path / "folder" / "2-calls.jsonl")}
    assert models == {"forward"}
