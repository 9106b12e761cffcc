"""The key of a server: sent where it is configured to be, with nothing else of the environment, and never shown."""

import json
import logging

import pytest
from scripted import ScriptedSampler
from served import NAME, QUICK, REQUESTS, connected, draw, serving

from selftrain.config import ModelConfig
from selftrain.errors import UsageError
from selftrain.sampling.server.connect import connect
from selftrain.sampling.server.retry import masked, masked_body

KEY = "sk-a-key-that-nobody-sees"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        connect(ModelConfig(name=NAME, server=f"http://me:{KEY}@host/v1"), QUICK)
    assert KEY not in str(caught.value)


def test_the_key_of_the_named_variable_is_sent_and_appears_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")
    caplog.set_level(logging.DEBUG)
    with serving(ScriptedSampler(), failures=["500", "401"]) as served:
        sampler = connected(served, api_key_variable="MY_KEY")
        with pytest.raises(
            UsageError, match=r"refuses the key .* MY_KEY .*Bearer \*\*\*"
        ) as caught:
            draw(sampler, REQUESTS[:1])
    assert {sent["authorization"] for sent in served.headers} == {f"Bearer {KEY}"}
    assert KEY not in str(caught.value) + caplog.text + repr(vars(sampler))


def test_without_the_variable_no_other_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(ScriptedSampler(), failures=["401"]) as served:
        sampler = connected(served, api_key_variable="MY_KEY")
        with pytest.raises(UsageError, match=r"asks for a key .* environment variable MY_KEY"):
            draw(sampler, REQUESTS[:1])
    assert KEY not in str(served.headers)


def test_of_the_environment_the_key_alone_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_WEBHOOK_SECRET"):
        monkeypatch.setenv(name, f"secret of {name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    headers = "Authorization: Bearer secret\nUser-Agent: secret\nX-Account: secret"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(ScriptedSampler()) as served:
        draw(connected(served, api_key_variable="MY_KEY"))
    assert "secret" not in str(served.headers)
    assert {one["authorization"] for one in served.headers} == {f"Bearer {KEY}"}
    http = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}
    sent = {name for headers in served.headers for name in headers}
    assert {name for name in sent if not name.startswith("x-stainless-")} == {
        *http,
        "user-agent",
        "authorization",
    }


def test_a_key_that_cannot_be_one_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n{KEY}")
    with pytest.raises(UsageError, match="holds no key") as caught:
        connect(ModelConfig(name=NAME, server="http://127.0.0.1:1/v1"), QUICK)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", [KEY, "sk-a\"b\\c'd%20&x"])
def test_an_answer_that_repeats_the_key_is_masked_however_it_is_written(key: str) -> None:
    for written in (key, repr(key), json.dumps(key), str({"detail": key})):
        assert "***" in masked(written, key)
        assert key not in masked(written, key)
    body = json.dumps({"choices": [{"text": f"x = {key}"}]}).encode()
    assert "sk-a" not in masked_body(body, key).decode()
    json.loads(masked_body(body, key))


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:x/v1", "http://[::1", "http://.../v1", "http://host\n/v1", "host/v1"]
)
def test_an_address_that_is_none_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        connect(ModelConfig(name=NAME, server=url), QUICK)
