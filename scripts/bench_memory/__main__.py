"""Does a round of very many proposals hold memory that grows with their number?

A whole round through selftrain/loop.py: propose, filter, solve, judge, curate, decontaminate,
diversity, fine-tune, evaluate, report. A script proposes and solves (script.py); everything else
is real: the judge and its workers, and the built-in model, which embeds and is fine-tuned. Printed
is the resident memory of this process and of the judge's workers, beyond what they held after a
first run of one small round, which has loaded the libraries, the judge and the model. Ends with
status 1 where this process ever held more than `--most` MiB beyond that.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scripts.bench_memory.script import Script
from scripts.bench_memory.watch import MIB, Silent, Watch

FIRST = 256
"""Proposals of the small round, enough for something to be trained on."""
SETTINGS = (
    "evaluate.num_samples=1",
    "evaluate.k=[1]",
    "finetune.epochs=1",
    "solve.num_few_shot=0",
    "propose.max_new_tokens=200",
    "finetune.learning_rate=1e-4",
    "curate.max_pairs=2000",
)
"""An evaluation is as large whatever a round proposes: here it is short. Fine-tuning is real, on as
many pairs as this, since a million tokens would take hours and hold the model's memory alone."""


def main() -> int:
    """Run the rounds, watch them, and say what was held."""
    parser = argparse.ArgumentParser(prog="python -m scripts.bench_memory", description=__doc__)
    parser.add_argument("--proposals", type=int, default=10_000, help="a round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--run-dir", type=Path, help="kept afterwards; goes on with one")
    parser.add_argument("--lines", type=int, default=20, help="lines printed a round")
    parser.add_argument("--most", type=int, default=500, help="MiB")
    parser.add_argument("settings", nargs="*", help="section.key=value")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="bench_memory."))
    try:
        folder = options.run_dir or scratch / "run"
        run_rounds(scratch / "first", FIRST, 1, options.settings, Silent())
        watch = Watch(-(-options.proposals // options.lines))
        run_rounds(folder, options.proposals, options.rounds, options.settings, watch)
    finally:
        shutil.rmtree(scratch)
    highest = watch.highest
    print(f"highest: {highest / MIB:,.0f} MiB beyond the start (at most {options.most})")
    return int(highest > options.most * MIB)


def run_rounds(
    folder: Path, proposals: int, rounds: int, settings: Sequence[str], watch: "Silent | Watch"
) -> None:
    """Run all rounds in a folder, or go on with them, and write their report."""
    from selftrain.config_file import load_config, save_config
    from selftrain.files import read_json
    from selftrain.loop import self_train
    from selftrain.puzzle_source import read_splits
    from selftrain.report import write_report
    from selftrain.run import build
    from selftrain.run_directory import RunDirectory

    sizes = (f"propose.num_proposals={proposals}", f"rounds={rounds}")
    config = load_config(None, [*SETTINGS, *sizes, *settings])
    folder.mkdir(parents=True, exist_ok=True)
    run = RunDirectory(folder)
    experiment = build(config, run, *read_splits(config.puzzles))
    x = replace(experiment, load=lambda _: Script(), progress=watch)
    for here in self_train(x):
        watch.line(f"{here.name}: complete")
        if here.number:
            watch.say(funnel(read_json(here.metrics)))
    save_config(config, run.config)  # which the report reads
    write_report(run, with_timings=False)
    watch.line("report")


def funnel(metrics: dict[str, float]) -> str:
    """Say in a line what became of a round's proposals."""
    steps = [key for key in metrics if key.startswith("funnel/")]
    return ", ".join(f"{metrics[step]:,} {step.removeprefix('funnel/')}" for step in steps)


if __name__ == "__main__":
    sys.exit(main())
