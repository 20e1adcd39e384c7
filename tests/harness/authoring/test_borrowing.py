"""`klartext author variants --borrow-from`: another exam's variants, renamed, sifted, checked blind, accepted."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bot import load_catalog
from bot.catalog.exam import Exam, Phrase
from harness.authoring.variants.borrowing import Naming, NotBorrowed, Spoken, load_name_words
from tests.harness.authoring.authoring import RECORDED, answer_waiting, author

BLOOD = RECORDED / "next-exam-en" / "blood-donation"
PHRASES: Mapping[str, Mapping[str, Mapping[Phrase, str]]] = {  # `exam.yaml` of exams whose names have other forms
    "Mammographie": {"de": {"exam": "Mammographie", "about": "zur Mammographie"}},
    "MRT": {"de": {"exam": "MRT", "about": "zur MRT"}},
    "Ultraschall": {"de": {"exam": "Ultraschall", "about": "zum Ultraschall", "wait_for": "auf den Ultraschall"}},
    "CT": {"de": {"exam": "CT", "about": "zum CT", "wait_for": "auf das CT"}},
    "Mammogram": {"en": {"exam": "Mammogram", "about": "about mammograms"}},
    "MRI scan": {"en": {"exam": "MRI scan", "about": "about MRI scans"}},
    "Bone density": {"en": {"exam": "Bone density", "about": "about bone density"}},
}
CALLED = {
    "Mammographie": ["Mammo", "Mammografie", "Brust röntgen"],
    "MRT": ["Röhre"],
    "Mammogram": ["mammography", "mammo", "breast x-ray"],
    "MRI scan": ["MRI", "magnet"],
}
HINTS = {"Mammographie": ["Brust", "Brüste"], "Mammogram": ["breast"]}


def naming(language: str, other: str, own: str) -> Naming:
    """Return what puts one exam's name into the place of another's."""
    words, blood = load_name_words(language), load_catalog(BLOOD, "en")

    def spoken(name: str) -> Spoken:
        exam = Exam(PHRASES[name], called={language: CALLED.get(name, [])}, hints={language: HINTS.get(name, [])})
        return Spoken.of(replace(blood, name=name, language=language), exam, words)

    return Naming(words, spoken(own), spoken(other))


def moved(by: Naming, text: str) -> str:
    try:
        return by.moved(text)
    except NotBorrowed as reason:
        return f"({reason.why})"


def test_a_name_takes_the_place_of_another_in_its_form_or_the_text_is_left_out() -> None:
    to_mri, to_ultrasound = naming("de", "Mammographie", "MRT"), naming("de", "Mammographie", "Ultraschall")
    from_ct, scan = naming("de", "CT", "Ultraschall"), naming("en", "Mammogram", "MRI scan")
    back, density = naming("en", "MRI scan", "Mammogram"), naming("en", "Mammogram", "Bone density")
    wordings = (
        (to_mri, "Was kostet das?", "Was kostet das?"),
        (to_mri, "Nach der Mammographie Auto fahren?", "Nach der MRT Auto fahren?"),
        (to_mri, "zahlt die kasse die mammografi", "zahlt die kasse die mrt"),  # misspelt, and no capital letters
        (to_mri, "Mein Mammographietermin ist morgen", "Mein MRT-Termin ist morgen"),
        (to_mri, "Gibt es Mammographie-Bilder auf CD?", "Gibt es MRT-Bilder auf CD?"),
        (to_mri, "Wie viele Mammographien im Jahr?", "(form)"),
        (to_mri, "Zahlt sie die Kontrollmammographie?", "(form)"),
        (to_mri, "mammografiien sind teuer", "(form)"),
        (to_mri, "Drückt das die Brust?", "(body)"),
        (to_mri, "Kostet das Röntgen etwas?", "(device)"),
        (to_mri, "Wer zahlt, wenn man mich röntgt?", "(device)"),
        (to_mri, "Im MRT war ich schon, jetzt zur Mammographie", "(this exam)"),
        (to_ultrasound, "Nach der Mammographie Auto fahren?", "Nach der Untersuchung Auto fahren?"),
        (to_ultrasound, "Mein Mammographietermin ist morgen", "Mein Ultraschall-Termin ist morgen"),
        (from_ct, "Was kostet das CT?", "(form)"),  # no word for any exam has the form of "das CT"
        (scan, "Does a mammogram hurt?", "Does an MRI scan hurt?"),
        (scan, "Mammograms cost what?", "MRI scans cost what?"),
        (scan, "is mammography free", "(form)"),  # cannot be counted
        (scan, "is the xray free", "(device)"),
        (back, "Can I eat before an MRI scan?", "Can I eat before a mammogram?"),
        (back, "an mri then a coffee?", "a mammogram then a coffee?"),
        (density, "Does a mammogram hurt?", "Does an appointment hurt?"),
    )
    assert [(text, got) for by, text, meant in wordings if (got := moved(by, text)) != meant] == []


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BLOOD, tmp_path / "blood-donation"))


def agree(id_: str, prompt: str) -> str:
    """Say blind that what hurts is about pain, and the rest about afterwards."""
    listed = re.findall(r"^(\d+): (.*)$", prompt, re.MULTILINE)
    assert id_.startswith("check/")
    return json.dumps(
        [{"n": int(n), "pairs": ["pain" if "hurt" in text.lower() else "afterwards"]} for n, text in listed]
    )


def test_a_catalog_without_variants_borrows_another_exams_and_says_so(catalog: Path, tmp_path: Path) -> None:
    work, answers = tmp_path / "work", tmp_path / "answers.jsonl"
    base = ("variants", "--catalog", catalog, "--lang", "en", "--borrow-from", "mammography", "--out", work)
    asked = (*base, "--same", "afterwards=aftercare", "--pairs", "pain,afterwards", "--per-pair", "12")
    waiting = author(*asked)
    assert waiting.exit_code == 1
    assert "2 pairs of mammography: " in waiting.stdout
    assert "Pairs that borrow none and have fewer than 12: 4." in waiting.stdout
    assert re.search(r"\d\d speak of what points to the other exam", waiting.stdout)
    answer_waiting(work, agree, answers)

    done = author(*asked, "--answers", answers)
    assert done.exit_code == 0, done.output
    assert "24 texts to decide on" in done.stdout.replace("\n", " ")
    assert "more than a pair takes (`--per-pair`)." in done.stdout
    assert "New in" in author("review", "--out", work, "--catalog", catalog, "--accept-agreed", "--unread").stdout
    again = author("review", "--out", work, "--catalog", catalog, "--accept-agreed", "--unread")
    assert again.stdout.rstrip().splitlines()[-2].endswith(": 0.")

    after = [each for pair in load_catalog(catalog, "en").pairs for each in pair.variants]
    assert len(after) > 12
    assert {(each.by.kind, each.by.name) for each in after if each.by} == {("model", "mammography")}
    assert len({each.by.profile for each in after if each.by}) >= 6  # voices by turns
    assert not any(re.search("mammo|breast|boob|x-?ray", each.text, re.IGNORECASE) for each in after)
    # What was accepted is no reason to drop it when the command runs again.
    assert "24 texts to decide on" in author(*asked).stdout.replace("\n", " ")


def test_who_wrote_it_and_whom_it_tells_of_is_kept_apart(catalog: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(BLOOD, tmp_path / "plasma"))
    file = other / "en.yaml"
    variants = (
        "    variants:\n"
        '      - {text: "Will I be sore after the plasma donation?", by: {kind: person, name: "E. Carter"}}\n'
        '      - {text: "My friend Emily Carter cried, will I?", by: {kind: person, name: "E. Carter"}}\n'
        '      - {text: "Does giving blood hurt?", by: {kind: model, profile: plain}}\n'
    )
    text = file.read_text(encoding="utf-8").replace("catalog: blood-donation", "catalog: plasma-donation")
    place = text.index("    sources:", text.index("- id: pain"))
    file.write_text(text[:place] + variants + text[place:], encoding="utf-8")
    phrases = (other / "exam.yaml").read_text(encoding="utf-8").replace("lood donation", "lasma donation")
    (other / "exam.yaml").write_text(phrases.replace("Blasma", "Plasma").replace("blasma", "plasma"), encoding="utf-8")
    work, answers = tmp_path / "work", tmp_path / "answers.jsonl"
    asked = ("variants", "--catalog", catalog, "--lang", "en", "--borrow-from", other, "--out", work)

    author(*asked)
    answer_waiting(work, lambda _id, _prompt: '[{"n": 1, "pairs": ["pain"]}]', answers)
    done = author(*asked, "--answers", answers)
    assert "3 texts borrowed, 2 texts rejected:" in done.stdout
    assert "1 name of a person" in done.stdout
    assert "1 in the catalog" in done.stdout
    author("review", "--out", work, "--catalog", catalog, "--accept-agreed", "--unread")

    (kept,) = load_catalog(catalog, "en").pair("pain").variants
    assert kept.by is not None
    assert (kept.text, kept.by.kind) == ("Will I be sore after the blood donation?", "person")
    assert (kept.by.name, kept.by.profile) == ("plasma-donation", None)


def test_what_cannot_be_borrowed_is_refused_in_one_line(catalog: Path, tmp_path: Path) -> None:
    base = ("variants", "--catalog", catalog, "--lang", "en", "--out", tmp_path / "work")
    for more, said in (
        (("--borrow-from", catalog), "cannot borrow from itself"),
        (("--borrow-from", "nowhere"), "nowhere"),
        (("--borrow-from", "mammography", "--kind", "calibration"), "`--borrow-from` takes variants"),
        (("--borrow-from", "mammography", "--voices", "plain"), "What is borrowed is written"),
        (("--borrow-from", "mammography", "--same", "pain"), "`--same pain` names no two pairs"),
        (("--borrow-from", "mammography", "--same", "pain=nothing"), "There is no pair 'nothing'"),
        (("--borrow-from", "mammography", "--pairs", "how-often"), "None of these pairs has the id of one of mammo"),
        (("--same", "pain=pain"), "Name it: `--borrow-from`"),
    ):
        refused = author(*base, *more)
        assert refused.exit_code == 2, (more, refused.output)
        assert said in refused.output.replace("\n", " "), refused.output
    assert not (tmp_path / "work").exists()
