"""Starting vLLM with a base model, a round's weights, or an adapter over its base.

What is asked of it then is in vllm.py. Each round starts an engine of its own,
which holds one adapter.
"""

import gc
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from selftrain.config import ModelConfig
from selftrain.device import pick_dtype
from selftrain.errors import RunError, UsageError
from selftrain.files import read_json
from selftrain.loading import loading
from selftrain.model_source import base_of_adapter, is_adapter, source_of
from selftrain.models import context_of, load_tokenizer
from selftrain.sampling.vllm import VllmSampler

RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The ranks of adapters that vLLM makes room for (`MaxLoRARanks` in its config/lora.py)."""


def load_vllm(config: ModelConfig, trained: Path | None = None) -> VllmSampler:
    """Start vLLM with the base model, or with what a round trained from it.

    Raises UsageError where vLLM, CUDA or the model is not there, RunError where vLLM does not
    start.
    """
    device = find_gpu(config)
    # Its lines are many; whoever looks for a fault sets the first one to INFO.
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    source, adapter = _source(config, trained)
    tokenizer = load_tokenizer(config)
    context = _context(config, source)
    settings = _settings(config, device) | {
        "model": source,
        "tokenizer": tokenizer.name_or_path,
        "max_model_len": context,
    }
    if adapter is not None:
        settings |= {"enable_lora": True, "max_lora_rank": _rank(adapter)}
    llm, request = _start(config.name, settings, adapter)
    return VllmSampler(llm, tokenizer, request, context_tokens=context)


def _settings(config: ModelConfig, device: int) -> dict[str, Any]:
    """Give vLLM's names for settings; how much of the memory it takes is left to it."""
    import torch

    dtype = pick_dtype(config.dtype, torch.device("cuda", device))
    return {
        "revision": config.revision,
        "tokenizer_revision": config.revision,
        "trust_remote_code": config.trust_remote_code,
        "load_format": "safetensors" if config.weights == "safetensors" else "auto",
        # Its own choice would be another than that of the other sampler.
        "dtype": str(dtype).removeprefix("torch."),
        "device_ids": [device],
        "max_num_seqs": config.batch_size,
        "enable_prefix_caching": True,
        # Before temperature, as `Completion.sum_logprob` says.
        "logprobs_mode": "raw_logprobs",
        "use_tqdm_on_load": False,
    }


def _start(name: str, settings: dict[str, Any], adapter: Path | None) -> tuple[Any, Any]:
    """Start the engine, and let it read the adapter now: later it would fail in mid-round."""
    import torch
    from vllm import LLM
    from vllm.lora.request import LoRARequest

    # vLLM takes most of the memory there is, and refuses to start where others hold it.
    gc.collect()
    torch.cuda.empty_cache()
    llm = None
    try:
        llm = LLM(**settings)
        if adapter is None:
            return llm, None
        request = LoRARequest(adapter.name, 1, str(adapter))
        llm.llm_engine.add_lora(request)
        return llm, request
    except Exception as error:  # it raises whatever its many parts do
        if llm is not None:
            llm.llm_engine.engine_core.shutdown()
        said = " ".join(str(error).split())[:300]
        raise RunError(
            f"vLLM does not start with {name} ({said}); its own lines above may say more. "
            "model.engine=transformers samples without it."
        ) from None


def find_gpu(config: ModelConfig) -> int:
    """Give the number of the GPU to use. Raises UsageError where vLLM cannot run."""
    import torch

    kind, _, number = config.device.partition(":")
    if kind not in ("auto", "cuda") or not (number.isdecimal() or not number):
        raise UsageError(
            f"model.engine is vllm, which samples on CUDA, but model.device is {config.device}. "
            "Set model.device=cuda, or model.engine=transformers."
        )
    if not torch.cuda.is_available():
        raise UsageError(
            "model.engine is vllm, which needs a GPU with CUDA, and torch finds none here. "
            "Set model.engine=transformers, or model.server to a machine that has one."
        )
    if find_spec("vllm") is None:
        raise UsageError(
            "model.engine is vllm, which is not installed: pip install 'selftrain[vllm]'"
        )
    return int(number or 0)


def _source(config: ModelConfig, trained: Path | None) -> tuple[str, Path | None]:
    """Give the weights to load, and the adapter to serve over them."""
    source = source_of(config.name)
    named = Path(source) if is_adapter(Path(source)) else None
    if trained is not None and not is_adapter(trained):
        return str(trained), None
    if named is None:
        return source, trained
    if trained is not None:
        raise UsageError(
            f"model.engine is vllm, which serves one adapter at a time, but {config.name} is an "
            "adapter and the round trained another on it. Set model.engine=transformers."
        )
    return source_of(base_of_adapter(named)), named


def _context(config: ModelConfig, source: str) -> int:
    from transformers import AutoConfig

    with loading(source):
        shape = AutoConfig.from_pretrained(
            source, revision=config.revision, trust_remote_code=config.trust_remote_code
        )
    return context_of(shape, config)


def _rank(adapter: Path) -> int:
    """Give the smallest room that vLLM makes in which the adapter fits."""
    about = read_json(adapter / "adapter_config.json")
    rank = max([about["r"], *(about.get("rank_pattern") or {}).values()])
    for room in RANKS:
        if rank <= room:
            return room
    raise UsageError(
        f"{adapter}: the adapter has rank {rank}, but vLLM serves at most {RANKS[-1]}. "
        "Set model.engine=transformers."
    )
