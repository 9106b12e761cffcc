"""The model card: base, data, scores with intervals, and how to load it."""

from pathlib import Path

from huggingface_hub import EvalResult, ModelCardData

from selftrain.config import Config
from selftrain.export.text import (
    measured_on,
    model_name,
    provenance_table,
    score_table,
    source,
    sources_table,
    table,
)
from selftrain.files import Row, read_json
from selftrain.held_out import held_out_text
from selftrain.report.reading import read_run
from selftrain.run_directory import RunDirectory


def model_card(run: RunDirectory, config: Config, number: int, *, is_adapter: bool) -> str:
    """Write the card as Markdown with a YAML head that the hub reads."""
    base = read_json(run.provenance)["model"]
    metrics = read_json(run.round(number).metrics)
    parts = [
        f"---\n{_head(run, config, number, base, is_adapter=is_adapter)}\n---",
        f"# {_title(base)}",
        f"{_base(config, base)} fine-tuned on {metrics['train/num_examples']:,} pairs of puzzle "
        f"and solution (`curate.verdicts={config.curate.verdicts}`) in round {number} of a run.",
        "## Pass@k",
        score_table(run, number),
        measured_on(run, config, number),
        "## How to load it",
        _loading(config, base, is_adapter=is_adapter),
        "A prompt is a puzzle, an empty line and the head of its solution, without a blank or a "
        "newline at the end. What the model writes is untrusted: run it in a sandbox only.",
        _code("def f(x: int, a=3):", "    return x == a + 1", "", "def g(a=3):"),
        "## Training",
        _training(config, metrics),
        "## Sources and licences",
        sources_table(run, config),
        "## Made with",
        provenance_table(run),
    ]
    return "\n\n".join(parts) + "\n"


def _head(run: RunDirectory, config: Config, number: int, base: Row, *, is_adapter: bool) -> str:
    told = read_run(run)
    metrics = next(one.metrics for one in told.rounds if one.number == number)
    measured = held_out_text(metrics["eval/num_puzzles"], told.made_with)
    held_out = source(config.puzzles.held_out)
    results = [
        EvalResult(
            task_type="text-generation",
            dataset_type=held_out,
            dataset_name=f"{measured} of {held_out}",
            metric_type=f"pass@{k}",
            metric_value=round(metrics[f"eval/pass@{k}"], 4),
        )
        for k in told.shown_ks
    ]
    on_hub = not base["files"]
    return ModelCardData(
        model_name=_title(base),
        license="other",
        library_name="peft" if is_adapter else "transformers",
        pipeline_tag="text-generation",
        tags=["code", "python", "programming-puzzles", "selftrain"],
        base_model=config.model.name if on_hub else None,
        eval_results=results,
    ).to_yaml()


def _title(base: Row) -> str:
    return f"{model_name(base)}, self-trained"


def _base(config: Config, base: Row) -> str:
    revision = config.model.revision
    if revision:
        return f"`{model_name(base)}` (revision `{revision}`)"
    if base["files"]:
        return f"`{model_name(base)}`"
    return f"`{model_name(base)}` (no revision was named, so its main branch of the day)"


def _loading(config: Config, base: Row, *, is_adapter: bool) -> str:
    if not is_adapter:
        return _code(
            "from transformers import AutoModelForCausalLM, AutoTokenizer",
            "",
            'model = AutoModelForCausalLM.from_pretrained("path/to/this/folder")',
            'tokenizer = AutoTokenizer.from_pretrained("path/to/this/folder")',
        )
    revision = f', revision="{config.model.revision}"' if config.model.revision else ""
    before: list[str] = []
    if config.model.name.startswith("builtin:"):
        before, name = (
            ["from selftrain.model_source import resolve"],
            f'resolve("{config.model.name}")',
        )
    elif (file := Path(base["name"]).name) in base["files"]:  # in GGUF
        before = ["from selftrain.model_source import source_of"]
        name = f'source_of("path/to/{file}")'
    elif base["files"]:
        name = f'"path/to/{model_name(base)}"'
    else:
        name = f'"{config.model.name}"'
    return _code(
        "from peft import PeftModel",
        *before,
        "from transformers import AutoModelForCausalLM, AutoTokenizer",
        "",
        f"base = AutoModelForCausalLM.from_pretrained({name}{revision})",
        'model = PeftModel.from_pretrained(base, "path/to/this/folder")',
        'tokenizer = AutoTokenizer.from_pretrained("path/to/this/folder")',
    )


def _code(*lines: str) -> str:
    return "\n".join(["```python", *lines, "```"])


def _training(config: Config, metrics: Row) -> str:
    rows = [
        ("examples", f"{metrics['train/num_examples']:,}"),
        ("steps", f"{metrics['train/steps']:,}"),
    ]
    rows += [
        (f"`finetune.{key}`", value)
        for key, value in config.finetune.model_dump(mode="json").items()
        if key != "lora" or config.finetune.method == "lora"
    ]
    return table(("what", "value"), rows)
