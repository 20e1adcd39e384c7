"""Models of sentence-transformers for the retriever: a cross-encoder that reranks, and SPLADE. Loaded when named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sentence_transformers import CrossEncoder, SparseEncoder

from bot import BadData
from harness.authoring.evidence.retrieval import Floats

LONGEST = 512  # tokens of query and passage, as in the paper's appendix A.2


class CrossEncoderReranker:
    """Reads query and passage together, for example ``cross-encoder/msmarco-MiniLM-L12-en-de-v1``, or a folder."""

    def __init__(self, model: str) -> None:
        try:
            self._model = CrossEncoder(model, device="cpu", max_length=LONGEST)
        except (OSError, ValueError) as error:
            raise BadData(_refusal(model, "--rerank-model", error)) from error

    def scores(self, query: str, passages: Sequence[str]) -> Floats:
        pairs = [(query, passage) for passage in passages]
        return np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=np.float32)


class Splade:
    """Sparse vectors over a vocabulary (SPLADE), by a model's name or folder."""

    name = "SPLADE"

    def __init__(self, model: str, texts: Sequence[str]) -> None:
        try:
            self._model = SparseEncoder(model, device="cpu")
        except (OSError, ValueError) as error:
            raise BadData(_refusal(model, "--splade-model", error)) from error
        self._passages = self._model.encode_document(list(texts), convert_to_sparse_tensor=False)

    def scores(self, query: str) -> Floats:
        asked = self._model.encode_query([query], convert_to_sparse_tensor=False)
        return np.asarray((self._passages @ asked.T)[:, 0].numpy(), dtype=np.float32)


def _refusal(model: str, option: str, error: Exception) -> str:
    return (
        f"The model {model!r} cannot be loaded ({type(error).__name__}). "
        f"Give the folder of a downloaded model: `{option} FOLDER`."
    )
