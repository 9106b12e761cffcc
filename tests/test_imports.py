"""Who may import whom: the design's arrows, read from the source of every file."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TRAINING = {"torch", "transformers", "peft", "accelerate"}
MAY_TRAIN = {
    "selftrain/device.py",
    "selftrain/doctor/boundary.py",
    "selftrain/doctor/examine.py",
    "selftrain/doctor/marks.py",
    "selftrain/doctor/network.py",
    "selftrain/doctor/writing.py",
    "selftrain/accelerator.py",
    "selftrain/embeddings.py",
    "selftrain/finetune/attention.py",
    "selftrain/finetune/batch.py",
    "selftrain/finetune/blocks.py",
    "selftrain/finetune/checkpoint.py",
    "selftrain/finetune/everywhere.py",
    "selftrain/finetune/learner.py",
    "selftrain/finetune/lessons.py",
    "selftrain/finetune/loss.py",
    "selftrain/finetune/pieces.py",
    "selftrain/finetune/prepare.py",
    "selftrain/finetune/tracker.py",
    "selftrain/finetune/train.py",
    "selftrain/gguf_file.py",
    "selftrain/loading.py",
    "selftrain/models.py",
    "selftrain/plan/probe.py",
    "selftrain/plan/show.py",
    "selftrain/plan/weights.py",
    "selftrain/processes/channel.py",
    "selftrain/processes/serve.py",
    "selftrain/sampling/local/attention_parts.py",
    "selftrain/sampling/local/decoding.py",
    "selftrain/sampling/local/drawing.py",
    "selftrain/sampling/local/gpt_neo.py",
    "selftrain/sampling/local/sampler.py",
    "selftrain/sampling/local/reading.py",
    "selftrain/sampling/local/shared_prefix.py",
    "selftrain/sampling/local/stopping.py",
    "selftrain/sampling/templates.py",
    "selftrain/sampling/vllm.py",
    "selftrain/sampling/vllm_start.py",
    "selftrain/verifier/learning/adapter.py",
    "selftrain/verifier/learning/fitness.py",
    "selftrain/verifier/learning/inputs.py",
    "selftrain/verifier/learning/learn.py",
    "selftrain/verifier/learning/lessons.py",
    "selftrain/verifier/learning/network.py",
    "selftrain/verifier/learning/score.py",
    "selftrain/verifier/tasks/likelihood.py",
}
"""The files that sample, fine-tune, verify or load; those of `LAZY` import them where they are used."""
LAZY = ("device.py", "gguf_file.py", "loading.py", "models.py")


def imported(path: Path, *, at_import: bool = False) -> set[str]:
    """Give the top-level names that a file imports, anywhere in it or only when it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {name.split(".")[0] for name in _imports(tree, at_import)}


def _imports(tree: ast.AST, at_import: bool) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where a name comes from"
            yield node.module or ""
        elif (at_import and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)) or (
            at_import and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ):
            continue
        else:
            yield from _imports(node, at_import)


def files_of(package: str) -> list[Path]:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert len(paths) > 5
    return paths


def outside(package: str, allowed: set[str]) -> dict[str, set[str]]:
    """Give, a file, what it imports that is neither allowed nor in the standard library."""
    may = allowed | set(sys.stdlib_module_names)
    found = {str(path.relative_to(ROOT)): imported(path) - may for path in files_of(package)}
    return {path: names for path, names in found.items() if names}


def test_the_judge_imports_itself_its_engine_and_the_standard_library() -> None:
    allowed = {"judge", "wasmtime", "componentize_py", "filelock", "cachetools"}
    allowed |= {"joblib", "ray", "distributed"}
    # Inside, the guest's files lie in the root, beside the bindings that componentize-py makes.
    guest = {path.stem for path in files_of("judge") if path.parent.name == "guest"} | {"wit_world"}
    beyond = outside("judge", allowed)
    assert set().union(*beyond.values()) <= guest
    assert all(path.startswith("judge/guest/") for path in beyond)


def test_puzzles_import_the_judge_the_standard_library_and_one_for_minhash() -> None:
    assert outside("puzzles", {"judge", "puzzles", "datasketch"}) == {}


def test_only_selftrain_knows_selftrain() -> None:
    lower = [*files_of("judge"), *files_of("puzzles")]
    assert [path for path in lower if {"selftrain", "scripts", "tests"} & imported(path)] == []


def test_nothing_shipped_imports_scripts_or_tests() -> None:
    assert [path for path in files_of("selftrain") if {"scripts", "tests"} & imported(path)] == []


def test_few_files_of_selftrain_import_torch_and_its_family() -> None:
    users = {
        str(path.relative_to(ROOT)) for path in files_of("selftrain") if TRAINING & imported(path)
    }
    assert users == MAY_TRAIN


@pytest.mark.parametrize("name", LAZY)
def test_what_loads_imports_torch_and_its_family_only_where_they_are_used(name: str) -> None:
    assert not TRAINING & imported(ROOT / "selftrain" / name, at_import=True)


def test_help_loads_nothing_heavy() -> None:
    code = """
import sys
from selftrain.cli import main
try:
    main(["--help"])
except SystemExit as done:
    assert done.code == 0
heavy = "torch transformers peft accelerate numpy pydantic rich wasmtime joblib matplotlib jinja2"
heavy += " scipy sklearn datasets datasketch pooch openai httpx2 pyarrow"
print("loaded:", [name for name in heavy.split() if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: selftrain")
    assert done.stdout.endswith("loaded: []\n")
