"""A real service that speaks French beside German, and departments that speak French alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot import Assistant
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.adapters.release_keys import Trust
from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_releases import SqlReleases
from bot.errors import UserFixable
from bot.languages.files import forget, in_folder
from bot.release.contents import Contents
from bot.release.release import Side as Compared
from bot.release.release import Switch, differences
from bot.sentences.reply import SENTENCES
from bot.settings import Settings
from bot.testing import HashEncoder
from bot.web.editions import Editions
from tests.bot.languages.samples import LANGUAGES, THORAX, copied, only_french, said
from tests.bot.release.exams import NOW, Site, change_pairs, sign
from tests.bot.web.serving import Server

# German is taught with few examples: its alarm is judged elsewhere, and teaching it takes half a minute.
TEACH = """
import bot.matching.training as training, bot.matching.remarks as remarks
from tests.alarm_examples import few_examples, few_of
every = training.load_examples
training.load_examples = lambda language: few_examples(language) if language == "de" else every(language)
remarks.remark_texts = few_of(remarks.remark_texts)
"""
SWISS = {"KLARTEXT_COUNTRY": "CH", "KLARTEXT_LANGUAGES": str(LANGUAGES)}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("service")
    server = Server(folder, folder / "data", SWISS, faults=TEACH)
    server.start("--catalog", str(THORAX), "--lang", "fr")
    yield server
    server.stop()


class Patient:
    """Somebody who writes over the API."""

    def __init__(self, server: Server, language: str | None = "fr") -> None:
        self._url = f"{server.url}/api/v1/conversations"
        begun = httpx.post(self._url, json={"consent": True, "language": language})
        assert begun.status_code == 201, begun.text
        self.begun, self._turns = begun.json(), 0

    def say(self, text: str) -> dict[str, Any]:
        self._turns += 1
        answer = httpx.post(
            f"{self._url}/{self.begun['id']}/turns",
            json={"turn_id": f"t{self._turns}", "text": text},
            headers={"Authorization": f"Bearer {self.begun['token']}"},
            timeout=60,
        )
        assert answer.status_code in (200, 201), answer.text
        found: dict[str, Any] = answer.json()
        return found


def texts(turn: dict[str, Any]) -> list[str]:
    return [part["text"] for part in turn["reply"]["parts"]]


def urgent_text(key: str) -> str:
    return str(said("emergency.yaml")["sentences"][key]).format(emergency="144", counsel="La Main Tendue 143")


@pytest.mark.proof
def test_patients_are_greeted_and_answered_in_french(server: Server) -> None:
    patient = Patient(server, language=None)  # `serve --lang fr`

    turn = patient.say("Est-ce que la radio fait mal ?")

    assert patient.begun["language"] == "fr"
    assert "Bonjour. Je suis un programme" in str(patient.begun["welcome"])
    assert (turn["decision"], turn["reply"]["language"]) == ("answered", "fr")
    assert "Non. La radiographie du thorax ne fait pas mal." in " ".join(texts(turn))


@pytest.mark.proof
@pytest.mark.parametrize(
    ("text", "key"),
    [("Je n'arrive plus à respirer, aidez-moi", "urgent"), ("Je ne veux plus vivre", "urgent_suicide")],
)
def test_an_emergency_in_french_gets_the_french_emergency_text(text: str, key: str, server: Server) -> None:
    turn = Patient(server).say(text)

    assert turn["decision"] == "urgent"
    assert urgent_text(key) in texts(turn)


@pytest.mark.proof
def test_an_alarm_is_called_off_in_french(server: Server) -> None:
    patient = Patient(server)
    patient.say("Mon mari est inconscient")

    turn = patient.say("fausse alerte")

    assert turn["decision"] == "talk"
    assert any(each.startswith("Merci de me le dire.") for each in texts(turn))


@pytest.mark.proof
def test_what_no_pair_answers_is_offered_then_noted_and_too_much_is_declined_in_french(server: Server) -> None:
    patient = Patient(server)

    offered = patient.say("Avez-vous un interprète pour le portugais ?")
    noted = patient.say("aucune")
    declined = patient.say("Je voudrais savoir ce qui se passe. " * 60)

    assert (offered["decision"], texts(offered)[0]) == ("clarify", said("interface.yaml")["clarify"])
    assert offered["reply"]["choices"][-1]["text"] == said("interface.yaml")["none_of_these"]
    assert texts(noted)[0].startswith("Merci. J'ai noté votre question")
    assert (declined["decision"], declined["reply"]["language"]) == ("declined", "fr")
    assert texts(declined)[0].startswith("Je suis désolé, c'est trop long pour moi.")


@pytest.mark.proof
def test_the_language_is_switched_by_its_own_phrase_and_by_commands(server: Server) -> None:
    patient = Patient(server, language="de")
    assert patient.say("Wie lange dauert die Röntgenaufnahme?")["reply"]["language"] == "de"

    french = patient.say("en français, s'il vous plaît")
    german = patient.say("/deutsch")
    again = patient.say("/français")

    assert texts(french) == [said("remarks.yaml")["language_switched"], said("remarks.yaml")["language_last"]]
    assert texts(german)[0] == SENTENCES["de"]["language_switched"]
    assert again["reply"]["language"] == "fr"


@pytest.mark.proof
def test_thanks_in_french_get_a_kind_word_and_no_leaflet(server: Server) -> None:
    turn = Patient(server).say("merci beaucoup, bonne journée")

    assert turn["decision"] == "talk"
    assert texts(turn) == [said("interface.yaml")["goodbye"]]


@pytest.mark.proof
def test_the_page_is_in_french_with_the_number_of_the_country(server: Server) -> None:
    page = httpx.get(f"{server.url}/", headers={"Accept-Language": "fr-CH, de;q=0.5"}).text
    chosen = httpx.get(f"{server.url}/?language=de").text

    assert '<html lang="fr"' in page
    assert said("page.yaml")["consent_text"].replace("'", "&#39;") in page
    assert said("phrases.yaml")["heading"] in page
    assert 'href="tel:144"' in page
    assert '<button class="plain" name="language" value="de" lang="de-CH">Deutsch</button>' in page
    assert '<html lang="de-CH"' in chosen
    assert 'value="fr" lang="fr">Français</button>' in chosen


@pytest.mark.proof
def test_a_language_that_is_none_is_refused_by_the_api(server: Server) -> None:
    url = f"{server.url}/api/v1/conversations"

    answers = [httpx.post(url, json={"consent": True, "language": each}).status_code for each in ("en", "it", "french")]

    assert answers == [422, 422, 422]


@pytest.mark.proof
def test_what_the_sample_does_without_is_logged_once(server: Server) -> None:
    assert server.stderr().count("language fr: without red_flag_lines.tsv, health.tsv") == 1


@pytest.mark.proof
def test_a_service_whose_language_lacks_its_rules_ends_in_one_line(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "fr" / "red_flags.yaml").unlink()
    server = Server(tmp_path, tmp_path / "data", {"KLARTEXT_LANGUAGES": str(folder)})

    with pytest.raises((TimeoutError, AssertionError, RuntimeError)):
        server.start("--catalog", str(THORAX), until=lambda: True)

    assert server.stderr().splitlines()[-1].startswith(f"klartext: {folder}/fr/red_flags.yaml: the file is missing.")


@pytest.fixture(scope="module")
def french(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    """A department that speaks French alone."""
    folder = tmp_path_factory.mktemp("french")
    settings = replace(Settings.from_environment({}, data=folder / "data"), languages=LANGUAGES, country="CH")
    return Assistant.open(only_french(folder), settings=settings, encoder=EmbeddedEncoder(), sample=True)


@pytest.mark.proof
def test_who_writes_german_to_a_french_department_is_told_in_german_what_it_speaks(french: Assistant) -> None:
    told = french.answer("Kann mir jemand sagen, wie lange die Untersuchung dauert?")

    assert (told.decision, told.why) == ("declined", "other-language")
    assert told.fixed is not None
    assert told.fixed.language == "de"
    assert "Es kann nur auf Französisch antworten." in told.fixed.text
    assert "144" in told.fixed.text


@pytest.mark.proof
def test_an_emergency_in_german_is_heard_in_a_french_department(french: Assistant) -> None:
    told = french.answer("Hilfe, ich bekomme keine Luft mehr")

    assert told.decision == "urgent"
    assert told.fixed is not None
    assert told.fixed.text.startswith("Das kann ein Notfall sein. Rufen Sie jetzt 144 an.")


@pytest.mark.proof
def test_the_first_language_must_be_one_of_the_catalog(tmp_path: Path) -> None:
    settings = replace(Settings.from_environment({}, data=tmp_path), languages=LANGUAGES, first_language="en")

    with pytest.raises(UserFixable, match="`--lang` is 'en', and the catalog has fr"):
        Assistant.open(only_french(tmp_path), settings=settings, encoder=HashEncoder(), sample=True)


def _gathered(folder: Path, languages: Path) -> Contents:
    return Contents.gather(folder, site=None, questionnaire=None, languages=languages, country="CH")


@pytest.mark.proof
def test_a_release_holds_the_language_and_is_served_from_it_whatever_lies_on_the_disk(tmp_path: Path) -> None:
    exam, languages = only_french(tmp_path), copied(tmp_path)
    change_pairs(exam, "fr", review={"status": "approved", "by": "Dr. Test", "on": "2026-01-01"})
    settings = replace(Settings.from_environment({}, data=tmp_path / "data"), country="CH", languages=languages)
    settings.writable_data()
    records = SqlRecords.in_folder(settings.data)
    site = Site(tmp_path, SqlReleases(records.engine))

    unsigned = _gathered(exam, languages)
    assert unsigned.standings(NOW)["language fr"] == "unsigned"
    sign(exam, "A", "B", what="pair", gathered=unsigned)
    sign(exam, "A", "B", what=("sentences", "page", "foreign"), gathered=_gathered(exam, languages))
    with pytest.raises(
        UserFixable, match=r"What the language fr is made of cannot .*`klartext qa approve --what language`"
    ):
        site.make(_gathered(exam, languages))
    sign(exam, "A", "B", what="language", gathered=_gathered(exam, languages))
    contents = _gathered(exam, languages)
    made = site.make(contents)
    site.releases.switch(Switch(NOW, "Anna", "activate", made.number))

    assert made.content["texts"]["language fr"]
    assert {"languages/fr/interface.yaml", "languages/fr/red_flags.yaml"} <= set(made.content["files"])

    for path in (languages / "fr").iterdir():
        path.write_text("spoilt", encoding="utf-8")
    forget()
    editions = Editions(settings, records, site.releases, Trust.of([site.public], None), lambda: NOW, HashEncoder())
    served = editions.of(None).assistant
    assert served.languages == ("fr",)
    assert served.wording.sentences["fr"]["thanks"] == said("interface.yaml")["thanks"]
    assert served.red_flag("Je n'arrive plus à respirer", fallback="fr") == "fr"
    records.close()


@pytest.mark.proof
def test_another_text_of_a_language_takes_its_approval_and_is_told_as_a_difference(tmp_path: Path) -> None:
    exam, languages = only_french(tmp_path), copied(tmp_path)
    signed = _gathered(exam, languages)
    sign(exam, "A", "B", gathered=signed)
    path = languages / "fr" / "interface.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("Avec plaisir.", "De rien."), encoding="utf-8")

    changed = _gathered(exam, languages)

    stands = changed.standings(NOW)
    assert (stands["language fr"], stands["sentences fr"], stands["page fr"]) == ("changed", "changed", "approved")
    assert "~ language fr" in list(differences(Compared(signed, {}), Compared(changed, {})))
    assert in_folder(languages)["fr"] == changed.languages["fr"]
    labels = languages / "fr" / "page.yaml"
    labels.write_text(
        labels.read_text(encoding="utf-8").replace("consent_box: ", "consent_box: Oui, "), encoding="utf-8"
    )
    assert _gathered(exam, languages).standings(NOW)["page fr"] == "changed"
