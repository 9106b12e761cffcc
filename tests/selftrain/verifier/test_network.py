"""Verifiers of every kind of model: what is scored alike, saved and loaded, and what is refused."""

import json
from pathlib import Path

import pytest
import torch
from tiny_networks import END, PAD, about, make_network, make_tasks, settings

from selftrain.config import ModelConfig, VerifierConfig
from selftrain.errors import UsageError
from selftrain.verifier.learning.inputs import Encoded, reads_of
from selftrain.verifier.learning.learn import learn
from selftrain.verifier.learning.network import (
    Verifier,
    batch_log_odds,
    in_batches,
    load,
    load_base,
    save,
)
from selftrain.verifier.learning.score import log_odds

KINDS = ("roberta", "bert", "llama", "qwen2", "gpt2", "gpt_neo", "t5", "bart")
LORA = {"method": "lora", "lora": {"rank": 2}, "learning_rate": 1e-2}


def start(config: VerifierConfig, seed: int = 0) -> Verifier:
    return load_base(config, reads_of(config, "full"), seed)


def scores(verifier: Verifier, batch_size: int = 3) -> list[tuple[float, ...]]:
    return log_odds(verifier, make_tasks(), batch_size=batch_size, advance=lambda _: None)


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("networks")
    return {kind: make_network(kind, folder / kind) for kind in (*KINDS, "mamba")}


@pytest.mark.parametrize("kind", [*KINDS, "t5 head", "bart head"])
def test_padding_changes_no_score(networks: dict[str, Path], kind: str) -> None:
    kind, _, head = kind.partition(" ")
    verifier = start(settings(networks[kind], output="head" if head else "auto"))
    verifier.model.eval()
    rows = [
        Encoded((*range(5, 5 + length), *[END] * (kind not in ("llama", "gpt2"))), ())
        for length in (3, 40, 17)
    ]
    with torch.no_grad():
        together = batch_log_odds(verifier, rows)
        alone = torch.cat([batch_log_odds(verifier, [row]) for row in rows])
    torch.testing.assert_close(together, alone, atol=2e-5, rtol=2e-5)
    assert together.max() - together.min() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_scores_the_same_once_loaded(
    networks: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    verifier = start(settings(networks[kind]))
    save(verifier, tmp_path)
    assert scores(load(tmp_path, ModelConfig(device="cpu"))) == scores(verifier)


@pytest.mark.parametrize("kind", ["roberta", "llama", "t5", "t5 head"])
def test_a_learnt_adapter_and_its_head_score_the_same_once_loaded(
    networks: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    kind, _, head = kind.partition(" ")
    config = settings(networks[kind], output="head" if head else "auto", **LORA)
    verifier = start(config)
    before = scores(verifier)
    learn(verifier, make_tasks(), make_tasks(2), config, 0, advance=lambda _: None)
    save(verifier, tmp_path)
    assert not (tmp_path / "model.safetensors").exists()
    assert scores(load(tmp_path, ModelConfig(device="cpu"))) == scores(verifier) != before


def test_an_adapter_learns_all_of_a_head_and_adapts_the_rest(networks: dict[str, Path]) -> None:
    verifier = start(settings(networks["roberta"], **LORA))
    names = [name for name, weight in verifier.model.named_parameters() if weight.requires_grad]
    head = [name for name in names if "classifier" in name]
    assert len(head) == 4  # two layers, with their biases
    assert all("lora_" in name for name in names if name not in head)
    assert len(names) > 4


@pytest.mark.parametrize("more", [{}, LORA])
def test_a_seed_draws_the_same_head_whatever_was_drawn_before(
    networks: dict[str, Path], more: dict[str, object]
) -> None:
    config = settings(networks["llama"], **more)
    first = start(config, 7).model.state_dict()
    torch.rand(3)
    state = torch.get_rng_state()
    again, other = start(config, 7).model.state_dict(), start(config, 8).model.state_dict()
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_yes_and_no_are_told_apart_at_the_first_step(networks: dict[str, Path]) -> None:
    verifier = start(settings(networks["t5"]))
    verifier.model.eval()
    row = Encoded((7, 8, END), ())
    assert verifier.yes_no is not None and verifier.yes_no.start == PAD
    with torch.no_grad():
        given = torch.tensor([row.ids]), torch.tensor([[PAD]])
        logits = verifier.model(input_ids=given[0], decoder_input_ids=given[1]).logits[0, 0]
        words = [
            verifier.tokenizer(word, add_special_tokens=False)["input_ids"][0]
            for word in ("yes", "no")
        ]
        right, wrong = torch.log_softmax(logits[words], 0)
        torch.testing.assert_close(batch_log_odds(verifier, [row])[0], right - wrong)


def test_shuffled_tasks_and_batches_leave_each_score_to_the_last_bit(
    networks: dict[str, Path],
) -> None:
    verifier = start(settings(networks["llama"]))
    tasks = make_tasks()
    expected = log_odds(verifier, tasks, batch_size=4, advance=lambda _: None)
    backwards = log_odds(verifier, tasks[::-1], batch_size=4, advance=lambda _: None)
    assert backwards[::-1] == expected


def test_equal_inputs_have_one_score_and_all_candidates_are_told_of(
    networks: dict[str, Path],
) -> None:
    config = settings(networks["llama"])
    verifier = load_base(config, reads_of(config, "no-program"), 0)
    done: list[int] = []
    found = log_odds(verifier, make_tasks(), batch_size=2, advance=done.append)
    assert all(odds[0] == odds[3] for odds in found)  # both return 1
    assert sum(done) == 30


def test_a_task_without_candidates_has_no_score(networks: dict[str, Path]) -> None:
    (task,) = make_tasks(1)
    empty = type(task)("empty", "x", ())
    verifier = start(settings(networks["llama"]))
    found = log_odds(verifier, [empty, task, empty], batch_size=2, advance=lambda _: None)
    assert [len(odds) for odds in found] == [0, 5, 0]


def test_batches_hold_rows_of_like_length() -> None:
    rows = [Encoded(tuple(range(length)), ()) for length in (1, 9, 2, 8, 3)]
    assert list(in_batches(rows, 2)) == [[1, 3], [4, 2], [0]]


def refusal(config: VerifierConfig) -> str:
    with pytest.raises(UsageError) as caught:
        start(config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_can_be_no_verifier_is_refused(networks: dict[str, Path], tmp_path: Path) -> None:
    assert "no mamba with a head" in refusal(settings(networks["mamba"]))
    assert "no encoder-decoder" in refusal(settings(networks["llama"], output="yes_no"))
    assert "reads at most 256" in refusal(settings(networks["roberta"], max_tokens=257))
    assert "reads at most 256" in refusal(settings(networks["gpt2"], max_tokens=257))
    assert start(settings(networks["roberta"], max_tokens=256)).reads.max_tokens == 256
    assert start(settings(networks["t5"], max_tokens=4096)).reads.max_tokens == 4096
    config = settings(networks["llama"], **LORA)
    save(start(config), tmp_path)
    assert "holds an adapter" in refusal(settings(tmp_path))


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("server", "http://localhost:1/v1", "lies on http://localhost"),
        ("dtype", "bfloat16", "float32"),
        ("context_tokens", 128, "max_tokens"),
    ],
)
def test_settings_of_a_generator_are_refused(key: str, value: object, says: str) -> None:
    config = VerifierConfig()
    model = config.model.model_copy(update={key: value})
    assert says in refusal(config.model_copy(update={"model": model}))


def test_a_folder_that_is_no_verifier_is_named(networks: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"llama holds no verifier\.json"):
        load(networks["llama"], ModelConfig())


@pytest.mark.parametrize("damage", ["about", "key", "weights", "head", "tokenizer"])
def test_a_damaged_verifier_is_one_sentence(
    networks: dict[str, Path], tmp_path: Path, damage: str
) -> None:
    save(start(settings(networks["llama"])), tmp_path)
    weights = tmp_path / "model.safetensors"
    if damage == "about":
        (tmp_path / "verifier.json").write_text('{"base": ')
    elif damage == "key":
        (tmp_path / "verifier.json").write_text(json.dumps(about(tmp_path) | {"reads": {"x": 1}}))
    elif damage == "weights":
        weights.write_bytes(weights.read_bytes()[:1000])
    elif damage == "head":
        weights.write_bytes((networks["llama"] / "model.safetensors").read_bytes())
    else:
        (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match="the verifier in it cannot be loaded") as caught:
        load(tmp_path, ModelConfig(device="cpu"))
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)
