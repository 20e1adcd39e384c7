"""Catalogs with few background questions of their own learn from general ones."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from bot.assistant import Assistant
from bot.catalog.catalog import load_catalog, locate
from bot.matching.fit_head import BACKGROUND
from bot.matching.training import (
    FEW,
    beside,
    canonical_texts,
    general_background,
    indexed_texts,
    judge_calibration,
    train_catalog,
)
from bot.ports import Encoder
from bot.testing import HashEncoder, write_small_catalog
from bot.text import NearCopies


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_general_background_is_plenty_and_has_no_near_copies_of_the_test_questions(language: str) -> None:
    texts = general_background(language)
    known = NearCopies()
    for question in load_catalog(locate("mammography"), language).calibration:
        known.add(question.text, "")

    assert len(texts) > 400
    assert len(set(texts)) == len(texts)
    assert [text for text in texts if known.find(text)] == []


def test_a_language_without_general_background_has_none() -> None:
    assert general_background("xx") == ()


def test_the_shipped_catalog_has_enough_of_its_own() -> None:
    catalog = load_catalog(locate("mammography"), "de")

    own = [*catalog.background, *(one.text for one in catalog.near_misses)]
    assert [one.text for one in beside(catalog)][: len(own)] == own
    assert not any(one.author == BACKGROUND and one.general for one in beside(catalog))
    assert len(catalog.background) >= FEW


def test_pairs_with_few_variants_learn_from_the_sentences_of_their_own_answers(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "small")
    document = yaml.safe_load((folder / "de.yaml").read_text(encoding="utf-8"))
    shared = "Fragen Sie uns gern."
    for number, pair in enumerate(document["pairs"]):
        pair["answer"] = f"Das ist Antwort {number}. {shared}"
        pair.pop("short_answer", None), pair.pop("easy_answer", None)
    taught = document["pairs"][0]
    taught["variants"] = [{"text": f"Frage Nummer {number} dazu?"} for number in range(100)]
    (folder / "de.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    catalog = load_catalog(folder, "de")

    learned = canonical_texts(catalog)[len(catalog.pairs) :]

    assert learned == [(pair.id, f"Das ist Antwort {number}.") for number, pair in enumerate(catalog.pairs) if number]
    assert indexed_texts(catalog)[: len(catalog.pairs) + len(learned)] == canonical_texts(catalog)


@pytest.mark.proof
@pytest.mark.usefixtures("few_alarm_examples")
def test_a_catalog_without_background_declines_small_talk(tmp_path: Path, embedded_encoder: Encoder) -> None:
    document = yaml.safe_load((locate("mammography") / "de.yaml").read_text(encoding="utf-8"))
    document["pairs"] = [
        {**pair, "variants": pair["variants"][:25], "related": [], "review": {"status": "draft"}}
        for pair in document["pairs"][:8]
    ]
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "de.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    assistant = Assistant.open(tmp_path / "few", data=tmp_path / "data", sample=True, encoder=embedded_encoder)

    answers = assistant.answer_all(["wie spät ist es in tokio gerade", "erzähl mir einen witz über katzen"], "de")

    assert [answer.decision for answer in answers] == ["declined", "declined"]


@pytest.mark.usefixtures("few_alarm_examples")
def test_general_background_that_a_pair_answers_is_not_learned(tmp_path: Path) -> None:
    """Otherwise a catalog about the weather would decline the weather."""
    general = general_background("de")[:3]
    (tmp_path / "c").mkdir()
    rows = "".join(
        f"  - id: p{number}\n    question: {text!r}\n    answer: Antwort {number}.\n    review: {{status: draft}}\n"
        for number, text in enumerate(general)
    )
    (tmp_path / "c" / "de.yaml").write_text(f"catalog: c\nlanguage: de\nversion: '1'\npairs:\n{rows}", encoding="utf-8")
    assistant = Assistant.open(tmp_path / "c", data=tmp_path / "data", sample=True, encoder=HashEncoder())

    found = assistant.answer_all(list(general), "de", ignore_flags=True)

    assert [answer.candidates[0].pair_id for answer in found] == ["p0", "p1", "p2"]
    assert all(answer.score > 0.5 for answer in found)


@pytest.mark.proof
def test_the_nearest_texts_of_the_index_are_those_of_exact_search(shipped: Assistant) -> None:
    catalog = shipped.catalog("en")
    texts = [pair.question for pair in catalog.pairs] + [v.text for pair in catalog.pairs for v in pair.variants]
    texts += list(catalog.background)
    vectors, asked = shipped.encoder.encode(texts[:2000]), "can i wear deodorant on the day"
    best = float(np.max(vectors @ shipped.encoder.encode([asked])[0]))

    assert shipped.nearest(asked, "en", k=10)[0].similarity >= best - 1e-5


@pytest.mark.usefixtures("few_alarm_examples")
def test_any_pair_that_readers_call_as_good_is_right_for_a_calibration_question(
    tmp_path: Path, embedded_encoder: Encoder
) -> None:
    folder = write_small_catalog(tmp_path / "small")
    (folder / "calibration").mkdir()
    asked = {"text": "Wie teuer wird das für mich?", "pair_id": "pain", "stratum": "plain"}
    lines = [asked, {**asked, "also": ["costs"]}, {**asked, "also": ["duration"]}, {**asked, "pair_id": None}]
    (folder / "calibration" / "de.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    catalog = load_catalog(folder, "de")
    shown = [pair.id for pair in catalog.pairs]
    vectors = embedded_encoder.encode([text for _, text in indexed_texts(catalog)])
    head = train_catalog(catalog, shown, vectors, embedded_encoder).head

    judged = judge_calibration(catalog, shown, head, embedded_encoder)

    assert judged is not None
    likeliest = [shown[column] for column in judged.probabilities[:, :-1].argmax(axis=1)]
    right = [[*shown, None][column] for column in judged.label]
    assert likeliest == ["costs"] * 4
    likelier = max(["pain", "duration"], key=lambda pair_id: judged.probabilities[2, shown.index(pair_id)])
    assert right == ["pain", "costs", likelier, None]
