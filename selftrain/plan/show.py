"""The command `selftrain plan`: gather what is known, probe where that can be done, and print."""

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from puzzles import Puzzle
from selftrain import models
from selftrain.config import Config
from selftrain.dev import split_dev
from selftrain.device import pick_device
from selftrain.held_out import draw_measured
from selftrain.plan.counts import (
    Splits,
    assumed_rates,
    count_rounds,
    lengths_at_most,
    rates_at_most,
)
from selftrain.plan.probe import Probe, probe_experiment, run_probe
from selftrain.plan.table import Plan, lay_out
from selftrain.plan.texts import (
    Count,
    count_roughly,
    mean_trivial_answers,
    measure_lengths,
    measure_rows,
    stand_in,
)
from selftrain.plan.units import size
from selftrain.plan.weights import NotWithinReach, Weights, are_local, measure_weights
from selftrain.progress import Progress
from selftrain.puzzle_source import read_splits


@dataclass(frozen=True, slots=True)
class Puzzles:
    """The puzzles a run begins with, as read, their reference solutions not yet judged."""

    train: Sequence[Puzzle]
    dev: Sequence[Puzzle]
    held_out: Sequence[Puzzle]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the model and the machine."""

    weights: Weights | None
    """None where the model's shape is out of reach."""
    count: Count
    probe: Probe | None
    why_no_probe: str
    """One sentence; empty where there is a probe."""
    machine: str
    """Device and cores; empty where there is no probe."""


def show_plan(config: Config, path: Path, settings: Sequence[str], probe: bool | None) -> int:
    """Print what a run of this configuration will take. Raises UsageError or RunError.

    `probe` says whether to measure this machine, weights that are not here fetched first; None
    measures where the weights are here.
    """
    puzzles = read_all(config)
    plan = make_plan(config, puzzles, _find_out(config, puzzles, probe))
    print(lay_out(plan, str(path)))
    print(f"\n{shlex.join(['selftrain', 'run', str(path), *settings])}")
    return 0


def read_all(config: Config) -> Puzzles:
    """Read the puzzles of a configuration, the dev part set aside. Raises UsageError."""
    train, held_out = read_splits(config.puzzles)
    shown, dev = split_dev(train, config.puzzles.num_dev, config.seed)
    draw_measured(held_out, config)  # which refuses more than there are
    return Puzzles(shown, dev, held_out)


def make_plan(config: Config, puzzles: Puzzles, known: Known) -> Plan:
    """Work the plan out of what is known. A probe that wrote too little gives its speeds alone."""
    weights, probe = known.weights, known.probe
    context = weights.context_tokens if weights else _assumed_context(config)
    if probe and probe.tells_rates:
        written, rates = probe.written, probe.rates
    else:
        written = stand_in(puzzles.train, config, context, known.count)
        rates = assumed_rates(config, mean_trivial_answers(puzzles.train))
    lengths = measure_lengths(
        written, puzzles.train, puzzles.held_out, config, context, known.count
    )
    splits = _splits(puzzles)
    longest, most = lengths_at_most(config, context), rates_at_most(config)
    return Plan(
        config=config,
        splits=splits,
        expected=count_rounds(config, splits, lengths, rates, at_most=False),
        most=count_rounds(config, splits, longest, most, at_most=True),
        lengths=lengths,
        rates=rates,
        rows=measure_rows(written, puzzles.train),
        weights=weights,
        probe=probe,
        why_no_probe=known.why_no_probe,
        machine=known.machine,
    )


def _find_out(config: Config, puzzles: Puzzles, probe: bool | None) -> Known:
    weights, why = _weights(config)
    count = _counter(config, weights)
    why = why or _why_no_probe(config, probe)
    if why:
        return Known(weights, count, None, why, "")
    _say_what_is_fetched(config, weights)
    x = probe_experiment(config, puzzles.train, puzzles.dev, puzzles.held_out)
    return Known(weights, count, run_probe(x), "", _machine(config))


def _splits(puzzles: Puzzles) -> Splits:
    types = Counter(puzzle.answer_type for puzzle in puzzles.held_out)
    same_type = fmean(types[puzzle.answer_type] for puzzle in puzzles.train)
    sizes = len(puzzles.train), len(puzzles.dev), len(puzzles.held_out)
    return Splits(*sizes, same_type, max(types.values()))


def _weights(config: Config) -> tuple[Weights | None, str]:
    """Measure the model that learns, or say why that cannot be done."""
    try:
        return measure_weights(config.model, config.finetune), ""
    except NotWithinReach as why:
        return None, f"No probe: {why}."


def _why_no_probe(config: Config, probe: bool | None) -> str:
    """Give the reason in one sentence; empty where this machine is to be measured."""
    if probe is not None:
        return "" if probe else "No probe, as asked."
    others = [m for m in (config.propose.model, config.solve.model) if m is not None]
    if any(model.server is not None for model in others):
        return "No probe: it would ask a server for completions; with --probe it does."
    for model in (config.model, *others):
        if not are_local(model):
            return f"No probe: the weights of {model.name} are not here; --probe downloads them."
    return ""


def _say_what_is_fetched(config: Config, weights: Weights | None) -> None:
    """Tell of gigabytes before they come; most models are published with 2 or 4 bytes a weight."""
    if weights is not None and not are_local(config.model):
        low, high = size(2 * weights.parameters), size(4 * weights.parameters)
        Progress().say(f"{config.model.name} is fetched for the probe: {low} to {high}")


def _assumed_context(config: Config) -> int:
    return config.model.context_tokens or models.MOST_CONTEXT_TOKENS


def _counter(config: Config, weights: Weights | None) -> Count:
    """Count by the model's own tokenizer where it is within reach."""
    if weights is None:
        return count_roughly
    tokenizer = models.load_tokenizer(config.model)
    return lambda texts: [len(ids) for ids in tokenizer(list(texts), verbose=False)["input_ids"]]


def _machine(config: Config) -> str:
    """Name the device that samples and trains."""
    import torch

    device = pick_device(config.model.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    return f"{name} ({os.cpu_count()} cores)"
