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
from harness.authoring.evidence.drafting import Part, Queries, load_glossary
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
from harness.authoring.evidence.tuning import Tuned
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
    rows = {row.name: measured(row, targets, queries) for row in configurations(retriever, Reach(), {"glossary"})}

    assert len(targets) >= 40
    hybrid, sparse, dense = rows["sparse + dense"], rows["sparse (BM25)"], rows["dense"]
    assert hybrid.found(32) == len(targets) > max(sparse.found(32), dense.found(32))
    assert hybrid.found(5) > max(sparse.found(5), dense.found(5))
    assert rows["hybrid + glossary"].mrr > hybrid.mrr
    assert len(spread(targets, 7)) == 7
    assert spread(targets, None) == targets


class _ByLength:
    name = "length"

    def scores(self, query: str) -> Floats:
        return np.array([1, 2, 3], dtype=np.float32)


def test_several_models_that_rank_by_words_are_merged_and_the_study_has_each_alone() -> None:
    texts = _passages("Hund", "Katze und Maus", "Parken im Hof")
    both = Retriever(texts, HashEncoder(), sparse_models=(Bm25([each.with_heading for each in texts]), _ByLength()))

    found = both.search(["Hund"], Reach(dense=False))

    # BM25 finds the first alone; it is the last of the other's.
    assert [each.passage.text for each in found] == ["Hund", "Parken im Hof", "Katze und Maus"]
    rows = {row.name: row for row in configurations(both, Reach(), set())}
    assert list(rows)[:3] == ["sparse (BM25)", "sparse (length)", "sparse (BM25 + length)"]
    alone = [rows[name].retriever.search(["Hund"], rows[name].reach) for name in list(rows)[:3]]
    assert [each[0].passage.text for each in alone] == ["Hund", "Parken im Hof", "Hund"]
    assert [len(each) for each in alone] == [1, 3, 3]


def test_late_interaction_looks_for_what_was_made_of_the_question_too() -> None:
    retriever = Retriever(_passages("Hunde im Haus", "Parkplatz im Hof"), HashEncoder())
    late = Reach(sparse=False, dense=False, late=True)

    assert retriever.search(["Hunde"], late)[0].passage.text == "Hunde im Haus"
    assert retriever.search(["Hunde", "Parkplatz Hof"], late)[0].passage.text == "Parkplatz im Hof"


def test_the_study_has_no_row_of_a_part_that_is_off() -> None:
    retriever = Retriever(_passages("Hund", "Katze"), HashEncoder(), reranker=_LongestFirst())

    def names(reach: Reach, *augmenter: Part) -> list[str]:
        return [row.name for row in configurations(retriever, reach, set(augmenter))]

    assert names(Reach(rerank=False, sparse=False), "expand") == [
        *("dense", "late interaction", "dense + late interaction"),
        *("dense + expansion", "the same without the question itself"),
    ]
    assert names(Reach(late=True), "glossary")[-4:] == [
        *("sparse + rerank", "dense + rerank", "sparse + dense + late interaction + rerank"),
        "sparse + dense + late interaction + glossary",
    ]
    assert names(Reach(sparse=False, dense=False, late=True)) == ["late interaction", "late interaction + rerank"]
    assert "the same, sparse off" in names(Reach(), "rewrite", "expand")


def test_a_tuned_row_is_searched_as_the_row_that_it_stands_beside() -> None:
    retriever = Retriever(_passages("Hund", "Katze"), HashEncoder(), reranker=_LongestFirst())
    retriever.tuned = Tuned(retriever.encoder.name, np.zeros((64, 64), np.float32))

    rows = {row.name: row for row in configurations(retriever, Reach(5, 4), {"glossary", "rewrite", "expand"})}

    tuned = [name for name in rows if name.endswith(", tuned")]
    assert {"hybrid + glossary, tuned", "sparse + dense + rerank, tuned", "dense, tuned"} <= set(tuned)
    for name in tuned:
        plain = rows[name.removesuffix(", tuned")]
        assert (rows[name].reach, rows[name].queries) == (plain.reach, plain.queries)
        assert (rows[name].retriever.tuned, plain.retriever.tuned) == (retriever.tuned, None)
    assert rows["hybrid + glossary, tuned"].reach.rerank
    assert {(row.reach.width, row.reach.keep) for row in rows.values()} == {(5, 4)}
    assert not any("tuned" in row.name for row in configurations(retriever, Reach(dense=False), {"glossary"}))


@pytest.mark.parametrize(("options", "part"), [([], "relevance"), (["--filters"], "support")])
def test_a_part_that_a_study_does_not_measure_is_not_left_out_in_silence(
    tmp_path: Path, options: list[str], part: str
) -> None:
    done = author(
        *("draft-study", "--documents", "mammography-en", "--lang", "en", "--out", tmp_path / "out"),
        *("--without", part, *options),
    )

    assert (done.exit_code, done.stdout) == (2, "")
    assert f"`--without {part}` changes nothing that this study measures. Parts: rewrite" in done.stderr
    assert len(done.stderr.splitlines()) == 1


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
