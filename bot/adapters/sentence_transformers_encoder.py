"""Any sentence-transformers model, by name or folder. The extra `sentence-transformers` brings torch."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from bot.errors import BadData, MissingExtra
from bot.ports import Vectors
from bot.text import sanitise


class SentenceTransformersEncoder:
    """For example the seed paper's ``deutsche-telekom/gbert-large-paraphrase-cosine``."""

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            feature = f"The encoder 'sentence-transformers:{model}'"
            raise MissingExtra(feature=feature, extra="sentence-transformers") from error
        try:
            self._model = SentenceTransformer(model, device="cpu")
        except (OSError, ValueError) as error:
            raise BadData(
                f"The model {model!r} cannot be loaded ({type(error).__name__}). "
                "Give the folder of a downloaded model: `--encoder sentence-transformers:FOLDER`."
            ) from error
        self.name = f"sentence-transformers:{model}"
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        clean = [sanitise(text).text for text in texts]
        if not clean:
            return np.zeros((0, 1), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(clean, normalize_embeddings=True, convert_to_numpy=True, batch_size=64)
        return np.asarray(vectors, dtype=np.float32)
