"""Starts llama.cpp's server on loopback, in a process of its own that a test may kill."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "smollm2"
NUM_SLOTS = 2
CONTEXT_TOKENS = 512
"""Of each slot."""


@contextmanager
def llama_server(gguf: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Give the base URL of a server of this file, and its process, once it listens."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(gguf)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "llama.cpp's server did not start"
        yield f"{address}/v1", process
    finally:
        process.kill()
        process.wait()


def _serve(gguf: str) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = gguf
    params.model_alias = {NAME}
    params.n_parallel = NUM_SLOTS
    params.n_ctx = NUM_SLOTS * CONTEXT_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.warmup = False
    # What it remembers of prompts moves log-probabilities, by a tenth in these weights of 4 bits.
    params.cache_prompt = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    _serve(sys.argv[1])
