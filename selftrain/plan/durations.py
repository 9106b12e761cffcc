"""How long counts take: by what a probe measured on this machine, or by the paper's own costs.

Nothing is measured here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from selftrain.config import Config
from selftrain.plan.counts import Counts

SAMPLING_FLOPS = 1.26e12
"""Operations a second of sampling on the paper's V100: its release tried 228 puzzles 100 times with
2.65e9 parameters in 4 hours, and drew 150 tokens each time."""
TRAINING_FLOPS = 1.77e13
"""The same of training in float16: an epoch of 1,000,000 pairs, here taken for 160 tokens each, in
40 hours. Ours trains in float32, which a V100 does three to five times slower."""
SECONDS_AN_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Seconds:
    """A duration, and the least and the most it was measured as."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Speeds:
    """Seconds a unit on this machine, one number a repeat of the probe."""

    load: tuple[float, ...]
    """A model into memory."""
    propose: tuple[float, ...]
    """A proposal."""
    filter: tuple[float, ...]
    """A proposal."""
    solve: tuple[float, ...]
    """An attempt."""
    judge: tuple[float, ...]
    """An attempt."""
    decontaminate: tuple[float, ...]
    """A new pair."""
    step: tuple[float, ...]
    """A step of fine-tuning."""
    evaluate: tuple[float, ...]
    """A completion for a held-out puzzle."""
    evaluate_judge: tuple[float, ...]
    """The same, judged."""


@dataclass(frozen=True, slots=True)
class GpuHours:
    """Hours of one V100, as the paper's release would need."""

    sampling: float
    training: float


def stage_seconds(counts: Counts, speeds: Speeds) -> dict[str, Seconds]:
    """Give the duration of each stage; models are loaded where they are first used.

    Left out is what is short beside them: embedding at most `diversity.max_embedded` puzzles, and
    the reports.
    """
    sampled = _times(counts.evaluations, speeds.evaluate)
    return {
        "propose": _times(counts.proposals, speeds.propose),
        "filter": _times(counts.proposals, speeds.filter),
        "solve": _times(counts.attempts, speeds.solve),
        "judge": _times(counts.attempts, speeds.judge),
        "decontaminate": _times(counts.pairs, speeds.decontaminate),
        "fine-tune": in_all(
            [_times(counts.steps, speeds.step), _times(counts.models, speeds.load)]
        ),
        "evaluate": in_all(
            [sampled, _times(counts.evaluations, speeds.evaluate_judge), _times(1, speeds.load)]
        ),
    }


def in_all(parts: Iterable[Seconds]) -> Seconds:
    """Add durations up, the spread as if all were slow or all fast at once."""
    middle = low = high = 0.0
    for part in parts:
        middle, low, high = middle + part.middle, low + part.low, high + part.high
    return Seconds(middle, low, high)


def gpu_hours(counts: Counts, config: Config, parameters: int) -> GpuHours:
    """Estimate hours by operations: 2 a parameter and token read or drawn, 6 trained on.

    An adapter takes 4, since the base's weights need no gradient. What a server samples is not
    ours.
    """
    tokens = counts.sampled_evaluating + counts.read_evaluating
    if config.propose.model is None:
        tokens += counts.sampled_proposing + counts.read_proposing
    if config.solve.model is None:
        tokens += counts.sampled_solving + counts.read_solving
    a_token = 6 if config.finetune.method == "full" else 4
    return GpuHours(
        sampling=2 * parameters * tokens / SAMPLING_FLOPS / SECONDS_AN_HOUR,
        training=a_token * parameters * counts.trained / TRAINING_FLOPS / SECONDS_AN_HOUR,
    )


def _times(count: int, seconds: tuple[float, ...]) -> Seconds:
    return Seconds(count * median(seconds), count * min(seconds), count * max(seconds))
