"""Fine-tune on verified pairs, by accelerate: all weights or low-rank adapters.

Examples are packed into blocks with an end-of-text token after each. Position numbers start anew
with every example, from which transformers builds a mask such that examples do not see each other.
Models are loaded in models.py; the texts are made in prompts.py.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration, set_seed
from peft import LoraConfig, PeftModel, get_peft_model
from torch.utils.data import DataLoader
from transformers import PreTrainedModel, PreTrainedTokenizerBase, get_scheduler

from selftrain.config import FinetuneConfig
from selftrain.errors import RunError
from selftrain.files import Row, write_rows
from selftrain.models import tidy_adapter

Block = dict[str, torch.Tensor]


def fine_tune(
    model: PreTrainedModel | PeftModel,
    data: Sequence[Block],
    config: FinetuneConfig,
    seed: int,
    folder: Path,
    *,
    keep_epochs: bool = False,
    advance: Callable[[int], object],
) -> None:
    """Train `model` on blocks, and write it and `training.jsonl` into `folder`.

    With `keep_epochs` the model after each epoch lies in `epoch-01`, `epoch-02`, ... instead.
    """
    set_seed(seed % 2**32)
    if model.device.type == "cuda":
        torch.cuda.set_device(model.device)  # else accelerate would move the model to the first one
    accelerator = Accelerator(
        cpu=model.device.type == "cpu",
        mixed_precision="no",
        dataloader_config=DataLoaderConfiguration(split_batches=True),
    )
    if config.method == "lora" and not isinstance(model, PeftModel):
        model = _with_adapter(model, config)
    model.train()
    log: list[Row] = []
    num_steps = count_steps(len(data), config) // config.epochs
    for row in _train(accelerator, model, data, config, seed, advance):
        log.append(row)
        epoch, rest = divmod(len(log), num_steps)
        if keep_epochs and rest == 0:
            _save(accelerator, model, config, folder / f"epoch-{epoch:02d}")
    if not keep_epochs:
        _save(accelerator, model, config, folder)
    if accelerator.is_main_process:
        write_rows(folder / "training.jsonl", log)


def _save(
    accelerator: Accelerator,
    model: PreTrainedModel | PeftModel,
    config: FinetuneConfig,
    folder: Path,
) -> None:
    if not accelerator.is_main_process:
        return
    model.save_pretrained(str(folder))
    if config.method == "lora":
        tidy_adapter(folder)


def count_steps(num_blocks: int, config: FinetuneConfig) -> int:
    """Give the optimizer steps that so many blocks take."""
    return config.epochs * -(-num_blocks // config.batch_size)


def blocks(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], block_tokens: int
) -> Iterator[Block]:
    """Pack texts into blocks, in order; drop none, and cut one that is longer than a block.

    Each block holds `input_ids`, `position_ids` and `labels`, three tensors of `block_tokens`
    integers; what pads the last tokens is its own example and is not learnt.
    """
    pieces = list(_pieces(tokenizer, texts, block_tokens))
    block: list[list[int]] = []
    used = 0
    for piece in pieces:
        if used + len(piece) > block_tokens:
            yield _block(block, block_tokens, tokenizer)
            block, used = [], 0
        block.append(piece)
        used += len(piece)
    if block:
        yield _block(block, block_tokens, tokenizer)


def _pieces(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], block_tokens: int
) -> Iterator[list[int]]:
    for tokens in tokenizer(list(texts), verbose=False)["input_ids"]:
        tokens = [*tokens, tokenizer.eos_token_id]
        for start in range(0, len(tokens), block_tokens):
            # One token alone follows from nothing: there is nothing to learn in it.
            if start + 1 < len(tokens):
                yield tokens[start : start + block_tokens]


def _block(pieces: list[list[int]], block_tokens: int, tokenizer: PreTrainedTokenizerBase) -> Block:
    ids = [token for piece in pieces for token in piece]
    positions = [position for piece in pieces for position in range(len(piece))]
    # The first token of an example follows from nothing the model sees, so it is not predicted.
    labels = [
        -100 if position == 0 else token for token, position in zip(ids, positions, strict=True)
    ]
    padding = block_tokens - len(ids)
    return {
        "input_ids": torch.tensor(ids + [tokenizer.pad_token_id] * padding),
        "position_ids": torch.tensor(positions + list(range(padding))),
        "labels": torch.tensor(labels + [-100] * padding),
    }


def _train(
    accelerator: Accelerator,
    model: PreTrainedModel | PeftModel,
    data: Sequence[Block],
    config: FinetuneConfig,
    seed: int,
    advance: Callable[[int], object],
) -> Iterator[Row]:
    order = torch.Generator().manual_seed(seed)
    loader: DataLoader[Block] = DataLoader(
        data,  # type: ignore[arg-type]  # a sequence is a dataset
        batch_size=config.batch_size,
        shuffle=config.order == "shuffled",
        generator=order,
    )
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(
        weights, lr=config.learning_rate, weight_decay=config.weight_decay
    )
    num_steps = count_steps(len(data), config)
    schedule = get_scheduler(
        "constant_with_warmup" if config.schedule == "constant" else config.schedule,
        optimizer,
        # A round with few examples must not be all warm-up, or nothing would be learnt.
        num_warmup_steps=min(config.warmup_steps, num_steps // 4),
        num_training_steps=num_steps,
    )
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    step = 0
    for _ in range(config.epochs):
        for batch in loader:
            rate = schedule.get_last_lr()[0]
            loss = model(**batch, use_cache=False).loss
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(weights, config.max_grad_norm)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            step += 1
            advance(1)
            if not math.isfinite(loss.item()):
                raise RunError(
                    f"fine-tuning diverged: the loss is {loss.item()} at step {step}. "
                    "Lower finetune.learning_rate."
                )
            yield {"step": step, "loss": loss.item(), "learning_rate": rate}


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
