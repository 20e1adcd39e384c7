"""The hybrid retriever finds passages, and each of its parts can be left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bot import BadData
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.testing import HashEncoder
from harness.authoring.evidence.documents import locate_documents, read_documents
from harness.authoring.evidence.drafting import Queries, load_glossary
from harness.authoring.evidence.passages import Passage, passages_of
from harness.authoring.evidence.retrieval import (
    Bm25,
    Floats,
    LateInteraction,
    Reach,
    Retriever,
    fused,
    terms,
    with_glossary,
)
from harness.authoring.evidence.study import configurations, load_targets, measured, questions_file, spread
from tests.harness.authoring.author import author

PASSAGES = passages_of(read_documents(locate_documents("mammography-de")).documents)


def _passages(*texts: str) -> list[Passage]:
    return [Passage(f"a#{number}", "a", "", 0, text) for number, text in enumerate(texts)]


def test_bm25_prefers_rare_words_and_shares_the_ends_of_compounds() -> None:
    scores = Bm25(["Die Brust, die Brust.", "Das Implantat der Brust.", "Brustuntersuchungen im Haus."]).scores

    assert int(np.argmax(scores("Implantat Brust"))) == 1
    assert scores("Untersuchungen?")[2] > 0 == scores("Untersuchungen?")[0]
    assert not scores("Wie ist das?").any()
    assert terms("Ist es das?") == []


def test_what_both_find_comes_first_and_each_passage_once() -> None:
    assert fused([[3, 1, 2], [2, 4]]) == [2, 3, 1, 4]


def test_a_search_says_by_which_part_a_passage_was_found() -> None:
    retriever = Retriever(_passages("Parken im Hof", "Essen im Haus", "Hunde"), HashEncoder())

    found = retriever.search(["Parken"], Reach(width=2, keep=2))

    assert found[0].passage.text == "Parken im Hof"
    assert (found[0].sparse, found[0].dense is not None, found[0].late) == (1, True, None)
    assert len(found) == 2
    only = retriever.search(["Parken"], Reach(dense=False))
    assert [(each.passage.text, each.sparse, each.dense) for each in only] == [("Parken im Hof", 1, None)]
    assert retriever.search(["Parken"], Reach(dense=False)) is only  # replayed work asks again
    with pytest.raises(ValueError, match="first stage"):
        retriever.search(["Parken"], Reach(sparse=False, dense=False))


class _LongestFirst:
    def scores(self, query: str, passages: Sequence[str]) -> Floats:
        return np.array([len(each) for each in passages], dtype=np.float32)


def test_a_reranker_orders_what_was_merged_unless_it_is_left_out() -> None:
    texts = _passages("Hund", "Hund und Katze", "Hund und Katze und Maus")
    retriever = Retriever(texts, HashEncoder(), reranker=_LongestFirst())

    first = retriever.search(["Hund"], Reach(dense=False))[0]
    assert first.passage.text == "Hund und Katze und Maus"
    assert retriever.search(["Hund"], Reach(dense=False, rerank=False))[0].passage.text == "Hund"


def test_late_interaction_finds_a_word_by_its_meaning(embedded_encoder: EmbeddedEncoder) -> None:
    late = LateInteraction(["Ein Auto parkt.", "Die Suppe ist warm."], embedded_encoder)

    assert int(np.argmax(late.scores("Fahrzeug abstellen"))) == 0
    assert late.scores("ist die").tolist() == [0, 0]


def test_the_glossary_finds_lay_words_at_the_beginning_of_words() -> None:
    glossary = load_glossary("de")

    assert with_glossary("Wird die Brust gequetscht?", glossary) == "Mamma, Kompression"
    assert with_glossary("Wo kann ich essen?", glossary) == ""
    assert load_glossary("en")
    with pytest.raises(BadData, match=r"The glossary .*evidence-glossary-fr.yaml cannot be read"):
        load_glossary("fr")


def test_two_ways_of_searching_find_more_than_one(embedded_encoder: EmbeddedEncoder) -> None:
    targets = load_targets(questions_file("de"), PASSAGES)
    retriever = Retriever(PASSAGES, embedded_encoder)
    queries = {
        each.id: Queries(each.question, glossary=with_glossary(each.question, load_glossary("de"))) for each in targets
    }
    rows = {row.name: measured(row, targets, queries) for row in configurations(retriever, model=False)}

    assert len(targets) >= 40
    hybrid, sparse, dense = rows["sparse + dense"], rows["sparse (BM25)"], rows["dense"]
    assert hybrid.found(32) == len(targets) > max(sparse.found(32), dense.found(32))
    assert hybrid.found(5) > max(sparse.found(5), dense.found(5))
    assert rows["hybrid + glossary"].mrr > hybrid.mrr
    assert len(spread(targets, 7)) == 7
    assert spread(targets, None) == targets


LINE = '{"id": "q%d", "question": "Wo?", "passages": [{"document": "%s", "quote": "%s"}]}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LINE % (1, "hausinformation.txt", "Parkhaus"), "has 1 questions, and 5 are the least"),
        (LINE % (1, "hausinformation.txt", "Parkhaus") * 5, "has an id twice"),
        ("{}\n", ":1 is no question with passages: id: is missing"),
        (
            "".join(LINE % (n, "hausinformation.txt", "Dachgarten") for n in range(5)),
            "q0: no passage of 'hausinformation.txt' holds 'Dachgarten'",
        ),
    ],
)
def test_a_set_that_cannot_be_measured_on_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(text, encoding="utf-8")

    done = author("draft-study", "--documents", "mammography-de", "--questions", file, "--out", tmp_path / "out")

    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
