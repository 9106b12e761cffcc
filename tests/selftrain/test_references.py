"""Reference solutions: what passed once is not judged again, what failed always is."""

from dataclasses import replace
from pathlib import Path

import pytest

from judge import Limits
from puzzles import Puzzle, puzzle_from_source
from selftrain import known_references
from selftrain.config import Config
from selftrain.errors import RunError
from selftrain.known_references import add_known, name_of, read_known
from selftrain.progress import Progress
from selftrain.references import with_sound_references

F = "def f(x: int, n=7):\n    return x == n + 2"
SOUND = replace(
    puzzle_from_source(F, name="sound"),
    solutions=("def g(n):\n    return n + 2", "def g(n):\n    return 9"),
)
WRONG = replace(SOUND, name="wrong", solutions=("def g(n):\n    return 8",))
REFUSE = Config.model_validate({"judge": {"num_workers": 1}})
DROP = Config.model_validate(
    {"judge": {"num_workers": 1}, "puzzles": {"failing_references": "drop"}}
)


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's known references lie."""
    path = tmp_path / "references.txt"
    monkeypatch.setattr(known_references, "known_file", lambda: path)
    return path


def judged(
    puzzles: list[Puzzle], config: Config, capsys: pytest.CaptureFixture[str]
) -> tuple[list[Puzzle], str]:
    """Give the puzzles that are left, and what was said."""
    return with_sound_references(puzzles, config, Progress()), capsys.readouterr().err


def test_what_passed_is_not_judged_again(capsys: pytest.CaptureFixture[str]) -> None:
    first, said = judged([SOUND], REFUSE, capsys)
    assert first == [SOUND] and "reference solutions: 2 done" in said
    again, said = judged([SOUND], REFUSE, capsys)
    assert again == [SOUND] and said == "reference solutions: 2 passed before\n"


def test_what_failed_is_judged_again_and_fails_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    without = [SOUND, replace(WRONG, solutions=())]
    assert judged([SOUND, WRONG], DROP, capsys)[0] == without
    again, said = judged([SOUND, WRONG], DROP, capsys)
    assert again == without
    assert "2 passed before" in said and "1 done" in said and "left out: 'wrong'" in said
    with pytest.raises(RunError, match="1 of the reference solutions fail"):
        with_sound_references([SOUND, WRONG], REFUSE, Progress())


@pytest.mark.parametrize(
    "other",
    [
        {"fs": [F.replace("7", "8")]},
        {"fs": [F, F.replace("7", "8")]},
        {"g": SOUND.solutions[1]},
        {"limits": Limits(fuel=10**9)},
    ],
)
def test_whatever_a_verdict_depends_on_is_part_of_the_name(other: dict[str, object]) -> None:
    this = {"fs": [F], "g": SOUND.solutions[0], "limits": Limits()}
    assert name_of(**this) == name_of(**this)  # type: ignore[arg-type]
    assert name_of(**this) != name_of(**{**this, **other})  # type: ignore[arg-type]


def test_another_judge_knows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    names = set()
    for part in ("", "judge_hash", "guest_hash", "guest_fingerprint", "engine_version"):
        with monkeypatch.context() as patch:
            if part:
                patch.setattr(known_references, part, lambda: "another")
            names.add(name_of([F], SOUND.solutions[0], Limits()))
    assert len(names) == 5


def test_a_line_that_was_cut_short_spoils_no_other(file: Path) -> None:
    file.write_text("a" * 64 + "\n" + "b" * 30)
    add_known(file, ["c" * 64, "d" * 64])
    assert {"a" * 64, "c" * 64, "d" * 64} <= read_known(file)
    assert "b" * 64 not in read_known(file)


def test_a_file_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    file = tmp_path / "none" / "references.txt"
    add_known(file, ["a" * 64])
    assert read_known(file) == set()


def test_a_full_file_begins_anew(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_references, "MOST_BYTES", 100)
    add_known(file, ["a" * 64, "b" * 64])
    add_known(file, ["c" * 64])
    assert read_known(file) == {"c" * 64}
