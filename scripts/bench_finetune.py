"""Measure fine-tuning against transformers.Trainer, on the same examples, in one run.

    python -m scripts.bench_finetune EXAMPLES [--model builtin:tiny] [--repetitions 3]

EXAMPLES is a run's 4-examples.jsonl. Three ways take turns, each through the same examples once, in
steps of 16 of them: this project's; Trainer with dynamic padding; Trainer with examples grouped by
length. Steps and tokens are equal, and printed. What is not equal: we shuffle blocks of neighbours
in the file, so that examples which share a prompt lie together and it is read once; Trainer
shuffles examples, and reads every one. As in a training, which shortcuts a model can take is tried
before the first step, and so before the clock starts.

The table has medians, and the share of the limit: operations of the matrix products that the
examples ask for, over the time and the speed of a bare matrix product, measured before and after.
No test runs this; numbers go into LOG.md.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from transformers import (
    DataCollatorForSeq2Seq,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from selftrain.config import FinetuneConfig, ModelConfig
from selftrain.finetune.lessons import Lessons, TrainingPaths
from selftrain.finetune.pieces import Piece, pieces, texts_of
from selftrain.finetune.train import fine_tune
from selftrain.loading import quiet
from selftrain.models import load_for_training, load_tokenizer

BATCH = 16
OURS, PADDED, GROUPED = "selftrain", "Trainer, dynamic padding", "Trainer, grouped by length"
RATE = 1e-4


@dataclass(frozen=True, slots=True)
class Measured:
    """One pass of one way."""

    seconds: float
    """From the first step's begin to the last one's end, without loading."""
    loss: float
    """Of what is learnt, on all the examples after the pass, a mean over tokens."""
    steps: int
    tokens: int
    """That went through the model, what pads them left out."""


@dataclass(frozen=True, slots=True)
class Task:
    """What all ways do."""

    model: ModelConfig
    tokenizer: PreTrainedTokenizerBase
    pieces: Sequence[Piece]
    precision: str
    clock: Callable[[], float]
    """Tells seconds."""


def main(arguments: Sequence[str]) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", type=Path)
    parser.add_argument("--model", default="builtin:tiny", help="as model.name in a configuration")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--max-examples", type=int, default=640)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument(
        "--cpu-time", action="store_true", help="count seconds of CPU, on a machine that others use"
    )
    given = parser.parse_args(arguments)
    quiet()
    task = _task(given)
    ways = {OURS: _ours, PADDED: _padded, GROUPED: _grouped}
    before = matrix_speed(given.device, given.precision, task.clock)
    found: dict[str, list[Measured]] = {name: [] for name in ways}
    for repetition in range(given.repetitions):
        # Each way is first as often as last: a machine's speed drifts.
        names = list(ways)[repetition % 3 :] + list(ways)[: repetition % 3]
        for name in names:
            found[name].append(ways[name](task))
            print(f"{name}: {found[name][-1].seconds:.2f} s", file=sys.stderr)
    speed = statistics.mean([before, matrix_speed(given.device, given.precision, task.clock)])
    _print(task, found, speed)


def _task(given: argparse.Namespace) -> Task:
    model = ModelConfig(name=given.model, device=given.device)
    tokenizer = load_tokenizer(model)
    with given.examples.open(encoding="utf-8") as lines:
        texts = texts_of(map(json.loads, lines))[: given.max_examples]
    whole = FinetuneConfig(block_tokens=2048)
    return Task(
        model,
        tokenizer,
        list(pieces(tokenizer, texts, whole)),
        given.precision,
        time.process_time if given.cpu_time else time.perf_counter,
    )


def matrix_speed(device: str, precision: str, clock: Callable[[], float]) -> float:
    """Give the operations a second of a product of square matrices, the median of some."""
    size = 2048
    one = torch.randn(size, size, device=device, dtype=getattr(torch, precision))
    out = torch.empty_like(one)
    times: list[float] = []
    while sum(times) < 2:
        start = clock()
        torch.mm(one, one, out=out)
        _synchronize()
        times.append(clock() - start)
    return 2 * size**3 / statistics.median(times)


def _synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _ours(task: Task) -> Measured:
    how = FinetuneConfig(learning_rate=RATE, warmup_steps=0, batch_size=1, precision=task.precision)
    # A step is one block, and a block has as many examples as a batch of Trainer's.
    starts = range(0, len(task.pieces), BATCH)
    packed = [tuple(task.pieces[start : start + BATCH]) for start in starts]
    times: list[float] = []

    def advance(_: int) -> None:
        _synchronize()
        times.append(task.clock())

    model = _model(task)
    with tempfile.TemporaryDirectory() as name:
        paths = TrainingPaths(*(Path(name) / part for part in ("model", "state", "tracker")))
        fine_tune(model, Lessons(packed), how, 0, paths, say=print, advance=advance)
    tokens = sum(len(piece.tokens) for block in packed for piece in block)
    # It is called once before the first step.
    return Measured(times[-1] - times[0], _loss(task, model), len(times) - 1, tokens)


@torch.no_grad()
def _loss(task: Task, model: PreTrainedModel) -> float:
    """Measure a model on all examples, a row an example, by transformers' own loss."""
    total = 0.0
    model.eval()
    for piece in task.pieces:
        ids = torch.tensor([piece.tokens], device=model.device)
        total += float(model(input_ids=ids, labels=ids).loss) * piece.num_learnt
    return total / sum(piece.num_learnt for piece in task.pieces)


def _padded(task: Task) -> Measured:
    return _trainer(task, "random")


def _grouped(task: Task) -> Measured:
    return _trainer(task, "group_by_length")


def _trainer(task: Task, strategy: str) -> Measured:
    rows = [
        {
            "input_ids": list(p.tokens),
            "labels": list(p.tokens),
            "attention_mask": [1] * len(p.tokens),
        }
        for p in task.pieces
    ]
    clock, model = _Clock(task.clock), _model(task)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model,
            TrainingArguments(
                output_dir=folder,
                per_device_train_batch_size=BATCH,
                num_train_epochs=1,
                learning_rate=RATE,
                train_sampling_strategy=strategy,
                bf16=task.precision == "bfloat16",
                use_cpu=task.model.device == "cpu",
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                logging_strategy="no",
            ),
            train_dataset=rows,
            data_collator=DataCollatorForSeq2Seq(task.tokenizer, label_pad_token_id=-100),
            callbacks=[clock],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    steps, tokens = trainer.state.global_step, sum(len(row["input_ids"]) for row in rows)
    return Measured(clock.end - clock.begin, _loss(task, model), steps, tokens)


class _Clock(TrainerCallback):
    def __init__(self, clock: Callable[[], float]) -> None:
        self.begin = self.end = 0.0
        self._clock = clock

    def on_step_begin(self, *_: object, **__: object) -> None:
        self.begin = self.begin or self._clock()

    def on_step_end(self, *_: object, **__: object) -> None:
        _synchronize()
        self.end = self._clock()


def _model(task: Task) -> PreTrainedModel:
    model = load_for_training(task.model, "full", None)
    assert isinstance(model, PreTrainedModel)
    return model


def _print(task: Task, found: dict[str, list[Measured]], speed: float) -> None:
    tokens = sum(len(piece.tokens) for piece in task.pieces)
    model = _model(task)
    embedded = model.get_input_embeddings().weight.numel()
    tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    matrices = sum(w.numel() for w in model.parameters() if w.ndim == 2) - (0 if tied else embedded)
    limit = 6 * matrices * tokens / speed
    table = Table(title=f"{task.model.name}: {len(task.pieces)} examples, {tokens:,} tokens")
    for head in (
        "way",
        "steps",
        "tokens",
        "examples a second",
        "tokens a second",
        "times",
        "loss after",
        "of the limit",
    ):
        table.add_column(head, justify="left" if head == "way" else "right")
    ours = statistics.median(one.seconds for one in found[OURS])
    for name, some in found.items():
        seconds = statistics.median(one.seconds for one in some)
        table.add_row(
            name,
            f"{some[0].steps}",
            f"{some[0].tokens:,}",
            f"{len(task.pieces) / seconds:.2f}",
            f"{tokens / seconds:,.0f}",
            "" if name == OURS else f"{seconds / ours:.2f}",
            f"{statistics.median(one.loss for one in some):.4f}",
            f"{limit / seconds:.1%}",
        )
    Console().print(table)
    print(
        f"{torch.get_num_threads()} threads; a bare product of matrices makes {speed / 1e9:,.0f} "
        f"billion operations a second; medians of {len(found[OURS])} passes in turn"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
