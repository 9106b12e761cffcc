"""A model of the tests as a GGUF file, written as llama.cpp's own converter writes a Llama."""

import json
from collections.abc import Collection
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGUFWriter
from transformers import AutoTokenizer, LlamaForCausalLM

CONTROL, NORMAL = 3, 1


def write_gguf(
    folder: Path, path: Path, *, split: str = "smollm", without: Collection[str] = ()
) -> Path:
    """Write a Llama of `folder` with a byte-level tokenizer; some tensors can be left out."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny")
    _add_shape(writer, model)
    _add_tokenizer(writer, folder, split)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, model.config.num_hidden_layers)
    for name, weights in model.state_dict().items():
        stem, _, suffix = name.rpartition(".")
        to = f"{names.get_name(stem)}.{suffix}"
        if to not in without:
            writer.add_tensor(to, _permuted(name, weights.numpy(), model.config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_shape(writer: GGUFWriter, model: LlamaForCausalLM) -> None:
    c = model.config
    writer.add_block_count(c.num_hidden_layers)
    writer.add_context_length(c.max_position_embeddings)
    writer.add_embedding_length(c.hidden_size)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    writer.add_rope_dimension_count(c.head_dim)
    writer.add_rope_freq_base(c.rope_parameters["rope_theta"])
    writer.add_vocab_size(c.vocab_size)


def _add_tokenizer(writer: GGUFWriter, folder: Path, split: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    special = set(tokenizer.all_special_ids)
    state = tokenizer.backend_tokenizer
    merges = json.loads(state.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(split)
    writer.add_token_list([state.id_to_token(number) for number in range(len(tokenizer))])
    writer.add_token_types(
        [CONTROL if number in special else NORMAL for number in range(len(tokenizer))]
    )
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_add_bos_token(False)


def _permuted(name: str, weights: np.ndarray, config: object) -> np.ndarray:
    """Lay the rows of queries and keys out as llama.cpp turns them: pairs beside each other."""
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}
    for layer, key in heads.items():
        if layer in name:
            number = getattr(config, key)
            halves = weights.reshape(number, 2, weights.shape[0] // number // 2, weights.shape[1])
            return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(weights.shape))
    return weights
