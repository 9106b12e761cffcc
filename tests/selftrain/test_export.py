"""What a run exports is read by others' tools, whole, and says where it comes from."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from scripted import few_held_out, scripted_run

from selftrain import models
from selftrain.cli import main
from selftrain.config_file import load_config
from selftrain.errors import RunError, UsageError
from selftrain.export import export, parquet
from selftrain.export.dataset import PARTS
from selftrain.export.parquet import write_parquet
from selftrain.files import Row, read_json, read_rows, write_json, write_rows
from selftrain.judge import NOT_JUDGED
from selftrain.run_directory import RoundDirectory, RunDirectory

SETTINGS = (
    "rounds=1",
    "propose.num_proposals=12",
    "propose.shard_size=12",
    "solve.num_attempts=3",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "finetune.block_tokens=128",
    "finetune.method=lora",
    "finetune.learning_rate=1e-2",
    "finetune.lora.rank=2",
    "model.device=cpu",
    "model.dtype=float32",
    "diversity.embeddings=false",
)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> RunDirectory:
    """Give a run of one round that trained an adapter, to be looked at only."""
    folder = tmp_path_factory.mktemp("runs")
    scripted_run(folder, tiny_model, SETTINGS)
    directory = RunDirectory(folder / "run")
    example = next(read_rows(directory.round(1).examples))
    why = {"held_out": few_held_out()[0].name, "reason": "text", "detail": "the same text"}
    write_rows(directory.round(1).removed, [{**example, **why}])
    return directory


@pytest.fixture(scope="module")
def exported(done: RunDirectory) -> Path:
    """Export it as the command does by default."""
    assert main(["export", str(done.path)]) == 0
    return done.path.with_name("run-round-001")


@pytest.fixture
def copied(done: RunDirectory, tmp_path: Path) -> RunDirectory:
    """Give a copy of the run that may be changed."""
    return RunDirectory(Path(shutil.copytree(done.path, tmp_path / "run")))


def load(folder: Path, part: str, cache: Path) -> dict[str, list[Row]]:
    """Read a part as anyone would; give the rows of each split."""
    from datasets import load_dataset

    loaded = load_dataset(str(folder), part, cache_dir=str(cache))
    return {split: list(rows) for split, rows in loaded.items()}


def head(card: Path) -> dict[str, Any]:
    """Read the YAML that a card begins with."""
    return YAML(typ="safe").load(card.read_text(encoding="utf-8").split("---\n")[1])


def test_datasets_reads_the_examples_as_they_were_trained_on(
    done: RunDirectory, exported: Path, tmp_path: Path
) -> None:
    from datasets import load_dataset

    by_default = load_dataset(str(exported / "dataset"), cache_dir=str(tmp_path))
    assert list(by_default) == ["train"]
    assert list(by_default["train"]) == list(read_rows(done.round(1).examples))


def test_datasets_reads_every_part_whole(
    done: RunDirectory, exported: Path, tmp_path: Path
) -> None:
    here = done.round(1)
    rows = {part.name: load(exported / "dataset", part.name, tmp_path) for part in PARTS}
    assert [list(splits) for splits in rows.values()] == [[part.split] for part in PARTS]
    candidates = rows["candidates"]["train"]
    assert [row["text"] for row in candidates] == [
        row["text"] for row in read_rows(here.candidates)
    ]
    assert [row["passed"] for row in candidates] == [
        row["passed"] for row in read_rows(here.candidates)
    ]
    assert [row["f"] for row in rows["puzzles"]["train"]] == [
        row["f"] for row in read_rows(here.puzzles)
    ]
    proposals = list(read_rows(here.proposals))
    assert [row["prompt_puzzles"] for row in rows["proposals"]["train"]] == [
        row["prompt_puzzles"] for row in proposals
    ]
    assert [row["reason"] for row in rows["proposals"]["train"]] == [
        row["rejection"]["reason"] if row["rejection"] else None for row in proposals
    ]
    evaluated = [
        (number, row["name"], row["n"], row["num_correct"])
        for number in (0, 1)
        for row in read_rows(done.round(number).evaluation)
    ]
    assert [
        (row["round"], row["name"], row["n"], row["num_correct"])
        for row in rows["evaluation"]["test"]
    ] == evaluated


def test_a_candidate_that_was_not_judged_has_neither_passed_nor_failed(
    copied: RunDirectory, tmp_path: Path
) -> None:
    here = copied.round(1)
    rows = list(read_rows(here.candidates))
    spared = {**rows[0], "outcome": NOT_JUDGED, "passed": False, "ordered": True}
    write_rows(here.candidates, [spared, *rows[1:]])
    assert export(copied.path, tmp_path / "out", None, merged=False) == 0
    found = load(tmp_path / "out" / "dataset", "candidates", tmp_path)["train"]
    assert [row["passed"] for row in found] == [None, *(row["passed"] for row in rows[1:])]


def leak(here: RoundDirectory) -> None:
    """Put a held-out puzzle into every file of a round: as it is, and quoted under another name."""
    f, name, puzzle_id = few_held_out()[0].f, few_held_out()[0].name, few_held_out()[0].id
    quote = f"x: int):\n    return x == 1\n\n{f.replace('def f(', 'def f2(')}\n\ndef f3("
    commented = f.replace("\n", "\n    'why'\n", 1)
    equal = {"reason": "duplicate", "detail": f"it equals {name}"}
    close = {"reason": "too_close", "detail": f"near {name}"}
    removed = {"held_out": name, "detail": "near"}
    leaked: dict[Path, list[Row]] = {
        here.proposals: [
            {"id": "equal", "text": commented[6:], "f": commented, "rejection": equal},
            {"id": "head", "text": f"{f[6:]}\n\ndef f3(", "f": None, "rejection": None},
            {"id": "quote", "text": quote, "f": None, "rejection": None},
            {"id": "close", "text": "near()", "f": "near()", "rejection": close},
            {"id": "kept", "text": f, "f": f, "puzzle_id": puzzle_id, "rejection": None},
        ],
        here.puzzles: [{"id": puzzle_id, "f": f}],
        here.candidates: [{"puzzle_id": puzzle_id}, {"text": f"\n    return 1\n\ndef f({quote}"}],
        here.examples: [{"puzzle_id": puzzle_id, "prompt": f}],
        here.removed: [
            {"name": "text", "f": "near()", "g": "near()", "reason": "text", **removed},
            {"name": "syntax", "f": "near()", "g": "near()", "reason": "syntax", **removed},
            {"name": "id", "puzzle_id": puzzle_id, "f": f, "reason": "behaviour", **removed},
        ],
    }
    for path, rows in leaked.items():
        first, *others = read_rows(path)
        write_rows(path, [first, *others, *({**first, **row} for row in rows)])
    metrics = read_json(here.metrics)
    write_json(here.metrics, {**metrics, "train/num_examples": metrics["train/num_examples"] + 1})


def test_no_held_out_puzzle_is_in_the_dataset(copied: RunDirectory, tmp_path: Path) -> None:
    here = copied.round(1)
    before = {path: list(read_rows(path)) for path in (here.proposals, here.puzzles)}
    leak(here)
    assert export(copied.path, tmp_path / "out", None, merged=False) == 0
    out = tmp_path / "out" / "dataset"
    parts = {part.name: load(out, part.name, tmp_path / "cache") for part in PARTS}
    said = json.dumps(parts)
    assert few_held_out()[0].name in said
    assert not [one for one in few_held_out() if json.dumps(one.f)[len('"def f') : -1] in said]
    assert "near()" not in said
    proposals = parts["proposals"]["train"]
    blank = [row["id"] for row in proposals if row["text"] is None and row["f"] is None]
    assert blank == ["equal", "head", "quote", "close", "kept"]
    # What merely does not parse is no held-out puzzle.
    assert [row["text"] for row in proposals[:12]] == [
        row["text"] for row in before[here.proposals]
    ]
    assert "syntax" in {row["reason"] for row in proposals if row["text"]}
    assert len(parts["puzzles"]["train"]) == len(before[here.puzzles])
    assert (
        "left out are 1 of `examples`, 1 of `puzzles`, 2 of `candidates`; without their texts are "
        "5 of `proposals`, 4 of `removed`."
    ) in (out / "README.md").read_text()


def test_the_data_card_counts_what_is_there(
    done: RunDirectory, exported: Path, tmp_path: Path
) -> None:
    card = exported / "dataset" / "README.md"
    text = card.read_text(encoding="utf-8")
    for part in PARTS:
        (rows,) = load(exported / "dataset", part.name, tmp_path).values()
        assert f"| `{part.name}` | {part.split} | {len(rows):,} |" in text
    made = read_json(done.provenance)
    for value in (
        *made["judge"].values(),
        "`filter.max_containment`",
        "near to a held-out puzzle: 1 text",
    ):
        assert value in text
    assert "| base model | tiny | not known to this program" in text
    assert "| train puzzles, shown in prompts | builtin | MIT (selftrain) |" in text
    assert {one["config_name"] for one in head(card)["configs"]} == {part.name for part in PARTS}


def test_peft_loads_the_adapter_onto_its_base(exported: Path, tiny_model: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    model = PeftModel.from_pretrained(base, exported / "model")
    assert model.peft_config["default"].r == 2
    assert AutoTokenizer.from_pretrained(exported / "model").eos_token_id is not None
    assert not (exported / "model" / "training.jsonl").exists()


def test_an_adapter_names_its_base_and_revision_as_the_configuration_does(
    copied: RunDirectory, tmp_path: Path
) -> None:
    config = copied.config.read_text()
    name = load_config(copied.config).model.name
    config = config.replace(name, "some/model").replace("revision: null", "revision: abc123")
    copied.config.write_text(config)
    assert export(copied.path, tmp_path / "out", None, merged=False) == 0
    adapter = read_json(tmp_path / "out" / "model" / "adapter_config.json")
    assert (adapter["base_model_name_or_path"], adapter["revision"]) == ("some/model", "abc123")


def test_merged_weights_are_those_that_the_run_samples_from(
    done: RunDirectory, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    assert main(["export", str(done.path), "--merged", "--output", str(tmp_path / "out")]) == 0
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "out" / "model")
    sampled = models.load_model(load_config(done.config).model, done.round(1).model)
    base = models.load_model(load_config(done.config).model)
    states = [one.state_dict() for one in (model, sampled, base)]
    assert all(states[0][key].equal(states[1][key]) for key in states[1])
    assert not all(states[0][key].equal(states[2][key]) for key in states[2])
    assert len(AutoTokenizer.from_pretrained(tmp_path / "out" / "model")) > 0


def test_whole_weights_are_exported_as_they_are(
    copied: RunDirectory, tiny_model: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM

    trained = copied.round(1).model
    log = copied.round(1).training_log.read_bytes()
    shutil.rmtree(trained)
    shutil.copytree(tiny_model, trained)
    copied.round(1).training_log.write_bytes(log)
    write_json(copied.round(1).chosen_epoch, {"epoch": 1})
    assert export(copied.path, tmp_path / "out", None, merged=True) == 0
    out = tmp_path / "out" / "model"
    assert (out / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()
    assert AutoModelForCausalLM.from_pretrained(out).num_parameters() > 0
    assert not {"training.jsonl", "epoch.json"} & {path.name for path in out.iterdir()}


def test_the_model_card_has_base_scores_with_intervals_and_how_to_load_it(
    done: RunDirectory, exported: Path
) -> None:
    card = exported / "model" / "README.md"
    text = card.read_text(encoding="utf-8")
    metrics = read_json(done.round(1).metrics)
    value, low, high = (100 * metrics[f"eval/pass@1{end}"] for end in ("", "_low", "_high"))
    assert f"| 1 | {value:.1f} [{low:.1f}, {high:.1f}] |" in text
    assert f"{metrics['train/num_examples']:,} pairs" in text
    assert "PeftModel.from_pretrained(base" in text
    results = head(card)["model-index"][0]["results"][0]["metrics"]
    assert results[0] == {"type": "pass@1", "value": round(value / 100, 4)}
    assert [one["type"] for one in results] == ["pass@1", "pass@2"]
    assert str(done.path.parent) not in text


def test_nothing_is_overwritten(exported: Path, done: RunDirectory) -> None:
    before = sorted(exported.rglob("*"))
    with pytest.raises(UsageError, match="is there already, and nothing is overwritten"):
        export(done.path, exported, None, merged=False)
    assert sorted(exported.rglob("*")) == before


def test_an_export_that_fails_leaves_no_folder_and_the_next_one_is_whole(
    copied: RunDirectory, tmp_path: Path
) -> None:
    candidates = copied.round(1).candidates
    whole = candidates.read_bytes()
    candidates.write_bytes(whole[:-20])
    output = tmp_path / "out"
    assert main(["export", str(copied.path), "--output", str(output)]) == 1
    assert not output.exists()
    candidates.write_bytes(whole)
    assert main(["export", str(copied.path), "--output", str(output)]) == 0
    assert len(list(output.rglob("*.parquet"))) == len(PARTS)


def test_a_round_that_trained_nothing_is_refused(done: RunDirectory, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="round 2 is not complete, or trained no model"):
        export(done.path, tmp_path / "out", 2, merged=False)


def test_half_a_surrogate_pair_is_spelt_out_and_counted(
    copied: RunDirectory, tmp_path: Path
) -> None:
    here = copied.round(1)
    first, *rest = read_rows(here.candidates)
    write_rows(here.candidates, [{**first, "text": "a\ud800b", "detail": "\udfff"}, *rest])
    assert export(copied.path, tmp_path / "out", None, merged=False) == 0
    row = load(tmp_path / "out" / "dataset", "candidates", tmp_path / "cache")["train"][0]
    assert (row["text"], row["detail"]) == ("a\\ud800b", "\\udfff")
    assert "In 2 texts half a surrogate pair" in (tmp_path / "out/dataset/README.md").read_text()


def test_rows_are_written_in_batches_and_in_files_of_bounded_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    from pyarrow.parquet import read_table

    monkeypatch.setattr(parquet, "FILE_ROWS", 5)
    monkeypatch.setattr(parquet, "BATCH_ROWS", 2)
    ahead = 0

    def rows() -> Iterator[Row]:
        nonlocal ahead
        for number in range(11):
            ahead = number
            yield {"n": number, "unknown": "left out"}

    written = write_parquet(tmp_path / "part", "train", rows(), pa.schema([("n", pa.int64())]))
    files = sorted((tmp_path / "part").iterdir())
    assert [path.name for path in files] == [f"train-0000{number}.parquet" for number in range(3)]
    assert [read_table(path).num_rows for path in files] == [5, 5, 1]
    assert [n for path in files for n in read_table(path)["n"].to_pylist()] == list(range(11))
    assert (written.num_rows, written.num_escaped, ahead) == (11, 0, 10)


def test_a_part_without_rows_has_neither_file_nor_configuration(
    copied: RunDirectory, tmp_path: Path
) -> None:
    write_rows(copied.round(1).removed, [])
    assert export(copied.path, tmp_path / "out", None, merged=False) == 0
    out = tmp_path / "out" / "dataset"
    assert not (out / "removed").exists()
    assert "removed" not in {one["config_name"] for one in head(out / "README.md")["configs"]}


def test_what_lies_beside_the_output_is_left_alone(done: RunDirectory, tmp_path: Path) -> None:
    mine = tmp_path / "out.unfinished" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert export(done.path, tmp_path / "out", None, merged=False) == 0
    assert mine.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"out", "out.unfinished"}


def test_examples_that_were_changed_since_are_refused(copied: RunDirectory, tmp_path: Path) -> None:
    copied.round(1).examples.write_text("")
    with pytest.raises(RunError, match=r"4-examples\.jsonl: has 0 rows, but the round was trained"):
        export(copied.path, tmp_path / "out", None, merged=False)
    assert not (tmp_path / "out").exists()
