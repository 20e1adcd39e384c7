"""Any OpenAI-compatible embeddings endpoint. The only module of the assistant that imports `openai`, an extra."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np

from bot.errors import MissingExtra, Unreachable, UserFixable
from bot.ports import Vectors
from bot.settings import Settings
from bot.text import sanitise

try:
    import httpx2
    import openai
except ImportError as error:
    raise MissingExtra(feature="An encoder 'openai:MODEL'", extra="openai") from error

BATCH = 256  # endpoints limit how many texts one request may hold


class OpenAIEncoder:
    """Sends patients' text to an endpoint: outside loopback only if the settings name its host."""

    def __init__(self, model: str, settings: Settings) -> None:
        url = settings.embeddings_url
        if not url:
            raise UserFixable(
                f"The encoder 'openai:{model}' needs an endpoint, and none is set. "
                "Set KLARTEXT_EMBEDDINGS_URL=http://127.0.0.1:8080/v1 or similar."
            )
        settings.require_patient_text_allowed(url)
        self.name = f"openai:{model}@{url}"
        self._model = model
        self._url = url
        # A redirect or a proxy of the environment would carry the text to a host that nobody named.
        http = openai.DefaultHttpxClient(follow_redirects=False, trust_env=False, verify=httpx2.create_ssl_context())
        weakref.finalize(self, http.close)
        self._client = openai.OpenAI(
            base_url=url,
            api_key=settings.embeddings_key or "none",
            timeout=30.0,
            max_retries=2,
            http_client=http,
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        # An empty input is an error for many endpoints; a space is not.
        clean = [sanitise(text).text or " " for text in texts]
        parts = [self._request(clean[start : start + BATCH]) for start in range(0, len(clean), BATCH)]
        vectors = np.concatenate(parts) if parts else np.zeros((0, 1), dtype=np.float32)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(length, 1e-12), dtype=np.float32)

    def _request(self, batch: list[str]) -> Vectors:
        try:
            response = self._client.embeddings.create(model=self._model, input=batch, encoding_format="float")
        except openai.APIConnectionError as error:
            raise Unreachable(
                f"The embeddings endpoint {self._url} does not answer. Start it, or correct KLARTEXT_EMBEDDINGS_URL."
            ) from error
        except openai.APIStatusError as error:
            raise Unreachable(
                f"The embeddings endpoint {self._url} answered {error.status_code} for model {self._model!r}. "
                "Check the model's name and KLARTEXT_EMBEDDINGS_KEY."
            ) from error
        except ValueError as error:  # no JSON, or JSON of another kind
            raise self._no_embeddings() from error
        if len(response.data) != len(batch):
            raise self._no_embeddings()
        ordered = sorted(response.data, key=lambda item: item.index)
        return np.array([item.embedding for item in ordered], dtype=np.float32)

    def _no_embeddings(self) -> Unreachable:
        return Unreachable(
            f"The endpoint {self._url} answered with something other than embeddings. Correct KLARTEXT_EMBEDDINGS_URL."
        )
