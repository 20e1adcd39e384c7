"""What patients call the answers of the shipped questions, as it is understood; what is not certain is read back."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import pytest

from bot.catalog.fhir_files import shipped_synonyms, shipped_terminology
from bot.interview.form.form import Form
from bot.interview.load import load_form
from bot.interview.manners.listening import asked_of
from bot.interview.reading.reader import read
from bot.interview.reading.reading import Ambiguous, Read, Reading
from bot.interview.values.fhir_json import as_object, string
from bot.languages.files import forget
from bot.languages.opening import open_languages
from tests.bot.interview.chat import mammography

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)


@cache
def _form() -> Form:
    return load_form(mammography(), known=shipped_terminology(), synonyms=shipped_synonyms())


def _reading(language: str, link_id: str, said: str) -> Reading:
    item = _form().by_link_id[link_id]
    return read(said, asked_of(item, item.options, language, NOW), language=language, today=NOW.date())


@pytest.mark.parametrize(
    ("language", "link_id", "said", "codes"),
    [
        ("de", "reason", "ich habe einen Brief bekommen", ["reason-screening"]),
        ("de", "reason", "zur Vorsorge", ["reason-screening"]),
        ("en", "reason", "my doctor sent me", ["reason-symptoms"]),
        ("de", "complaints-now", "einen Knubbel unter dem Arm", ["armpit-swelling"]),
        ("de", "complaints-now", "ein Knoten und die Brust ist rot und heiß", ["breast-lump", "red-hot-swollen"]),
        ("de", "complaints-now", "die Brustwarze ist schuppig", ["nipple-rash"]),
        ("de", "complaints-now", "Brustwarze zieht sich ein", ["nipple-retracted"]),
        ("de", "complaints-now", "Nein, mir ist nichts aufgefallen", ["no-complaint"]),
        ("en", "complaints-now", "my nipple is inverted", ["nipple-retracted"]),
        ("en", "complaints-now", "nothing new", ["no-complaint"]),
        ("de", "complaints-now", "eine Stelle, die nicht heilt", ["open-sore"]),
        ("en", "complaints-now", "an ulcer", ["open-sore"]),
        ("de", "complaints-now", "immer an einer Stelle", ["pain-one-spot"]),
        ("de", "complaints-now", "Schmerz", ["breast-pain"]),
        ("de", "complaints-now", "ein Knubbel am Schlüsselbein", ["armpit-swelling"]),
        ("de", "complaint-place", "hinter der Brustwarze", ["at-nipple"]),
        ("de", "complaint-change", "der ist gewachsen", ["change-growing"]),
        ("en", "complaint-change", "I always had it", ["change-none"]),
        ("de", "discharge-how", "nur wenn ich drücke", ["discharge-squeezed"]),
        ("en", "discharge-how", "it comes on its own", ["discharge-by-itself"]),
        ("de", "radiotherapy", "ja, ich wurde mit 20 bestrahlt", ["373066001"]),
        ("en", "radiotherapy", "never had radiotherapy", ["373067005"]),
        ("en", "gene-change", "my test was clear", ["gene-negative"]),
        ("de", "discharge-colour", "durchsichtig", ["discharge-clear"]),
        ("de", "own-cancer", "ich bin gerade in Behandlung", ["cancer-now"]),
        ("en", "own-cancer", "I had breast cancer in 2015", ["cancer-past"]),
        ("de", "procedures", "DCIS operiert und bestrahlt", ["breast-cancer-operation", "other-procedure"]),
        ("de", "procedures", "Eigenfett", ["fat-transfer"]),
        ("en", "procedures", "reconstruction", ["breast-rebuilt"]),
        ("de", "breast-skin", "Leberfleck links", ["mole"]),
        ("de", "hormones", "Mirena", ["hormone-coil"]),
        ("de", "hormones", "Kupferspirale", ["no-hormones"]),
        ("de", "hormones", "Letrozol seit 2 Jahren", ["anti-hormone-therapy"]),
        ("en", "hormones", "IVF", ["fertility-hormones"]),
        ("de", "devices", "ich hab einen Libre am Arm", ["glucose-sensor"]),
        ("de", "devices", "Omnipod", ["insulin-pump"]),
        ("de", "device-side", "linker Arm", ["on-arm"]),
        ("de", "relative-who", "Papa", ["FTH"]),
        ("de", "blood-thinner", "Lixiana", ["373066001"]),
        ("de", "support", "ich zittere", ["shaking"]),
        ("de", "female-radiographer", "nein", ["no-preference"]),
        ("de", "female-radiographer", "lieber eine Frau", ["only-woman"]),
    ],
)
def test_what_patients_say_is_understood(language: str, link_id: str, said: str, codes: list[str]) -> None:
    reading = _reading(language, link_id, said)

    assert isinstance(reading, Read)
    assert [string(as_object(answer.value), "code") for answer in reading.answers] == codes


@pytest.mark.parametrize(
    ("language", "link_id", "said"),
    [("de", "own-cancer", "Brustkrebs"), ("de", "own-cancer", "ja"), ("de", "gene-change", "BRCA1")],
)
def test_what_may_mean_two_answers_is_asked_for(language: str, link_id: str, said: str) -> None:
    assert isinstance(_reading(language, link_id, said), Ambiguous)


@pytest.mark.parametrize("said", ["kein Knoten", "meine Schwester hat einen Knoten", "immer müde gewesen"])
def test_what_is_said_beside_the_question_is_read_back(said: str) -> None:
    reading = _reading("de", "complaints-now", said)

    assert isinstance(reading, Read)
    assert not reading.literal


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "meine Schwiegermutter"),
        ("de", "Halbschwester"),
        ("de", "Stiefmutter"),
        ("de", "Urgroßmutter"),
        ("en", "my mother-in-law"),
        ("en", "a half sister"),
        ("en", "great-grandmother"),
        ("fr", "ma belle-mère"),
        ("fr", "belle soeur"),
        ("fr", "ma demi-sœur"),
        ("fr", "petite-fille"),
    ],
)
def test_a_relative_by_marriage_or_half_is_no_nearer_one(language: str, said: str) -> None:
    open_languages(None, ["fr"])
    reading = _reading(language, "relative-who", said)
    forget()

    assert isinstance(reading, Read)
    assert [answer.value for answer in reading.answers] == [said]  # the patient's own words, for the team


def test_what_is_said_beside_an_unclear_word_is_kept() -> None:
    reading = _reading("de", "complaints-now", "Brustwarze und so ein Dings")

    assert isinstance(reading, Read)
    assert [answer.value for answer in reading.answers] == ["Brustwarze", "so ein Dings"]


@pytest.mark.parametrize(
    ("link_id", "said", "codes"),
    [
        ("complaints-now", "une boule et le mamelon qui rentre", ["breast-lump", "nipple-retracted"]),
        ("complaints-now", "du sang du téton, une grosseur", ["nipple-discharge", "breast-lump"]),
        ("complaints-now", "une boule sous l'aisselle", ["armpit-swelling"]),
        ("relative-who", "ma grand-maman maternelle", ["MGRMTH"]),
        ("relative-who", "la sœur de mon père", ["PAUNT"]),
        ("pregnant", "non, je ne suis plus en âge", ["LA26683-5"]),
        ("reason", "un contrôle, quelque chose de pas clair", ["reason-assessment"]),
    ],
)
def test_french_patients_are_understood(link_id: str, said: str, codes: list[str]) -> None:
    open_languages(None, ["fr"])
    reading = _reading("fr", link_id, said)
    forget()

    assert isinstance(reading, Read)
    assert [string(as_object(answer.value), "code") for answer in reading.answers] == codes
