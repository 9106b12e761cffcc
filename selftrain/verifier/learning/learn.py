"""Let a verifier learn from labelled candidates, by accelerate, and keep its best weights.

The loss is equation 4 of LEVER (Ni et al. 2023): the mean negative log-likelihood of a task's
candidates, then the mean over tasks, so that a task with many candidates weighs no more than one
with few. What is learnt from is chosen in lessons.py. The dev tasks choose the weights here, and
nothing is calibrated (calibration/calibrator.py).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.nn.functional import softplus
from transformers import get_scheduler

from selftrain.accelerator import make_accelerator
from selftrain.config import VerifierConfig
from selftrain.errors import RunError
from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.verifier.learning.lessons import Example, Lessons, make_lessons, refuse_one_sided
from selftrain.verifier.learning.network import Verifier, batch_log_odds, in_batches
from selftrain.verifier.learning.score import log_odds_of_rows
from selftrain.verifier.tasks.task import Task


def task_loss(log_odds: Sequence[torch.Tensor], labels: Sequence[torch.Tensor]) -> torch.Tensor:
    """Give equation 4, in nats: a tensor of log-odds and one of labels (bool) for each task."""
    each = [_losses(odds, right).mean() for odds, right in zip(log_odds, labels, strict=True)]
    return torch.stack(each).mean()


def learn(
    verifier: Verifier,
    train: Sequence[Task],
    dev: Sequence[Task],
    config: VerifierConfig,
    seed: int,
    *,
    advance: Callable[[int], object],
) -> list[Row]:
    """Train a verifier, and leave in it the weights of the look with the lowest loss on the dev
    tasks, some of whose candidates have a label.

    Gives the log: a row of step 0 that says what is learnt from, then one a step. Raises UsageError
    where all train labels are equal, RunError where it diverges.
    """
    tokenizer, reads = verifier.tokenizer, verifier.reads
    lessons = make_lessons(tokenizer, reads, train, gold=config.gold)
    refuse_one_sided(lessons)
    dev_lessons = make_lessons(tokenizer, reads, dev, gold=False)
    set_seed(derive_seed(seed, "dropout") % 2**32)
    look = _look(verifier, dev_lessons, config)
    counts = {"train": lessons.report(), "dev": dev_lessons.report()}
    log: list[Row] = [{"step": 0, "loss": None, "learning_rate": None, **look, **counts}]
    steps = _train(verifier, lessons, config, seed)
    for row in _keeping_the_best(verifier, steps, dev_lessons, config):
        advance(1)
        log.append(row)
    verifier.model.eval()
    return log


def _keeping_the_best(
    verifier: Verifier, steps: Iterable[Row], dev: Lessons, config: VerifierConfig
) -> Iterator[Row]:
    """Look at the dev tasks now and then; give each step's row with what was seen, if anything.

    After the last step the verifier has the weights of the best look.
    """
    best, kept = math.inf, _weights(verifier)
    for row in steps:
        look: Row = {"dev_loss": None, "dev_accuracy": None}
        if row["step"] % config.check_every == 0 or row["step"] == config.steps:
            look = _look(verifier, dev, config)
            _refuse_divergence(look["dev_loss"], row["step"])
            if look["dev_loss"] < best:
                best, kept = look["dev_loss"], _weights(verifier)
        yield row | look
    verifier.model.load_state_dict(kept, strict=False)


def _refuse_divergence(loss: float, step: int) -> None:
    if not math.isfinite(loss):
        raise RunError(
            f"the verifier's training diverged: the loss is {loss} at step {step}. "
            "Lower verifier.learning_rate."
        )


def _train(
    verifier: Verifier, lessons: Lessons, config: VerifierConfig, seed: int
) -> Iterator[Row]:
    accelerator = make_accelerator(next(verifier.model.parameters()).device)
    optimizer = torch.optim.AdamW(_decaying(verifier, config.weight_decay), lr=config.learning_rate)
    schedule = get_scheduler(
        "linear",
        optimizer,
        # A short training must not be all warm-up, or nothing would be learnt.
        num_warmup_steps=min(config.warmup_steps, config.steps // 4),
        num_training_steps=config.steps,
    )
    model, optimizer = accelerator.prepare(verifier.model, optimizer)
    prepared = replace(verifier, model=model)
    draws = draw_steps(lessons.tasks, config, derive_seed(seed, "draws"))
    for step, drawn in enumerate(islice(draws, config.steps), start=1):
        rate = schedule.get_last_lr()[0]
        model.train()
        loss = _backward(accelerator, prepared, drawn, config.model.batch_size)
        _refuse_divergence(loss, step)
        accelerator.clip_grad_norm_(model.parameters(), config.max_grad_norm)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        yield {"step": step, "loss": loss, "learning_rate": rate}


def _decaying(verifier: Verifier, weight_decay: float) -> list[Row]:
    """Sort the weights that learn into those that decay, and biases and norms, which do not."""
    weights = [weight for weight in verifier.model.parameters() if weight.requires_grad]
    return [
        {"params": [one for one in weights if one.ndim > 1], "weight_decay": weight_decay},
        {"params": [one for one in weights if one.ndim <= 1], "weight_decay": 0.0},
    ]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate of a step."""

    example: Example
    """The candidate."""
    weight: float
    """Its share of the step's loss."""


def draw_steps(
    tasks: Sequence[Sequence[Example]], config: VerifierConfig, seed: int
) -> Iterator[list[Weighed]]:
    """Draw tasks for a step after the other, in passes over all of them, and of each task a random
    subset of its candidates.
    """
    random = Random(seed)
    order: list[int] = []
    while True:
        while len(order) < config.tasks_per_step:
            # What is left of the last pass comes last in this one: no task is twice in a step,
            # where there are enough of them.
            more = random.sample(range(len(tasks)), len(tasks))
            order += sorted(more, key=order.__contains__)
        now, order = order[: config.tasks_per_step], order[config.tasks_per_step :]
        drawn: list[Weighed] = []
        for task in now:
            num = min(config.candidates_per_step, len(tasks[task]))
            weight = 1 / (num * len(now))
            drawn += (Weighed(one, weight) for one in random.sample(tasks[task], num))
        yield drawn


def _backward(
    accelerator: Accelerator, verifier: Verifier, drawn: Sequence[Weighed], batch_size: int
) -> float:
    """Add up the gradients of a step, a batch after the other; give the step's loss.

    Each process takes its share of the candidates. accelerate takes the mean over processes, where
    the loss is a sum.
    """
    processes = accelerator.num_processes
    mine = drawn[accelerator.process_index :: processes] or [replace(drawn[0], weight=0.0)]
    batches = list(in_batches([one.example.row for one in mine], batch_size))
    total = torch.zeros((), device=accelerator.device)
    for number, batch in enumerate(batches, start=1):
        some = [mine[at] for at in batch]
        last = number == len(batches)
        with nullcontext() if last else accelerator.no_sync(verifier.model):
            odds = batch_log_odds(verifier, [one.example.row for one in some])
            labels = torch.tensor([one.example.label for one in some], device=odds.device)
            weights = torch.tensor([one.weight for one in some], device=odds.device)
            loss = (_losses(odds, labels) * weights).sum()
            accelerator.backward(loss * processes)
        total += loss.detach()
    return float(accelerator.reduce(total, "sum"))


def _losses(log_odds: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Give each candidate's negative log-likelihood: -log P(right), or -log P(wrong)."""
    return softplus(torch.where(labels, -log_odds, log_odds))


def _look(verifier: Verifier, lessons: Lessons, config: VerifierConfig) -> Row:
    """Measure the loss over all labelled dev candidates, and the share of tasks with a right one
    whose likeliest candidate is right.
    """
    rows = [example.row for task in lessons.tasks for example in task]
    size = config.model.batch_size
    found = iter(log_odds_of_rows(verifier, rows, batch_size=size, advance=lambda _: None))
    odds = [
        torch.tensor([next(found) for _ in task], dtype=torch.float64) for task in lessons.tasks
    ]
    labels = [torch.tensor([example.label for example in task]) for task in lessons.tasks]
    solvable = [at for at, right in enumerate(labels) if right.any()]
    chosen = [float(labels[at][odds[at] == odds[at].max()].double().mean()) for at in solvable]
    return {
        "dev_loss": float(task_loss(odds, labels)),
        "dev_accuracy": sum(chosen) / len(chosen) if chosen else None,
    }


def _weights(verifier: Verifier) -> dict[str, torch.Tensor]:
    return {
        name: weight.detach().cpu().clone()
        for name, weight in verifier.model.named_parameters()
        if weight.requires_grad
    }
