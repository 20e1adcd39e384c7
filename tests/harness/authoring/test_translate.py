"""`klartext author translate`: drafts in another language; where they say something else people look first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bot import load_catalog, locate
from bot.catalog.turning import turned_round
from harness.authoring.translation import FIELDS, load_texts
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
    assert "duration: waits, it says something else: answer: lost 10, 10 minutes; new 20, 20 minutes" in done.stdout
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


@pytest.mark.parametrize(
    ("first", "other", "listed"),
    [
        (("de", "Ja, das geht."), ("en", "No, that is not possible."), "begins with yes, the translation with no"),
        (("en", "No. Please call."), ("fr", "Oui. Appelez."), "begins with no, the translation with yes"),
        (
            ("de", "Warten Sie mindestens 2 Tage."),
            ("fr", "Attendez au plus 2 jours."),
            "'at least': 1, in the translation 0",
        ),
        (("de", "Kommen Sie am Montag."), ("en", "Come on Tuesday."), "'Monday': 1, in the translation 0"),
        (("de", "Ja. Spätestens am Freitag, höchstens 2."), ("en", "Yes. By Friday, at most 2."), ""),
        (
            ("de", "Trinken Sie keinen Kaffee. Rauchen Sie nicht."),
            ("fr", "Buvez du café. Fumez."),
            "negations: 2, in the translation 0",
        ),
        (("de", "Mehr als 2 Stunden?"), ("fr", "Moins de 2 heures ?"), "'more' became 'less'"),
        (("de", "Warten Sie nicht."), ("fr", "Venez tout de suite."), ""),  # one is often said otherwise
        (("de", "Ja."), ("it", "No, lunedì."), ""),  # nobody has said how Italian says it
        (("en", "No cream today."), ("fr", "Oui, sans crème, au plus vite."), ""),
    ],
)
def test_what_a_translation_turns_round_is_listed(first: tuple[str, str], other: tuple[str, str], listed: str) -> None:
    found = list(turned_round(first[1], first[0], other[1], other[0]))

    assert bool(found) == bool(listed), found
    assert not listed or found[0].startswith(listed)


@pytest.mark.parametrize(("exam", "language"), [("mri", "en"), ("mammography", "en"), ("mammography", "fr")])
def test_of_the_shipped_translations_few_would_wait_for_it(exam: str, language: str, tmp_path: Path) -> None:
    shipped = locate(exam)
    own = shipped / f"{language}.yaml"
    (folder := tmp_path / exam).mkdir()
    shutil.copy(own if own.is_file() else shipped / "further" / own.name, folder / own.name)
    theirs, pairs = load_catalog(folder, language).by_id, load_catalog(shipped, "de").pairs

    waits = [
        pair.id
        for pair in pairs
        for name in FIELDS
        if list(turned_round(getattr(pair, name) or "", "de", getattr(theirs[pair.id], name) or "", language))
    ]

    assert len(set(waits)) < 0.1 * len(pairs), waits
