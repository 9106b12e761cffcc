"""Let a verifier read candidates: log-odds of being right, one a candidate.

They are what it says, uncalibrated (calibration/calibrator.py), of each candidate alone; likelihood
and groups come in ranking/rank.py.
"""

from collections.abc import Callable, Sequence

import torch

from selftrain.verifier.learning.inputs import Encoded, read
from selftrain.verifier.learning.network import Verifier, batch_log_odds, in_batches
from selftrain.verifier.tasks.task import Task


def log_odds(
    verifier: Verifier,
    tasks: Sequence[Task],
    *,
    batch_size: int,
    advance: Callable[[int], object],
) -> list[tuple[float, ...]]:
    """Give log P(right) - log P(wrong), in nats, of each task's candidates, in their order.

    A float32's values, so equal to each other only where inputs are equal but for rare chance;
    equal inputs have equal values. `advance` is told of candidates.
    """
    rows = [
        read(verifier.tokenizer, verifier.reads, task.task, one.program, one.result)
        for task in tasks
        for one in task.candidates
    ]
    scores = iter(log_odds_of_rows(verifier, rows, batch_size=batch_size, advance=advance))
    return [tuple(next(scores) for _ in task.candidates) for task in tasks]


def log_odds_of_rows(
    verifier: Verifier,
    rows: Sequence[Encoded],
    *,
    batch_size: int,
    advance: Callable[[int], object],
) -> list[float]:
    """Give the log-odds of each row. One that comes twice is read once."""
    verifier.model.eval()
    where: dict[tuple[int, ...], list[int]] = {}
    for at, row in enumerate(rows):
        where.setdefault(row.ids, []).append(at)
    places = list(where.values())
    once = [rows[same[0]] for same in places]
    found = [0.0] * len(rows)
    with torch.inference_mode():
        for batch in in_batches(once, batch_size):
            values = batch_log_odds(verifier, [once[at] for at in batch]).cpu().tolist()
            for at, value in zip(batch, values, strict=True):
                for place in places[at]:
                    found[place] = value
            advance(sum(len(places[at]) for at in batch))
    return found
