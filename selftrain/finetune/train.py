"""Fine-tune on blocks, by accelerate, on one process or many: the loop itself.

Every process calls `fine_tune` with the same arguments and knows all blocks, so each takes its own
without asking, and the loss of a step is weighted by the tokens of the whole step, however many
processes and parts compute it. The main process alone writes.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.optimizer import AcceleratedOptimizer
from accelerate.scheduler import AcceleratedScheduler
from accelerate.utils import set_seed
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel, get_scheduler

from selftrain.accelerator import make_accelerator
from selftrain.config import FinetuneConfig
from selftrain.files import link, write_rows
from selftrain.finetune.batch import Batch, batch_of
from selftrain.finetune.blocks import Block, count_steps, deal, num_learnt, steps_of_epoch
from selftrain.finetune.checkpoint import keep_trained_alone, load_checkpoint, save_checkpoint
from selftrain.finetune.learner import Learner, choose_ways
from selftrain.finetune.log import TrainingLog
from selftrain.finetune.tracker import tell
from selftrain.models import tidy_adapter
from selftrain.seeds import derive_seed

LOOK_EVERY = 16
"""Steps between looks at the losses, for which a GPU has to be waited for."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a training lies."""

    model: Path
    """Gets the model or adapter and `training.jsonl`; with `keep_epochs` the model after each epoch
    lies in `epoch-01`, `epoch-02`, ... instead."""
    state: Path
    """Holds what training goes on from when it was cut short. It may be removed once `model` is in
    its place."""
    tracker: Path
    """Where a tracker that writes files does."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is learnt from."""

    learnt: Sequence[Block]
    held_back: Sequence[Block] = ()
    """Blocks that are not learnt but measured after each epoch."""


@dataclass(frozen=True, slots=True)
class _Training:
    """What accelerate has prepared."""

    accelerator: Accelerator
    learner: torch.nn.Module
    """A `Learner`, in DDP's or FSDP's shell where there are several processes."""
    optimizer: AcceleratedOptimizer
    schedule: AcceleratedScheduler
    config: FinetuneConfig


def fine_tune(
    model: PreTrainedModel | PeftModel,
    lessons: Lessons,
    config: FinetuneConfig,
    seed: int,
    places: Places,
    *,
    keep_epochs: bool = False,
    say: Callable[[str], object],
    advance: Callable[[int], object],
) -> None:
    """Train `model`, or go on with a training that was cut short.

    `say` is told what a person should know, `advance` of each step done. Raises RunError where the
    loss diverges.
    """
    training = _prepare(model, lessons, config, seed, places, say)
    accelerator = training.accelerator
    start, rows = load_checkpoint(accelerator, places.state, say)
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
        if is_checkpoint or rest == 0 or len(losses) == LOOK_EVERY:
            log.end_steps(_over_processes(accelerator, losses))
            losses.clear()
        if rest == 0:
            if lessons.held_back:
                log.end_epoch(epoch, step, _measure(training, lessons.held_back))
            if keep_epochs:
                _save(training, places.state / f"epoch-{epoch:02d}")
        if is_checkpoint and step < per_epoch * config.epochs:
            save_checkpoint(accelerator, places.state, step, log.rows)
    _finish(training, places, log, keep_epochs=keep_epochs)


def _prepare(
    model: PreTrainedModel | PeftModel,
    lessons: Lessons,
    config: FinetuneConfig,
    seed: int,
    places: Places,
    say: Callable[[str], object],
) -> _Training:
    """Give the model its adapter and the ways it takes, and let accelerate place it."""
    set_seed(seed % 2**32)
    accelerator = _accelerator(model.device, config, places)
    if config.method == "lora" and not isinstance(model, PeftModel):
        model = _with_adapter(model, config)
    if config.gradient_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    learner = Learner(model)
    if sentence := choose_ways(learner, [block[0] for block in lessons.learnt]):
        say(sentence)
    optimizer = torch.optim.AdamW(
        [weight for weight in learner.parameters() if weight.requires_grad],
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
        fused=True,
    )
    schedule = _schedule(optimizer, count_steps(len(lessons.learnt), config), config)
    prepared = accelerator.prepare(learner, optimizer, schedule)
    keep_trained_alone(accelerator)
    # Each process drops out other activations.
    set_seed(derive_seed(seed, accelerator.process_index) % 2**32)
    learner, optimizer, schedule = prepared
    return _Training(accelerator, learner, optimizer, schedule, config)


def _accelerator(device: torch.device, config: FinetuneConfig, places: Places) -> Accelerator:
    accelerator = make_accelerator(
        device,
        bfloat16=_in_bfloat16(device, config),
        tracker=config.tracker,
        tracker_folder=places.tracker,
    )
    if config.tracker:
        accelerator.init_trackers("selftrain")
    return accelerator


def _in_bfloat16(device: torch.device, config: FinetuneConfig) -> bool:
    if config.precision != "auto":
        return config.precision == "bfloat16"
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def _schedule(
    optimizer: torch.optim.Optimizer, num_steps: int, config: FinetuneConfig
) -> torch.optim.lr_scheduler.LRScheduler:
    schedule: torch.optim.lr_scheduler.LRScheduler = get_scheduler(
        "constant_with_warmup" if config.schedule == "constant" else config.schedule,
        optimizer,
        # A round with few examples must not be all warm-up, or nothing would be learnt.
        num_warmup_steps=min(config.warmup_steps, num_steps // 4),
        num_training_steps=num_steps,
    )
    return schedule


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


def _learn(training: _Training, blocks: Sequence[Block]) -> torch.Tensor:
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
def _measure(training: _Training, blocks: Sequence[Block]) -> float:
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


def _batches(training: _Training, blocks: Sequence[Block]) -> Iterator[Batch]:
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


def _finish(training: _Training, places: Places, log: TrainingLog, *, keep_epochs: bool) -> None:
    """Put what was made where it belongs; all processes leave together."""
    accelerator = training.accelerator
    if not keep_epochs:
        _save(training, places.model)
    if accelerator.is_main_process:
        for epoch in sorted(places.state.glob("epoch-??")):
            # Linked, not moved: until the model's folder has its name, it may be lost.
            shutil.copytree(epoch, places.model / epoch.name, copy_function=link)
        write_rows(places.model / "training.jsonl", log.rows)
    for tracker in accelerator.trackers:
        tracker.finish()
    accelerator.wait_for_everyone()


def _save(training: _Training, folder: Path) -> None:
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


def _with_adapter(model: PreTrainedModel, config: FinetuneConfig) -> PeftModel:
    modules = config.lora.target_modules
    return get_peft_model(
        model,
        LoraConfig(
            task_type="CAUSAL_LM",
            r=config.lora.rank,
            lora_alpha=config.lora.alpha,
            lora_dropout=config.lora.dropout,
            target_modules=modules if isinstance(modules, str) else list(modules),
        ),
    )
