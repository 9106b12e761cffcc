"""Fine-tune on blocks, by accelerate, on one process or many: the loop itself.

Every process calls `fine_tune` with the same arguments and knows all blocks, so each takes its own
without asking, and the loss of a step is weighted by the tokens of the whole step, however many
processes and parts compute it. The main process alone writes.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import torch
from accelerate import Accelerator
from peft import PeftModel
from transformers import PreTrainedModel

from selftrain.config import FinetuneConfig
from selftrain.files import link, write_rows
from selftrain.finetune.batch import Batch, batch_of
from selftrain.finetune.blocks import Block, deal, num_learnt, steps_of_epoch
from selftrain.finetune.checkpoint import load_checkpoint, save_checkpoint
from selftrain.finetune.lessons import Lessons, TrainingPaths
from selftrain.finetune.log import TrainingLog
from selftrain.finetune.prepare import Prepared, prepare
from selftrain.finetune.tracker import tell
from selftrain.models import tidy_adapter
from selftrain.seeds import derive_seed

READ_LOSSES_EVERY = 16
"""Steps after which their losses are read, for which a GPU has to be waited for."""


def fine_tune(
    model: PreTrainedModel | PeftModel,
    lessons: Lessons,
    config: FinetuneConfig,
    seed: int,
    paths: TrainingPaths,
    *,
    keep_epochs: bool = False,
    say: Callable[[str], object],
    advance: Callable[[int], object],
) -> None:
    """Train `model`, or go on with a training that was cut short.

    `say` is told what a person should know, `advance` of each step done. Raises RunError where the
    loss diverges.
    """
    training = prepare(model, lessons, config, seed, paths, say)
    accelerator = training.accelerator
    start, rows = load_checkpoint(accelerator, paths.state, say)
    log = TrainingLog(rows, partial(tell, accelerator))
    advance(start)
    losses: list[torch.Tensor] = []
    per_epoch = steps_of_epoch(len(lessons.learnt), config)
    for step, blocks in enumerate(_steps(lessons.learnt, config, seed, start), start + 1):
        log.begin_step(step, training.schedule.get_last_lr()[0])
        losses.append(_learn(training, blocks))
        advance(1)
        epoch, rest = divmod(step, per_epoch)
        is_checkpoint = step % config.checkpoint_steps == 0
        if is_checkpoint or rest == 0 or len(losses) == READ_LOSSES_EVERY:
            log.end_steps(_over_processes(accelerator, losses))
            losses.clear()
        if rest == 0:
            if lessons.held_back:
                log.end_epoch(epoch, step, _measure(training, lessons.held_back))
            if keep_epochs:
                _save(training, paths.state / f"epoch-{epoch:02d}")
        if is_checkpoint and step < per_epoch * config.epochs:
            save_checkpoint(accelerator, paths.state, step, log.rows)
    _finish(training, paths, log, keep_epochs=keep_epochs)


def _steps(
    blocks: Sequence[Block], config: FinetuneConfig, seed: int, start: int
) -> Iterator[Sequence[Block]]:
    """Give the blocks of every step from `start` on; each epoch has an order of its own."""
    per_epoch = steps_of_epoch(len(blocks), config)
    for epoch in range(start // per_epoch, config.epochs):
        order = list(range(len(blocks)))
        if config.order == "shuffled":
            drawn = torch.Generator().manual_seed(derive_seed(seed, "order", epoch) % 2**63)
            order = torch.randperm(len(blocks), generator=drawn).tolist()
        first = max(0, start - epoch * per_epoch)
        for place in range(first * config.batch_size, len(blocks), config.batch_size):
            yield [blocks[i] for i in order[place : place + config.batch_size]]


def _learn(training: Prepared, blocks: Sequence[Block]) -> torch.Tensor:
    """Make one step; give this process's share of its loss, a mean over all tokens of the step."""
    accelerator, learner = training.accelerator, training.learner
    batches = list(_batches(training, blocks))
    loss = torch.zeros((), device=accelerator.device)
    for number, batch in enumerate(batches, start=1):
        # Processes exchange gradients once a step.
        is_last = number == len(batches)
        with nullcontext() if is_last else accelerator.no_sync(learner):
            part = learner(batch)
            accelerator.backward(part)
        loss += part.detach()
    accelerator.clip_grad_norm_(learner.parameters(), training.config.max_grad_norm)
    training.optimizer.step()
    training.schedule.step()
    training.optimizer.zero_grad()
    return loss


@torch.no_grad()
def _measure(training: Prepared, blocks: Sequence[Block]) -> float:
    """Give the mean loss over all tokens of some blocks, which are not learnt."""
    size = training.config.batch_size
    training.learner.eval()
    total = torch.zeros((), device=training.accelerator.device)
    for start in range(0, len(blocks), size):
        some = blocks[start : start + size]
        total += sum(map(training.learner, _batches(training, some))) * num_learnt(some)
    training.learner.train()
    (loss,) = _over_processes(training.accelerator, [total / num_learnt(blocks)])
    return loss


def _batches(training: Prepared, blocks: Sequence[Block]) -> Iterator[Batch]:
    """Make this process's batches of a step, whose losses sum up to its mean over tokens."""
    accelerator = training.accelerator
    shape = accelerator.unwrap_model(training.learner).shape
    # DDP and FSDP take the mean of the gradients over processes; `_over_processes` does of losses.
    scale = accelerator.num_processes / num_learnt(blocks)
    parts = training.config.gradient_accumulation_steps
    for mine in deal(blocks, accelerator.num_processes, accelerator.process_index, parts):
        # Where blocks do not go round, a process computes one for nothing: all have to meet.
        batch = batch_of(mine, shape, scale) if mine else batch_of(blocks[:1], shape, 0.0)
        yield batch.to(accelerator.device)


def _over_processes(accelerator: Accelerator, losses: Sequence[torch.Tensor]) -> list[float]:
    mean: list[float] = accelerator.reduce(torch.stack(list(losses)), reduction="mean").tolist()
    return mean


def _finish(
    training: Prepared, paths: TrainingPaths, log: TrainingLog, *, keep_epochs: bool
) -> None:
    """Put what was made where it belongs; all processes leave together."""
    accelerator = training.accelerator
    if not keep_epochs:
        _save(training, paths.model)
    if accelerator.is_main_process:
        for epoch in sorted(paths.state.glob("epoch-??")):
            # Linked, not moved: until the model's folder has its name, it may be lost.
            shutil.copytree(epoch, paths.model / epoch.name, copy_function=link)
        write_rows(paths.model / "training.jsonl", log.rows)
    for tracker in accelerator.trackers:
        tracker.finish()
    accelerator.wait_for_everyone()


def _save(training: Prepared, folder: Path) -> None:
    """Write the whole model or its adapter. FSDP gathers it from all processes."""
    accelerator = training.accelerator
    state = accelerator.get_state_dict(training.learner)
    if not accelerator.is_main_process:
        return
    model = accelerator.unwrap_model(training.learner).model
    shutil.rmtree(folder, ignore_errors=True)
    weights = {name.removeprefix("model."): weight for name, weight in state.items()}
    model.save_pretrained(str(folder), state_dict=weights)
    if training.config.method == "lora":
        tidy_adapter(folder)
