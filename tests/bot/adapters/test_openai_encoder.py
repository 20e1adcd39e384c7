"""An embeddings endpoint: order, batches, privacy, and errors in one line."""

import socket
from pathlib import Path

import numpy as np
import pytest

from bot import Settings, Unreachable, UserFixable
from bot.adapters.openai_encoder import BATCH, OpenAIEncoder
from bot.testing import HashEncoder, scripted_endpoint


def _encoder(tmp_path: Path, url: str, **settings: object) -> OpenAIEncoder:
    return OpenAIEncoder("scripted", Settings(data=tmp_path, embeddings_url=url, **settings))  # type: ignore[arg-type]


def test_vectors_come_in_the_order_of_the_texts_and_with_unit_length(tmp_path: Path) -> None:
    texts = ["tut es weh", "was kostet es", "wie lange dauert es"]

    with scripted_endpoint(lambda _: "") as endpoint:  # answers in reverse order, with length 3
        vectors = _encoder(tmp_path, endpoint.url).encode(texts)

    np.testing.assert_allclose(vectors, HashEncoder().encode(texts), atol=1e-6)


def test_many_texts_are_sent_in_batches(tmp_path: Path) -> None:
    texts = [f"Frage {number}" for number in range(2 * BATCH + 1)]

    with scripted_endpoint(lambda _: "") as endpoint:
        vectors = _encoder(tmp_path, endpoint.url).encode(texts)

    assert [len(request["input"]) for request in endpoint.requests] == [BATCH, BATCH, 1]
    np.testing.assert_allclose(vectors, HashEncoder().encode(texts), atol=1e-6)


def test_no_empty_text_is_sent(tmp_path: Path) -> None:
    with scripted_endpoint(lambda _: "") as endpoint:
        _encoder(tmp_path, endpoint.url).encode(["", "\x00", "weh"])

    assert endpoint.requests[0]["input"] == [" ", " ", "weh"]


def test_a_passing_fault_is_tried_again(tmp_path: Path) -> None:
    with scripted_endpoint(lambda _: "", faults=[503]) as endpoint:
        vectors = _encoder(tmp_path, endpoint.url).encode(["weh"])

    assert len(vectors) == 1
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_told_in_one_line_without_the_key(tmp_path: Path, status: int) -> None:
    with scripted_endpoint(lambda _: "", faults=[status]) as endpoint:
        encoder = _encoder(tmp_path, endpoint.url, embeddings_key="geheim")
        with pytest.raises(Unreachable, match=rf"answered {status} for model 'scripted'.*EMBEDDINGS_KEY") as caught:
            encoder.encode(["Mein Name ist Meier"])

    assert "\n" not in str(caught.value)
    assert "geheim" not in str(caught.value)
    assert "Meier" not in str(caught.value)


def test_an_answer_that_is_no_embedding_is_told_in_one_line(tmp_path: Path) -> None:
    with scripted_endpoint(lambda _: "", faults=[-1] * 3) as endpoint:  # broken JSON
        encoder = _encoder(tmp_path, endpoint.url)
        with pytest.raises(Unreachable, match="answered with something other than embeddings"):
            encoder.encode(["weh"])


def test_a_refused_connection_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"

    with pytest.raises(Unreachable, match=rf"endpoint {url} does not answer.*KLARTEXT_EMBEDDINGS_URL"):
        _encoder(tmp_path, url).encode(["weh"])


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.org/v1",
        "http://127.0.0.1.example.org/v1",
        "http://127.0.0.1@example.org/v1",
        "http://10.0.0.1/v1",
    ],
)
def test_patient_text_never_goes_to_a_host_that_was_not_allowed(tmp_path: Path, url: str) -> None:
    with pytest.raises(UserFixable, match=r"would leave this machine to .*KLARTEXT_ALLOW_PATIENT_TEXT_TO="):
        _encoder(tmp_path, url)


def test_patient_text_may_go_to_a_host_that_was_allowed(tmp_path: Path) -> None:
    allowed = frozenset({"api.example.org"})

    encoder = _encoder(tmp_path, "https://api.example.org/v1", allow_patient_text_to=allowed)

    assert encoder.name == "openai:scripted@https://api.example.org/v1"


def test_without_an_endpoint_the_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserFixable, match=r"'openai:scripted' needs an endpoint.*KLARTEXT_EMBEDDINGS_URL"):
        OpenAIEncoder("scripted", Settings(data=tmp_path))
