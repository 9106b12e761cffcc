"""Sampling by vLLM, in this process: the extra `selftrain[vllm]`, for CUDA.

Prompts are tokenized here, as transformers' sampler does it; vLLM reads a shared prompt once and
fills its own batches. An adapter is served over its base model, not merged. Each completion has its
own seed, so it does not depend on its batch but for rounding, which a GPU rounds otherwise in
another batch: two runs agree in most tokens, not in all, unless VLLM_BATCH_INVARIANT=1 is set.
Written against vLLM 0.30, the last that takes transformers 5.24. No other file imports it.
"""

import gc
import os
import re
import weakref
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selftrain.config import ModelConfig
from selftrain.errors import RunError, UsageError
from selftrain.files import read_json
from selftrain.models import (
    context_of,
    is_adapter,
    load_tokenizer,
    loading,
    pick_dtype,
    source_of,
)
from selftrain.sampling.completion import Completion, FinishReason, Request

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

STOP = (
    *("\ndef", "\nassert", "\n#", "\nclass", "\n@", "\nimport", "\nfrom", "\nprint", "\nif"),
    *("\n```", '\n"""'),
)
"""Where a definition most often ends; puzzles/cut.py finds the rest. vLLM looks for each after
every token, in Python, so that one for each letter would cost more than it saves."""
RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The ranks of adapters that vLLM makes room for (`MaxLoRARanks` in its config/lora.py)."""
_COLUMN_ZERO = re.compile(r"\n\S")
_TOO_LONG = Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)


class VllmSampler:
    """Samples from a model that vLLM holds; made by `load_vllm`.

    The memory of the GPU is given back when the last reference to it goes.
    """

    def __init__(
        self,
        llm: Any,
        tokenizer: "PreTrainedTokenizerBase",
        adapter: Any,
        *,
        context_tokens: int,
    ) -> None:
        self._llm = llm
        self._tokenizer = tokenizer
        self._adapter = adapter
        self._context_tokens = context_tokens
        # Waiting for the collector of cycles would leave no room for the training that comes next.
        weakref.finalize(self, llm.llm_engine.engine_core.shutdown)

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together."""
        return self._context_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, as the model reads it."""
        return [len(tokens) for tokens in self._encode(texts)]

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
    ) -> list[Completion]:
        """Draw one completion a request; see `Sampler`. The text ends before a stop string.

        Raises RunError where vLLM fails.
        """
        prompts = list(dict.fromkeys(request.prompt for request in requests))
        tokens = dict(zip(prompts, self._encode(prompts), strict=True))
        room = self._context_tokens - max_new_tokens
        fitting = [i for i, one in enumerate(requests) if len(tokens[one.prompt]) <= room]
        advance(len(requests) - len(fitting))
        completions = [_TOO_LONG] * len(requests)
        outputs = self._run(
            [{"prompt_token_ids": tokens[requests[i].prompt]} for i in fitting],
            [_parameters(requests[i].seed, temperature, max_new_tokens) for i in fitting],
            advance,
        )
        for i, output in zip(fitting, outputs, strict=True):
            completions[i] = _completion(output.outputs[0])
        return completions

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded: list[list[int]] = self._tokenizer(list(texts), verbose=False)["input_ids"]
        return encoded

    def _run(
        self, prompts: list[Any], parameters: list[Any], advance: Callable[[int], object]
    ) -> list[Any]:
        """Draw them all, in order; vLLM ends them in another one. Its `generate` tells no steps."""
        from vllm.v1.engine.exceptions import EngineDeadError

        if not prompts:
            return []
        done = []
        try:
            self._llm.enqueue(prompts, parameters, lora_request=self._adapter, use_tqdm=False)
            while self._llm.llm_engine.has_unfinished_requests():
                for output in self._llm.llm_engine.step():
                    if output.finished:
                        done.append(output)
                        advance(1)
        except EngineDeadError:
            raise RunError(
                "vLLM's engine died; its own lines above say why. Where memory ran out, lower "
                "model.batch_size; the same command then goes on from here."
            ) from None
        # It numbers requests as they come.
        return sorted(done, key=lambda output: int(output.request_id))


def load_vllm(config: ModelConfig, trained: Path | None = None) -> VllmSampler:
    """Start vLLM with the base model, or with what a round trained from it.

    Raises UsageError where vLLM, CUDA or the model is not there, RunError where vLLM does not
    start.
    """
    device = _device(config)
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


def _device(config: ModelConfig) -> int:
    """Give the number of the GPU to use; refuse where vLLM cannot run."""
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
    # Its own choice would be the first one, for each process of a launch.
    return int(number) if number else torch.cuda.current_device()


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
    return source_of(
        str(read_json(named / "adapter_config.json")["base_model_name_or_path"])
    ), named


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


def _parameters(seed: int, temperature: float, max_new_tokens: int) -> Any:
    from vllm import SamplingParams

    return SamplingParams(
        seed=seed,
        temperature=temperature,
        max_tokens=max_new_tokens,
        stop=list(STOP),
        logprobs=0,  # those of the tokens drawn, and no others
        flat_logprobs=True,
        skip_special_tokens=False,
        spaces_between_special_tokens=False,
    )


def _completion(output: Any) -> Completion:
    """Make a completion of vLLM's; its text lacks the end-of-text token, its tokens do not."""
    if output.finish_reason not in ("stop", "length"):
        raise RunError(f"vLLM ended a completion for a reason of its own: {output.finish_reason}.")
    stopped = output.finish_reason == "stop" or _COLUMN_ZERO.search(output.text)
    return Completion(
        text=output.text,
        finish_reason=FinishReason.STOP if stopped else FinishReason.LENGTH,
        num_tokens=len(output.token_ids),
        sum_logprob=output.cumulative_logprob,
    )
