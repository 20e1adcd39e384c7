"""Every answer can be corrected: by words and by number, while questions are asked, at the summary, and afterwards."""

from __future__ import annotations

import pytest

from bot.interview.values.fhir_json import as_object, string
from bot.sentences.reply import part_of
from tests.bot.interview.chat import Chat, mammography
from tests.bot.interview.resources import coding, form, item

KINDS = [
    coding("biopsy", display="Biopsie"),
    coding("other", display="Anderes"),
    coding("none", display="Nichts davon"),
]
FORM = form(
    item("age", "integer", text="Wie alt sind Sie?"),
    item("smoker", "boolean", text="Rauchen Sie?"),
    item("procedure", "choice", text="Was wurde gemacht?", answerOption=KINDS),
    item("year", "date", text="Wann war die Biopsie?"),
    item("note", "text", text="Was noch?"),
)


def _summary(*more: str) -> Chat:
    chat = Chat(FORM).say("61", "nein", "Biopsie", "2019", "überspringen", *more)
    assert chat.open == "summary" or more
    return chat


def test_a_pending_answer_stays_while_another_is_corrected() -> None:
    chat = Chat(form(item("age", "integer", text="Wie alt?"), item("since", "date", text="Seit wann?")))
    chat.say("61", "ungefähr 2019")
    assert chat.open == "read-back since"

    chat.say("ich bin übrigens 62 nicht 61")
    assert (chat.open, chat.said[0]) == ("read-back age", "Wie alt?")
    chat.killed().say("ja")
    assert (chat.open, chat.value("age")) == ("read-back since", 62)
    chat.say("ja")
    assert (chat.open, str(chat.value("since"))) == ("summary", "2019")


@pytest.mark.parametrize(
    ("said", "link_id", "value"),
    [
        ("das Alter ist 31", "age", 31),
        ("31 statt 61", "age", 31),
        ("ich bin nicht 61 sondern 31", "age", 31),
        ("nein, ich bin 31, nicht 61", "age", 31),
        ("ja, aber das Alter ist 31", "age", 31),
        ("die biopsie war 2020", "year", "2020"),
    ],
)
def test_at_the_summary_the_row_is_found_by_words_and_by_what_was_wrong(said: str, link_id: str, value: object) -> None:
    chat = _summary(said)
    if chat.open == "question age":
        chat.say("31")
    else:
        assert chat.open == f"read-back {link_id}"
        chat.say("ja")

    assert (chat.open, chat.value(link_id)) == ("summary", value)


@pytest.mark.parametrize("said", ["ja, aber meine Tante heißt Anna", "ja aber da war noch was"])
def test_a_yes_with_something_else_in_it_does_not_send(said: str) -> None:
    assert _summary(said).open != "finished"


@pytest.mark.parametrize("said", ["ja", "ja, alles stimmt", "alles richtig so", "passt", "ja danke, bitte absenden"])
def test_a_plain_yes_sends(said: str) -> None:
    assert _summary(said).open == "finished"


@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize("phase", ["summary", "finished", "asking"])
def test_every_row_can_be_changed_by_its_number(number: int, phase: str) -> None:
    links = ["age", "smoker", "procedure", "year", "note"]
    chat = _summary()
    if phase == "finished":
        chat.say("ja")
    if phase == "asking":
        chat.say("1", "Zusammenfassung")
    names = [part_of(name, chat.interview.form, "de") for _, name in chat.interview.listed(chat.session)]
    assert len([name for name in names if name is not None]) == 5

    chat.say(str(number) if phase == "summary" else f"Antwort {number} ändern")

    assert chat.open == f"question {links[number - 1]}"


@pytest.mark.parametrize(
    ("said", "value"),
    [("das Alter ist doch 31", 31), ("ich bin 31, nicht 61", 31), ("Alter ändern", 31)],
)
def test_after_it_was_sent_a_correction_amends(said: str, value: int) -> None:
    chat = _summary("ja")
    assert chat.status == "completed"

    chat.say(said)
    chat.say("31" if chat.open == "question age" else "ja")
    assert chat.open == "summary"
    chat.say("ja")

    assert (chat.status, chat.value("age"), chat.errors()) == ("amended", value, [])


@pytest.mark.parametrize("said", ["Ich möchte noch etwas ändern", "etwas ändern", "eine Antwort ändern"])
def test_who_wants_to_change_just_something_is_asked_what(said: str) -> None:
    chat = _summary("ja").say(said)

    assert chat.keys[-1:] == ["change_which"]
    assert chat.open == "choosing"


@pytest.mark.parametrize("said", ["tut das weh?", "wie alt muss man für die Untersuchung sein", "danke", "Kosten"])
def test_after_it_was_sent_other_messages_change_nothing(said: str) -> None:
    chat = _summary("ja").ask(said)

    assert (chat.open, chat.aside) == ("finished", "clear")


def _shipped(language: str, complaint: bool) -> Chat:
    skip, yes, no = {"de": ("überspringen", "ja", "nein"), "en": ("skip", "yes", "no")}[language]
    chat = Chat(mammography(), language).say("1", "1", "61")
    for _ in range(80):
        if chat.open == "summary":
            return chat.say(yes)
        kind, _, link_id = chat.open.partition(" ")
        if link_id == "complaints-now" and kind == "question":
            chat.say("12" if complaint else no)
        elif link_id == "complaint-kind" and kind == "question":
            chat.say("12")
        else:
            chat.say(yes if kind in ("read-back", "proposal") else no if kind == "another" else skip)
    pytest.fail("no end")


@pytest.mark.parametrize(
    ("language", "complaint", "said", "reaches"),
    [
        ("de", False, "ich habe einen Knoten vergessen", "read-back complaints-now"),
        ("en", False, "sorry, I forgot to tell you about a lump", "complaints-now"),
        ("de", True, "da ist noch ein Knoten, den habe ich vergessen", "complaint-kind"),
        ("en", True, "I also forgot a lump", "complaint-kind"),
    ],
)
def test_a_forgotten_lump_is_added_after_everything_was_agreed_to(
    language: str, complaint: bool, said: str, reaches: str
) -> None:
    yes, no, skip = {"de": ("ja", "nein", "überspringen"), "en": ("yes", "no", "skip")}[language]
    chat = _shipped(language, complaint)
    before = len(chat.session.filling.answers)

    chat.say(said)
    assert chat.open.endswith(reaches)
    if chat.open == "question complaints-now":
        chat.say("1")
    elif not complaint:
        chat.say(yes)
    if chat.open == "question complaint-kind":
        chat.say("1")
    for _ in range(12):
        if chat.open == "finished":
            break
        kind = chat.open.split()[0]
        chat.say(yes if kind in ("read-back", "summary") else no if kind == "another" else skip)

    assert chat.open == "finished"
    assert len(chat.session.filling.answers) > before
    codes = [
        string(as_object(answer.value), "code")
        for path, each in chat.session.filling.answers.items()
        if path[-1][0] == "complaint-kind"
        for answer in each
    ]
    assert "breast-lump" in codes
    assert len(codes) == 1 + complaint


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("nein das mit der veränderung is falsch", "complaint-change"),
        ("die Veränderung ist falsch", "complaint-change"),
        ("das alter ist falsch", "age"),  # of another section
    ],
)
def test_in_a_list_that_is_to_be_confirmed_what_it_shows_is_meant_first(said: str, meant: str) -> None:
    told = {
        "consent": "ja", "reason": "Überweisung", "age": "34", "complaints-now": "ein Knoten",
        "complaint-kind": "Knoten", "complaint-side": "links", "complaint-place": "irgendwo oben aussen glaub ich",
        "complaint-change": "ist grösser geworden", "complaint-since": "so vor einem halben jahr", "complaint-seen": "ja",
    }  # fmt: skip
    chat = Chat(mammography())
    while chat.open != "checking":
        kind, _, link_id = chat.open.partition(" ")
        chat.say("ja" if kind in ("read-back", "proposal") else told.get(link_id, "nein"))

    chat.say(said)

    assert chat.open == f"question {meant}"
