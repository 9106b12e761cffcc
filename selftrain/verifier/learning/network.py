"""The verifier's network: a model of transformers that says right or wrong of a row of tokens.

An encoder or a decoder gets a head of two labels, an encoder-decoder says yes or no at its first
step, as in the paper (section 4.1, T5), or gets a head too. It learns and scores in float32: in
half precision candidates would tie that are not equal. How it learns is in learn.py, how it scores
in score.py; what it reads is laid out in inputs.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from peft import PeftModel
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from selftrain.config import ModelConfig, VerifierConfig
from selftrain.device import pick_device
from selftrain.errors import RunError, UsageError
from selftrain.files import read_json, write_json
from selftrain.loading import loading, may_run, refuse_pickles
from selftrain.model_source import is_adapter, source_of
from selftrain.models import load_any_tokenizer, tidy_adapter
from selftrain.verifier.learning.adapter import with_adapter
from selftrain.verifier.learning.fitness import (
    YesNo,
    find_yes_no,
    refuse_kind,
    refuse_long,
    refuse_settings,
)
from selftrain.verifier.learning.inputs import Encoded, Reads

ABOUT = "verifier.json"
"""What a folder holds besides the files of transformers: all of `Verifier` that they do not say."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """A network, and what it reads."""

    model: PreTrainedModel | PeftModel
    """On its device, in float32."""
    tokenizer: PreTrainedTokenizerBase
    """It has a token that pads."""
    reads: Reads
    """What it reads of a candidate."""
    yes_no: YesNo | None
    """How it answers at the first step of a decoder; None where it has a head of two labels."""
    base: str
    """Model that it started from, as the configuration named it."""
    revision: str | None
    """Commit or tag of that."""


def load_base(config: VerifierConfig, reads: Reads, seed: int) -> Verifier:
    """Load what a verifier starts from; `seed` draws a new head's and adapter's weights.

    Raises UsageError where there is no such model, or it cannot be a verifier.
    """
    how = config.model
    refuse_settings(how)
    tokenizer = _tokenizer(how)
    says = _says_yes_or_no(how, config.output, tokenizer)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model, _ = _from_pretrained(source_of(how.name), how, tokenizer, says=says)
        yes_no = find_yes_no(model, tokenizer, how.name) if says else None
        refuse_long(model, reads, how.name)
        learner = with_adapter(model, config.lora, says=says) if config.method == "lora" else model
    learner.to(pick_device(how.device))  # type: ignore[arg-type]
    return Verifier(learner, tokenizer, reads, yes_no, how.name, how.revision)


def batch_log_odds(verifier: Verifier, rows: Sequence[Encoded]) -> torch.Tensor:
    """Give log P(right) - log P(wrong) of each row, in nats; shape (rows,), float32, on its device.

    Between the two answers alone, as the paper normalises them; rows are padded on the right.
    """
    device = next(verifier.model.parameters()).device
    longest = max(len(row.ids) for row in rows)
    pad: int = verifier.tokenizer.pad_token_id
    ids = torch.tensor([[*row.ids, *[pad] * (longest - len(row.ids))] for row in rows])
    mask = torch.tensor([[1] * len(row.ids) + [0] * (longest - len(row.ids)) for row in rows])
    given = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
    if verifier.yes_no is None:
        logits = verifier.model(**given).logits.float()
        return torch.as_tensor(logits[:, 1] - logits[:, 0])
    start = torch.full((len(rows), 1), verifier.yes_no.start, device=device)
    logits = verifier.model(**given, decoder_input_ids=start).logits[:, 0].float()
    return torch.as_tensor(logits[:, verifier.yes_no.yes] - logits[:, verifier.yes_no.no])


def in_batches(rows: Sequence[Encoded], batch_size: int) -> Iterator[list[int]]:
    """Give the positions of rows of like length together, the longest first, so that little is
    padded, and what does not fit into memory is known at once.

    Equal sets of rows give equal batches, in whatever order they come.
    """
    order = sorted(range(len(rows)), key=lambda at: (-len(rows[at].ids), rows[at].ids))
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def save(verifier: Verifier, folder: Path) -> None:
    """Write weights, or adapter and head, with the tokenizer and `verifier.json`."""
    verifier.model.save_pretrained(str(folder))
    verifier.tokenizer.save_pretrained(str(folder))
    if is_adapter(folder):
        tidy_adapter(folder)
    about = {
        "base": verifier.base,
        "revision": verifier.revision,
        "reads": asdict(verifier.reads),
        "yes_no": verifier.yes_no and asdict(verifier.yes_no),
    }
    write_json(folder / ABOUT, about)


def load(folder: Path, how: ModelConfig) -> Verifier:
    """Load what `save` wrote, to score with; `how` names the device, and what may run.

    Raises UsageError for a folder that is no verifier.
    """
    if not (folder / ABOUT).is_file():
        raise UsageError(
            f"{folder} holds no {ABOUT}, so it is no verifier. "
            "Name a folder that `selftrain lever train` wrote."
        )
    try:
        about = read_json(folder / ABOUT)
        reads = Reads(**about["reads"])
        yes_no = about["yes_no"] and YesNo(**about["yes_no"])
        base, revision = str(about["base"]), about["revision"]
        tokenizer = load_any_tokenizer(_named(how, str(folder), None))
        model = _load_saved(folder, _named(how, base, revision), tokenizer, says=yes_no is not None)
    except (UsageError, RunError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder}: the verifier in it cannot be loaded; train it again "
            f"({type(error).__name__}: {error})"
        ) from None
    model.to(pick_device(how.device))  # type: ignore[arg-type]
    return Verifier(model.eval(), tokenizer, reads, yes_no, base, revision)


def _named(how: ModelConfig, name: str, revision: str | None) -> ModelConfig:
    return how.model_copy(update={"name": name, "revision": revision})


def _load_saved(
    folder: Path, base: ModelConfig, tokenizer: PreTrainedTokenizerBase, *, says: bool
) -> PreTrainedModel | PeftModel:
    if is_adapter(folder):
        model, _ = _from_pretrained(source_of(base.name), base, tokenizer, says=says)
        refuse_pickles(folder, base)
        with loading(str(folder)):
            return PeftModel.from_pretrained(model, str(folder))
    own = _named(base, str(folder), None)
    model, missing = _from_pretrained(str(folder), own, tokenizer, says=says)
    if missing:  # transformers has drawn them at random
        raise UsageError(f"its weights lack {', '.join(sorted(missing)[:3])}")
    return model


def _from_pretrained(
    source: str, how: ModelConfig, tokenizer: PreTrainedTokenizerBase, *, says: bool
) -> tuple[PreTrainedModel, set[str]]:
    """Load weights; give the names of those that were not there as well."""
    kind = AutoModelForSeq2SeqLM if says else AutoModelForSequenceClassification
    settings = {**may_run(how), **({} if says else {"num_labels": 2})}
    refuse_pickles(Path(source), how)
    with loading(source):
        model, info = kind.from_pretrained(
            source, revision=how.revision, dtype=torch.float32, output_loading_info=True, **settings
        )
    # A decoder's head reads at the last token that does not pad.
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    return model, set(info["missing_keys"])


def _says_yes_or_no(how: ModelConfig, output: str, tokenizer: PreTrainedTokenizerBase) -> bool:
    source = source_of(how.name)
    if is_adapter(Path(source)):
        raise UsageError(
            f"verifier.model.name: {how.name} holds an adapter; a verifier starts from whole "
            "weights. Name the adapter's base, or merge them."
        )
    with loading(source):
        config = AutoConfig.from_pretrained(
            source, revision=how.revision, trust_remote_code=how.trust_remote_code
        )
    says = output == "yes_no" or (output == "auto" and config.is_encoder_decoder)
    refuse_kind(config, tokenizer, how.name, says=says)
    return says


def _tokenizer(how: ModelConfig) -> PreTrainedTokenizerBase:
    tokenizer = load_any_tokenizer(how)
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token_id is None:
            raise UsageError(
                f"verifier.model.name: the tokenizer of {how.name} has neither a padding nor an "
                "end-of-text token."
            )
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer
