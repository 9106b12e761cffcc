"""Sampling by vLLM: what it is asked, and what is made of its answers.

It cannot run without a GPU. So most tests put a small module in its place, which writes down what
it is given and answers in the shapes of vLLM 0.30: they hold our half of the contract. The last one
draws from the real one, where that is here.
"""

import gc
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from selftrain.config import ModelConfig
from selftrain.errors import RunError, UsageError
from selftrain.models import load_model, load_sampler, load_tokenizer
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.completion import Message, Tell, ignore
from selftrain.sampling.lazy import LazySampler

PROMPT = "def f(x: int):\n    return x == 3\n\ndef g():"


class EngineDeadError(Exception):
    """vLLM's own name for a worker that is gone."""


class Engine:
    """Ends two requests a step, the last one first, as vLLM ends them in an order of its own."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.engine_core = SimpleNamespace(shutdown=lambda: world.events.append("shutdown"))
        self.waiting: list[tuple[int, Any]] = []

    def add_lora(self, request: Any) -> bool:
        self.world.events.append("add_lora")
        if self.world.lora_error:
            raise ValueError(self.world.lora_error)
        return True

    def has_unfinished_requests(self) -> bool:
        return bool(self.waiting)

    def step(self) -> list[Any]:
        if self.world.dies:
            raise EngineDeadError
        ended, self.waiting = self.waiting[-2:], self.waiting[:-2]
        return [
            SimpleNamespace(
                request_id=str(number), finished=True, outputs=[self.world.answer(parameters)]
            )
            for number, parameters in reversed(ended)
        ]


class World:
    """What the module in vLLM's place was given, and how it answers."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.settings: dict[str, Any] = {}
        self.prompts: list[Any] = []
        self.parameters: list[Any] = []
        self.lora: Any = None
        self.start_error = ""
        self.lora_error = ""
        self.dies = False
        self.answer: Callable[[Any], Any] = lambda parameters: output(f"text {parameters.seed}")

    def module(self) -> dict[str, ModuleType]:
        world = self

        class LLM:
            def __init__(self, **settings: Any) -> None:
                if world.start_error:
                    raise ValueError(world.start_error)
                world.settings = settings
                self.llm_engine = Engine(world)

            def enqueue(
                self, prompts: Any, parameters: Any, *, lora_request: Any, use_tqdm: bool
            ) -> None:
                assert not use_tqdm
                world.prompts, world.parameters, world.lora = prompts, parameters, lora_request
                self.llm_engine.waiting = list(enumerate(parameters))

        vllm = ModuleType("vllm")
        vllm.__spec__ = SimpleNamespace(name="vllm")  # type: ignore[assignment]
        vllm.LLM = LLM  # type: ignore[attr-defined]
        vllm.SamplingParams = SimpleNamespace  # type: ignore[attr-defined]
        params = ModuleType("vllm.sampling_params")
        params.StructuredOutputsParams = SimpleNamespace  # type: ignore[attr-defined]
        request = ModuleType("vllm.lora.request")
        request.LoRARequest = lambda name, number, path: (name, number, path)  # type: ignore[attr-defined]
        exceptions = ModuleType("vllm.v1.engine.exceptions")
        exceptions.EngineDeadError = EngineDeadError  # type: ignore[attr-defined]
        packages = ("vllm.lora", "vllm.v1", "vllm.v1.engine")
        return {
            "vllm": vllm,
            "vllm.sampling_params": params,
            "vllm.lora.request": request,
            "vllm.v1.engine.exceptions": exceptions,
            **{name: ModuleType(name) for name in packages},
        }


def output(text: str, finish_reason: str = "stop", num_tokens: int = 3) -> Any:
    """Answer as vLLM's CompletionOutput."""
    return SimpleNamespace(
        text=text,
        token_ids=[7] * num_tokens,
        cumulative_logprob=-1.5,
        finish_reason=finish_reason,
    )


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Put a module in vLLM's place, on a machine that has CUDA."""
    made = World()
    for name, module in made.module().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    for name in ("VLLM_LOGGING_LEVEL", "VLLM_NO_USAGE_STATS"):
        monkeypatch.setenv(name, "")
    return made


def config_of(model: Path, **more: Any) -> ModelConfig:
    return ModelConfig.model_validate({"name": str(model), "engine": "vllm"} | more)


def sample(
    config: ModelConfig,
    requests: Sequence[Request],
    advance: Callable[[int], object] = lambda _: None,
    *,
    temperature: float = 0.9,
    max_new_tokens: int = 20,
    trained: Path | None = None,
    tell: Tell = ignore,
) -> list[Completion]:
    sampler = load_sampler(config, trained)
    return sampler.sample(
        requests, temperature=temperature, max_new_tokens=max_new_tokens, advance=advance, tell=tell
    )


def save_adapter(folder: Path, base: Path, **about: Any) -> Path:
    folder.mkdir()
    row = {"base_model_name_or_path": str(base), "r": 16, "rank_pattern": {}} | about
    (folder / "adapter_config.json").write_text(json.dumps(row))
    return folder


def test_settings_of_the_model_become_vllms(world: World, tiny_model: Path) -> None:
    load_sampler(config_of(tiny_model, batch_size=48, device="cuda:1", revision="v1"))
    assert world.settings == {
        "model": str(tiny_model),
        "tokenizer": str(tiny_model),
        "revision": "v1",
        "tokenizer_revision": "v1",
        "trust_remote_code": False,
        "load_format": "safetensors",
        "dtype": "bfloat16",
        "device_ids": [1],
        "max_model_len": 512,
        "max_num_seqs": 48,
        "enable_prefix_caching": True,
        "logprobs_mode": "raw_logprobs",
        "use_tqdm_on_load": False,
    }


def test_pickled_weights_and_foreign_code_are_loaded_only_where_asked(
    world: World, tiny_model: Path
) -> None:
    load_sampler(config_of(tiny_model, weights="any", trust_remote_code=True))
    assert world.settings["load_format"] == "auto" and world.settings["trust_remote_code"]


def test_a_configured_precision_and_context_are_passed_on(world: World, tiny_model: Path) -> None:
    sampler = load_sampler(config_of(tiny_model, dtype="float16", context_tokens=256))
    assert world.settings["dtype"] == "float16" and world.settings["max_model_len"] == 256
    assert sampler.context_tokens == 256


def test_without_bfloat16_auto_is_float32(
    world: World, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    load_sampler(config_of(tiny_model))
    assert world.settings["dtype"] == "float32"


def test_more_context_than_the_model_reads_is_refused(world: World, tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="reads at most 512"):
        load_sampler(config_of(tiny_model, context_tokens=513))


def test_each_request_has_its_own_whole_seed_and_nothing_else_warps_the_draw(
    world: World, tiny_model: Path
) -> None:
    sample(config_of(tiny_model), [Request(PROMPT, 2**63 - 1), Request(PROMPT, 2**31)])
    first, second = map(vars, world.parameters)
    assert (first["seed"], second["seed"]) == (2**63 - 1, 2**31)
    assert "\ndef" in first["stop"] and "\nassert" in first["stop"]
    assert {key: first[key] for key in ("temperature", "max_tokens", "logprobs")} == {
        "temperature": 0.9,
        "max_tokens": 20,
        "logprobs": 0,
    }
    assert not first.keys() & {"top_p", "top_k", "min_p", "repetition_penalty", "n"}


def test_prompts_are_tokenized_as_the_other_sampler_does(world: World, tiny_model: Path) -> None:
    config = config_of(tiny_model)
    sample(config, [Request(PROMPT, 1)])
    assert world.prompts == [{"prompt_token_ids": load_tokenizer(config)(PROMPT)["input_ids"]}]


def test_completions_stand_in_the_order_of_the_requests(world: World, tiny_model: Path) -> None:
    done: list[int] = []
    requests = [Request(f"{PROMPT} # {seed}", seed) for seed in range(12)]
    completions = sample(config_of(tiny_model), requests, done.append)
    assert [one.text for one in completions] == [f"text {seed}" for seed in range(12)]
    assert sum(done) == 12 and len(done) > 6


def test_a_completion_tells_reason_tokens_and_log_probability(
    world: World, tiny_model: Path
) -> None:
    world.answer = lambda parameters: [
        output("\n    return 3\n"),
        output("\n    return 3 + 3", "length", 20),
        output("\n    return 3\n\nprnt", "length", 20),
    ][parameters.seed]
    completions = sample(config_of(tiny_model), [Request(PROMPT, seed) for seed in range(3)])
    assert completions == [
        Completion("\n    return 3\n", FinishReason.STOP, 3, -1.5),
        Completion("\n    return 3 + 3", FinishReason.LENGTH, 20, -1.5),
        Completion("\n    return 3\n\nprnt", FinishReason.STOP, 20, -1.5),
    ]


def test_a_prompt_without_room_is_not_sent(world: World, tiny_model: Path) -> None:
    done: list[int] = []
    requests = [Request("x = 1\n" * 300, 0), Request(PROMPT, 1)]
    completions = sample(config_of(tiny_model), requests, done.append)
    assert completions[0] == Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)
    assert completions[1].text == "text 1"
    assert len(world.prompts) == 1 and sum(done) == 2


def test_each_completion_is_told_once_with_its_place(world: World, tiny_model: Path) -> None:
    told: list[tuple[int, Completion]] = []
    requests = [Request("x = 1\n" * 300, 9), *[Request(PROMPT, seed) for seed in range(5)]]
    done = sample(config_of(tiny_model), requests, tell=lambda *one: told.append(one))
    assert told == list(enumerate(done))
    assert told[0][1].finish_reason is FinishReason.PROMPT_TOO_LONG


def test_a_message_is_read_in_the_chat_template_and_asked_without_stop_strings(
    world: World, tiny_model: Path, tmp_path: Path
) -> None:
    tokenizer = load_tokenizer(config_of(tiny_model))
    tokenizer.add_tokens("<|turn|>", special_tokens=True)
    tokenizer.chat_template = (
        "{% for message in messages %}{{ message['role'] + message['content'] + '<|turn|>' }}"
        "{% endfor %}{% if add_generation_prompt %}{{ 'assistant' }}{% endif %}"
    )
    load_model(config_of(tiny_model, device="cpu")).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    requests = [
        Request(PROMPT, 1),
        Request(PROMPT, 2, Message()),
        Request(PROMPT, 3, Message("{}")),
    ]
    sample(config_of(tmp_path), requests)
    whole = tokenizer(f"user{PROMPT}<|turn|>assistant", add_special_tokens=False)["input_ids"]
    assert [prompt["prompt_token_ids"] for prompt in world.prompts[1:]] == [whole, whole]
    plain, message, in_json = map(vars, world.parameters)
    assert "stop" in plain and "stop_token_ids" not in plain
    turn = tokenizer.convert_tokens_to_ids("<|turn|>")
    assert "stop" not in message and message["stop_token_ids"] == [turn]
    assert "structured_outputs" not in message and in_json["structured_outputs"].json == "{}"


def test_an_answer_that_was_cut_says_so_whatever_stands_in_column_0(
    world: World, tiny_model: Path
) -> None:
    world.answer = lambda _: output("Well:\ndef f", "length", 20)
    requests = [Request(PROMPT, 1, Message()), Request(PROMPT, 1)]
    message, plain = sample(config_of(tiny_model), requests)
    assert (message.finish_reason, plain.finish_reason) == (FinishReason.LENGTH, FinishReason.STOP)


def test_an_adapter_is_served_over_its_base(world: World, tiny_model: Path, tmp_path: Path) -> None:
    adapter = save_adapter(tmp_path / "5-model", tiny_model, rank_pattern={"q_proj": 40})
    sample(config_of(tiny_model), [Request(PROMPT, 1)], trained=adapter)
    assert world.settings["model"] == str(tiny_model)
    assert world.settings["enable_lora"] and world.settings["max_lora_rank"] == 64
    assert world.lora == ("5-model", 1, str(adapter))
    assert world.events[0] == "add_lora"


def test_an_adapter_by_name_is_served_over_its_base(
    world: World, tiny_model: Path, tmp_path: Path
) -> None:
    adapter = save_adapter(tmp_path / "named", tiny_model)
    sample(config_of(adapter), [Request(PROMPT, 1)])
    assert world.settings["model"] == str(tiny_model)
    assert world.lora == ("named", 1, str(adapter))


def test_an_adapter_on_an_adapter_is_refused(
    world: World, tiny_model: Path, tmp_path: Path
) -> None:
    first = save_adapter(tmp_path / "first", tiny_model)
    second = save_adapter(tmp_path / "second", tiny_model)
    with pytest.raises(UsageError, match="one adapter at a time"):
        load_sampler(config_of(first), second)


def test_an_adapter_of_too_high_a_rank_is_refused(
    world: World, tiny_model: Path, tmp_path: Path
) -> None:
    adapter = save_adapter(tmp_path / "wide", tiny_model, r=513)
    with pytest.raises(UsageError, match="rank 513, but vLLM serves at most 512"):
        load_sampler(config_of(tiny_model), adapter)


def test_weights_of_a_round_are_loaded_as_a_model_with_the_base_models_tokenizer(
    world: World, tiny_model: Path, tmp_path: Path
) -> None:
    trained = tmp_path / "5-model"
    load_model(config_of(tiny_model, device="cpu")).save_pretrained(trained)
    load_sampler(config_of(tiny_model), trained)
    assert world.settings["model"] == str(trained)
    assert world.settings["tokenizer"] == str(tiny_model)
    assert "enable_lora" not in world.settings


def test_an_adapter_that_vllm_refuses_ends_in_one_sentence_and_leaves_no_engine(
    world: World, tiny_model: Path, tmp_path: Path
) -> None:
    world.lora_error = "vLLM does not yet\nsupport DoRA."
    with pytest.raises(RunError, match=r"does not start with .* \(vLLM does not yet support DoRA"):
        load_sampler(config_of(tiny_model), save_adapter(tmp_path / "a", tiny_model))
    assert world.events == ["add_lora", "shutdown"]


def test_memory_is_given_back_as_soon_as_the_sampler_is_released(
    world: World, tiny_model: Path
) -> None:
    lazy = LazySampler(lambda: load_sampler(config_of(tiny_model)))
    assert lazy.context_tokens == 512
    gc.disable()
    try:
        lazy.release()
        assert world.events == ["shutdown"]
    finally:
        gc.enable()


def test_what_vllm_says_at_its_start_becomes_one_sentence(world: World, tiny_model: Path) -> None:
    world.start_error = "Free memory on device\n(1.2/79 GiB) is less than desired"
    with pytest.raises(RunError) as caught:
        load_sampler(config_of(tiny_model))
    assert "(Free memory on device (1.2/79 GiB) is less than desired)" in str(caught.value)
    assert "model.engine=transformers" in str(caught.value)


def test_an_engine_that_dies_ends_the_run_in_one_sentence(world: World, tiny_model: Path) -> None:
    world.dies = True
    with pytest.raises(RunError, match="vLLM's engine died"):
        sample(config_of(tiny_model), [Request(PROMPT, 1)])


def test_a_completion_that_vllm_aborts_is_no_completion(world: World, tiny_model: Path) -> None:
    world.answer = lambda _: output("", "abort")
    with pytest.raises(RunError, match="a reason of its own: abort"):
        sample(config_of(tiny_model), [Request(PROMPT, 1)])


@pytest.mark.parametrize("device", ["cpu", "mps", "cuda:x"])
def test_another_device_than_cuda_is_refused(world: World, tiny_model: Path, device: str) -> None:
    with pytest.raises(UsageError, match=f"but model.device is {device}"):
        load_sampler(config_of(tiny_model, device=device))


def test_a_machine_without_cuda_is_told_so_in_one_sentence(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match="needs a GPU with CUDA, and torch finds none here"):
        load_sampler(config_of(tiny_model))


def test_a_missing_package_is_one_sentence_with_the_command(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("selftrain.sampling.vllm_start.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'selftrain\[vllm\]'"):
        load_sampler(config_of(tiny_model))


def test_the_real_one_draws_what_transformers_holds_likeliest() -> None:
    pytest.importorskip("vllm", reason="vLLM is not installed here (the extra selftrain[vllm])")
    if not torch.cuda.is_available():
        pytest.skip("vLLM needs a GPU with CUDA, and torch finds none here")
    requests = [Request(f"{PROMPT}\n    return", 1), Request(PROMPT, 2)]
    float32 = {"name": "builtin:tiny", "dtype": "float32", "device": "cuda"}
    theirs = sample(ModelConfig.model_validate(float32), requests, temperature=0)
    ours = sample(ModelConfig.model_validate(float32 | {"engine": "vllm"}), requests, temperature=0)
    for one, other in zip(ours, theirs, strict=True):
        assert (
            other.text.startswith(one.text.rstrip("\n"))
            and one.finish_reason is other.finish_reason
        )
        assert one.sum_logprob == pytest.approx(other.sum_logprob, abs=0.05)
