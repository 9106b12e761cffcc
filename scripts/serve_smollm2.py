"""Serve SmolLM2-135M on loopback by llama.cpp, as a server of OpenAI's protocol, until Ctrl-C.

    python -m scripts.fetch_smollm2                  # once
    python -m scripts.serve_smollm2 --port 8080 &
    selftrain refine configs/refine-smollm2.yaml 'refine.tasks=[HumanEval.jsonl.gz, puzzles]'

It needs `xllamacpp`, which is among the development requirements. A model this small shows that a
pipeline works, not what it is worth.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from scripts.fetch_smollm2 import gguf_path

NAME = "smollm2"


def main() -> None:
    """Start the server, say where it is, and wait."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gguf", type=Path, help="another GGUF file")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one")
    parser.add_argument("--slots", type=int, default=4, help="requests that are answered together")
    parser.add_argument("--context", type=int, default=4096, help="tokens of each slot")
    parser.add_argument("--threads", type=int, default=2, help="threads that compute")
    options = parser.parse_args()
    gguf = options.gguf or gguf_path()
    if not gguf.is_file():
        sys.exit(f"{gguf} is not there. Try: python -m scripts.fetch_smollm2")
    server = start(gguf, options)
    print(f"{server.listening_address}/v1", flush=True)
    while True:
        time.sleep(3600)


def start(gguf: Path, options: argparse.Namespace) -> Any:
    """Start llama.cpp's server; it ends with what is returned."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.model_alias = {NAME}
    params.n_parallel = options.slots
    params.n_ctx = options.slots * options.context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
