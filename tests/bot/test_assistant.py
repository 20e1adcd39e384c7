"""The one door: what may be shown, in which language, and how it is reported."""

from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot import Assistant, BadData, UserFixable
from bot.testing import HOSTILE_TEXTS, HashEncoder, write_small_catalog

TODAY = date(2026, 11, 1)


def _open(folder: Path, data: Path, **options: object) -> Assistant:
    return Assistant.open(folder, data=data, encoder=HashEncoder(), today=TODAY, **options)  # type: ignore[arg-type]


def _review(folder: Path, pair_id: str, review: dict[str, object]) -> None:
    path = folder / "de.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    for pair in document["pairs"]:
        if pair["id"] == pair_id:
            pair["review"] = review
    path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")


@pytest.mark.usefixtures("few_alarm_examples")
def test_outside_sample_mode_drafts_are_never_shown(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"], status="approved")
    _review(folder, "pain", {"status": "draft"})

    assistant = _open(folder, tmp_path / "data")
    response = assistant.answer("Tut die Untersuchung weh?", "de")

    assert assistant.shown("de") == {"costs", "duration"}
    assert "pain" not in {candidate.pair_id for candidate in response.candidates}
    assert not response.sample


@pytest.mark.usefixtures("few_alarm_examples")
def test_an_expired_approval_is_not_shown_though_no_file_changed(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"], status="approved")
    _review(folder, "pain", {"status": "approved", "valid_until": "2026-11-01"})

    on_the_day = Assistant.open(folder, data=tmp_path / "data", encoder=HashEncoder(), today=TODAY)
    day_after = Assistant.open(folder, data=tmp_path / "data", encoder=HashEncoder(), today=date(2026, 11, 2))

    assert on_the_day.answer("weh?", "de").candidates[0].pair_id == "pain"
    assert "pain" not in {candidate.pair_id for candidate in day_after.answer("weh?", "de").candidates}


@pytest.mark.parametrize("status", ["draft", "reviewed"])
def test_a_catalog_without_approved_pairs_does_not_open(tmp_path: Path, status: str) -> None:
    folder = write_small_catalog(tmp_path / "catalog", status=status)

    with pytest.raises(UserFixable, match=r"No pair of small@1 \(de\) is approved and unexpired.*--sample"):
        _open(folder, tmp_path / "data")


def test_a_language_without_files_does_not_open(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"])
    (folder / "it.yaml").write_text((folder / "de.yaml").read_text().replace("language: de", "language: it"))

    with pytest.raises(BadData, match=r"There is no language 'it' \(there are de, en, fr\)"):
        _open(folder, tmp_path / "data", sample=True)


def test_an_unknown_language_is_refused_with_those_there_are(small: Assistant) -> None:
    with pytest.raises(BadData, match=r"no language 'fr' \(it has de, en\)"):
        small.answer("weh?", "fr")


@pytest.mark.proof
def test_many_questions_are_answered_as_each_alone(small: Assistant) -> None:
    texts = ["tut das weh?", "does insurance pay", "dauer und kosten?", "", "price?", *HOSTILE_TEXTS.values()] * 20

    together = small.answer_all(texts)

    for text, response in list(zip(texts, together, strict=True))[:25]:
        alone = small.answer(text)
        assert (response.question, response.lang, response.decision) == (text, alone.lang, alone.decision)
        assert response.score == pytest.approx(alone.score, abs=1e-5)


def test_each_question_may_have_its_own_language(small: Assistant) -> None:
    responses = small.answer_all(["kosten?", "kosten?", "kosten?"], ["en", "de", "auto"])

    assert [response.lang for response in responses] == ["en", "de", "de"]


def test_no_question_gets_no_response(small: Assistant) -> None:
    assert small.answer_all([]) == []


@given(st.text(st.characters(exclude_categories=()), max_size=60), st.sampled_from(["hybrid", "cosine"]))
def test_any_text_gets_a_decision_that_keeps_the_contract(small: Assistant, text: str, method: str) -> None:
    response = small.answer(text, method=method)  # type: ignore[arg-type]

    scores = [candidate.score for candidate in response.candidates]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert (response.pair_id is None) == (response.decision != "answered") == (response.answer is None)
    assert (response.choices != ()) == (response.decision == "clarify")
    assert (response.flag is not None) == (response.decision == "urgent")


def test_a_ruled_out_emergency_is_decided_as_any_question(small: Assistant) -> None:
    text = "Druck auf der Brust, habe ich dabei Schmerzen?"

    assert small.answer(text).decision == "urgent"
    assert small.answer(text, ignore_flags=True).pair_id == "pain"


def test_a_damaged_copy_of_the_catalog_is_written_again(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"])
    before = _open(folder, tmp_path / "data", sample=True).catalog("de")
    (copy,) = (tmp_path / "data" / "catalogs").iterdir()
    copy.write_bytes(copy.read_bytes()[:100])

    assert _open(folder, tmp_path / "data", sample=True).catalog("de") == before
    assert len(copy.read_bytes()) > 1000


@pytest.mark.proof
def test_a_damaged_head_is_trained_again(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"])
    before = _open(folder, tmp_path / "data", sample=True).answer("weh?", "de")
    for head in (tmp_path / "data" / "heads").iterdir():
        head.write_bytes(head.read_bytes()[:1000])

    after = _open(folder, tmp_path / "data", sample=True).answer("weh?", "de")

    assert after.candidates == before.candidates


@pytest.mark.parametrize("text", ["ßßßßßßßßßß", "ssssssssss", "sssss sssss", "ßßßßß ßßßß"])
def test_one_key_held_down_is_no_question_about_anything(shipped: Assistant, text: str) -> None:
    assert shipped.answer(text, "de").decision == "declined"


@pytest.mark.parametrize(
    ("question", "language", "pair_id"),
    [
        ("Tut das weh?", "de", "pain"),
        ("deo vorher?", "de", "deodorant"),
        ("how much does it cost", "en", "costs"),
        ("What about my implants?", "en", "implants"),
    ],
)
def test_the_shipped_catalog_answers_plain_questions(
    shipped: Assistant, question: str, language: str, pair_id: str
) -> None:
    response = shipped.answer(question)

    assert (response.lang, response.decision, response.pair_id) == (language, "answered", pair_id)
    assert response.answer == shipped.catalog(language).pair(pair_id).answer


def test_the_shipped_catalog_declines_what_it_does_not_know(shipped: Assistant) -> None:
    assert shipped.answer("Wie koche ich Quark mit Erdbeeren?").decision == "declined"


@pytest.mark.parametrize(
    "text", ["عندي سؤال عن الصدر", "У мене питання про болі", "胸が痛い", "Πονάει;", "Не могу прийти завтра"]
)
def test_what_is_written_in_other_letters_gets_no_answer_by_chance(shipped: Assistant, text: str) -> None:
    assert shipped.answer(text).decision == "declined"


@pytest.mark.parametrize("text", ["Tut das weh? 😢", "tut das weh (20 μSv)?"])
def test_a_few_foreign_letters_are_no_other_script(shipped: Assistant, text: str) -> None:
    assert shipped.answer(text).decision != "declined"
