"""The configuration: what does not fit is refused with one sentence: file, dotted key, value."""

from pathlib import Path

import pytest

from selftrain.config import Config, of_round
from selftrain.config_file import differences, load_config, save_config
from selftrain.errors import UsageError

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))


def write(folder: Path, text: str) -> Path:
    path = folder / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return path


REFUSED = [
    (
        "solve:\n  temprature: 1\n",
        "solve.temprature is not a setting. Did you mean solve.temperature?",
    ),
    ("sede: 1\n", "sede is not a setting. Did you mean seed?"),
    ("solve:\n  rank: 1\n", "solve.rank is not a setting. Did you mean finetune.lora.rank?"),
    (
        "curate:\n  zzz: 1\n",
        "curate.zzz is not a setting. There is, in curate: verdicts, max_solutions, max_pairs, choose, drop_always_solved.",
    ),
    ("rounds: three\n", "rounds should be a whole number, but 'three' (text) was found."),
    ("rounds: true\n", "rounds should be a whole number, but True (true or false) was found."),
    ("rounds: 2.0\n", "rounds should be a whole number, but 2.0 (a number) was found."),
    ("model:\n  name: 3\n", "model.name should be a string, but 3 (a whole number) was found."),
    (
        "finetune:\n  method: lra\n",
        "finetune.method should be 'full' or 'lora', but 'lra' (text) was found.",
    ),
    (
        "finetune:\n  lora:\n    rank: 0\n",
        "finetune.lora.rank should be greater than or equal to 1, but 0 (a whole number) was found.",
    ),
    (
        "filter:\n  max_containment: 1.5\n",
        "filter.max_containment should be less than or equal to 1, but 1.5 (a number) was found.",
    ),
    (
        "finetune:\n  learning_rate: .inf\n",
        "finetune.learning_rate should be a finite number, but inf (a number) was found.",
    ),
    (
        "propose:\n  num_proposals: 0\n",
        "propose.num_proposals should be greater than or equal to 1, but 0 (a whole number) was found.",
    ),
    (
        "propose:\n  num_proposals: []\n",
        "propose.num_proposals should have at least 1 item, but [] (a list) was found.",
    ),
    (
        "propose:\n  num_pairs: [5, x]\n",
        "propose.num_pairs should be a whole number, but 'x' (text) was found.",
    ),
    ("evaluate:\n  k: 5\n", "evaluate.k should be a list, but 5 (a whole number) was found."),
    ("evaluate:\n  k: []\n", "evaluate.k should have at least 1 item, but [] (a list) was found."),
    (
        "evaluate:\n  k: [1, 17]\n",
        "evaluate.k holds 17 but evaluate.num_samples is 16; Pass@k needs n >= k. Raise one or lower the other.",
    ),
    (
        "curate: 3\n",
        "curate is a section and holds verdicts, max_solutions, max_pairs, choose, drop_always_solved, but 3 (a whole number) was found.",
    ),
    (
        "propose:\n  model:\n    nme: a\n",
        "propose.model.nme is not a setting. Did you mean propose.model.name?",
    ),
    (
        "propose:\n  model: a\n",
        "propose.model is a section and holds name, engine, server, api, samples_per_request, requests_per_minute, dollars_per_million_tokens, api_key_variable, revision, trust_remote_code, weights, context_tokens, dtype, device, batch_size, but 'a' (text) was found.",
    ),
    (
        "propose: {model: {name: m, samples_per_request: 8}}\n",
        "propose.model.samples_per_request says how a server is asked, but propose.model.server is null. Set propose.model.server, or leave it out.",
    ),
    (
        "solve: {model: {name: m, api_key_variable: MY_KEY}}\n",
        "solve.model.api_key_variable says how a server is asked, but solve.model.server is null. Set solve.model.server, or leave it out.",
    ),
    (
        "solve: {model: {name: m, server: http://localhost:1/v1, engine: vllm}}\n",
        "solve.model.server samples, so solve.model.engine=vllm would do nothing. Leave one of them out.",
    ),
    (
        "curate: {verdicts: unverified, choose: middle_first}\n",
        "curate.verdicts is unverified, but curate.drop_always_solved and curate.choose=middle_first choose by verdicts. Leave these two out.",
    ),
    (
        "evaluate:\n  epochs: dev\n",
        "evaluate.epochs is dev but puzzles.num_dev is 0, so there is nothing to choose the epoch on. Set puzzles.num_dev, such as 30.",
    ),
    ("- 1\n", "a configuration is a mapping of sections, but this is a list."),
]


REFUSED += [
    (
        f"ablate: {{generators: [{{name: m, server: http://localhost:1/v1, {key}: {value}}}]}}\n",
        f"ablate.generators[0].server samples, so ablate.generators[0].{key}={value} would do nothing. Leave one of them out.",
    )
    for key, value in {
        "revision": "main",
        "weights": "any",
        "dtype": "bfloat16",
        "device": "cpu",
        "trust_remote_code": True,
    }.items()
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED, ids=[text for text, _ in REFUSED])
def test_what_does_not_fit_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load_config(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^missing\.yaml: there is no such file"):
        load_config(Path("missing.yaml"))


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read as a configuration"):
        load_config(tmp_path)


def test_a_yaml_error_names_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "seed: 1\nsolve: [\n")
    with pytest.raises(UsageError, match=r"a\.yaml, line \d: not valid YAML") as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"seed: \xff\n")
    with pytest.raises(UsageError, match="cannot be read as a configuration"):
        load_config(path)


def test_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "seed: 1\nseed: 2\n")
    with pytest.raises(UsageError, match='line 2: not valid YAML: found duplicate key "seed"'):
        load_config(path)


def test_the_command_line_overrides_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "seed: 1\nsolve:\n  num_attempts: 2\n  max_new_tokens: 7\n")
    config = load_config(
        path, ["solve.num_attempts=3", "finetune.lora.rank=4", "finetune.learning_rate=1e-3"]
    )
    assert config.seed == 1
    assert config.solve.num_attempts == 3
    assert config.solve.max_new_tokens == 7
    assert config.finetune.lora.rank == 4
    assert config.finetune.learning_rate == 0.001


@pytest.mark.parametrize(
    "override",
    ["solve.num_attempts=x", "propose.num_proposals=[0]", "solve.zzz=1", "solve={zzz: 1}"],
)
def test_a_wrong_override_is_blamed_on_the_command_line(tmp_path: Path, override: str) -> None:
    with pytest.raises(UsageError, match=r"^command line: "):
        load_config(write(tmp_path, "seed: 1\n"), [override])


def test_a_wrong_file_is_not_blamed_on_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path, "solve:\n  num_attempts: x\n")
    with pytest.raises(UsageError, match=r"a\.yaml: solve\.num_attempts"):
        load_config(path, ["seed=1"])


@pytest.mark.parametrize("override", ["seed", "=3", "seed.x=1", "solve.num_attempts=[", ""])
def test_an_override_that_is_no_setting_is_refused(override: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_config(None, [override])
    assert "\n" not in str(caught.value)


def test_one_value_for_all_rounds_or_one_a_round() -> None:
    config = load_config(None, ["propose.num_proposals=[5, 6]", "propose.num_pairs=9"])
    numbers = [of_round(config.propose.num_proposals, number) for number in (1, 2, 3)]
    assert numbers == [5, 6, 6]
    assert config.propose.num_pairs is not None
    assert of_round(config.propose.num_pairs, 2) == 9


def test_an_empty_section_means_the_defaults(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, "solve:\n  # num_attempts: 3\n")) == Config()


@pytest.mark.parametrize("path", CONFIGS, ids=[path.name for path in CONFIGS])
def test_a_shipped_configuration_loads_and_reads_back_equal(tmp_path: Path, path: Path) -> None:
    config = load_config(path)
    save_config(config, tmp_path / "saved.yaml")
    assert load_config(tmp_path / "saved.yaml") == config


def test_a_configuration_of_every_kind_of_value_reads_back_equal(tmp_path: Path) -> None:
    config = load_config(
        None,
        [
            "propose.num_proposals=[5, 6]",
            "finetune.lora.target_modules=[q_proj, v_proj]",
            "finetune.learning_rate=1e-3",
            "limits.hours=1.5",
            "model.revision='1e3'",
            "puzzles.train='a: b#c'",
        ],
    )
    save_config(config, tmp_path / "saved.yaml")
    assert load_config(tmp_path / "saved.yaml") == config


def test_differences_name_key_and_both_values() -> None:
    ours, theirs = load_config(None, ["judge.fuel=7", "rounds=2"]), Config()
    assert differences(ours, theirs) == ["rounds 3, now 2", "judge.fuel 4000000000, now 7"]
