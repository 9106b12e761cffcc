"""A small server on loopback that speaks the completions protocol, answers by a sampler, and fails as told.

It is no model server: one process, one model, as much of the protocol as tests ask for.
"""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from selftrain.sampling import Request, Sampler

NAME = "codex"
FAILURES = ("500", "429", "429 in 0.3 s", "429 in an hour", "no money", "cut JSON", "no choices", "no text", "aborted", "not JSON", "drop", "hang", "400", "401", "too long")  # fmt: skip
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
    authorizations: list[str] = field(default_factory=list)
    num_tokenized: int = 0
    most_at_once: int = 0
    """Most requests that were under way together."""
    at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)
    slow_seconds: float = 0.0
    """How long each completion takes."""


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
        served.authorizations.append(self.headers["Authorization"])
        if self.path != "/v1/models" or served.kind == "nothing":
            return self.answer(404, {"error": {"message": "not found"}})
        card = {"id": NAME, "object": "model", "owned_by": served.kind}
        if served.max_model_len is not None:
            card["max_model_len"] = served.max_model_len
        self.answer(200, {"object": "list", "data": [card]})

    def do_POST(self) -> None:
        served = self.served
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        served.authorizations.append(self.headers["Authorization"])
        if self.path == "/tokenize" and served.kind in ("vllm", "llamacpp"):
            served.num_tokenized += 1
            text = body["prompt" if served.kind == "vllm" else "content"]
            return self.answer(200, {"tokens": list(range(served.sampler.count_tokens([text])[0]))})
        if self.path != "/v1/completions":
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
        self.answer(200, self.complete(body))

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        served = self.served
        with served.lock:
            (done,) = served.sampler.sample(
                [Request(body["prompt"], body["seed"])],
                temperature=body["temperature"],
                max_new_tokens=body["max_tokens"],
                advance=lambda _: None,
            )
        text = done.text
        for stop in body["stop"]:
            text = text.split(stop)[0]
        logprobs = None
        if served.logprobs == "completions":
            logprobs = {"token_logprobs": [done.sum_logprob, -1.0], "tokens": ["a", "b"]}
        elif served.logprobs == "chat":
            logprobs = {"content": [{"logprob": done.sum_logprob}, {"logprob": -1.0}]}
        choice = {"index": 0, "text": text, "finish_reason": str(done.finish_reason), "logprobs": logprobs}  # fmt: skip
        usage = {"prompt_tokens": 1, "completion_tokens": done.num_tokens, "total_tokens": 1}
        return {"id": "1", "object": "text_completion", "choices": [choice], "usage": usage}

    def fail(self, failure: str, body: dict[str, Any]) -> None:
        message = {"error": {"message": f"as told: {failure}, {self.headers['Authorization']}", "code": None}}  # fmt: skip
        whole = self.complete(body)
        if failure == "drop":
            self.close_connection = True
        elif failure == "hang":
            self.served.closing.wait(5)
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
        elif failure == "no money":
            message["error"]["code"] = "insufficient_quota"
            self.answer(429, message)
        elif failure.startswith("429"):
            wait = {"429": None, "429 in 0.3 s": "0.3", "429 in an hour": "3600"}[failure]
            self.answer(429, message, {} if wait is None else {"Retry-After": wait})
        else:
            self.answer(int(failure), message)

    def answer(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self.send(status, json.dumps(value).encode(), headers)

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
