"""Cross-encoders and SPLADE by sentence-transformers, with real models that are small and have learned nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bot import BadData
from bot.testing import HashEncoder
from harness.authoring.evidence.passages import Passage
from harness.authoring.evidence.retrieval import Reach, Retriever

TEXTS = ["der hund im haus", "die katze im garten", "ein parkplatz"]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({word for text in TEXTS for word in text.split()})]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a classifier and a masked language model of one small layer each."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("models")
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"))
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(WORDS), num_labels=1, **shape)
    torch.manual_seed(1)
    for name, kind in (("rerank", "BertForSequenceClassification"), ("splade", "BertForMaskedLM")):
        getattr(transformers, kind)(config).save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return folder


def _passages() -> list[Passage]:
    return [Passage(f"a#{number}", "a", "", 0, text) for number, text in enumerate(TEXTS)]


@pytest.mark.proof
def test_a_cross_encoder_orders_what_was_merged(models: Path) -> None:
    from harness.authoring.evidence.transformers import CrossEncoderReranker

    reranker = CrossEncoderReranker(str(models / "rerank"))
    scores = reranker.scores("der hund", TEXTS)
    found = Retriever(_passages(), HashEncoder(), reranker=reranker).search(["der hund"], Reach())

    assert scores.shape == (3,)
    assert [each.passage.text for each in found] == [TEXTS[number] for number in np.argsort(-scores, kind="stable")]


@pytest.mark.proof
def test_splade_scores_passages_by_words_of_its_vocabulary(models: Path) -> None:
    from harness.authoring.evidence.transformers import Splade

    splade = Splade(str(models / "splade"), TEXTS)
    scores = splade.scores("katze")
    found = Retriever(_passages(), HashEncoder(), sparse_models=(splade,)).search(["katze"], Reach(dense=False))

    assert scores.shape == (3,)
    assert (scores >= 0).all()
    assert {each.dense for each in found} == {None}


@pytest.mark.proof
def test_a_model_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from harness.authoring.evidence.transformers import CrossEncoderReranker, Splade

    with pytest.raises(BadData, match=r"cannot be loaded \(\w+\)\. Give the folder .* `--rerank-model FOLDER`"):
        CrossEncoderReranker(str(tmp_path / "none"))
    with pytest.raises(BadData, match="`--splade-model FOLDER`"):
        Splade(str(tmp_path / "none"), TEXTS)
