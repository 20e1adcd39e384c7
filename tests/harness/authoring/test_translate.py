"""`klartext author translate`: drafts in another language; where the numbers differ people look first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from bot import load_catalog
from harness.authoring.translation import load_texts
from tests.harness.authoring.authoring import RECORDED, answer_waiting, author

FRENCH = {
    "pain": [
        "Est-ce que le don fait mal ?",
        "Une petite piqûre.",
        "Une petite piqûre, puis rien.",
        "Une piqûre. C'est tout.",
    ],
    "duration": [
        "Combien de temps cela dure-t-il ?",
        "Le sang coule 10 minutes ; prévoyez une heure.",
        "Le sang coule 5 à 20 minutes. Prévoyez une heure.",
        "Le sang coule 5 à 10 minutes. Prévoyez une heure.",
    ],
}


def reply(id_: str, prompt: str) -> str:
    assert 'Polite "vous"' in prompt
    return json.dumps(
        dict(zip(("question", "short_answer", "answer", "easy_answer"), FRENCH[id_.split("/")[1]], strict=True))
    )


def test_a_translation_is_a_draft_and_waits_where_its_numbers_differ(tmp_path: Path) -> None:
    catalog = Path(shutil.copytree(RECORDED / "next-exam-en" / "blood-donation", tmp_path / "blood-donation"))
    out, answers = tmp_path / "work", tmp_path / "answers.jsonl"
    asked = ("translate", "--catalog", catalog, "--from", "en", "--to", "fr", "--pairs", "pain,duration", "--out", out)
    waits = author(*asked)
    assert waits.exit_code == 1
    assert answer_waiting(out, reply, answers) == 2

    done = author(*asked, "--answers", answers)

    assert done.exit_code == 0, done.output
    assert "duration: waits, its numbers differ: answer: lost 10, 10 minutes; new 20, 20 minutes" in done.stdout
    assert "1 draft new in" in done.stdout
    assert "## duration" in (out / "differences.md").read_text(encoding="utf-8")
    (pair,) = load_catalog(catalog, "fr").pairs
    assert (pair.id, pair.question, pair.review.status, pair.variants) == ("pain", FRENCH["pain"][0], "draft", ())
    assert pair.facets == load_catalog(catalog, "en").pair("pain").facets
    assert all(each.checked is None for each in pair.sources)

    taken = author(*asked, "--accept", "duration")
    assert "1 draft new in" in taken.stdout
    assert len(load_catalog(catalog, "fr").pairs) == 2


def test_a_language_that_nobody_described_is_refused_and_so_is_an_answer_in_the_first(tmp_path: Path) -> None:
    catalog = RECORDED / "next-exam-en" / "blood-donation"
    base = ("translate", "--catalog", catalog, "--from", "en", "--out", tmp_path / "work")
    for to, said in (("xx", "There is no language 'xx'"), ("en", "is the same language")):
        refused = author(*base, "--to", to)
        assert refused.exit_code == 2
        assert said in refused.output.replace("\n", " ")
    assert {"de", "en", "fr", "it"} <= set(load_texts().languages)
    refused = author("translate", "--catalog", catalog, "--from", "it", "--to", "fr", "--out", tmp_path / "work")
    assert "Choose one with `--from`." in refused.output.replace("\n", " ")


def test_an_answer_left_in_the_first_language_is_asked_again(tmp_path: Path) -> None:
    catalog = Path(shutil.copytree(RECORDED / "next-exam-en" / "blood-donation", tmp_path / "blood-donation"))
    out, answers = tmp_path / "work", tmp_path / "answers.jsonl"
    asked = ("translate", "--catalog", catalog, "--from", "en", "--to", "fr", "--pairs", "pain", "--out", out)
    author(*asked)
    english = {"easy_answer": "The needle hurts at first, and then it does not hurt any more."}
    answer_waiting(out, lambda id_, prompt: json.dumps(json.loads(reply(id_, prompt)) | english), answers)

    again = author(*asked, "--answers", answers)

    assert again.exit_code == 1
    assert "could not be used: easy_answer is still in English; asked again as translate/pain#2" in again.stdout
    assert not (catalog / "fr.yaml").exists()
    answers.unlink()
    answer_waiting(out, lambda id_, prompt: reply(id_.removesuffix("#2"), prompt), answers)
    assert "1 draft new in" in author(*asked, "--answers", answers).stdout
