"""The data card: what the rows are, where they come from, what was filtered and by whom judged."""

from collections import Counter

from huggingface_hub import DatasetCardData

from selftrain.config import Config
from selftrain.export.dataset import BLANKED, PARTS
from selftrain.export.parquet import Written
from selftrain.export.text import (
    is_given,
    measured_on,
    provenance_table,
    score_table,
    source,
    sources_table,
    table,
)
from selftrain.files import read_json, read_rows
from selftrain.report.stages import FUNNEL
from selftrain.run_directory import RunDirectory

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""The hub's names of sizes."""


def dataset_card(
    run: RunDirectory, config: Config, number: int, written: dict[str, Written]
) -> str:
    """Write the card as Markdown with a YAML head that `datasets` reads."""
    parts = [
        f"---\n{_head(written)}\n---",
        "# Puzzles and solutions of a self-training run",
        _about(run, config, number),
        "## Parts",
        _parts(written),
        "## What was kept",
        _funnel(run, number),
        _filters(config),
        _decontamination(run, config, number),
        _withheld(written),
        "## What it did to the model",
        score_table(run, number),
        measured_on(run, config, number),
        "## Sources and licences",
        "The rows were written by models and programs from the sources below. Nobody has granted a "
        "licence for the whole: `license: other` says just that.",
        sources_table(run, config),
        "## Made with",
        provenance_table(run),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(written: dict[str, Written]) -> str:
    num_rows = written["examples"].num_rows
    configs = [
        {
            "config_name": part.name,
            "data_files": [{"split": part.split, "path": f"{part.name}/{part.split}-*.parquet"}],
            **({"default": True} if part.name == "examples" else {}),
        }
        for part in PARTS
        if written[part.name].num_rows
    ]
    return DatasetCardData(
        license="other",
        pretty_name="Puzzles and solutions of a self-training run",
        task_categories=["text-generation"],
        tags=["code", "python", "programming-puzzles", "selftrain"],
        size_categories=[next((name for most, name in SIZES if num_rows < most), "n>1M")],
        configs=configs,
    ).to_yaml()


def _about(run: RunDirectory, config: Config, number: int) -> str:
    verified = {
        "verified": "Every example's `g` passed: `f(g())` is exactly True, of the annotated type.",
        "unverified": "Examples were drawn whatever their verdict: many are wrong.",
        "wrong": "Every example is WRONG, on purpose: these are pairs that the judge refused.",
    }[config.curate.verdicts]
    origin = (
        "The pairs were given in a file, judged again, and trained on."
        if is_given(run)
        else f"Up to round {number} a model invented puzzles `f` from "
        f"{source(config.puzzles.train)}'s train puzzles, tried to solve them with `g`, and learnt "
        "from what was kept."
    )
    return f"{origin} {verified} The programs are untrusted: run them in a sandbox only."


def _parts(written: dict[str, Written]) -> str:
    rows = [
        (f"`{part.name}`", part.split, f"{written[part.name].num_rows:,}", part.what)
        for part in PARTS
        if written[part.name].num_rows
    ]
    said = table(("configuration", "split", "rows", "a row is"), rows)
    escaped = sum(one.num_escaped for one in written.values())
    if escaped:
        said += (
            f"\n\nIn {escaped:,} texts half a surrogate pair, which Parquet cannot hold, is spelt "
            "out as `\\udXXX`."
        )
    return said


def _funnel(run: RunDirectory, number: int) -> str:
    metrics = [read_json(run.round(one).metrics) for one in range(1, number + 1)]
    rows = [
        (step.replace("_", "-"), *(f"{one[f'funnel/{step}']:,}" for one in metrics))
        for step in FUNNEL
    ]
    reasons = sorted({key for one in metrics for key in one if key.startswith("rejected/")})
    rows += [
        (key.replace("/", ", "), *(f"{one.get(key, 0):,}" for one in metrics)) for key in reasons
    ]
    return table(("step", *(f"round {one['round']}" for one in metrics)), rows)


def _filters(config: Config) -> str:
    settings = {
        "filter": config.filter,
        "curate": config.curate,
        "decontaminate": config.decontaminate,
    }
    rows = [
        (f"`{section}.{key}`", value)
        for section, values in settings.items()
        for key, value in values.model_dump(mode="json").items()
    ]
    return table(("setting", "value"), rows)


def _decontamination(run: RunDirectory, config: Config, number: int) -> str:
    if not config.decontaminate.checks:
        return "Nothing was compared with the held-out puzzles: `decontaminate.checks` is empty."
    reasons: Counter[str] = Counter()
    for one in range(1, number + 1):
        path = run.round(one).removed
        if not path.exists():
            return ""
        reasons.update(row["reason"] for row in read_rows(path))
    said = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
    return (
        f"Left out before training as too near to a held-out puzzle: {said or 'none'}. What was "
        "left out is in the part `removed`."
    )


def _withheld(written: dict[str, Written]) -> str:
    """Say how many rows are not as in the run, since they hold a held-out puzzle."""
    left_out = [name for name in written if name not in BLANKED]
    said = {
        what: ", ".join(
            f"{written[name].num_withheld:,} of `{name}`"
            for name in names
            if written[name].num_withheld
        )
        for what, names in (("left out", left_out), ("without their texts", sorted(BLANKED)))
    }
    rows = "; ".join(f"{what} are {counts}" for what, counts in said.items() if counts)
    return f"No row has the text of a held-out puzzle: {rows or 'nothing had to be left out'}."
