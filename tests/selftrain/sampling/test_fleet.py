"""Several addresses of one model: they share the work, and one that fails leaves it to the others."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from scripted import ScriptedSampler
from served import IMPATIENT, NAME, QUICK, Served, connected, draw, serving

from selftrain.config import ModelConfig
from selftrain.errors import RunError, UsageError
from selftrain.sampling import Request
from selftrain.sampling.server.connect import connect
from selftrain.sampling.server.retry import Patience
from selftrain.sampling.server.sampler import ServerSampler


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@contextmanager
def two(**first: Any) -> Iterator[tuple[Served, Served]]:
    with serving(ScriptedSampler(), **first) as one, serving(ScriptedSampler()) as other:
        yield one, other


def both(one: Served, other: Served, patience: Patience = QUICK, **settings: Any) -> ServerSampler:
    config = ModelConfig(name=NAME, server=(one.url, other.url), **settings)
    return connect(config, patience)


MANY = [Request(f"def f{prompt}(", seed) for prompt in range(1, 13) for seed in range(4)]


def test_two_servers_share_the_work_and_change_no_text() -> None:
    with two() as (one, other):
        alone = draw(connected(other), MANY)
        other.asked.clear()
        together = draw(both(one, other, batch_size=2), MANY)
    assert together == alone
    assert len(one.asked) + len(other.asked) == len(MANY)
    assert min(len(one.asked), len(other.asked)) > len(MANY) / 4


def test_a_prompt_goes_to_one_server_where_there_is_work_for_both() -> None:
    with two(slow_seconds=0.005) as (one, other):
        other.slow_seconds = 0.005
        draw(both(one, other, batch_size=1), MANY)
        prompts = [{body["prompt"] for body in served.asked} for served in (one, other)]
    # The last ones are shared, so that none idles.
    assert len(prompts[0] & prompts[1]) <= 2


def test_as_many_requests_are_under_way_at_each_server_as_the_batch_holds() -> None:
    with two(slow_seconds=0.03) as (one, other):
        other.slow_seconds = 0.03
        draw(both(one, other, batch_size=3), MANY)
    assert (one.most_at_once, other.most_at_once) == (3, 3)


@pytest.mark.parametrize("failure", ["500", "drop", "not JSON", "429 in an hour"])
def test_a_server_that_fails_for_good_has_its_work_done_by_the_other(
    failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    with two(failures=["", "", *[failure] * 500]) as (one, other):
        alone = draw(connected(other), MANY)
        assert draw(both(one, other, batch_size=2), MANY) == alone
    (said,) = [record.getMessage() for record in caplog.records if "goes to" in record.getMessage()]
    assert said.startswith(f"{one.url} did not answer in ")
    assert said.endswith("). Its work goes to the other server.")


def test_a_server_that_hangs_has_its_work_done_by_the_other() -> None:
    with two(failures=["", "", *["hang"] * 99]) as (one, other):
        alone = draw(connected(other), MANY)
        assert draw(both(one, other, IMPATIENT, batch_size=2), MANY) == alone


def test_where_all_servers_fail_for_good_it_is_one_sentence() -> None:
    with two(breaks_after=3) as (one, other):
        other.breaks_after = 3
        sampler = both(one, other)
        with pytest.raises(RunError, match=r"did not answer in 4 tries .* the same command goes"):
            draw(sampler, MANY)


def test_a_server_that_came_back_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    with two(breaks_after=2) as (one, other):
        sampler = both(one, other, batch_size=2)
        draw(sampler, MANY)
        one.breaks_after = None
        before = len(one.asked)
        draw(sampler, MANY)
    assert len(one.asked) > before
    assert f"{one.url} answers again." in caplog.text


def test_a_server_that_is_gone_is_asked_once_a_call_and_not_to_count() -> None:
    with two() as (one, other):
        sampler = both(one, other, batch_size=2)
        one.is_down = True
        draw(sampler, MANY)
        before = one.num_listed, len(one.headers)
        for text in ("new", "new", "newer"):
            sampler.count_tokens([text])
        assert (one.num_listed, len(one.headers)) == before
        draw(sampler, MANY)
        assert (one.num_listed, len(one.headers)) == (before[0] + 1, before[1] + 1)


def test_where_all_are_gone_a_count_says_so_and_goes_on_once_one_is_back() -> None:
    with two() as (one, other):
        sampler = both(one, other)
        one.is_down = other.is_down = True
        for _ in range(2):
            with pytest.raises(RunError, match="did not answer in"):
                sampler.count_tokens(["new"])
        one.is_down = False
        assert sampler.count_tokens(["new"]) == [2]


def test_a_server_that_never_answered_is_left_out_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with serving(ScriptedSampler()) as served:
        sampler = connect(ModelConfig(name=NAME, server=(nobody, served.url)), QUICK)
        assert draw(sampler) == draw(connected(served))
    assert caplog.text.count(f"{nobody} did not answer in 3 tries") == 1


def test_a_refusal_by_one_of_several_servers_ends_the_call() -> None:
    with two(failures=["", "", "401"]) as (one, other):
        sampler = both(one, other)
        with pytest.raises(UsageError, match="asks for a key"):
            draw(sampler, MANY)


def test_an_address_that_is_named_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="names http://a/v1 twice"):
        connect(ModelConfig(name=NAME, server=("http://a/v1", "http://b/v1", "http://a/v1")), QUICK)


def test_several_servers_read_as_much_as_the_least_of_them() -> None:
    with two(max_model_len=900) as (one, other):
        assert both(one, other).context_tokens == 900
