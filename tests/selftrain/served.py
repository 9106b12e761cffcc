"""A small server on loopback that speaks OpenAI's protocol, answers by a sampler, and fails as told.

It is no model server: one process, one model, as much of the protocol as tests ask for.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from selftrain.config import ModelConfig
from selftrain.sampling import Completion, Request, Sampler
from selftrain.sampling.server.connect import connect
from selftrain.sampling.server.retry import Patience
from selftrain.sampling.server.sampler import ServerSampler

NAME = "codex"
FAILURES = ("500", "429", "429 in 0.3 s", "429 in an hour", "429 until a date", "no money", "cut JSON", "no choices", "no text", "aborted", "not JSON", "drop", "reset", "stall", "hang", "400", "401", "too long", "content_filter", "content_policy_violation")  # fmt: skip
"""What the next request may meet; after the last of those told, all is well."""


@dataclass
class Served:
    """A server under way, and what it was asked."""

    sampler: Sampler
    kind: str
    """`owned_by` in its list of models; `openai` has no /tokenize, `nothing` no list either."""
    max_model_len: int | None = None
    failures: list[str] = field(default_factory=list)
    logprobs: str | None = "completions"
    """How it writes log-probabilities: as `completions`, as a `chat`, or not at all."""
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the requests for completions, in the order of their arrival."""
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of all requests, under names in lower case."""
    num_listed: int = 0
    """How often its list of models was asked for."""
    num_tokenized: int = 0
    most_at_once: int = 0
    """Most requests that were under way together."""
    at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)
    slow_seconds: float = 0.0
    """How long each completion takes."""
    most_choices: int = 64
    """Completions that one request may ask for; more are refused."""
    fewer: int = 64
    """Completions that one answer has at most, whatever was asked for."""
    repeats: bool = False
    """Whether all completions of a request are the first."""
    refuses: Mapping[str, str] = field(default_factory=dict)
    """Settings that it does not take, each with what it says."""
    names_param: bool = True
    """Whether a refusal has the setting's name in a field of its own."""
    usage: bool = True
    """Whether it counts tokens; as llama.cpp does, the first completion's alone."""
    reply: Callable[[str], str] = lambda text: text
    """What a chat makes of a completion."""
    beside: Mapping[str, Any] = field(default_factory=dict)
    """What a chat's message holds beside its text, or in its place."""
    breaks_after: int | None = None
    """Answers after which it breaks every connection that asks for completions."""
    is_down: bool = False
    """Whether it breaks every connection."""
    no_tokenizer: tuple[int, bytes] | None = None
    """What a gateway before it, which does not know of /tokenize, answers there."""
    num_answered: int = 0


@contextmanager
def serving(sampler: Sampler, kind: str = "vllm", failures: Sequence[str] = (), **more: Any) -> Iterator[Served]:  # fmt: skip
    """Serve a sampler as the model `codex` while the block lasts."""
    assert set(failures) <= {"", *FAILURES}
    served = Served(sampler, kind, failures=list(failures), **more)
    handler = type("Bound", (_Handler,), {"served": served})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield served
    finally:
        served.closing.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    served: Served
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        served = self.served
        served.headers.append({name.lower(): value for name, value in self.headers.items()})
        served.num_listed += 1
        if served.is_down:
            self.close_connection = True
            return None
        if self.path != "/v1/models" or served.kind == "nothing":
            return self.answer(404, {"error": {"message": "not found"}})
        card = {"id": NAME, "object": "model", "owned_by": served.kind}
        if served.max_model_len is not None:
            card["max_model_len"] = served.max_model_len
        self.answer(200, {"object": "list", "data": [card]})

    def do_POST(self) -> None:
        served = self.served
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        served.headers.append({name.lower(): value for name, value in self.headers.items()})
        if served.is_down:
            self.close_connection = True
            return None
        if self.path == "/tokenize" and served.no_tokenizer is not None:
            return self.send(*served.no_tokenizer)
        if self.path == "/tokenize" and served.kind in ("vllm", "llamacpp"):
            served.num_tokenized += 1
            text = body["prompt" if served.kind == "vllm" else "content"]
            return self.answer(200, {"tokens": list(range(served.sampler.count_tokens([text])[0]))})
        if self.path not in ("/v1/completions", "/v1/chat/completions"):
            return self.answer(404, {"error": {"message": "not found"}})
        with served.lock:
            served.asked.append(body)
            served.at_once += 1
            served.most_at_once = max(served.most_at_once, served.at_once)
            failure = served.failures.pop(0) if served.failures else ""
        time.sleep(served.slow_seconds)
        with served.lock:
            served.at_once -= 1
        if failure:
            return self.fail(failure, body)
        if served.breaks_after is not None and served.num_answered >= served.breaks_after:
            self.close_connection = True
            return None
        if body["n"] > served.most_choices:
            return self.answer(
                400, {"error": {"message": f"n must be at most {served.most_choices}"}}
            )
        for name, said in served.refuses.items():
            if name in body:
                param = name if served.names_param else None
                return self.answer(400, {"error": {"message": said, "param": param}})
        served.num_answered += 1
        self.answer(200, self.complete(body))

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        served = self.served
        chat = "messages" in body
        prompt = body["messages"][0]["content"] if chat else body["prompt"]
        seed = body.get("seed", 0)
        with served.lock:
            drawn = served.sampler.sample(
                [
                    Request(prompt, seed + (0 if served.repeats else i))
                    for i in range(min(body["n"], served.fewer))
                ],
                temperature=body["temperature"],
                max_new_tokens=body.get("max_tokens") or body["max_completion_tokens"],
                advance=lambda _: None,
            )
        choices = [{"index": i, **self.choice(one, body, chat)} for i, one in enumerate(drawn)]
        usage = {"prompt_tokens": 7, "completion_tokens": drawn[0].num_tokens, "total_tokens": 1}
        return {"id": "1", "choices": choices, "usage": usage if served.usage else None}

    def choice(self, done: Completion, body: dict[str, Any], chat: bool) -> dict[str, Any]:
        served, text, logprobs = self.served, done.text, None
        for stop in body.get("stop", ()):
            text = text.split(stop)[0]
        if served.logprobs and body.get("logprobs"):
            form = "chat" if chat else served.logprobs
            logprobs = (
                {"token_logprobs": [done.sum_logprob, -1.0], "tokens": ["a", "b"]}
                if form == "completions"
                else {"content": [{"logprob": done.sum_logprob}, {"logprob": -1.0}]}
            )
        written = {"message": {"role": "assistant", "content": served.reply(text), **served.beside}} if chat else {"text": text}  # fmt: skip
        return {**written, "finish_reason": str(done.finish_reason), "logprobs": logprobs}

    def fail(self, failure: str, body: dict[str, Any]) -> None:
        message = {"error": {"message": f"as told: {failure}, {self.headers['Authorization']}", "code": None}}  # fmt: skip
        whole = self.complete(body)
        if failure == "drop":
            self.close_connection = True
        elif failure in ("reset", "stall"):
            text = json.dumps(whole).encode()
            self.send(200, text[: len(text) // 2], length=len(text))
            if failure == "stall":
                self.served.closing.wait(20)
            self.close_connection = True
        elif failure == "hang":
            self.served.closing.wait(20)
            self.close_connection = True
        elif failure == "cut JSON":
            self.send(200, json.dumps(whole).encode()[:-20])
        elif failure == "not JSON":
            self.send(200, b"<html>Welcome</html>")
        elif failure == "no choices":
            self.answer(200, {**whole, "choices": []})
        elif failure == "no text":
            self.answer(200, {**whole, "choices": [{**whole["choices"][0], "text": None}]})
        elif failure == "aborted":
            self.answer(
                200, {**whole, "choices": [{**whole["choices"][0], "finish_reason": "abort"}]}
            )
        elif failure == "too long":
            message["error"]["message"] = "This model's maximum context length is 64 tokens."
            self.answer(400, message)
        elif failure.startswith("content_"):
            message["error"]["code"] = failure
            self.answer(400, message)
        elif failure == "no money":
            message["error"]["code"] = "insufficient_quota"
            self.answer(429, message)
        elif failure.startswith("429"):
            soon = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
            wait = {"429": None, "429 in 0.3 s": "0.3", "429 in an hour": "3600", "429 until a date": soon}[failure]  # fmt: skip
            self.answer(429, message, {} if wait is None else {"Retry-After": wait})
        else:
            self.answer(int(failure), message)

    def answer(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self.send(status, json.dumps(value).encode(), headers)

    def send(
        self,
        status: int,
        body: bytes,
        headers: dict[str, str] | None = None,
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)


QUICK = Patience(num_tries=4, num_limited_tries=4, timeout_seconds=5, first_wait_seconds=0.01)
IMPATIENT = replace(QUICK, timeout_seconds=1)
"""For servers that hang or stall, which takes as long; a busy machine may be as slow by itself."""
REQUESTS = [Request("def f(", seed) for seed in range(6)]


def connected(served: Served, patience: Patience = QUICK, **settings: Any) -> ServerSampler:
    return connect(ModelConfig(name=NAME, server=served.url, **settings), patience)


def draw(
    sampler: ServerSampler, requests: Sequence[Request] = REQUESTS, temperature: float = 0.9
) -> list[Completion]:
    return sampler.sample(
        requests, temperature=temperature, max_new_tokens=50, advance=lambda _: None
    )


def texts(completions: Sequence[Completion]) -> list[str]:
    return [one.text for one in completions]
