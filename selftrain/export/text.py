"""What both cards say in the same way: tables, sources and their licences, what made the run."""

from collections.abc import Sequence

from selftrain.config import Config
from selftrain.files import Row, read_json
from selftrain.held_out import held_out_text
from selftrain.report.blocks import interval, percent
from selftrain.report.reading import read_run
from selftrain.run_directory import RunDirectory

P3_LICENCE = "MIT (microsoft/PythonProgrammingPuzzles)"
OWN_LICENCE = "MIT (selftrain)"
_SPLITS = ("train", "held_out")
_MODELS = {"model": "base model", "proposer": "model that proposed", "solver": "model that solved"}
UNKNOWN = "not known to this program; ask whoever published it"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Lay out a Markdown table; bars in a cell are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def score_table(run: RunDirectory, number: int) -> str:
    """Give Pass@k of each round up to one, with 95% intervals, in percent."""
    told = read_run(run)
    rounds = [one for one in told.rounds if one.number <= number]
    rows = []
    for one in rounds:
        ends = ("", "_low", "_high")
        values = [[one.metrics[f"eval/pass@{k}{end}"] for end in ends] for k in told.shown_ks]
        greedy = one.metrics.get("eval/greedy")
        rows.append(
            (
                one.name,
                *(interval(*value) for value in values),
                "-" if greedy is None else percent(greedy),
            )
        )
    return table(("round", *(f"Pass@{k} % [95%]" for k in told.shown_ks), "greedy"), rows)


def measured_on(run: RunDirectory, config: Config, number: int) -> str:
    """Say what Pass@k was measured on, and how."""
    metrics = read_json(run.round(number).metrics)
    return (
        f"Measured on {held_out_text(metrics['eval/num_puzzles'], read_json(run.provenance))} "
        f"({source(config.puzzles.held_out)}), n = {metrics['eval/num_samples']} samples each at "
        f"temperature {config.evaluate.temperature}, by the estimator of Chen et al. 2021; "
        "intervals by bootstrap over families and the puzzles within."
    )


def source(name: str) -> str:
    """Name where puzzles come from, without folders of the machine that it ran on."""
    kind, colon, path = name.partition(":")
    if kind in ("builtin", "p3", "p3-all"):
        return kind
    return (path if colon else name).replace("\\", "/").rpartition("/")[2]


def is_given(run: RunDirectory) -> bool:
    """Tell whether the pairs were given in a file, and not invented by a model."""
    return "pairs" in read_json(run.provenance)["data"]


def sources_table(run: RunDirectory, config: Config) -> str:
    """List what went into the run, each with its licence as far as it is known."""
    made = read_json(run.provenance)
    train, held_out = config.puzzles.train, config.puzzles.held_out
    rows = [
        ("train puzzles, shown in prompts", source(train), _licence(train)),
        ("held-out puzzles, measured on", source(held_out), _licence(held_out)),
    ]
    rows += [
        (role, model_name(made[key]), model_licence(made[key]))
        for key, role in _MODELS.items()
        if made[key]
    ]
    if is_given(run):
        rows.append(("pairs", "a file that was given", UNKNOWN))
    return table(("what", "source", "licence"), rows)


def model_name(made: Row) -> str:
    """Name a model as run.json has it, without the folders of a machine."""
    name = str(made["name"])
    return name.rstrip("/").rpartition("/")[2] if name.startswith(("/", ".", "~")) else name


def model_licence(made: Row) -> str:
    """Give a model's licence where this program knows it."""
    return OWN_LICENCE if str(made["name"]).startswith("builtin:") else UNKNOWN


def provenance_table(run: RunDirectory) -> str:
    """List the versions that a run was made with, the judge's first."""
    made = read_json(run.provenance)
    rows = [(f"judge, {name}", value) for name, value in made["judge"].items()]
    rows += [(f"sha256 of the {split} puzzles", made["puzzles"][split]) for split in _SPLITS]
    rows += [(f"sha256 of the {name}", value) for name, value in made["data"].items()]
    rows += [(f"sha256 of {name}", value) for name, value in made["model"].get("files", {}).items()]
    rows += [("selftrain, commit", made["commit"] or "not known"), ("Python", made["python"])]
    rows += list(made["packages"].items())
    return table(("what", "version"), rows)


def _licence(name: str) -> str:
    kind = name.partition(":")[0]
    return {"builtin": OWN_LICENCE, "p3": P3_LICENCE, "p3-all": P3_LICENCE}.get(kind, UNKNOWN)


def _cell(cell: object) -> str:
    return " ".join(str(cell).split()).replace("|", "\\|")
