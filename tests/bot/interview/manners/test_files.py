"""What patients say of files: taken out, the wrong one, brought along, not there, how it is sent."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from bot.interview.form.form import Form
from bot.interview.manners.interview import Interview
from bot.interview.manners.session import ListEntry, Sentence, Session
from bot.interview.manners.turn import Turn
from bot.interview.values.answer import Answer
from bot.interview.walk.filling import MarkedForStaff, Noted, Skipped
from bot.talk.interviewing import form_of
from tests.bot.interview.resources import form, item

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)


def asked(*, required: bool = False) -> Form:
    return form_of(
        form(
            item("card", "attachment", text="Ein Foto Ihres Ausweises?", required=required),
            item("letter", "attachment", text="Ihr Arztbrief?", repeats=True),
            item("height", "quantity", text="Wie groß sind Sie?"),
            item("more", "text", text="Noch etwas?"),
        )
    )


def file(name: str, kind: str = "image/png") -> Answer:
    return Answer(
        "attachment",
        {"contentType": kind, "url": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}", "size": 10, "title": name},
    )


class Patient:
    """Somebody in an interview about files."""

    def __init__(self, *, required: bool = False, language: str = "de") -> None:
        self.interview = Interview(asked(required=required), now=NOW)
        self.last: Turn = self.interview.begin(language)

    @property
    def session(self) -> Session:
        return self.last.session

    def say(self, text: str) -> list[str]:
        self.last = self.interview.turn(self.session, text)
        return self.keys

    def send(self, name: str, kind: str = "image/png") -> list[str]:
        sent = self.interview.attach(self.session, file(name, kind))
        assert sent is not None
        self.last = sent
        return self.keys

    @property
    def keys(self) -> list[str]:
        parts = self.last.said.parts
        return [part.key for part in parts if isinstance(part, Sentence)] + [
            part.value.key for part in parts if isinstance(part, ListEntry)
        ]

    @property
    def files(self) -> list[str]:
        return [str(dict(each.value)["title"]) for each in self.interview.files(self.session)]  # type: ignore[arg-type]

    @property
    def open(self) -> str:
        return self.interview.open_question(self.session).link_id

    def through(self) -> None:
        """Send a card and a letter, and answer the rest up to the summary."""
        self.send("card.png")
        self.send("brief.pdf", "application/pdf")
        for text in ("nein", "170 cm", "-"):
            self.say(text)
        while self.interview.open_question(self.session).kind != "summary":
            self.say("ja" if self.interview.open_question(self.session).kind == "read-back" else "überspringen")


@pytest.mark.parametrize(
    "text",
    [
        "Datei löschen",
        "bitte das Foto wieder löschen",
        "nehmen Sie das Bild bitte zurück",
        "Können Sie das Foto entfernen?",
        "ich möchte doch keine Datei schicken",
        "falsches Bild",
        "das war leider die falsche Datei",
        "ich will ein anderes Foto schicken",
        "please delete the photo",
        "take the picture back please",
        "wrong file, sorry",
    ],
)
def test_a_file_that_was_sent_is_taken_out_at_the_next_question_and_asked_for_again(text: str) -> None:
    patient = Patient()
    patient.send("card.png")
    assert patient.open == "letter"

    assert "file_removed" in patient.say(text)
    assert patient.files == []
    assert patient.open == "card"
    assert "file_taken" in patient.send("zwei.png")
    assert patient.open == "letter"


@pytest.mark.parametrize("text", ["löschen", "keine", "doch keine", "entfernen", "falsch", "wrong one"])
def test_where_a_file_stands_at_the_open_question_few_words_take_it_out(text: str) -> None:
    patient = Patient()
    patient.send("card.png")
    assert "so_far_file" in patient.say("zurück")

    assert "file_removed" in patient.say(text)
    assert patient.files == []


@pytest.mark.parametrize(
    "text",
    [
        "bitte das Foto nicht löschen",
        "das Foto ist nicht falsch",
        "ist das Foto angekommen?",
        "das Foto ist gut geworden",
    ],
)
def test_other_words_about_a_file_take_nothing_out(text: str) -> None:
    patient = Patient()
    patient.send("card.png")
    patient.say(text)

    assert patient.files == ["card.png"]


def test_whoever_asks_whether_a_file_can_be_deleted_is_told_how() -> None:
    patient = Patient()
    patient.send("card.png")

    assert "file_removable" in patient.say("Kann ich das Foto wieder löschen?")
    assert patient.files == ["card.png"]
    assert patient.open == "letter"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("bitte das Foto löschen", ["brief.pdf", "zwei.pdf"]),
        ("bitte den Ausweis löschen, das Bild", ["brief.pdf", "zwei.pdf"]),
        ("die Datei brief bitte löschen", ["card.png", "zwei.pdf"]),
        ("das Dokument löschen", ["card.png", "brief.pdf"]),
        ("letzte Datei löschen", ["card.png", "brief.pdf"]),
    ],
)
def test_of_several_files_the_one_that_is_meant_goes(text: str, left: list[str]) -> None:
    patient = Patient()
    patient.send("card.png")
    patient.send("brief.pdf", "application/pdf")
    patient.send("zwei.pdf", "application/pdf")
    patient.say(text)

    assert sorted(patient.files) == sorted(left)


def test_at_the_summary_a_file_is_taken_out_and_the_summary_comes_again() -> None:
    patient = Patient()
    patient.through()

    said = patient.say("bitte das Foto löschen")

    assert "file_removed" in said
    assert "summary_check" in said
    assert "summary_skipped" in said
    assert "completed" in patient.say("ja")


def test_taken_out_after_the_end_the_response_is_amended_at_once() -> None:
    patient = Patient()
    patient.through()
    patient.say("ja")
    before = patient.session.talk.sent

    said = patient.say("Foto löschen bitte")

    assert "file_removed_sent" in said
    assert patient.session.status == "amended"
    assert patient.session.talk.phase == "finished"
    assert patient.session.talk.sent > before


def test_what_was_about_to_be_confirmed_waits_while_a_file_is_taken_out() -> None:
    patient = Patient()
    patient.send("card.png")
    patient.say("überspringen")
    while patient.open == "letter":
        patient.say("nein")
    patient.say("1 Meter siebzig oder so")
    pending = patient.session.talk.pending
    patient.say("Foto löschen")
    patient.say("überspringen")

    assert patient.open == "height"
    assert patient.session.talk.pending == pending


@pytest.mark.parametrize(
    "text",
    ["ich bringe sie mit", "die bring ich zum Termin mit", "nehme ich dann mit", "hab ich jetzt nicht dabei",
     "I'll bring it along", "i will bring them to the appointment"],
)  # fmt: skip
@pytest.mark.parametrize("required", [False, True])
def test_a_file_that_comes_along_is_noted_for_the_team(text: str, required: bool) -> None:
    patient = Patient(required=required)

    said = patient.say(text)

    assert said[:2] == ["file_brought", "noted"]
    assert patient.open == "letter"
    assert any(isinstance(event, Noted) and event.text == text for event in patient.session.events)
    assert any(isinstance(event, MarkedForStaff) for event in patient.session.events)


@pytest.mark.parametrize(
    "text", ["hab ich nicht", "ich hab keinen implantatpass", "nein", "keine", "sowas besitze ich nicht",
             "i don't have one", "no"],
)  # fmt: skip
def test_whoever_has_no_file_is_met_kindly(text: str) -> None:
    optional, required = Patient(), Patient(required=True)

    assert "file_none" in optional.say(text)
    assert "file_none" in required.say(text)
    assert (optional.open, required.open) == ("letter", "letter")
    assert any(isinstance(event, Skipped) and event.reason == "none" for event in optional.session.events)
    assert any(isinstance(event, MarkedForStaff) for event in required.session.events)


@pytest.mark.parametrize(
    "text", ["ja", "wie soll ich das denn schicken", "wie geht das?", "wo kann ich das hochladen?", "how do I send it?"]
)
def test_whoever_asks_how_a_file_is_sent_is_told(text: str) -> None:
    patient = Patient()

    assert patient.say(text)[0] == "file_how"
    assert patient.last.aside == "no"
    assert patient.open == "card"


@pytest.mark.parametrize("text", ["wie lange dauert das?", "muss ich nüchtern sein?", "tut die Mammographie weh?"])
def test_other_questions_are_for_who_can_answer_them(text: str) -> None:
    patient = Patient()
    patient.say(text)

    assert patient.last.aside != "no"


@pytest.mark.parametrize("text", ["weiß nicht", "möchte ich nicht sagen", "überspringen", "https://example.org/a.pdf"])
def test_what_is_an_answer_already_stays_one(text: str) -> None:
    patient = Patient()
    said = patient.say(text)

    assert not [key for key in said if key.startswith("file_") and key != "file"]
    assert patient.open == "letter"


def test_where_no_file_was_sent_words_of_files_mean_nothing_special() -> None:
    patient = Patient()
    for text in ("überspringen", "überspringen", "überspringen"):
        patient.say(text)
    assert patient.open == "more"
    patient.say("bitte löschen Sie alte Fotos von mir")

    assert "bitte löschen Sie alte Fotos von mir" in str(patient.session.filling.answers)
