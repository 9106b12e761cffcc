"""The command `selftrain doctor`: all checks, in the order in which a text meets them.

Each check is a function of a file beside this one.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from selftrain import models
from selftrain.config import Config
from selftrain.device import pick_dtype
from selftrain.doctor import boundary, marks, writing
from selftrain.doctor.finding import Finding, State, last_line, tell
from selftrain.doctor.room import room
from selftrain.doctor.texts import Text, make_texts
from selftrain.errors import UsageError
from selftrain.puzzle_source import read_split

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def examine(config: Config) -> int:
    """Print what the checks find of `config.model`, and return 1 if there is something to mend.

    Raises UsageError where there is no such model, RunError where its server does not answer.
    """
    texts = make_texts(read_split(config.puzzles.train, "train"), config)
    if config.model.server is not None:
        from selftrain.doctor.served import ask_server

        findings = ask_server(models.load_sampler(config.model), texts, config)
    else:
        findings = list(check_model(texts, config))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(tell(findings, width))
    print(last_line(config.model.name, findings))
    return int(any(finding.state is State.MEND for finding in findings))


def check_model(texts: Sequence[Text], config: Config) -> Iterator[Finding]:
    """Check a tokenizer, then the model, where it can be loaded and has a row for each token."""
    tokenizer = models.load_any_tokenizer(config.model)
    yield boundary.prompts_end(texts)
    yield boundary.boundary(tokenizer, texts, config.finetune.loss_on)
    yield writing.round_trip(tokenizer, texts)
    yield writing.numbers(tokenizer)
    yield writing.indentation(tokenizer)
    yield marks.end(tokenizer)
    yield marks.pad(tokenizer)
    yield marks.chat(tokenizer)
    try:
        model = models.load_model(config.model, training=True)
    except UsageError as error:
        yield marks.begin(tokenizer, None)
        yield Finding("model", State.MEND, str(error).removeprefix("model.name: ").rstrip("."))
        return
    yield from _check_network(model, tokenizer, texts, config)


def _check_network(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    texts: Sequence[Text],
    config: Config,
) -> Iterator[Finding]:
    from selftrain.doctor import network

    model.eval()  # type: ignore[no-untyped-call]
    yield marks.ends(tokenizer, model.generation_config)
    context = models.context_tokens(model, config.model)
    yield room(lambda many: _count(tokenizer, many), texts, config, context)
    rows = network.embedding(model, tokenizer)
    yield rows
    if rows.state is State.MEND:
        yield marks.begin(tokenizer, None)
    else:
        yield from _read(model, tokenizer, texts, config)


def _read(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    texts: Sequence[Text],
    config: Config,
) -> Iterator[Finding]:
    """Check what the model makes of texts, each of whose tokens has a row."""
    from selftrain.doctor import network

    try:
        gain = None
        if not marks.is_put_first(tokenizer):
            gain = network.gain_of_begin(model, tokenizer, texts)
        yield marks.begin(tokenizer, gain)
        yield network.padding(model, tokenizer, texts)
    except (TypeError, ValueError, NotImplementedError) as error:
        said = " ".join(str(error).split())[:200]
        yield Finding(
            "padding",
            State.MEND,
            f"the model cannot be read as sampling reads it ({said})",
            "Take a model of another class.",
        )
        return
    dtype = pick_dtype(config.model.dtype, model.device)
    yield network.precision(model, tokenizer, texts, dtype)


def _count(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str]) -> list[int]:
    return [len(tokens) for tokens in tokenizer(list(texts), verbose=False)["input_ids"]]
