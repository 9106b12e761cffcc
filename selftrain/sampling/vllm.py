"""Sampling by vLLM, in this process: the extra `selftrain[vllm]`, for CUDA.

Prompts are tokenized as transformers' sampler does it (templates.py); vLLM reads a shared prompt
once and fills its own batches. An adapter is served over its base model, not merged. Each
completion has its own seed, so it does not depend on its batch but for rounding; a GPU rounds
otherwise in another batch, so two runs need not agree in every token, unless VLLM_BATCH_INVARIANT=1
is set. Written against vLLM 0.30, the last that takes transformers 5.24, and started in
vllm_start.py.
"""

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from selftrain.errors import RunError
from selftrain.sampling.completion import (
    TOO_LONG,
    Completion,
    FinishReason,
    Message,
    Request,
    Tell,
    ignore,
    ran_past,
)
from selftrain.sampling.templates import encode_prompts, end_of_turn

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

STOP = (
    *("\ndef", "\nassert", "\n#", "\nclass", "\n@", "\nimport", "\nfrom", "\nprint", "\nif"),
    *("\n```", '\n"""'),
)
"""Where a definition most often ends; puzzles/cut.py finds the rest. vLLM looks for each after
every token, in Python: one for each character would take 50 µs a token (94 searches, measured)."""


class VllmSampler:
    """Samples from a model that vLLM holds; made by `load_vllm` (vllm_start.py).

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
        self._end_of_turn = end_of_turn(tokenizer)
        # Waiting for the collector of cycles would leave no room for the training that comes next.
        weakref.finalize(self, llm.llm_engine.engine_core.shutdown)

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together."""
        return self._context_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, as the model reads it."""
        return [len(one) for one in encode_prompts(self._tokenizer, [Request(t, 0) for t in texts])]

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        """Draw one completion a request; see `Sampler`. The text ends before a stop string.

        `tell` hears of all when all are drawn: vLLM's numbers say only then which is which. Raises
        RunError where vLLM fails.
        """
        prompts = encode_prompts(self._tokenizer, requests)
        room = self._context_tokens - max_new_tokens
        fitting = [i for i, prompt in enumerate(prompts) if len(prompt) <= room]
        advance(len(requests) - len(fitting))
        completions = [TOO_LONG] * len(requests)
        outputs = self._run(
            [{"prompt_token_ids": prompts[i]} for i in fitting],
            [
                _parameters(requests[i], temperature, max_new_tokens, self._end_of_turn)
                for i in fitting
            ],
            advance,
        )
        for i, output in zip(fitting, outputs, strict=True):
            completions[i] = _completion(output.outputs[0], requests[i])
        for place, completion in enumerate(completions):
            tell(place, completion)
        return completions

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


def _parameters(
    request: Request, temperature: float, max_new_tokens: int, turn_end: int | None
) -> Any:
    from vllm import SamplingParams

    ends = {"stop": list(STOP)} if request.message is None else _ends(request.message, turn_end)
    return SamplingParams(
        seed=request.seed,
        temperature=temperature,
        max_tokens=max_new_tokens,
        **ends,
        logprobs=0,  # those of the tokens drawn, and no others
        flat_logprobs=True,
        skip_special_tokens=False,
        spaces_between_special_tokens=False,
    )


def _ends(message: Message, turn_end: int | None) -> dict[str, Any]:
    """Say what ends the answer to a message, beside end-of-text, and what it should look like."""
    ends: dict[str, Any] = {} if turn_end is None else {"stop_token_ids": [turn_end]}
    if message.schema is not None:
        from vllm.sampling_params import StructuredOutputsParams

        ends["structured_outputs"] = StructuredOutputsParams(json=message.schema)
    return ends


def _completion(output: Any, request: Request) -> Completion:
    """Make a completion of vLLM's; its text lacks the end-of-text token, its tokens do not."""
    if output.finish_reason not in ("stop", "length"):
        raise RunError(f"vLLM ended a completion for a reason of its own: {output.finish_reason}.")
    past = request.message is None and ran_past(output.text)
    stopped = output.finish_reason == "stop" or past
    return Completion(
        text=output.text,
        finish_reason=FinishReason.STOP if stopped else FinishReason.LENGTH,
        num_tokens=len(output.token_ids),
        sum_logprob=output.cumulative_logprob,
    )
