"""A sweep of temperatures: on dev puzzles alone, once each, chosen by what was measured."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted import ScriptedSampler, few_train, write_puzzles

from selftrain import models
from selftrain.commands.sweep import _temperatures
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.files import read_rows
from selftrain.sweep import Best, best, sweep, sweep_text

SMALL = (
    "puzzles.num_dev=3",
    "puzzles.held_out=no-such-file.jsonl",
    "evaluate.num_samples=2",
    "evaluate.k=[1,2]",
    "judge.num_workers=1",
    "solve.num_few_shot=2",
)


class Warm(ScriptedSampler):
    """Solves everything when asked warmly, nothing when asked coldly; notes the temperatures."""

    def __init__(self) -> None:
        super().__init__()
        self.temperatures: list[float] = []

    def sample(self, requests: Any, *, temperature: float, **more: Any) -> Any:
        self.temperatures.append(temperature)
        self.wrong_share = 0.0 if temperature > 0.5 else 1.0
        return super().sample(requests, temperature=temperature, **more)


@pytest.fixture
def sampler(monkeypatch: pytest.MonkeyPatch) -> Warm:
    warm = Warm()
    monkeypatch.setattr(models, "load_sampler", lambda config, trained=None: warm)
    return warm


def config(tmp_path: Path, *more: str) -> Config:
    puzzles = write_puzzles(tmp_path / "train.jsonl", few_train()[:8])
    return load_config(None, (f"puzzles.train={puzzles}", *SMALL, *more))


def test_a_sweep_measures_prints_and_draws_without_the_held_out_puzzles(
    tmp_path: Path, sampler: Warm, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert sweep(config(tmp_path), [0.2, 0.8], out) == 0
    printed = capsys.readouterr().out
    assert "on 3 dev puzzles of" in printed
    assert "best for Pass@1: evaluate.temperature=0.8" in printed
    assert (out / "sweep.txt").read_text(encoding="utf-8") in printed
    assert (out / "sweep.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert (out / "sweep.png").read_bytes().startswith(b"\x89PNG")
    counts = {
        t: [row["num_correct"] for row in read_rows(out / f"temperature-{t}.jsonl")]
        for t in (0.2, 0.8)
    }
    assert counts == {0.2: [0, 0, 0], 0.8: [2, 2, 2]}


def test_dev_puzzles_are_tried_and_never_shown(tmp_path: Path, sampler: Warm) -> None:
    sweep(config(tmp_path), [0.8], tmp_path / "out")
    dev = {row["name"] for row in read_rows(tmp_path / "out" / "temperature-0.8.jsonl")}
    bodies = {p.name: p.f.partition("\n")[2] for p in few_train()[:8]}
    assert len(dev) == 3
    for request in sampler.requests:
        *shown, asked = request.prompt.split("\n\ndef f3(")
        assert any(bodies[name] in asked for name in dev)
        assert not any(bodies[name] in "".join(shown) for name in dev)


def test_a_finished_temperature_is_not_sampled_again(tmp_path: Path, sampler: Warm) -> None:
    out = tmp_path / "out"
    sweep(config(tmp_path), [0.2, 0.8], out)
    before = {path.name: path.read_bytes() for path in out.glob("sweep.*")}
    (out / "temperature-0.8.jsonl").unlink()
    sampler.temperatures.clear()
    sweep(config(tmp_path), [0.2, 0.8], out)
    assert 0.2 not in sampler.temperatures
    assert 0.8 in sampler.temperatures
    assert {path.name: path.read_bytes() for path in out.glob("sweep.*")} == before


def test_a_killed_sweep_goes_on_with_the_shard_it_was_at(
    tmp_path: Path, sampler: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = config(tmp_path, "evaluate.shard_size=1")
    sweep(small, [0.8], tmp_path / "whole")
    asked = len(sampler.requests)
    with monkeypatch.context() as patch:
        patch.setattr(sampler, "_complete", killed_after(5, sampler._complete))
        with pytest.raises(KeyboardInterrupt):
            sweep(small, [0.8], tmp_path / "killed")
    sampler.requests.clear()
    sweep(small, [0.8], tmp_path / "killed")
    # Of three puzzles, each with two samples and a greedy one, the first was done.
    assert (asked, len(sampler.requests)) == (9, 6)
    for name in ("temperature-0.8.jsonl", "sweep.txt"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "killed" / "temperature-0.8").exists()


def killed_after(count: int, complete: Callable[..., Any]) -> Callable[..., Any]:
    """Complete `count` times, then be interrupted."""
    left = iter(range(count))

    def either(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return complete(*arguments)

    return either


def test_a_sweep_pauses_at_a_limit_and_goes_on_without_it(
    tmp_path: Path, sampler: Warm, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert sweep(config(tmp_path, "limits.disk_gb=1e-9"), [0.8], out) == 0
    assert "Paused: limits.disk_gb" in capsys.readouterr().out
    assert sampler.temperatures == []
    assert sweep(config(tmp_path), [0.8], out) == 0
    assert (out / "sweep.txt").exists()


def test_another_k_needs_no_sampling_and_another_n_another_folder(
    tmp_path: Path, sampler: Warm, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    sweep(config(tmp_path), [0.8], out)
    sampler.temperatures.clear()
    sweep(config(tmp_path, "evaluate.k=[2]"), [0.8], out)
    assert sampler.temperatures == []
    assert "best for Pass@2" in capsys.readouterr().out
    with pytest.raises(UsageError, match=r"evaluate.num_samples 2, now 3.*--output"):
        sweep(config(tmp_path, "evaluate.num_samples=3"), [0.8], out)


def test_puzzles_that_changed_are_not_mixed_with_others(tmp_path: Path, sampler: Warm) -> None:
    out = tmp_path / "out"
    same = config(tmp_path)
    sweep(same, [0.8], out)
    write_puzzles(tmp_path / "train.jsonl", few_train()[1:9])
    with pytest.raises(UsageError, match=r"was made with another puzzles\."):
        sweep(same, [0.2, 0.8], out)


def test_without_a_dev_part_nothing_is_chosen(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"puzzles.num_dev is 0, so there is no dev part"):
        sweep(config(tmp_path, "puzzles.num_dev=0"), [0.8], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def rows(num_correct: Sequence[int]) -> list[dict[str, Any]]:
    return [
        {"name": f"p{i}", "family": "", "n": 4, "num_correct": c, "greedy_passed": c > 1}
        for i, c in enumerate(num_correct)
    ]


def test_the_best_temperature_may_differ_by_k() -> None:
    found = {0.2: rows([4] * 4 + [0] * 6), 0.8: rows([1] * 10)}
    assert best(found, 1, 0).temperature == 0.2
    assert best(found, 4, 0).temperature == 0.8


def test_of_equal_temperatures_the_lowest_is_chosen_and_none_is_told_apart() -> None:
    found = {0.2: rows([0] * 8), 0.4: rows([1] * 8), 0.6: rows([1] * 8)}
    assert best(found, 1, 0) == Best(1, 0.4, (0.6,))


def test_the_table_has_a_row_a_temperature_and_greedy_apart() -> None:
    found = {0.2: rows([1] * 8), 1.0: rows([2] * 8)}
    assert sweep_text(found, [1], 0) == (
        "temperature     Pass@1 % [95%]\n"
        "0.2          25.0 [25.0, 25.0]\n"
        "1            50.0 [50.0, 50.0]\n"
        "greedy, one solution a puzzle: 0.0 [0.0, 0.0]\n"
        "\n"
        "best for Pass@1: evaluate.temperature=1 (told apart from all others: paired permutation "
        "tests, 5%, Holm)"
    )


def test_temperatures_are_read_once_each_in_order() -> None:
    assert _temperatures("1.0,0.2,0.20") == (0.2, 1.0)


@pytest.mark.parametrize("text", ["", "0", "0.2,x", "nan", "inf", "-1"])
def test_what_is_no_temperature_is_refused(text: str) -> None:
    with pytest.raises(Exception, match="no list of numbers above 0"):
        _temperatures(text)
