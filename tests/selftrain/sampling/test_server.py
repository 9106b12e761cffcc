"""A server as sampler: asked for one completion each, borne with while it fails, never believed by half."""

import json
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from scripted import ScriptedSampler
from served import IMPATIENT, NAME, QUICK, REQUESTS, connected, draw, serving, texts

from puzzles.cut import cut_puzzle, cut_solution
from selftrain.config import ModelConfig
from selftrain.errors import RunError, UsageError
from selftrain.models import load_model, load_sampler, load_tokenizer
from selftrain.propose import Proposal, proposal_from_row, proposal_to_row
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.server.asking import STOP
from selftrain.sampling.server.connect import connect
from selftrain.sampling.server.pace import Pace
from selftrain.sampling.server.retry import HalfAnswer, Patience, Server, ask
from selftrain.sampling.server.sampler import ServerSampler, group


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def folded(requests: Sequence[Request]) -> list[int]:
    return [one.seed for one in group(requests, 1)]


def test_completions_come_in_the_order_of_the_requests() -> None:
    with serving(ScriptedSampler()) as served:
        done = texts(draw(connected(served)))
        again = texts(draw(connected(served), REQUESTS[::-1]))
    assert len(set(done)) > 3
    assert again == done[::-1]


def test_each_finished_completion_is_told() -> None:
    told: list[int] = []
    with serving(ScriptedSampler()) as served:
        connected(served).sample(REQUESTS, temperature=0.9, max_new_tokens=50, advance=told.append)
    assert told == [1] * 6


def test_the_settings_reach_the_server_and_nothing_warps_the_distribution() -> None:
    with serving(ScriptedSampler()) as served:
        draw(connected(served), [Request("def f(", 7)])
    (body,) = served.asked
    assert body["prompt"] == "def f("
    assert (body["model"], body["max_tokens"], body["temperature"]) == (NAME, 50, 0.9)
    assert (body["n"], body["seed"], body["top_p"]) == (1, 8, 1.0)
    assert (body["top_k"], body["min_p"], body["repetition_penalty"]) == (-1, 0.0, 1.0)


def test_a_server_of_openai_is_asked_nothing_beyond_its_protocol() -> None:
    with serving(ScriptedSampler(), kind="openai") as served:
        draw(connected(served), REQUESTS[:1])
    assert set(served.asked[0]) == {
        "model", "prompt", "max_tokens", "temperature", "top_p", "seed", "n", "logprobs", "stop",
    }  # fmt: skip
    assert len(served.asked[0]["stop"]) <= 4


def test_seeds_of_one_prompt_that_fold_to_the_same_number_are_told_apart() -> None:
    period = 2**31 - 1
    seeds = [5, 5 + period, 5 + 2 * period, 6, 5 + period, 2**63 - 1]
    assert folded([Request("p", seed) for seed in seeds]) == [6, 7, 8, 9, 7, 2]
    assert folded([Request("p", 5), Request("q", 5 + period)]) == [6, 6]


def test_many_seeds_of_a_prompt_stay_distinct_and_small() -> None:
    seeds = [2**63 - 1 - k * (2**31 - 1) for k in range(500)]
    found = folded([Request("p", seed) for seed in seeds])
    assert len(set(found)) == 500
    assert min(found) >= 1 and max(found) < 2**31


@pytest.mark.parametrize("stop", STOP)
@pytest.mark.parametrize("body", ["", "\n    return 1", "\n    x = '''\n  a\n", " return 1\n\n"])
def test_a_stop_sequence_never_changes_what_is_cut(stop: str, body: str) -> None:
    text = f"{body}{stop} more\n    return 2"
    stopped = text.split(stop)[0]
    assert cut_solution("def g():", stopped) == cut_solution("def g():", text)
    assert cut_puzzle(f"def f(x: int):{stopped}") == cut_puzzle(f"def f(x: int):{text}")


def test_as_many_requests_are_under_way_as_the_batch_holds() -> None:
    with serving(ScriptedSampler(), slow_seconds=0.05) as served:
        draw(connected(served, batch_size=3), [Request("def f(", s) for s in range(12)])
    assert served.most_at_once == 3


def patience_with(failure: str) -> Patience:
    return IMPATIENT if failure in ("stall", "hang") else QUICK


@pytest.mark.parametrize(
    "failure", ["500", "429", "429 in 0.3 s", "cut JSON", "no choices", "no text", "aborted", "not JSON", "drop", "reset", "stall", "hang"]
)  # fmt: skip
def test_a_passing_failure_leaves_no_trace(failure: str) -> None:
    with serving(ScriptedSampler()) as served:
        expected = draw(connected(served))
        served.failures = [failure]
        assert draw(connected(served, patience_with(failure))) == expected
    assert len(served.asked) == 13


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        ("500", "in 4 tries (500 Internal Server Error: as told: 500"),
        ("429", "in 4 tries (429 Too Many Requests"),
        ("cut JSON", "in 4 tries (its answer is no JSON"),
        ("no choices", "in 4 tries (its answer is not of the protocol: choices: "),
        ("no text", "in 4 tries (its answer is not of the protocol: choices.0.text: "),
        ("aborted", "in 4 tries (its answer is not of the protocol: choices.0.finish_reason: "),
        ("drop", "in 4 tries (Server disconnected"),
        ("reset", "in 4 tries (peer closed connection"),
        ("stall", "in 2 tries (nothing came in 1 seconds"),
        ("hang", "in 2 tries (nothing came in 1 seconds"),
        ("429 in an hour", "in 1 try (429 Too Many Requests"),
        ("no money", "in 1 try (429 Too Many Requests: as told: no money"),
    ],
)
def test_a_failure_that_stays_ends_in_one_sentence(failure: str, said: str) -> None:
    with serving(ScriptedSampler(), failures=[failure] * 5) as served:
        sampler = connected(served, patience_with(failure))
        with pytest.raises(RunError) as caught:
            draw(sampler, REQUESTS[:1])
    assert said in str(caught.value)
    assert served.url in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wait_that_the_server_asks_for_is_kept() -> None:
    with serving(ScriptedSampler(), failures=["429 in 0.3 s"]) as served:
        sampler, begun = connected(served), time.monotonic()
        draw(sampler, REQUESTS[:1])
    assert time.monotonic() - begun >= 0.3


def test_a_refusal_is_not_repeated_and_ends_the_requests_behind_it() -> None:
    with serving(ScriptedSampler(), failures=["400"], slow_seconds=0.02) as served:
        sampler = connected(served, batch_size=1)
        with pytest.raises(UsageError, match="refuses what it is asked for"):
            draw(sampler, [Request("def f(", s) for s in range(50)])
    assert len(served.asked) < 5


def test_a_failure_wakes_the_requests_that_wait_for_another_try() -> None:
    with serving(ScriptedSampler(), failures=["429 in 0.3 s", "400"]) as served:
        slow = Patience(num_tries=9, num_limited_tries=9, first_wait_seconds=30)
        sampler = connect(ModelConfig(name=NAME, server=served.url, batch_size=2), slow)
        with ThreadPoolExecutor(1) as pool:
            failed = pool.submit(draw, sampler).exception(timeout=20)
    assert isinstance(failed, UsageError)


def test_nobody_at_the_address_is_one_sentence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(RunError, match=r"did not answer in 3 tries \(.*refused"):
        connect(ModelConfig(name=NAME, server=url), QUICK)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match=r"model\.server: .* is no address"):
        connect(ModelConfig(name=NAME, server=url), QUICK)


def test_a_model_that_is_not_served_is_named_beside_those_that_are() -> None:
    with serving(ScriptedSampler()) as served, pytest.raises(UsageError) as caught:
        connect(ModelConfig(name="davinci", server=served.url), QUICK)
    assert str(caught.value) == f"model.name: {served.url} serves no 'davinci'. It serves codex."


def test_a_server_without_a_list_of_models_is_taken_at_its_word() -> None:
    with serving(ScriptedSampler(), kind="nothing") as served:
        assert len(draw(connected(served))) == 6


def test_whether_a_server_is_there_is_told_of_soon_though_a_completion_may_take_long() -> None:
    with serving(ScriptedSampler()) as served:
        sampler = connected(served, Patience())
        sampler.count_tokens(["a text"])
        draw(sampler, REQUESTS[:1])
    patient = [float(sent["x-stainless-read-timeout"]) for sent in served.headers]
    # The list of models and a count; then two counts and a completion.
    assert patient == [10, 10, 600, 600, 600]


@pytest.mark.parametrize("kind", ["vllm", "llamacpp"])
def test_tokens_are_counted_by_the_server_and_each_text_once(kind: str) -> None:
    with serving(ScriptedSampler(), kind=kind) as served:
        sampler = connected(served)
        before = served.num_tokenized
        assert sampler.count_tokens(["abcdef", "a", "abcdef"]) == [3, 1, 3]
        assert sampler.count_tokens(["abcdef"]) == [3]
    assert served.num_tokenized - before == 2


@pytest.mark.parametrize("answer", [(502, b"Bad gateway"), (200, b"<html>Welcome</html>"), (404, b"")])  # fmt: skip
def test_a_gateway_that_does_not_know_of_tokens_is_no_dead_server(answer: tuple[int, bytes]) -> None:  # fmt: skip
    with serving(ScriptedSampler(), no_tokenizer=answer) as served:
        sampler = connected(served)
        assert len(draw(sampler)) == 6
        assert sampler.count_tokens(["x" * 30]) == [11]


@pytest.mark.parametrize("kind", ["openai", "nothing"])
def test_tokens_are_estimated_where_the_server_does_not_count(kind: str) -> None:
    with serving(ScriptedSampler(), kind=kind) as served:
        assert connected(served).count_tokens(["x" * 30, ""]) == [11, 1]


def test_context_is_the_servers_or_2048_or_as_configured() -> None:
    with serving(ScriptedSampler(), max_model_len=700) as served:
        assert connected(served).context_tokens == 700
        assert connected(served, context_tokens=600).context_tokens == 600
        with pytest.raises(UsageError, match="read at most 700"):
            connected(served, context_tokens=701)
    with serving(ScriptedSampler(), max_model_len=32_768) as served:
        assert connected(served).context_tokens == 2048


def test_a_prompt_that_leaves_no_room_is_not_asked() -> None:
    long = Request("x" * 600, 0)
    with serving(ScriptedSampler()) as served:
        (done,) = draw(connected(served, context_tokens=250), [long])
    assert done == Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)
    assert served.asked == []


def test_a_prompt_that_the_server_finds_too_long_is_no_failure() -> None:
    with serving(ScriptedSampler(), kind="openai", failures=["too long"]) as served:
        (done,) = draw(connected(served), REQUESTS[:1])
    assert done.finish_reason is FinishReason.PROMPT_TOO_LONG


@pytest.mark.parametrize("form", ["completions", "chat"])
def test_log_probabilities_are_summed_in_either_form(form: str) -> None:
    with serving(ScriptedSampler(), logprobs=form) as served:
        (done,) = draw(connected(served), [Request("def f(", 3)])
    (theirs,) = ScriptedSampler().sample(
        [Request("def f(", 4)], temperature=0.9, max_new_tokens=50, advance=lambda _: None
    )
    assert theirs.sum_logprob is not None
    assert done.sum_logprob == pytest.approx(theirs.sum_logprob - 1)
    assert done.num_tokens == 2


def test_a_server_without_log_probabilities_leaves_none_on_disk_and_back() -> None:
    with serving(ScriptedSampler(), logprobs=None) as served:
        (done,) = draw(connected(served), REQUESTS[:1])
    assert done.sum_logprob is None
    proposal = Proposal("001-000000", ("a",), done)
    assert proposal_from_row(json.loads(json.dumps(proposal_to_row(proposal)))) == proposal


def test_a_model_on_a_server_is_sampled_from_and_never_loaded_or_trained(tmp_path: Path) -> None:
    with serving(ScriptedSampler()) as served:
        config = ModelConfig(name=NAME, server=served.url)
        assert isinstance(load_sampler(config), ServerSampler)
        for load in (load_model, load_tokenizer):
            with pytest.raises(UsageError, match="can neither be trained nor take what was"):
                load(config)
        with pytest.raises(UsageError, match="can neither be trained nor take what was"):
            load_sampler(config, tmp_path)


def test_where_an_address_lacks_its_path_the_failure_says_how_most_end() -> None:
    def answer() -> None:
        raise HalfAnswer("its answer is not of the protocol")

    once = Patience(num_tries=1)
    with pytest.raises(RunError, match="most addresses end in /v1"):
        ask(answer, Server("http://localhost:9", "KEY", None, once, Pace(None)), Event())
    with pytest.raises(RunError) as caught:
        ask(answer, Server("http://localhost:9/v1", "KEY", None, once, Pace(None)), Event())
    assert "/v1;" not in str(caught.value) and "most addresses" not in str(caught.value)
