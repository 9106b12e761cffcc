"""Several completions in one request, what a server does not take, its rate, and what it is asked for in all."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
from scripted import ScriptedSampler
from served import REQUESTS, connected, draw, serving, texts

from selftrain.errors import UsageError
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.server import pace
from selftrain.sampling.server.sampler import group


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize("most", [3, 7, 128])
def test_no_two_samples_of_a_prompt_have_a_seed_in_common(most: int) -> None:
    seeds = [2**63 - 1 - k * ((2**31 - 1) // most) for k in range(500)]
    groups = group([Request("p", seed) for seed in seeds], most)
    found = [one.seed + i for one in groups for i in range(len(one.places))]
    assert len(set(found)) == 500
    assert min(found) >= 1 and max(found) < 2**31
    assert sorted(place for one in groups for place in one.places) == list(range(500))
    assert max(len(one.places) for one in groups) == most


def one_prompt(num: int, prompt: str = "def f(") -> list[Request]:
    return [Request(prompt, seed) for seed in range(num)]


class Counting(ScriptedSampler):
    """Writes a seed, or the same whatever the seed where `same` is the prompt."""

    def __init__(self, same: str = "") -> None:
        super().__init__()
        self.same = same

    def sample(self, requests: Sequence[Request], **how: Any) -> list[Completion]:
        return [
            Completion(
                "1" if one.prompt == self.same else str(one.seed), FinishReason.STOP, 1, -1.0
            )
            for one in requests
        ]


def test_completions_of_a_prompt_are_asked_for_together_each_with_a_seed_of_its_own() -> None:
    told: list[int] = []
    with serving(Counting()) as served:
        done = connected(served, samples_per_request=4, batch_size=1).sample(
            one_prompt(6), temperature=0.9, max_new_tokens=50, advance=told.append
        )
    assert [(body["n"], body["seed"]) for body in served.asked] == [(4, 1), (2, 17)]
    assert texts(done) == ["1", "2", "3", "4", "17", "18"]
    assert told == [4, 2]


@pytest.mark.parametrize("limits", [{"most_choices": 3}, {"most_choices": 1}, {"fewer": 3}, {"fewer": 1}])  # fmt: skip
def test_a_sample_does_not_depend_on_how_many_a_server_gives_at_once(limits: dict[str, int]) -> None:  # fmt: skip
    with serving(ScriptedSampler()) as free, serving(ScriptedSampler(), **limits) as limited:
        expected = draw(connected(free, samples_per_request=8), one_prompt(20))
        assert texts(draw(connected(limited, samples_per_request=8), one_prompt(20))) == texts(
            expected
        )


def test_a_server_that_refused_many_completions_is_not_asked_for_many_again() -> None:
    with serving(ScriptedSampler(), most_choices=3) as served:
        sampler = connected(served, samples_per_request=8, batch_size=1)
        draw(sampler, one_prompt(8))
        draw(sampler, one_prompt(8, "def f2("))
    assert [body["n"] for body in served.asked] == [8, 4, 2, 2, 2, 2, 2, 2, 2, 2]


def test_a_refusal_of_one_completion_is_not_taken_for_one_of_many() -> None:
    with serving(ScriptedSampler(), failures=["400"] * 9) as served:
        sampler = connected(served, samples_per_request=4, batch_size=1)
        with pytest.raises(UsageError, match="refuses what it is asked for"):
            draw(sampler, one_prompt(4))
    assert [body["n"] for body in served.asked] == [4, 2, 1]


def test_a_server_that_repeats_a_completion_is_asked_for_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving(Counting(), repeats=True) as served:
        done = draw(connected(served, samples_per_request=4, batch_size=1), one_prompt(8))
    assert texts(done) == ["1", "2", "3", "4", "17", "18", "19", "20"]
    assert caplog.text.count("repeats one completion") == 1


def test_equal_completions_by_chance_are_kept() -> None:
    with serving(Counting(same="def f(")) as served:
        draw(connected(served, samples_per_request=4, batch_size=1), one_prompt(8))
    assert [body["n"] for body in served.asked] == [4, 2, 4]


@pytest.mark.parametrize(
    ("kind", "logprobs", "counted"),
    [("vllm", "completions", 2), ("vllm", None, 8), ("openai", None, 8)],
)
def test_tokens_of_each_of_several_completions_are_counted(
    kind: str, logprobs: str | None, counted: int
) -> None:
    class Longer(ScriptedSampler):
        def sample(self, requests: Sequence[Request], **how: Any) -> list[Completion]:
            return [Completion("x" * (20 + one.seed), FinishReason.STOP, 99, -1.0) for one in requests]  # fmt: skip

    with serving(Longer(), kind=kind, logprobs=logprobs) as served:
        done = draw(connected(served, samples_per_request=2), one_prompt(2))
    assert [one.num_tokens for one in done] == [counted, counted]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("max_tokens", "Unsupported parameter. Use 'max_completion_tokens' instead."),
        ("logprobs", "This model has none."),
        ("seed", "Not known here."),
        ("stop", "Not known here."),
    ],
)
@pytest.mark.parametrize("api", ["completions", "chat"])
def test_a_setting_that_a_server_does_not_take_is_left_out(
    setting: str, said: str, api: str, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(ScriptedSampler(), refuses={setting: said}) as served:
        sampler = connected(served, api=api, samples_per_request=2)
        done = [*draw(sampler, one_prompt(6)), *draw(sampler, one_prompt(4))]
    assert len(done) == 10
    assert all(setting not in body for body in served.asked[-2:])
    assert caplog.text.count(f"does not take {setting}") == (setting != "stop" or api != "chat")
    if setting == "max_tokens":
        assert served.asked[-1]["max_completion_tokens"] >= 50


def test_a_temperature_that_a_server_does_not_take_is_refused() -> None:
    with serving(ScriptedSampler(), refuses={"temperature": "only 1 is supported"}) as served:
        sampler = connected(served, api="chat")
        with pytest.raises(UsageError, match="only 1 is supported"):
            draw(sampler, REQUESTS[:1])
    assert len(served.asked) == 1


def test_requests_keep_to_their_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    monkeypatch.setattr(pace.time, "monotonic", clock.now)
    slow = pace.Pace(120)
    let_out = []
    for _ in range(4):
        assert slow.wait(clock)  # type: ignore[arg-type]
        let_out.append(clock.now())
    assert let_out == [0.0, 0.5, 1.0, 1.5]


def test_a_wait_that_a_server_asks_for_holds_up_all_its_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = FakeClock()
    monkeypatch.setattr(pace.time, "monotonic", clock.now)
    fast = pace.Pace()
    fast.pause(30)
    fast.pause(5)
    assert fast.wait(clock)  # type: ignore[arg-type]
    assert clock.now() == 30
    fast.wait(clock)  # type: ignore[arg-type]
    assert clock.now() == 30


class FakeClock:
    """A clock that goes on when someone waits, and the event that is waited for."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def is_set(self) -> bool:
        return False

    def wait(self, seconds: float) -> None:
        self.time += seconds


def test_one_request_too_many_holds_up_the_others_too() -> None:
    with serving(ScriptedSampler(), failures=["429 in 0.3 s"]) as served:
        sampler = connected(served, batch_size=1)
        begun = time.monotonic()
        draw(sampler, REQUESTS[:1])
        assert time.monotonic() - begun >= 0.3
        served.failures = ["429 until a date"]
        begun = time.monotonic()
        draw(sampler, REQUESTS[:1])
    assert time.monotonic() - begun >= 0.9


@pytest.mark.parametrize("counts", [True, False])
def test_what_servers_were_asked_for_is_added_up_and_priced(counts: bool) -> None:
    with serving(ScriptedSampler(), usage=counts, logprobs="completions") as served:
        prices = (1_000_000.0, 10_000_000.0)
        sampler = connected(served, samples_per_request=2, dollars_per_million_tokens=prices)
        done = draw(sampler, one_prompt(4))
    # The prompt is read once a request: 7 tokens by the server's word, 3 as it was counted.
    prompt = 2 * (7 if counts else 3)
    tokens = sampler.spent.completion_tokens
    assert (sampler.spent.requests, sampler.spent.prompt_tokens) == (2, prompt)
    assert sampler.spent.dollars == prompt + 10 * tokens
    assert tokens >= sum(one.num_tokens for one in done)


@pytest.mark.parametrize("repeats", [True, False])
def test_the_question_whether_completions_are_repeated_is_on_the_bill(repeats: bool) -> None:
    with serving(Counting(same="" if repeats else "def f("), repeats=repeats) as served:
        sampler = connected(served, samples_per_request=4, batch_size=1)
        draw(sampler, one_prompt(8))
    assert sampler.spent.requests == len(served.asked)
    # Each that came is of two tokens, the ones that nobody wanted too.
    assert sampler.spent.completion_tokens == 2 * sum(body["n"] for body in served.asked)
    assert sampler.spent.prompt_tokens == 7 * len(served.asked)


def test_without_prices_no_cost_is_claimed() -> None:
    with serving(ScriptedSampler()) as served:
        sampler = connected(served)
        draw(sampler)
    assert sampler.spent.requests == 6
    assert sampler.spent.dollars is None
