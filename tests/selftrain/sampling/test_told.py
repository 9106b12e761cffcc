"""What a caller is told while completions are drawn: each, once, with the place of its request."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from scripted import ScriptedSampler
from served import REQUESTS, connected, serving

from selftrain.config import ModelConfig
from selftrain.errors import RunError, UsageError
from selftrain.models import load_sampler
from selftrain.sampling import Completion, FinishReason, Request, Sampler
from selftrain.sampling.completion import TOO_LONG
from selftrain.sampling.lazy import LazySampler
from selftrain.sampling.local import sampler as local
from selftrain.sampling.server.fleet import spread

MANY = [Request(f"def f{number}(", seed) for number in range(5) for seed in range(4)]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


class Listener:
    """Writes down what it is told, and whether two tell at a time."""

    def __init__(self) -> None:
        self.told: list[tuple[int, Completion]] = []
        self.was_crowded = False
        self._lock = threading.Lock()

    def tell(self, place: int, completion: Completion) -> None:
        self.was_crowded |= not self._lock.acquire(blocking=False)
        self.told.append((place, completion))
        time.sleep(0.001)
        self._lock.release()

    def sample(
        self, sampler: Sampler, requests: Sequence[Request], temperature: float = 0.9, **how: Any
    ) -> list[Completion]:
        how = {"max_new_tokens": 12, "advance": lambda _: None} | how
        return sampler.sample(requests, temperature=temperature, tell=self.tell, **how)


def test_a_server_s_answers_are_told_each_once_and_never_two_at_a_time() -> None:
    listener = Listener()
    with serving(ScriptedSampler(), max_model_len=200, slow_seconds=0.003) as served:
        sampler = connected(served, samples_per_request=2, batch_size=8)
        done = listener.sample(sampler, [*MANY, Request("x" * 900, 0)])
    assert sorted(listener.told, key=lambda one: one[0]) == list(enumerate(done))
    assert done[-1] == TOO_LONG and not listener.was_crowded


def test_an_answer_is_told_while_the_next_is_awaited() -> None:
    listener = Listener()
    seen: list[int] = []

    class Late(ScriptedSampler):
        def sample(self, requests: Sequence[Request], **how: Any) -> list[Completion]:
            soon = time.monotonic() + 5
            while len(listener.told) < len(self.requests) and time.monotonic() < soon:
                time.sleep(0.002)
            seen.append(len(listener.told))
            return super().sample(requests, **how)

    with serving(Late()) as served:
        listener.sample(connected(served, batch_size=1), REQUESTS[:4])
    assert seen == [0, 1, 2, 3]


@pytest.mark.parametrize(("failure", "error"), [("500", RunError), ("401", UsageError)])
def test_answers_are_told_of_though_a_later_request_fails_for_good(
    failure: str, error: type[Exception]
) -> None:
    listener = Listener()
    failing = serving(ScriptedSampler(), failures=["", "", "", *[failure] * 99])
    with failing as served, pytest.raises(error):
        listener.sample(connected(served, batch_size=1), REQUESTS)
    assert [place for place, _ in listener.told] == [0, 1, 2]
    assert all(completion.text for _, completion in listener.told)


def test_an_answer_that_waits_to_be_heard_outlives_a_failure() -> None:
    hearing, failed, answered = threading.Event(), threading.Event(), threading.Event()
    told: list[tuple[int, str]] = []

    def do(_: Any, number: int, __: threading.Event) -> str:
        if number == 1:
            assert hearing.wait(5)
            failed.set()
            raise UsageError("it refuses")
        if number == 2:
            assert failed.wait(5)
            time.sleep(0.05)
            answered.set()
        return f"answer {number}"

    def hear(number: int, answer: str) -> None:
        told.append((number, answer))
        # Meanwhile the second fails, and then the third is answered.
        hearing.set()
        assert answered.wait(5)
        time.sleep(0.1)

    with serving(ScriptedSampler()) as served:
        addresses = connected(served)._addresses
    with pytest.raises(UsageError, match="it refuses"):
        spread(do, ["a", "b", "c"], addresses, 3, hear)
    assert told == [(0, "answer 0"), (2, "answer 2")]


def test_a_lazy_model_passes_on_what_it_is_told() -> None:
    listener = Listener()
    done = listener.sample(LazySampler(ScriptedSampler), MANY)
    assert listener.told == list(enumerate(done))


def local_sampler(config: ModelConfig, batch_size: int) -> Sampler:
    return load_sampler(config.model_copy(update={"batch_size": batch_size}))


def test_a_local_model_tells_of_each_completion_once(tiny_config: ModelConfig) -> None:
    listener = Listener()
    requests = [*MANY, Request("x = 1\n" * 300, 0)]
    done = listener.sample(local_sampler(tiny_config, 8), requests)
    assert sorted(listener.told, key=lambda one: one[0]) == list(enumerate(done))
    assert done[-1].finish_reason is FinishReason.PROMPT_TOO_LONG


def test_a_local_model_tells_after_each_batch(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    heard: list[int] = []
    real = local.Batch

    def begin(rows: Any, most: int) -> Any:
        heard.append(len(listener.told))
        if len(heard) == 3:
            raise RuntimeError("the machine is gone")
        return real(rows, most)

    monkeypatch.setattr(local, "Batch", begin)
    with pytest.raises(RuntimeError, match="the machine is gone"):
        listener.sample(local_sampler(tiny_config, 4), MANY)
    assert heard == [0, 4, 8] and len({place for place, _ in listener.told}) == 8
