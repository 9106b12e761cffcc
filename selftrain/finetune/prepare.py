"""Prepare a training: the model's adapter and short cuts, optimizer, schedule, and accelerate.

Nothing is learnt here; what is tried on a model lies in learner.py.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from accelerate.optimizer import AcceleratedOptimizer
from accelerate.scheduler import AcceleratedScheduler
from accelerate.utils import set_seed
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel, get_scheduler

from selftrain.accelerator import make_accelerator
from selftrain.config import FinetuneConfig
from selftrain.finetune.checkpoint import keep_trained_alone
from selftrain.finetune.learner import Learner, try_shortcuts
from selftrain.finetune.lessons import Lessons, TrainingPaths
from selftrain.finetune.tracker import begin
from selftrain.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Prepared:
    """What accelerate has prepared."""

    accelerator: Accelerator
    learner: torch.nn.Module
    """A `Learner`, in DDP's or FSDP's shell where there are several processes."""
    optimizer: AcceleratedOptimizer
    schedule: AcceleratedScheduler
    config: FinetuneConfig


def prepare(
    model: PreTrainedModel | PeftModel,
    lessons: Lessons,
    config: FinetuneConfig,
    seed: int,
    paths: TrainingPaths,
    say: Callable[[str], object],
) -> Prepared:
    """Give the model its adapter and the short cuts it takes, and let accelerate place it."""
    set_seed(seed % 2**32)
    accelerator = _accelerator(model.device, config, paths)
    begin(accelerator, config, seed, paths.tracker)
    if config.method == "lora" and not isinstance(model, PeftModel):
        model = _with_adapter(model, config)
    if config.gradient_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    learner = Learner(model)
    if sentence := try_shortcuts(learner, [block[0] for block in lessons.learnt]):
        say(sentence)
    optimizer = _optimizer(learner, config)
    schedule = _schedule(optimizer, lessons.num_steps(config), config)
    prepared = accelerator.prepare(learner, optimizer, schedule)
    keep_trained_alone(accelerator)
    # Each process drops out other activations.
    set_seed(derive_seed(seed, accelerator.process_index) % 2**32)
    learner, optimizer, schedule = prepared
    return Prepared(accelerator, learner, optimizer, schedule, config)


def _accelerator(device: torch.device, config: FinetuneConfig, paths: TrainingPaths) -> Accelerator:
    return make_accelerator(
        device,
        bfloat16=_in_bfloat16(device, config),
        tracker=config.tracker,
        tracker_folder=paths.tracker,
    )


def _in_bfloat16(device: torch.device, config: FinetuneConfig) -> bool:
    if config.precision != "auto":
        return config.precision == "bfloat16"
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


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


def _optimizer(learner: Learner, config: FinetuneConfig) -> torch.optim.Optimizer:
    return torch.optim.AdamW(
        [weight for weight in learner.parameters() if weight.requires_grad],
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
        fused=True,
    )


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
