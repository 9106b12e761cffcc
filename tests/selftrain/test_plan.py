"""The plan: its arithmetic by hand, its bounds against a run, and what it says without a model."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted import ScriptedSampler, few_held_out, few_train, write_puzzles

from selftrain import models
from selftrain.config import Config, FinetuneConfig, ModelConfig
from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.files import read_json, read_rows
from selftrain.plan import probe
from selftrain.plan.counts import (
    Counts,
    Lengths,
    Rates,
    Splits,
    add_up,
    assumed_rates,
    count_blocks,
    count_rounds,
    expected_proposals,
    lengths_at_most,
    prompt_reads,
    rates_at_most,
)
from selftrain.plan.durations import Seconds, Speeds, gpu_hours, in_all, stage_seconds
from selftrain.plan.show import Known, make_plan, read_all, show_plan
from selftrain.plan.storage import round_files
from selftrain.plan.texts import RowBytes, count_roughly
from selftrain.plan.units import duration, number, size
from selftrain.plan.weights import are_local, measure_weights
from selftrain.run import run
from selftrain.run_directory import RunDirectory

TINY = Path("configs/tiny.yaml")
BUILTIN = Splits(train=204, dev=0, held_out=209, same_type=40.0, most_same_type=80)
LENGTHS = Lengths(
    propose_prompt=300,
    proposal=40,
    solve_prompt=50,
    solution=20,
    held_out_prompt=60,
    example=100,
)
HALF = Rates(kept=0.5, pairs=2.0, trivial_answers=30.0)


def config(*settings: str) -> Config:
    return load_config(None, settings)


def rounds(c: Config, splits: Splits = BUILTIN, rates: Rates = HALF) -> list[Counts]:
    return count_rounds(c, splits, LENGTHS, rates, at_most=False)


def test_tiny_proposes_1000_tries_8000_and_evaluates_209_times_17_at_most() -> None:
    c = load_config(TINY)
    base, *others = count_rounds(
        c, BUILTIN, lengths_at_most(c, 512), rates_at_most(c), at_most=True
    )
    assert (base.proposals, base.attempts, base.evaluations) == (0, 0, 209 * 17)
    assert [one.proposals for one in others] == [1000] * 3
    assert [one.attempts for one in others] == [8000] * 3
    assert [one.evaluations for one in others] == [209 * 17] * 3
    assert [one.sampled_solving for one in others] == [8000 * 80] * 3
    assert [one.trivial_answers for one in others] == [111_000] * 3


def test_a_round_by_hand() -> None:
    c = config("propose.num_proposals=100", "solve.num_attempts=8", "finetune.epochs=3", "rounds=1")
    _, one = rounds(c)
    assert one.puzzles == 50
    assert one.attempts == 400
    assert one.pairs == one.examples == 100
    assert one.blocks == 10  # 100 examples of 100 tokens, 10 in a block of 1,024
    assert one.steps == 9  # 3 epochs of 10 blocks, 4 a step
    assert one.sampled_proposing == 100 * 40
    assert one.sampled_solving == 400 * 20
    assert one.read_proposing == 25 * 300  # 4 proposals share a prompt
    assert one.read_solving == 50 * 50
    assert one.compared == 100 * 40
    assert one.trained == 3 * 100 * 100


def test_what_is_held_back_is_stored_and_not_learnt() -> None:
    c = config("propose.num_proposals=100", "finetune.held_back=0.25", "rounds=1")
    _, one = rounds(c)
    assert one.examples == 100
    assert (one.blocks, one.steps, one.trained) == (8, 2, 75 * 100)
    most = count_rounds(c, BUILTIN, LENGTHS, HALF, at_most=True)[1]
    assert most.trained == most.examples * 100


def test_examples_of_earlier_rounds_are_trained_on_again_from_the_base_model_only() -> None:
    again = config("propose.num_proposals=100", "rounds=3")
    once = config("propose.num_proposals=100", "rounds=3", "finetune.start=previous")
    assert [one.examples for one in rounds(again)] == [0, 100, 200, 300]
    assert [one.examples for one in rounds(once)] == [0, 100, 100, 100]


@pytest.mark.parametrize(
    ("epochs", "after_base", "after_round", "models_kept"),
    [("last", 30 * 5, 30 * 5, 1), ("all", 30 * 5, 70 * 5, 3), ("dev", 30 * 5, 50 * 5, 3)],
)
def test_epochs_are_evaluated_as_asked(
    epochs: str, after_base: int, after_round: int, models_kept: int
) -> None:
    c = config(
        "evaluate.num_samples=4",
        "evaluate.k=[1]",
        f"evaluate.epochs={epochs}",
        "puzzles.num_dev=10",
        "finetune.epochs=3",
        "rounds=1",
    )
    base, one = rounds(c, Splits(train=90, dev=10, held_out=20, same_type=5, most_same_type=9))
    assert (base.evaluations, one.evaluations) == (after_base, after_round)
    assert (base.models, one.models) == (0, models_kept)


def test_a_round_ends_with_the_shard_that_should_bring_its_pairs() -> None:
    c = config("propose.num_pairs=[1000, 100000]", "propose.num_proposals=5000")
    one_a_proposal = Rates(kept=0.5, pairs=1.0, trivial_answers=30)
    assert expected_proposals(c, 1, one_a_proposal) == 2048  # 2,000 in shards of 256
    assert expected_proposals(c, 2, one_a_proposal) == 5000


def test_pairs_are_at_most_what_was_wanted_and_a_last_shard() -> None:
    c = config("propose.num_pairs=1000", "propose.num_proposals=5000", "rounds=1")
    most = count_rounds(c, BUILTIN, LENGTHS, rates_at_most(c), at_most=True)[1]
    assert most.proposals == 5000
    assert most.pairs == 999 + 256 * 8


def test_max_pairs_bounds_a_round() -> None:
    c = config("curate.max_pairs=7", "rounds=2")
    assert [one.pairs for one in rounds(c)] == [0, 7, 7]


def test_without_behaviour_nothing_is_compared() -> None:
    c = config("decontaminate.checks=[text, ngrams]", "rounds=1")
    assert rounds(c)[1].compared == 0


@pytest.mark.parametrize(
    ("completions", "a_prompt", "batch_size", "reads"),
    [
        (1000, 4, 128, 250),
        (1000, 16, 24, 63 + 42),
        (100, 128, 32, 1 + 4),
        (3, 1, 128, 3),
        (2, 17, 16, 2),
    ],
)
def test_a_prompt_is_read_once_a_batch(
    completions: int, a_prompt: int, batch_size: int, reads: int
) -> None:
    assert prompt_reads(completions, a_prompt, batch_size) == reads


@pytest.mark.parametrize(
    ("examples", "tokens", "blocks"),
    [(10, 100, 1), (11, 100, 2), (10, 600, 10), (10, 1024, 10), (10, 1025, 20), (0, 100, 0)],
)
def test_no_example_is_split_but_one_longer_than_a_block(
    examples: int, tokens: float, blocks: int
) -> None:
    assert count_blocks(examples, tokens, 1024) == blocks


def test_an_attempt_in_ten_is_assumed_right_up_to_m() -> None:
    assert assumed_rates(config("solve.num_attempts=20"), 60) == Rates(0.5, 2.0, 30.0)
    assert assumed_rates(config("solve.num_attempts=128"), 60) == Rates(0.5, 8, 30.0)
    unverified = config("solve.num_attempts=4", "curate.verdicts=unverified")
    assert assumed_rates(unverified, 60) == Rates(0.5, 4, 30.0)


def test_gpu_hours_are_those_of_the_paper_where_the_work_is_the_papers() -> None:
    evaluation = Counts(sampled_evaluating=22_800 * 150)
    training = Counts(trained=160_000_000)
    c = config()
    assert gpu_hours(evaluation, c, 2_651_307_520).sampling == pytest.approx(4.0, rel=0.01)
    assert gpu_hours(training, c, 2_651_307_520).training == pytest.approx(40, rel=0.01)


def test_what_a_server_samples_takes_none_of_our_hours() -> None:
    server = "{name: a, server: 'http://localhost:1/v1'}"
    counts = Counts(sampled_proposing=10**9, sampled_solving=10**9)
    served = config(f"propose.model={server}", f"solve.model={server}")
    assert gpu_hours(counts, served, 10**9).sampling == 0
    assert gpu_hours(counts, config(), 10**9).sampling == pytest.approx(882, rel=0.01)


def test_durations_are_counts_times_the_median_with_the_least_and_the_most() -> None:
    speeds = Speeds(
        load=(10.0,),
        propose=(0.1, 0.2, 0.4),
        filter=(0.01,),
        solve=(0.03, 0.02, 0.04),
        judge=(0.001, 0.003),
        decontaminate=(0.5,),
        step=(1.0, 2.0, 3.0),
        evaluate=(0.1,),
        evaluate_judge=(0.2, 0.4),
    )
    counts = Counts(proposals=100, attempts=1000, pairs=4, steps=7, models=1, evaluations=50)
    stages = stage_seconds(counts, speeds)
    assert stages["propose"] == Seconds(20, 10, 40)
    assert stages["judge"] == Seconds(2, 1, 3)
    assert stages["decontaminate"] == Seconds(2, 2, 2)
    assert stages["fine-tune"] == Seconds(24, 17, 31)
    assert stages["evaluate"] == Seconds(30, 25, 35)
    assert in_all([Seconds(2, 1, 3), Seconds(20, 10, 40)]) == Seconds(22, 11, 43)


def test_files_are_rows_times_their_bytes_and_models_times_theirs() -> None:
    rows = RowBytes(100, 50, 200, 20, 300, 250, 80, 60)
    counts = Counts(proposals=10, puzzles=5, attempts=40, examples=6, steps=3, epochs=2, models=2)
    splits = Splits(train=9, dev=1, held_out=4, same_type=1, most_same_type=2)
    c = config("evaluate.num_samples=2", "evaluate.k=[1]", "evaluate.epochs=all")
    assert round_files(c, counts, splits, rows, 1_000_000) == {
        "1-proposals.jsonl": 1000,
        "2-puzzles.jsonl": 250,
        "3-candidates.jsonl": 8000,
        "3-difficulties.jsonl": 100,
        "4-examples.jsonl": 1800,
        "5-model": 2_000_180,
        "6-eval-candidates.jsonl": 4 * 3 * 250,
        "6-eval.jsonl": 5 * 2 * 80,
    }


def test_numbers_sizes_and_durations_read_easily() -> None:
    assert [number(n) for n in (0, 999_999, 1_250_000, 3.2e9)] == [
        "0",
        "999,999",
        "1.2 M",
        "3.2 G",
    ]
    assert [size(n) for n in (900, 7_600_000, 2.5e11)] == ["1 kB", "7.6 MB", "250.0 GB"]
    assert [duration(s) for s in (5, 480, 9000, 864_000)] == ["5 s", "8 min", "2.5 h", "10.0 days"]


def test_weights_are_counted_without_being_loaded(tiny_model: Path) -> None:
    on_disk = (tiny_model / "model.safetensors").stat().st_size
    weights = measure_weights(ModelConfig(name=str(tiny_model)), FinetuneConfig())
    assert weights.trained_parameters == weights.parameters
    assert weights.context_tokens == 512
    assert 0 < on_disk - weights.saved_bytes < 10_000  # the file's header


def test_an_adapter_saves_its_own_weights_alone(tiny_model: Path) -> None:
    lora = FinetuneConfig.model_validate({"method": "lora", "lora": {"rank": 2}})
    weights = measure_weights(ModelConfig(name=str(tiny_model)), lora)
    # Two layers, each of q 32x32, k and v 32x16, o 32x32, gate and up 32x64, down 64x32.
    assert weights.trained_parameters == 2 * 2 * (2 * 64 + 2 * 48 + 3 * 96)


def test_a_model_that_was_not_downloaded_is_not_local(tiny_model: Path) -> None:
    assert are_local(ModelConfig(name=str(tiny_model)))
    assert not are_local(ModelConfig(name="nobody/no-such-model"))


def small(tmp_path: Path, tiny_model: Path, *settings: str) -> Config:
    held_out = write_puzzles(tmp_path / "held_out.jsonl", few_held_out())
    train = write_puzzles(tmp_path / "train.jsonl", few_train())
    return load_config(
        None,
        [
            f"puzzles.train={train}",
            f"puzzles.held_out={held_out}",
            f"model.name={tiny_model}",
            "model.device=cpu",
            "model.batch_size=8",
            "rounds=2",
            "propose.num_proposals=16",
            "propose.max_new_tokens=60",
            "solve.num_attempts=3",
            "solve.max_new_tokens=60",
            "solve.num_few_shot=0",
            "judge.num_workers=1",
            "evaluate.num_samples=2",
            "evaluate.k=[1, 2]",
            "evaluate.epochs=all",
            "puzzles.num_dev=4",
            "finetune.block_tokens=128",
            "finetune.epochs=2",
            "diversity.embeddings=false",
            *settings,
        ],
    )


def test_a_run_stays_within_the_plan(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    c = small(tmp_path, tiny_model)
    sampler = ScriptedSampler()
    monkeypatch.setattr(models, "load_sampler", lambda *_: sampler)
    assert run(c, tmp_path / "run") == 0
    weights = measure_weights(c.model, c.finetune)
    plan = make_plan(c, read_all(c), Known(weights, count_roughly, None, "No probe.", ""))
    most = plan.most
    for here in RunDirectory(tmp_path / "run").complete_rounds()[1:]:
        metrics = read_json(here.metrics)
        assert metrics["funnel/completions"] == most[here.number].proposals == 16
        assert 0 < sum(1 for _ in read_rows(here.candidates)) <= most[here.number].attempts
        assert 0 < metrics["funnel/examples"] <= most[here.number].pairs
        assert 0 < metrics["train/num_examples"] <= most[here.number].examples
        assert 0 < metrics["train/steps"] <= most[here.number].steps
        assert len(here.epochs()) == most[here.number].models
    whole = add_up(most)
    solving = sum(
        sum(1 for _ in read_rows(here.candidates))
        for here in RunDirectory(tmp_path / "run").complete_rounds()[1:]
    )
    assert len(sampler.requests) - solving == whole.proposals + whole.evaluations


def test_a_local_model_is_probed_and_the_next_command_named(
    tmp_path: Path,
    tiny_model: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(probe, "SECONDS", 3.0)
    c = small(tmp_path, tiny_model)
    assert show_plan(c, Path("configs/a.yaml"), ["rounds=2"], None) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "selftrain run configs/a.yaml rounds=2"
    assert re.search(r"^and about \d+ (s|min) on this machine", "\n".join(lines), re.M)
    assert any(line.startswith("  solve ") for line in lines)


def test_the_first_step_of_fine_tuning_is_not_timed(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fine_tune(*_: object, advance: Callable[[int], object], **__: object) -> None:
        advance(0)
        for seconds in (100, 1, 2, 3, 4):
            clock.append(clock[-1] + seconds)
            advance(1)

    clock = [0]
    monkeypatch.setattr("selftrain.finetune.train.fine_tune", fine_tune)
    monkeypatch.setattr(probe.time, "monotonic", lambda: clock[-1])
    c = small(tmp_path, tiny_model)
    x = probe.probe_experiment(c, few_train(), [], few_held_out())
    assert probe._step(x, []) == (1, 2, 3)


def test_without_the_hub_a_plan_says_what_it_leaves_out(
    tmp_path: Path, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    c = small(tmp_path, tiny_model, "model.name=nobody/no-such-model")
    assert show_plan(c, Path("a.yaml"), [], None) == 0
    said = capsys.readouterr().out
    assert "nobody/no-such-model is not on this machine and the hub does not answer" in said
    assert "Left out: the bytes of models" in said


def test_a_plan_says_that_it_leaves_a_rounds_verifier_out(
    tmp_path: Path, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show_plan(small(tmp_path, tiny_model), Path("a.yaml"), [], False) == 0
    assert "verifier" not in capsys.readouterr().out
    c = small(tmp_path, tiny_model, "verifier.enabled=true", "verifier.steps=160")
    assert show_plan(c, Path("a.yaml"), [], False) == 0
    said = capsys.readouterr().out
    assert (
        "Left out: a verifier a round, which learns in 160 steps of at most 64 candidates" in said
    )


def test_a_folder_without_a_shape_is_refused(tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="has no shape to be read"):
        measure_weights(ModelConfig(name=str(tmp_path)), FinetuneConfig())
