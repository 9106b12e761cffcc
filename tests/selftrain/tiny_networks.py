"""Models of every kind a verifier starts from, tiny and random, with a tokenizer of their own kind."""

import json
from functools import cache
from pathlib import Path

import torch
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    BartConfig,
    BertConfig,
    GPT2Config,
    GPTNeoConfig,
    LlamaConfig,
    MambaConfig,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    Qwen2Config,
    RobertaConfig,
    T5Config,
)

from selftrain.config import VerifierConfig
from selftrain.model_source import resolve
from selftrain.verifier.tasks.task import Candidate, Task

START, END, PAD = 640, 641, 642
_SPECIAL = {"pad_token_id": PAD, "eos_token_id": END}
_BERT = {
    "vocab_size": 643,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}
_LLAMA = {**_BERT, "num_key_value_heads": 2, "max_position_embeddings": 256}
_BART = {
    "vocab_size": 643,
    "d_model": 24,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 256,
}
_T5 = {
    "vocab_size": 643,
    "d_model": 24,
    "d_kv": 8,
    "d_ff": 32,
    "num_layers": 1,
    "num_decoder_layers": 1,
    "num_heads": 2,
}
CONFIGS: dict[str, PreTrainedConfig] = {
    "roberta": RobertaConfig(
        **_BERT,
        **_SPECIAL,
        bos_token_id=START,
        max_position_embeddings=PAD + 1 + 256,
        initializer_range=0.3,
    ),
    "bert": BertConfig(**_BERT, **_SPECIAL, max_position_embeddings=256, initializer_range=0.3),
    "llama": LlamaConfig(**_LLAMA, **_SPECIAL, initializer_range=0.3),
    "qwen2": Qwen2Config(**_LLAMA, **_SPECIAL, initializer_range=0.3),
    "gpt2": GPT2Config(
        vocab_size=643,
        n_positions=256,
        n_embd=24,
        n_layer=2,
        n_head=2,
        bos_token_id=START,
        eos_token_id=END,
        initializer_range=0.3,
    ),
    "gpt_neo": GPTNeoConfig(
        vocab_size=643,
        max_position_embeddings=256,
        hidden_size=24,
        num_layers=2,
        num_heads=2,
        attention_types=[[["global", "local"], 1]],
        bos_token_id=START,
        eos_token_id=END,
        initializer_range=0.3,
    ),
    "t5": T5Config(**_T5, **_SPECIAL, decoder_start_token_id=PAD, initializer_factor=1.0),
    "bart": BartConfig(
        **_BART, **_SPECIAL, bos_token_id=START, decoder_start_token_id=END, init_std=0.3
    ),
    "mamba": MambaConfig(
        vocab_size=643, hidden_size=8, num_hidden_layers=1, state_size=4, **_SPECIAL
    ),
}
"""Kind of model: what it is made from."""
_MAKERS = {
    "roberta": AutoModelForMaskedLM,
    "bert": AutoModelForMaskedLM,
    "t5": AutoModelForSeq2SeqLM,
    "bart": AutoModelForSeq2SeqLM,
}
_FRAMES = {
    "roberta": "<s> $A </s>",
    "bert": "<s> $A </s>",
    "bart": "<s> $A </s>",
    "t5": "$A </s>",
    "llama": "<s> $A",
}


@cache
def make_tokenizer(kind: str) -> PreTrainedTokenizerBase:
    """Give the built-in model's tokenizer the special tokens of a kind of model."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(Path(resolve("builtin:tiny")) / "tokenizer.json"),
        bos_token="<s>", pad_token=None if kind.startswith("gpt") else "<pad>", eos_token="</s>", model_max_length=256,
    )  # fmt: skip
    tokenizer.add_special_tokens({"additional_special_tokens": ["<s>", "</s>", "<pad>"]})
    assert tokenizer.convert_tokens_to_ids(["<s>", "</s>", "<pad>"]) == [START, END, PAD]
    if kind in _FRAMES:
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=_FRAMES[kind], special_tokens=[("<s>", START), ("</s>", END)]
        )
    return tokenizer


def make_network(kind: str, folder: Path) -> Path:
    """Save a model of random weights as one that was pretrained, without a head of labels."""
    torch.manual_seed(0)
    _MAKERS.get(kind, AutoModelForCausalLM).from_config(CONFIGS[kind]).save_pretrained(folder)
    make_tokenizer(kind).save_pretrained(folder)
    return folder


def settings(folder: Path | str, **more: object) -> VerifierConfig:
    """Configure a verifier that starts from a folder, on a CPU, and learns in a few steps."""
    few = {
        "steps": 4,
        "check_every": 2,
        "warmup_steps": 1,
        "learning_rate": 1e-3,
        "max_tokens": 128,
        "tasks_per_step": 2,
        "candidates_per_step": 3,
    }
    return VerifierConfig.model_validate(
        few | more | {"model": {"name": str(folder), "device": "cpu", "batch_size": 4}}
    )


def make_tasks(num: int = 6) -> list[Task]:
    """Make tasks of five candidates, of which the two that return 1 are right."""
    results = ("1", "2", "ERROR: raised: ZeroDivisionError", "1", "[7, 8]")
    return [
        Task(
            f"t{number}",
            f"def f(x: int):\n    return x == {'1' * (number + 1)}",
            tuple(
                Candidate(
                    f"def g():\n    return {'0 + ' * place}{number}", -1.0, 3, result, result == "1"
                )
                for place, result in enumerate(results, start=1)
            ),
        )
        for number in range(num)
    ]


def about(folder: Path) -> dict[str, object]:
    """Read what a verifier's folder says of it."""
    found: dict[str, object] = json.loads((folder / "verifier.json").read_text())
    return found
