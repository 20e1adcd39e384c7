"""Every encoder takes any text, from any thread, and returns unit vectors in order."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from bot import Encoder, Settings, UserFixable
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.adapters.openai_encoder import OpenAIEncoder
from bot.testing import HOSTILE_TEXTS, HashEncoder, scripted_endpoint
from bot.wiring import make_encoder

QUESTIONS = [f"Wie lange dauert die Untersuchung {number}?" for number in range(24)] + list(HOSTILE_TEXTS.values())


@pytest.fixture(params=["embedded", "hash", "openai"])
def encoder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Encoder]:
    if request.param == "embedded":
        yield request.getfixturevalue("embedded_encoder")
    elif request.param == "hash":
        yield HashEncoder()
    else:
        with scripted_endpoint(lambda _: "") as endpoint:
            yield OpenAIEncoder("scripted", Settings(data=tmp_path, embeddings_url=endpoint.url))


def test_hostile_texts_get_unit_vectors(encoder: Encoder) -> None:
    vectors = encoder.encode(list(HOSTILE_TEXTS.values()))

    assert vectors.dtype == np.float32
    assert vectors.shape[0] == len(HOSTILE_TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


def test_no_text_gets_no_vector(encoder: Encoder) -> None:
    assert encoder.encode([]).shape[0] == 0


def test_a_text_has_the_same_vector_alone_and_among_others(encoder: Encoder) -> None:
    together = encoder.encode(QUESTIONS)

    alone = np.concatenate([encoder.encode([text]) for text in QUESTIONS])

    np.testing.assert_allclose(alone, together, atol=2e-5)


def test_eight_threads_at_once_get_what_one_after_the_other_gets(encoder: Encoder) -> None:
    one_by_one = [encoder.encode([text]) for text in QUESTIONS]

    with ThreadPoolExecutor(8) as threads:
        at_once = list(threads.map(lambda text: encoder.encode([text]), QUESTIONS))

    np.testing.assert_array_equal(np.concatenate(at_once), np.concatenate(one_by_one))


def test_the_embedded_encoder_puts_the_same_meaning_near_across_languages(embedded_encoder: EmbeddedEncoder) -> None:
    hurts, tut_weh, costs = embedded_encoder.encode(["Does it hurt?", "Tut es weh?", "How much does it cost?"])

    assert hurts @ tut_weh > hurts @ costs + 0.2


FORK = """
import os, threading
from bot.adapters.embedded_encoder import EmbeddedEncoder

encoder = EmbeddedEncoder()
parent = encoder.encode(["Tut es weh?"])
holding, done = threading.Event(), threading.Event()

def hold():
    with encoder._lock:
        holding.set()
        done.wait()

threading.Thread(target=hold).start()
holding.wait()
child = os.fork()  # while another thread encodes
if child == 0:
    os._exit(0 if (encoder.encode(["Tut es weh?"]) == parent).all() else 1)
done.set()
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.proof
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_encodes_even_if_the_parent_was_encoding() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "name", ["nonsense", "", "embedded:x", "openai", "openai:", "sentence-transformers", "EMBEDDED"]
)
def test_an_unknown_encoder_is_refused_with_those_there_are(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserFixable, match=f"no encoder {name!r}.*--encoder embedded"):
        make_encoder(name, Settings(data=tmp_path))
