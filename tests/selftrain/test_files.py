"""Files are there whole or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from selftrain.errors import RunError
from selftrain.files import read_json, read_rows, replacing_folder, write_json, write_rows

ROWS = """
import os, signal, sys
from pathlib import Path
from selftrain.files import write_rows
def rows():
    for number in range(100_000):
        if number == 50_000:
            os.kill(os.getpid(), signal.SIGKILL)
        yield {"number": number}
write_rows(Path(sys.argv[1]) / "rows.jsonl", rows())
"""
FOLDER = """
import os, signal, sys
from pathlib import Path
from selftrain.files import replacing_folder
with replacing_folder(Path(sys.argv[1]) / "model") as folder:
    (folder / "weights").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run_killed(code: str, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code, folder], check=False)
    assert done.returncode == -signal.SIGKILL


def test_a_row_file_killed_half_way_does_not_exist(tmp_path: Path) -> None:
    run_killed(ROWS, tmp_path)
    assert not (tmp_path / "rows.jsonl").exists()
    assert os.listdir(tmp_path) == ["rows.jsonl.unfinished"]


def test_a_row_file_killed_half_way_is_written_anew(tmp_path: Path) -> None:
    run_killed(ROWS, tmp_path)
    write_rows(tmp_path / "rows.jsonl", [{"number": 1}])
    assert list(read_rows(tmp_path / "rows.jsonl")) == [{"number": 1}]
    assert os.listdir(tmp_path) == ["rows.jsonl"]


def test_a_folder_killed_half_way_does_not_exist(tmp_path: Path) -> None:
    run_killed(FOLDER, tmp_path)
    assert not (tmp_path / "model").exists()
    with replacing_folder(tmp_path / "model") as folder:
        assert os.listdir(folder) == []
        (folder / "weights").write_text("whole")
    assert os.listdir(tmp_path) == ["model"]
    assert (tmp_path / "model" / "weights").read_text() == "whole"


def test_an_error_among_the_rows_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows(path, [{"number": 1}])
    with pytest.raises(ZeroDivisionError):
        write_rows(path, ({"number": 1 // number} for number in (1, 0)))
    assert list(read_rows(path)) == [{"number": 1}]


def test_any_text_reads_back_equal(tmp_path: Path) -> None:
    row = {"text": "\ud800 \u2028 \r\n \x00 é", "number": 1e-300, "none": None}
    write_rows(tmp_path / "rows.jsonl", [row, row])
    write_json(tmp_path / "value.json", row)
    assert list(read_rows(tmp_path / "rows.jsonl")) == [row, row]
    assert read_json(tmp_path / "value.json") == row


def test_a_row_that_is_no_object_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n[]\n')
    with pytest.raises(RunError, match=r"a\.jsonl, line 2: damaged \(no JSON object\)"):
        list(read_rows(path))


def test_weights_that_cannot_be_written_are_told_in_a_sentence(tmp_path: Path) -> None:
    from safetensors import SafetensorError

    said = "model: its weights cannot be written .No space left"
    with pytest.raises(RunError, match=said), replacing_folder(tmp_path / "model"):
        raise SafetensorError("No space left on device")
