"""Serve a small real model over HTTP until standard input closes: run as a process of its own.

Prints the server's address as one line. Argument: the model's GGUF file.
"""

from __future__ import annotations

import sys

import xllamacpp


def main(gguf: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = gguf
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 2048
    params.n_parallel = 2
    params.n_threads_http = 4
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1  # several wait for one another by spinning: very slow on a busy machine
    params.cache_prompt = False  # the same question is worked out the same way each time
    params.warmup = False
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
