"""The presets: each loads, the paper's hold the paper's numbers, and each head tells its cost."""

import re
from pathlib import Path
from typing import Any

import pytest

from scripts.fetch_smollm2 import FOLDER
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.dev import split_dev
from selftrain.plan.counts import add_up
from selftrain.plan.durations import gpu_hours
from selftrain.plan.show import Known, Puzzles, make_plan, read_all
from selftrain.plan.storage import round_files
from selftrain.plan.texts import count_roughly
from selftrain.plan.weights import Weights

CONFIGS = Path("configs")
PAPER = {
    "puzzles.train": "p3",
    "puzzles.held_out": "p3",
    "puzzles.failing_references": "drop",
    "model.context_tokens": 2048,
    "propose.temperature": 0.9,
    "propose.max_new_tokens": 200,
    "propose.num_samples": 64,
    "solve.num_attempts": 128,
    "solve.temperature": 0.9,
    "solve.max_new_tokens": 150,
    "solve.num_few_shot": 5,
    "curate.verdicts": "verified",
    "curate.max_solutions": 8,
    "finetune.method": "full",
    "finetune.start": "base",
    "finetune.learning_rate": 5e-6,
    "finetune.warmup_steps": 10,
    "finetune.schedule": "constant",
    "finetune.batch_size": 4,
    "finetune.block_tokens": 1024,
    "finetune.epochs": 10,
    "evaluate.num_samples": 256,
    "evaluate.temperature": 0.8,
    "evaluate.k": tuple(range(1, 101)),
    "evaluate.epochs": "all",
}
NEO = {"rounds": 2, "propose.num_pairs": (25_000, 1_000_000), "propose.model": None}
CODEX = {
    "rounds": 1,
    "propose.num_pairs": 1_000_000,
    "propose.model.name": "code-davinci-002",
    "propose.model.server": "http://localhost:8000/v1",
    "solve.model.name": "code-cushman-001",
    "solve.model.server": "http://localhost:8000/v1",
    "model.server": None,
}
PRESETS = {
    "paper-neo-125m": {**PAPER, **NEO, "model.name": "EleutherAI/gpt-neo-125m"},
    "paper-neo-1.3b": {**PAPER, **NEO, "model.name": "EleutherAI/gpt-neo-1.3B"},
    "paper-neo-2.7b": {**PAPER, **NEO, "model.name": "EleutherAI/gpt-neo-2.7B"},
    "paper-codex": {**PAPER, **CODEX, "model.name": "EleutherAI/gpt-neo-2.7B"},
    "qwen2.5-coder-0.5b": {"model.name": "Qwen/Qwen2.5-Coder-0.5B", "finetune.method": "lora"},
    "qwen2.5-coder-1.5b": {"model.name": "Qwen/Qwen2.5-Coder-1.5B", "finetune.method": "lora"},
    "qwen2.5-coder-7b": {"model.name": "Qwen/Qwen2.5-Coder-7B", "finetune.method": "lora"},
    "smollm2-135m-gpu": {"model.name": "HuggingFaceTB/SmolLM2-135M", "finetune.method": "full"},
}
LAPTOP = {
    "rounds": 1,
    "puzzles.train": "p3",
    "puzzles.held_out": "p3",
    "puzzles.num_held_out": 10,
    "puzzles.failing_references": "drop",
    "model.name": str(FOLDER),
    "model.dtype": "float32",
    "model.context_tokens": 2048,
    "evaluate.num_samples": 8,
    "evaluate.k": (1, 8),
}
VERIFIERS = {
    "lever-t5-base": {
        "verifier.model.name": "google-t5/t5-base",
        "verifier.output": "yes_no",
    },
    "lever-roberta": {
        "verifier.model.name": "FacebookAI/roberta-large",
        "verifier.output": "head",
    },
}
LEVER = {
    "puzzles.train": "p3",
    "puzzles.held_out": "p3",
    "puzzles.failing_references": "drop",
    "verifier.method": "full",
    "verifier.learning_rate": 5e-5,
    "verifier.weight_decay": 0.1,
    "verifier.steps": 10_000,
    "verifier.warmup_steps": 100,
    "verifier.max_grad_norm": 1.0,
    "verifier.max_tokens": 512,
    "verifier.candidates_per_step": 8,
    "verifier.likelihood": "sum",
    "verifier.groups": True,
    "lever.num_samples": 50,
    "lever.temperature": 0.8,
}
REFINEMENTS = {
    "refine-tiny": {
        "model.name": "builtin:tiny",
        "refine.teach": True,
        "refine.critic": "rules",
        "refine.wording": "continue",
    },
    "refine-smollm2": {
        "model.server": "http://127.0.0.1:8080/v1",
        "model.api": "chat",
        "refine.critic": "self",
        "refine.num_tasks": 10,
    },
    "codegrad-paper": {
        "model.name": "Qwen/Qwen2.5-Coder-3B-Instruct",
        "refine.critic.name": "Qwen/Qwen3-1.7B",
        "refine.mode": "paper",
        "refine.iterations": 2,
        "refine.wording": "message",
    },
}
PARAMETERS = {
    # All of them, and those that are trained, counted from each model's shape.
    "paper-neo-125m": (125_198_592, 125_198_592),
    "paper-neo-1.3b": (1_315_575_808, 1_315_575_808),
    "paper-neo-2.7b": (2_651_307_520, 2_651_307_520),
    "paper-codex": (2_651_307_520, 2_651_307_520),
    "qwen2.5-coder-0.5b": (494_032_768, 8_798_208),
    "qwen2.5-coder-1.5b": (1_543_714_304, 18_464_768),
    "qwen2.5-coder-7b": (7_615_616_512, 40_370_176),
    "smollm2-135m-gpu": (134_515_008, 134_515_008),
}


@pytest.fixture(scope="module")
def p3(p3_folder: Path) -> Puzzles:
    """Read P3 once: that takes longer than all plans."""
    source = f"p3:{p3_folder}"
    return read_all(load_config(None, [f"puzzles.train={source}", f"puzzles.held_out={source}"]))


def setting(config: Config, key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        value = getattr(value, part)
    return value


def test_every_configuration_is_tiny_or_a_preset() -> None:
    assert {path.stem for path in CONFIGS.glob("*.yaml")} == {
        "tiny",
        "lever-tiny",
        "smollm2-135m",
        *PRESETS,
        *VERIFIERS,
        *REFINEMENTS,
    }


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_holds_its_numbers(name: str) -> None:
    config = load_config(CONFIGS / f"{name}.yaml")
    assert {key: setting(config, key) for key in PRESETS[name]} == PRESETS[name]


def test_the_laptops_job_names_the_folder_that_its_script_writes() -> None:
    config = load_config(CONFIGS / "smollm2-135m.yaml")
    assert {key: setting(config, key) for key in LAPTOP} == LAPTOP


@pytest.mark.parametrize("name", VERIFIERS)
def test_a_verifiers_preset_holds_the_papers_numbers(name: str) -> None:
    config = load_config(CONFIGS / f"{name}.yaml")
    expected = LEVER | VERIFIERS[name]
    assert {key: setting(config, key) for key in expected} == expected


@pytest.mark.parametrize("name", PRESETS)
def test_a_head_tells_the_cost_that_the_plan_finds(name: str, p3: Puzzles) -> None:
    path = CONFIGS / f"{name}.yaml"
    told = re.search(
        r"^# Cost: ([\d,.]+) GPU hours of sampling, ([\d,.]+) of training; ([\d,.]+) GB on disk",
        path.read_text(),
        re.M,
    )
    assert told
    config = load_config(path)
    train, dev = split_dev(p3.train, config.puzzles.num_dev, config.seed)
    weights = Weights(*PARAMETERS[name], context_tokens=2048)
    plan = make_plan(
        config, Puzzles(train, dev, p3.held_out), Known(weights, count_roughly, None, "", "")
    )
    hours = gpu_hours(add_up(plan.expected), config, weights.parameters)
    files = [
        round_files(config, counts, plan.splits, plan.rows, weights.saved_bytes)
        for counts in plan.expected
    ]
    disk = sum(sum(one.values()) for one in files) / 1e9
    found = [float(text.replace(",", "")) for text in told.groups()]
    # The head rounds, and a row may gain a key.
    assert found == pytest.approx([hours.sampling, hours.training, disk], rel=0.1)


@pytest.mark.parametrize("name", [*PRESETS, *VERIFIERS, "smollm2-135m"])
def test_a_head_says_where_its_numbers_come_from(name: str) -> None:
    head = (CONFIGS / f"{name}.yaml").read_text().split("\n\n")[0]
    assert "# Where the numbers come from: " in head


@pytest.mark.parametrize("name", REFINEMENTS)
def test_a_refinement_holds_what_its_head_says(name: str) -> None:
    config = load_config(CONFIGS / f"{name}.yaml")
    assert {key: setting(config, key) for key in REFINEMENTS[name]} == REFINEMENTS[name]
